"""The command `attnviz translate`: translate one sentence, or one a line from standard input."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from attnviz import AttnvizError

if TYPE_CHECKING:
    from attnviz.trace import Trace
    from attnviz.translator import Translator
from attnviz.commands.shared import (
    _T,
    Command,
    add_model_options,
    add_unescape_option,
    input_lines,
    load_translator,
    model_text,
    numbered,
    positive,
    progress,
    report_escapes,
)
from attnviz.errors import locate_errors

_NO_PIECES: dict[str, Any] = {"source_pieces": [], "target_pieces": [], "alignment": []}
_BLOCK = 100
"""Default number of sentences read, translated and printed together."""
_LISTED = 20
"""Number of unknown parts of the text that are printed."""


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    command.add_argument("text", nargs="?", help="sentence to translate (default: each line of standard input)")
    command.add_argument(
        "--json",
        action="store_true",
        help="for each sentence, print a JSON object on one line, with its pieces and alignment too",
    )
    command.add_argument(
        "--tokenised",
        action="store_true",
        help="the tokens of a sentence are separated by spaces, as in “I 'm hungry .”, and so are those of the "
        "translation",
    )
    add_unescape_option(command)
    command.add_argument(
        "--batch-size", type=positive, default=_BLOCK, metavar="N", help="number of sentences translated together"
    )
    command.add_argument(
        "--unk",
        action=argparse.BooleanOptionalAction,
        help="whether the translation may contain <unk> (default: yes for imported models, whose programs write it, "
        "and no for others)",
    )
    add_model_options(command, beam=True)


def _run(options: argparse.Namespace) -> None:
    """Print the translations; raise AttnvizError, with the line number, for text that cannot be translated."""
    if options.text is not None:
        if not options.unescape:
            report_escapes([(1, options.text)])
        trace = _translator(options).translate(model_text(options.text, options), beam=options.beam)
        print(_as_json(trace) if options.json else _printed(trace.translation, options))
        _report_unknown(trace.unknown_characters)
        return
    at_once = 1 if sys.stdin.isatty() else options.batch_size
    if sys.stdin.isatty():
        print("Type one sentence per line; Ctrl+D ends the input.", file=sys.stderr)
    blocks = _blocks(numbered(input_lines()), at_once)
    first = next(blocks, None)
    if first is None:
        raise AttnvizError(
            "There is no sentence on standard input. Write one sentence per line, or give the sentence as an argument."
        )
    translator, reported = _translator(options), options.unescape
    unknown = dict[str, int]()
    with progress("sentence", hidden=sys.stdout.isatty()) as bar:
        for block in chain([first], blocks):
            reported = reported or report_escapes(block)
            for line in _translated(translator, block, options):
                print(line, flush=True)
                bar.update()
            for number, text in block:
                for characters in translator.tokenizer.unknown_characters(model_text(text, options)):
                    unknown.setdefault(characters, number)
    _report_unknown(tuple(unknown), f", first in line {min(unknown.values(), default=1)},")


def _report_unknown(characters: Sequence[str], where: str = "") -> None:
    """Print the characters that the model does not know; `where` says in which line the first are."""
    if characters:
        listed = " ".join(characters[:_LISTED]) + (" …" if len(characters) > _LISTED else "")
        print(
            f"The model has never seen these parts of the text{where} and reads each as <unk>: {listed}",
            file=sys.stderr,
        )


def _translator(options: argparse.Namespace) -> Translator:
    translator = load_translator(options)
    if options.unk is not None:
        translator.unk = options.unk
    return translator


def _translated(translator: Translator, block: Sequence[tuple[int, str]], options: argparse.Namespace) -> Iterator[str]:
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
        filled = [model_text(text, options) for _, text in block if text.strip()]
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
            trace = translator.translate(model_text(text, options), beam=options.beam)
        yield _as_json(trace) if options.json else _printed(trace.translation, options)


def _check_block(block: Sequence[tuple[int, str]]) -> None:
    """Raise AttnvizError for lines of CSV, which would be translated as one sentence each."""
    from attnviz.text_files import csv_reason, is_csv_sample

    if is_csv_sample([text for _, text in block]):
        raise AttnvizError(
            f"Line {block[0][0]} is a sentence pair: {csv_reason()}. translate reads one sentence per line. "
            "Keep only the sentences of the source language."
        )


def _check_sentence(number: int, line: str) -> None:
    """Raise AttnvizError for a line of several columns, which would be translated as one sentence."""
    from attnviz.text_files import other_separator_text

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


def _printed(translation: str, options: argparse.Namespace) -> str:
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


TRANSLATE_COMMAND = Command("translate", "translate one sentence, or each line of standard input", _add_options, _run)
