"""Faults that the program once had: how to bring each back, and the tests that must find it (`tests.mutants mends`)."""

from __future__ import annotations

from typing import NamedTuple


class Mend(NamedTuple):
    """The mend of a fault: `now` stands once in the file, in place of what was there `before`."""

    fault: str
    path: str
    now: str
    before: str
    tests: str


_HOSTILE = "tests/importing/test_hostile_files.py::test_expensive_files_are_refused_cheaply"
_READER = "tests/importing/test_attention_reader.py::"
_LINES = "attnviz/importing/formats/line_formats.py"

MENDS = (
    Mend(
        "The pattern of GIZA++'s links takes exponential time.",
        _LINES,
        r"((?:[ \t]+[0-9]{1,9})*)[ \t]+\}",
        r"((?:[ \t]*[0-9]{1,9})*)[ \t]+\}",
        _HOSTILE,
    ),
    Mend(
        "A dictionary of texts in Parquet is decoded at once.",
        "attnviz/reading.py",
        ", read_dictionary=[*texts]",
        "",
        "tests/corpora/test_lines.py::test_repeated_text_of_a_dictionary_takes_memory_once",
    ),
    Mend(
        "JSON of millions of empty objects is converted before it is refused.",
        "attnviz/reading.py",
        'self.limits.check(values=text.count(",") + 8 * (text.count("[") + text.count("{")))',
        "pass",
        _HOSTILE,
    ),
    Mend(
        "A member of an archive is unpacked as a whole, whatever its header claims.",
        "attnviz/files.py",
        "member.read(min(_CHUNK, self._remaining + 1))",
        "member.read()",
        _HOSTILE,
    ),
    Mend(
        "Millions of tokens in an array are converted before they are refused.",
        "attnviz/importing/formats/numpy_arrays.py",
        "if longest > MOST_TOKENS + 1 or array.size > _MOST_TEXTS:",
        "if longest < 0:",
        _HOSTILE,
    ),
    Mend(
        "A tensor in a small file may claim any shape.",
        "attnviz/importing/formats/tensors.py",
        "LIMITS.check(bytes=8 * math.prod(np.shape(value)))",
        "pass",
        _HOSTILE,
    ),
    Mend(
        "Lines of another encoding are left out one by one.",
        "attnviz/reading.py",
        "if bad > good:",
        "if bad < 0:",
        "tests/test_pair_files.py::test_other_encoding_is_named_with_line_number",
    ),
    Mend(
        "A no-break space ends a token.",
        "attnviz/trace/attention_builder.py",
        'r"[ \\t\\r\\n]+"',
        'r"\\s+"',
        f"{_READER}test_only_blanks_of_ascii_end_a_token",
    ),
    Mend(
        "Links to words that do not exist are left out and not counted as wrong.",
        "attnviz/evaluation/file_links.py",
        "return index if index < 0 else self.size + index - len(self.owners)",
        "return None",
        "tests/evaluation/test_scoring.py::test_pieces_are_mapped_to_gold_words",
    ),
    Mend(
        "The tags of the shared tasks are tokens.",
        "attnviz/importing/attention_reader.py",
        "if found and all(found) else lines",
        "if found and not found else lines",
        f"{_READER}test_tags_of_the_shared_tasks_are_no_tokens",
    ),
    Mend(
        "Pairs of GIZA++ are counted and their own numbers passed over.",
        _LINES,
        " or _GIZA_HEADER.match(key)",
        "",
        f"{_READER}test_numbers_of_giza_pairs_are_read_and_missing_ones_said",
    ),
    Mend(
        "Empty rows and columns at the end of a matrix are tokens.",
        "attnviz/importing/sentence_pair.py",
        "while rows > len(target) and not matrix[rows - 1].any():",
        "while False:",
        f"{_READER}test_empty_rows_and_columns_at_the_end_are_padding",
    ),
    Mend(
        "A pair without links stops its file.",
        _LINES,
        "return not text or are_links(text)",
        "return are_links(text)",
        f"{_READER}test_pair_with_an_empty_side_is_named_and_the_others_read",
    ),
    Mend(
        "Blank lines of links shift the pairs after them.",
        _LINES,
        'content.filled if "id" in layout.form else enumerate(content.lines, 1)',
        "content.filled",
        f"{_READER}test_links_of_any_spelling_numbering_and_count_are_read",
    ),
    Mend(
        "A column of possible links is taken for a sentence.",
        _LINES,
        '    Layout("pharaoh", "Pharaoh", "sure\\tpossible", "0-0 2-1⇥1-2"),\n',
        "",
        f"{_READER}test_column_of_possible_links_is_not_dropped",
    ),
    Mend(
        "A score of marian-scorer is the target word.",
        _LINES,
        '"logged ||| alignment"',
        '"logged ||| alignment ||| never"',
        f"{_READER}test_the_example_of_a_layout_is_read",
    ),
    Mend(
        "Links that count from 1 are moved by a word.",
        "attnviz/trace/word_link_text.py",
        '        return Counting(1, ends=False, remark="counted-from-1")',
        "        return Counting(0, ends=True)",
        f"{_READER}test_links_of_any_spelling_numbering_and_count_are_read",
    ),
    Mend(
        "Output without weights is not told from damaged output.",
        "attnviz/importing/formats/tensors.py",
        "if _is_void(value) or hasattr(value",
        "if hasattr(value",
        f"{_READER}test_output_without_weights_names_eager_attention",
    ),
    Mend(
        "Source pieces are spelled with the vocabulary of the target.",
        "attnviz/importing/huggingface.py",
        'if read and getattr(tokenizer, "separate_vocabs", False):',
        "if False:",
        "tests/importing/test_huggingface.py::test_marian_spells_each_side_with_its_own_vocabulary",
    ),
    Mend(
        "A search of Joey NMT or fairseq ends before its first word.",
        "attnviz/decoding/applied_interventions.py",
        "int(family in NEVER_EMPTY)",
        "0",
        "tests/importing/test_checkpoints.py::test_no_search_ends_before_the_first_word_and_unknown_words_may_be_forbidden",
    ),
    Mend(
        "A full disk leaves half of a new file in place of the old one.",
        "attnviz/export/saved_files.py",
        "    replace_bytes(path, contents(",
        "    path.write_bytes(contents(",
        "tests/test_files.py::test_export_to_full_disk_leaves_old_file",
    ),
    Mend(
        "A pipe in place of a file of a model is waited for.",
        "attnviz/files.py",
        "check_regular(path)",
        "pass",
        "tests/test_files.py::test_pipe_in_model_folder_is_refused",
    ),
    Mend(
        "The command corpus deletes files of others among its parts.",
        "attnviz/corpora/job.py",
        " if _PART.fullmatch(path.name))",
        ")",
        "tests/corpora/test_run.py::test_files_of_others_among_the_parts_stay",
    ),
    Mend(
        "A path like s3://bucket makes a folder s3:.",
        "attnviz/commands/main.py",
        'if (isinstance(value, Path) or name == "output") and _ADDRESS.match(str(value)):',
        "if False:",
        "tests/commands/test_commands.py::test_impossible_path_is_refused_in_one_sentence",
    ),
    Mend(
        "Any host name is served.",
        "attnviz/ui/server.py",
        'is_allowed = scope["type"] == "lifespan" or _is_host_allowed(Headers(scope=scope).get("host", ""))',
        "is_allowed = True",
        "tests/ui/test_server.py::test_only_allowed_hosts_are_served",
    ),
    Mend(
        "Uploads that are refused count until the server ends.",
        "attnviz/ui/waiting.py",
        "self._arriving -= Counter({session: size})",
        "pass",
        "tests/ui/test_waiting.py::test_refused_uploads_count_nothing",
    ),
    Mend(
        "Aliases of YAML multiply the questions of a lesson.",
        "attnviz/lessons/yaml_fields.py",
        "        elif isinstance(event, yaml.AliasEvent):",
        "        elif event is None:",
        "tests/lessons/test_lesson_file.py::test_aliases_never_multiply_a_lesson",
    ),
    Mend(
        "The server that sends a model decides how much is read.",
        "attnviz/commands/models.py",
        "content: bytes = response.raw.read(size + 1, decode_content=False)",
        "content: bytes = response.content",
        "tests/commands/test_models.py::test_hostile_server_is_refused_and_fetching_goes_on_later",
    ),
    Mend(
        "A control character makes an SVG that is no XML.",
        "attnviz/text.py",
        "    return text if text.isprintable() else text.translate(_SYMBOLS)",
        "    return text",
        "tests/export/test_exports.py::test_control_characters_are_symbols_in_text_files",
    ),
    Mend(
        "Links as Python prints them are refused.",
        "attnviz/trace/word_link_text.py",
        "if _LISTED_SIGNS.isdisjoint(text):",
        "if text:",
        f"{_READER}test_links_of_any_spelling_numbering_and_count_are_read",
    ),
)
