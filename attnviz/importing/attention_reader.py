"""`read_attention`: read sentence pairs from attention files of any format or from tensors, or run a model folder."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from attnviz.arguments import also_spelled, check_texts
from attnviz.errors import AttnvizError, locate_errors, user_error
from attnviz.importing.formats import DETECTED, FORMATS, tensors
from attnviz.importing.formats.soft_alignments import token_lines
from attnviz.importing.huggingface import sentences_of_model
from attnviz.importing.huggingface_model import is_model_folder
from attnviz.importing.records import AttentionRecords, TokenSide
from attnviz.importing.sentence_pair import DEFAULT_OPTIONS, Options, Sentences, join_sentences
from attnviz.languages import gettext
from attnviz.reading import Content, content_of, open_content
from attnviz.text import abbreviated
from attnviz.trace.attention_builder import Tokens
from attnviz.trace.parts import Heads

_SAMPLE = 20
"""Number of first pairs all of which must be damaged for a file to be refused as a whole."""
_TAGGED = re.compile(r"[ \t]*<s snum=[0-9]{1,9}>(.*)</s>[ \t]*")
"""A sentence of the shared tasks of word alignment."""
ByLine = str | os.PathLike[str] | Sequence[Tokens]
"""A file with one sentence a line, or a list of sentences: strings of blank-separated tokens, or lists of tokens."""


@also_spelled(normalize="normalise")
def read_attention(
    path: Any,
    source: ByLine | None = None,
    target: ByLine | None = None,
    *,
    format: str | None = None,  # noqa: A002 - the name that people look for
    layer: int | None = None,
    head: int | None = None,
    normalise: bool = False,
    transpose: bool = False,
    unescape: bool = False,
    encoding: str | None = None,
    attributions: bool = False,
    special: Sequence[str] = (),
) -> AttentionRecords:
    """Return the attention or alignment in a file of another program, one record for each sentence pair.

    Args:
        path: A file, a folder or list of files of one format, or tensors in memory, which are an array (…, Ty, Tx), or
            what a Hugging Face model or its `generate` returns (the whole output, or its tuple of attention tensors).
            It may also be the folder of such a model, which is then run on the sentences of `source`, with those of
            `target`.
        source: Source sentences that the file lacks, or that replace its own, as a list or as a file with one pair a
            line.
        target: Target sentences, in the same forms.
        format: Name of the format (`.docs/pages/data.md` lists them); by default it is detected, and `records.format`
            and `records.reason` give the result and why.
        layer: Layer, from 0, where a pair has several matrices; without it a record shows their mean. An array with
            dimensions (layers, heads, Ty, Tx) is kept whole, so that `record.select_heads` can choose others.
        head: Head, from 0.
        normalise: Whether to scale rows to sum to 1.
        transpose: Whether to transpose matrices, whose rows are source tokens.
        unescape: Whether to undo the escapes of Moses' tokenizer.
        encoding: Encoding of all text files; None is UTF-8.
        attributions: Whether the model in a folder also computes `gradient` and `erased`, as `from_huggingface` does.
        special: Tokens that are no words, besides those with a known spelling, such as `<s>`.

    Returns:
        The records, which are made on access.

    Raises:
        AttnvizError: The file cannot be read or its format is unknown. The message says what the file resembles, what
            is missing and how to get it.
    """
    sides = [_side(value, encoding) for value in (source, target)]
    options = Options(Heads(layer, head), normalise, transpose, unescape, tuple(special))
    if is_model_folder(path):
        return _records_of_model(path, sides, options, attributions=attributions)
    if (paths := _paths(path)) is not None:
        return records_of([open_content(one, encoding) for one in paths], sides, format, options)
    pairs = tensors.sentences_in(path, _count(sides))
    reason = gettext("The attention comes from tensors in memory.")
    return AttentionRecords(replace(pairs, format="tensors", reason=reason), sides[0], sides[1], options)


def _count(sides: Sequence[TokenSide | None]) -> int | None:
    """Return the number of given sentences; None where none were given."""
    return len(next((side for side in sides if side is not None), ())) or None


def _records_of_model(
    folder: Any, sides: Sequence[TokenSide | None], options: Options, *, attributions: bool
) -> AttentionRecords:
    """Return the attention that a model of Hugging Face in `folder` computes for the given sentences."""
    source, target = sides
    if source is None:
        raise user_error(
            "{path} is a model of Hugging Face. Give the source sentences that the model should read.", path=folder
        )
    pairs = sentences_of_model(folder, source, _fitted(target, len(source)), attributions=attributions)
    reason = gettext("The folder has a model of Hugging Face’s transformers, which was run on the sentences.")
    return AttentionRecords(replace(pairs, format="huggingface", reason=reason), options=options)


def read_bytes(data: bytes, name: str = "") -> AttentionRecords:
    """Return the records in the bytes of a file; raise AttnvizError as `read_attention` does."""
    return AttentionRecords(_sentences_of(content_of(data, name)))


def records_of(
    contents: Sequence[Content],
    sides: Sequence[TokenSide | None] = (None, None),
    name: str | None = None,
    options: Options = DEFAULT_OPTIONS,
) -> AttentionRecords:
    """Return the records of files, which are read as one: how links count is inferred from all of them.

    Raise AttnvizError, naming the file, where one cannot be read, or the files are of different formats.
    """
    files, several = list[Sentences](), len(contents) > 1
    for content in contents:
        with locate_errors(content.name):
            files.append(_sentences_of(content, name, None if several else _count(sides)))
            if files[-1].format != files[0].format:
                raise user_error(
                    "This file has the format {format}, but {first} has the format {other}. Read files of one "
                    "format at a time.",
                    format=files[-1].format,
                    first=contents[0].name,
                    other=files[0].format,
                )
    if several and any(sides) and not all(map(_lines_from_0, files)):
        raise user_error(
            "The sentence numbers in the files are not 0, 1, 2, … without a gap. Give source and target sentences "
            "for one file at a time."
        )
    pairs = join_sentences(files)
    if pairs[0].line is None:
        with locate_errors(abbreviated(content.name for content in contents)):
            sides = [_fitted(side, len(pairs)) for side in sides]
    counts = [(content.name, len(file)) for content, file in zip(contents, files, strict=True)]
    return AttentionRecords(pairs, sides[0], sides[1], options, tuple(counts) if several else ())


def _lines_from_0(pairs: Sentences) -> bool:
    """Return whether the lines of a file's pairs, where it has them, are 0, 1, … without a gap."""
    lines = {pair.line for pair in pairs} - {None}
    return lines == set(range(len(lines)))


