"""The command `attnviz translate`: translate one sentence, or each line of a file."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import Parameter

from attnviz.commands.options import AS_INPUT, AS_OUTPUT, INPUT_OPTIONS, Beam, ModelOptions, Output, Positive, Unescape
from attnviz.commands.shared import (
    STDIN,
    input_lines,
    model_text,
    printing_to,
    progress,
    report,
    report_escapes,
)
from attnviz.errors import AttnvizError, locate_errors
from attnviz.installed_models import find_model

if TYPE_CHECKING:
    from attnviz.trace import Trace
    from attnviz.translator import Translator

_T = TypeVar("_T")
_NO_PIECES: dict[str, Any] = {"source_pieces": [], "target_pieces": [], "alignment": []}
_LISTED = 20
"""Number of unknown parts of the text that are printed."""
_TEXT_FILES = (".txt", ".tsv", ".csv", ".gz", ".xz")


@INPUT_OPTIONS
@dataclass(frozen=True)
class _Options:
    """How sentences are read and translations written."""

    json: Annotated[bool, AS_OUTPUT] = False
    """for each sentence, print a JSON object on one line, with its pieces and alignment too"""
    tokenised: bool = False
    """the tokens of a sentence are separated by spaces, as in “I 'm hungry .”, and so are those of the translation"""
    unescape: Unescape = False
    batch_size: Positive = 100
    """number of sentences read, translated and printed together"""
    beam: Beam = 5

    def text(self, line: str) -> str:
        """Return the text that the model reads for a line."""
        return model_text(line, unescape=self.unescape, tokenised=self.tokenised)


def translate_command(
    text: Annotated[str | None, AS_INPUT] = None,
    /,
    *,
    options: _Options = _Options(),
    unk: Annotated[bool | None, AS_OUTPUT, Parameter(negative="--no-unk")] = None,
    output: Output | None = None,
    model: ModelOptions = ModelOptions(),
) -> None:
    """Translate one sentence, or each line of a file.

    Args:
        text: sentence to translate, or file with one sentence per line; “-” or nothing means standard input
        unk: whether the translation may contain <unk> (default: yes for imported models, whose programs write it, and
            no for others)
        output: file to write the translations to
    """
    if text is not None and not _names_file(text):
        translator = _load(model, unk)
        if not options.unescape:
            report_escapes([(1, text)])
        trace = translator.translate(options.text(text), beam=options.beam)
        with printing_to(output):
            print(_as_json(trace) if options.json else _printed(trace.translation, options))
        _report_unknown(trace.unknown_characters)
        return
    find_model(model.model)  # fails before input is read
    typed = text in (None, STDIN) and sys.stdin.isatty()
    if typed:
        report("Type one sentence per line; Ctrl+D ends the input.")
    lines = ((number, line.rstrip("\r\n")) for number, line in enumerate(input_lines(text or STDIN), 1))
    blocks = _blocks(lines, 1 if typed else options.batch_size)
    first = next(blocks, None)
    if first is None:
        raise AttnvizError(
            "There is no sentence to translate. Write one sentence per line, or give the sentence as an argument."
        )
    translator, reported = _load(model, unk), options.unescape
    unknown = dict[str, int]()
    with printing_to(output), progress("sentence", hidden=sys.stdout.isatty()) as bar:
        for block in chain([first], blocks):
            reported = reported or report_escapes(block)
            for line in _translated(translator, block, options):
                print(line, flush=True)
                bar.update()
            for number, one in block:
                for characters in translator.tokenizer.source.unknown_characters(options.text(one)):
                    unknown.setdefault(characters, number)
    _report_unknown(tuple(unknown), f", first in line {min(unknown.values(), default=1)},")


def _names_file(text: str) -> bool:
    """Return whether an argument is a file; raise AttnvizError where it seems to name one that does not exist."""
    if os.path.isdir(text):  # noqa: PTH112 - of any text
        raise AttnvizError(
            f"{text} is a folder. Give a file with one sentence per line, or a sentence; to translate the word itself, "
            "pass it through standard input."
        )
    if text == STDIN or os.path.exists(text):  # noqa: PTH110 - of any text
        return True
    if " " not in text and Path(text).suffix.lower() in _TEXT_FILES:
        raise AttnvizError(f"There is no file {text[:200]}. Give a file with one sentence per line, or a sentence.")
    return False


