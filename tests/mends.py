"""Faults that the program once had: how to bring each back, and the tests that must find it (`tests.mutants mends`).

Each has the file in `attnviz` and the fault, the test, the line or part of a line now, and what was there before.
"""

MENDS = r"""
importing/formats/line_formats.py: The pattern of GIZA++'s links takes exponential time.
importing/test_hostile_files.py::test_expensive_files_are_refused_cheaply
- ((?:[ \t]+[0-9]{1,9})*)[ \t]+\}
+ ((?:[ \t]*[0-9]{1,9})*)[ \t]+\}

reading.py: A dictionary of texts in Parquet is decoded at once.
corpora/test_lines.py::test_repeated_text_of_a_dictionary_takes_memory_once
- , read_dictionary=[*texts]

reading.py: JSON of millions of empty objects is converted before it is refused.
importing/test_hostile_files.py::test_expensive_files_are_refused_cheaply
- self.limits.check(values=text.count(",") + 8 * (text.count("[") + text.count("{")))
+ pass

files.py: A member of an archive is unpacked as a whole, whatever its header claims.
importing/test_hostile_files.py::test_expensive_files_are_refused_cheaply
- member.read(min(_CHUNK, self._remaining + 1))
+ member.read()

importing/formats/numpy_arrays.py: Millions of tokens in an array are converted before they are refused.
importing/test_hostile_files.py::test_expensive_files_are_refused_cheaply
- if longest > MOST_TOKENS + 1 or array.size > _MOST_TEXTS:
+ if longest < 0:

importing/formats/tensors.py: A tensor in a small file may claim any shape.
importing/test_hostile_files.py::test_expensive_files_are_refused_cheaply
- LIMITS.check(bytes=8 * math.prod(np.shape(value)))
+ pass

reading.py: Lines of another encoding are left out one by one.
test_reading.py::test_other_encoding_is_named_with_line_number
- if bad > good:
+ if bad < 0:

trace/attention_builder.py: A no-break space ends a token.
importing/test_attention_reader.py::test_only_blanks_of_ascii_end_a_token
- r"[ \t\r\n]+"
+ r"\s+"

evaluation/file_links.py: Links to words that do not exist are left out and not counted as wrong.
evaluation/test_scoring.py::test_pieces_are_mapped_to_gold_words
- return index if index < 0 else self.size + index - len(self.owners)
+ return None

importing/attention_reader.py: The tags of the shared tasks are tokens.
importing/test_attention_reader.py::test_tags_of_the_shared_tasks_are_no_tokens
- if found and all(found) else lines
+ if found and not found else lines

importing/formats/line_formats.py: Pairs of GIZA++ are counted and their own numbers passed over.
importing/test_attention_reader.py::test_numbers_of_giza_pairs_are_read_and_missing_ones_said
-  or _GIZA_HEADER.match(key)

importing/sentence_pair.py: Empty rows and columns at the end of a matrix are tokens.
importing/test_attention_reader.py::test_empty_rows_and_columns_at_the_end_are_padding
- while rows > len(target) and not matrix[rows - 1].any():
+ while False:

importing/formats/line_formats.py: A pair without links stops its file.
importing/test_attention_reader.py::test_pair_with_an_empty_side_is_named_and_the_others_read
- return not text or are_links(text)
+ return are_links(text)

importing/formats/line_formats.py: Blank lines of links shift the pairs after them.
importing/test_attention_reader.py::test_links_of_any_spelling_numbering_and_count_are_read
- content.filled if "id" in layout.form else enumerate(content.lines, 1)
+ content.filled

importing/formats/line_formats.py: A column of possible links is taken for a sentence.
importing/test_attention_reader.py::test_column_of_possible_links_is_not_dropped
-     Layout("pharaoh", "Pharaoh", "sure\tpossible", "0-0 2-1⇥1-2"),

importing/formats/line_formats.py: A score of marian-scorer is the target word.
importing/test_attention_reader.py::test_the_example_of_a_layout_is_read
- "logged ||| alignment"
+ "logged ||| alignment ||| never"

trace/word_link_text.py: Links that count from 1 are moved by a word.
importing/test_attention_reader.py::test_links_of_any_spelling_numbering_and_count_are_read
-         return Counting(1, ends=False, remark="counted-from-1")
+         return Counting(0, ends=True)

importing/formats/tensors.py: Output without weights is not told from damaged output.
importing/test_attention_reader.py::test_output_without_weights_names_eager_attention
- if _is_void(value) or hasattr(value
+ if hasattr(value

importing/huggingface.py: Source pieces are spelled with the vocabulary of the target.
importing/test_huggingface.py::test_marian_spells_each_side_with_its_own_vocabulary
- if read and getattr(tokenizer, "separate_vocabs", False):
+ if False:

decoding/applied_interventions.py: A search of Joey NMT or fairseq ends before its first word.
importing/test_checkpoints.py::test_no_search_ends_before_the_first_word_and_unknown_words_may_be_forbidden
- int(family in NEVER_EMPTY)
+ 0

export/saved_files.py: A full disk leaves half of a new file in place of the old one.
test_reading.py::test_export_to_full_disk_leaves_old_file
-     replace_bytes(path, contents(
+     path.write_bytes(contents(

files.py: A pipe in place of a file of a model is waited for.
test_reading.py::test_pipe_in_model_folder_is_refused
- check_regular(path)
+ pass

corpora/job.py: The command corpus deletes files of others among its parts.
corpora/test_run.py::test_files_of_others_among_the_parts_stay
-  if _PART.fullmatch(path.name))
+ )

commands/main.py: A path like s3://bucket makes a folder s3:.
commands/test_commands.py::test_impossible_path_is_refused_in_one_sentence
- if (isinstance(value, Path) or name == "output") and _ADDRESS.match(str(value)):
+ if False:

ui/server.py: Any host name is served.
ui/test_server.py::test_only_allowed_hosts_are_served
- not _is_host_allowed(Headers(scope=scope).get("host", ""))
+ False

ui/waiting.py: Uploads that are refused count until the server ends.
ui/test_waiting.py::test_refused_uploads_count_nothing
- self._arriving -= Counter({session: size})
+ pass

lessons/yaml_fields.py: Aliases of YAML multiply the questions of a lesson.
lessons/test_lesson_file.py::test_aliases_never_multiply_a_lesson
-         elif isinstance(event, yaml.AliasEvent):
+         elif event is None:

commands/models.py: The server that sends a model decides how much is read.
commands/test_models.py::test_hostile_server_is_refused_and_fetching_goes_on_later
- content: bytes = response.raw.read(size + 1, decode_content=False)
+ content: bytes = response.content

text.py: A control character makes an SVG that is no XML.
export/test_exports.py::test_control_characters_are_symbols_in_text_files
-     return text if text.isprintable() else text.translate(_SYMBOLS)
+     return text

trace/word_link_text.py: Links as Python prints them are refused.
importing/test_attention_reader.py::test_links_of_any_spelling_numbering_and_count_are_read
- if _LISTED_SIGNS.isdisjoint(text):
+ if text:
"""