def _paths(path: Any) -> list[Path] | None:
    """Return the files that `path` names, in order; None for tensors. Raise AttnvizError for a folder without files."""
    if not isinstance(path, (str, os.PathLike)):
        named = isinstance(path, (list, tuple)) and path and all(isinstance(one, (str, os.PathLike)) for one in path)
        return [Path(one) for one in path] if named else None
    if not Path(path).is_dir():
        return [Path(path)]
    files = sorted(one for one in Path(path).iterdir() if one.is_file() and is_part(one))
    if not files:
        raise user_error("The folder {path} has no attention file.", path=path)
    return files


def is_part(path: Path) -> bool:
    """Return whether a file of a folder is read: not hidden, and not the sentences beside a SoftAlignments file."""
    return not path.name.startswith((".", "_")) and not path.name.endswith((".src.js", ".trg.js", ".con.js", ".sc.js"))


def _sentences_of(content: Content, name: str | None = None, count: int | None = None) -> Sentences:
    """Return the sentence pairs of `content`; `count`, the number of given sentences, locates the batch dimension.

    Raise AttnvizError where the format is unknown, or not the format `name`, or no pair can be read.
    """
    formats = [one for one in FORMATS if name and name.lower() in (one.name, *one.aliases)]
    if name is not None and not formats:
        raise user_error(
            "There is no format {name}. Choose from {names}.",
            name=name[:40],
            names=", ".join(dict.fromkeys(one.name for one in FORMATS)),
        )
    for one in formats or DETECTED:
        if (pairs := one.read(content, count)) is None:
            continue
        first = [pair.problem for pair in islice(pairs, _SAMPLE)]
        if all(first):
            raise AttnvizError(first[0] if first else gettext("The file has no sentence pair."))
        reason = gettext("You chose the format.") if name else pairs.reason
        return replace(
            pairs,
            format=pairs.format or one.name,
            title=pairs.title or one.title,
            reason=reason,
            digest=hashlib.sha256(content.data).hexdigest(),
            size=len(content.data),
        )
    advice = next(filter(None, (one.near_miss_message(content) for one in formats or DETECTED)), "")
    if name is None:
        raise AttnvizError(advice or _unknown(content))
    message = gettext("The file is not in the format {name}.", name=name)
    raise AttnvizError(f"{message} {advice}".strip())


def _unknown(content: Content) -> str:
    if not content.text.strip():
        return gettext("The file is empty.")
    head = content.text.lstrip()[:200].lower()
    if head.startswith("<") and content.text.rstrip().endswith(">"):
        return gettext(
            "The file is a web page or XML; attnviz reads no attention from such files. Save the attention "
            "weights as JSON with the fields source, target and matrix."
        )
    return gettext(
        "The file looks like plain sentences: it has no attention. attnviz reads links such as 0-0 1-2, one line "
        "per sentence pair. attnviz also reads tables, JSON and arrays with a row of weights for each target "
        "token. Run translation toolkits with the option that prints alignments, and give their output to "
        "attnviz: marian-decoder --alignment soft, fairseq-generate --print-alignment."
    )


def _side(value: ByLine | None, encoding: str | None) -> TokenSide | None:
    """Return the sentences of one side, read from a file or as given."""
    if value is None:
        return None
    if isinstance(value, (str, os.PathLike)):
        content = open_content(Path(value), encoding)
        with locate_errors(content.name):
            return token_lines(content) or _without_tags(content.lines)
    check_texts(value)
    return list(value)


def _without_tags(lines: list[str]) -> list[str]:
    """Return sentences without the tags of the shared tasks, `<s snum=0001> … </s>`, where all lines have them."""
    found = [_TAGGED.fullmatch(line) for line in lines if line.strip()]
    return [match[1] for match in found if match] if found and all(found) else lines


def _fitted(side: TokenSide | None, count: int) -> TokenSide | None:
    """Return the sentences of one side for `count` pairs; raise AttnvizError where their numbers differ."""
    if side is None or len(side) == count:
        return side
    if len(side) < count or any(side[count:]):
        raise user_error(
            "Sentence pairs: {pairs}; sentences given: {count}. Give one sentence for each pair, in the same order.",
            pairs=count,
            count=len(side),
        )
    return side[:count]