def _load(model: ModelOptions, unk: bool | None) -> Translator:
    translator = model.load()
    if unk is not None:
        translator.unk = unk
    return translator


def _report_unknown(characters: Sequence[str], where: str = "") -> None:
    """Print the characters that the model does not know; `where` says in which line the first are."""
    if characters:
        listed = " ".join(characters[:_LISTED]) + (" …" if len(characters) > _LISTED else "")
        report(f"The model has never seen these parts of the text{where} and reads each as <unk>: {listed}")


def _translated(translator: Translator, block: Sequence[tuple[int, str]], options: _Options) -> Iterator[str]:
    """Yield the output line for each numbered input line; raise AttnvizError with the number of an invalid one.

    A blank line gives a blank line, or with --json an object without pieces, so that line numbers of input and output
    match.
    """
    blank = json.dumps(dict.fromkeys(("source", "translation"), "") | _NO_PIECES) if options.json else ""
    _check_block(block)
    # If the batch fails, translate line by line instead, so that lines before the invalid one are printed.
    with contextlib.suppress(AttnvizError):
        for number, text in block:
            _check_sentence(number, text)
        filled = [options.text(text) for _, text in block if text.strip()]
        if options.json:
            results = [_as_json(trace) for trace in translator.translate_together(filled, beam=options.beam)]
        else:
            translations = translator.translate_batch(filled, beam=options.beam)
            results = [_printed(translation, options) for translation in translations]
        found = iter(results)
        yield from [next(found) if text.strip() else blank for _, text in block]
        return
    for number, text in block:
        if not text.strip():
            yield blank
            continue
        _check_sentence(number, text)
        with locate_errors(f"Line {number}"):
            trace = translator.translate(options.text(text), beam=options.beam)
        yield _as_json(trace) if options.json else _printed(trace.translation, options)


def _check_block(block: Sequence[tuple[int, str]]) -> None:
    """Raise AttnvizError for lines of CSV, which would be translated as one sentence each."""
    from attnviz.pair_files import csv_reason, is_csv_sample

    if is_csv_sample([text for _, text in block]):
        raise AttnvizError(
            f"Line {block[0][0]} is a sentence pair: {csv_reason()}. translate reads one sentence per line. "
            "Keep only the sentences of the source language."
        )


def _check_sentence(number: int, line: str) -> None:
    """Raise AttnvizError for a line of several columns or of links, which would be translated as one sentence."""
    from attnviz.pair_files import other_separator_text
    from attnviz.trace.word_link_text import is_line_of_links

    if "\t" in line:
        raise AttnvizError(
            f"Line {number} has {line.count(chr(9)) + 1} columns, but translate reads one sentence per line. Keep the "
            "column of the sentences: cut -f1 FILE."
        )
    if division := other_separator_text(line):
        raise AttnvizError(
            f"Line {number} is a sentence pair: {division}. translate reads one sentence per line. "
            "Keep only the sentences of the source language."
        )
    if is_line_of_links(line):
        raise AttnvizError(f"Line {number} has word links instead of a sentence. Give the file of the sentences.")


def _printed(translation: str, options: _Options) -> str:
    """Return the translation, if the options say so with spaces between its tokens."""
    if not options.tokenised:
        return translation
    from attnviz.text import word_spans

    return " ".join(translation[begin:end] for begin, end in word_spans(translation))


def _as_json(trace: Trace) -> str:
    fields = {
        "source": trace.source_text,
        "translation": trace.translation,
        "source_pieces": trace.source_pieces,
        "target_pieces": trace.target_pieces,
        "alignment": [[round(weight, 7) for weight in row] for row in trace.alignment.tolist()],
    }
    return json.dumps(fields, ensure_ascii=False)


def _blocks(items: Iterator[_T], size: int) -> Iterator[list[_T]]:
    """Yield lists of `size` items; where the next item cannot be read, first those before it."""
    block = list[_T]()
    try:
        for item in items:
            block.append(item)
            if len(block) == size:
                yield block
                block = []
    except AttnvizError:
        if block:
            yield block
        raise
    if block:
        yield block
