"""The command `attnviz translate`: translate one sentence, or one a line from standard input."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from attnviz import AttnvizError

if TYPE_CHECKING:
    from attnviz.trace import Trace
    from attnviz.translator import Translator
from attnviz.commands.shared import T, about, add_model_options, input_lines, load_translator, numbered, progress

_NO_PIECES: dict[str, Any] = {"source_pieces": [], "target_pieces": [], "alignment": []}
_BLOCK = 100
"""Number of sentences read, translated and printed together."""


SUMMARY = "translate one sentence, or each line of standard input"


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    command.add_argument("text", nargs="?", help="sentence to translate (default: each line of standard input)")
    command.add_argument(
        "--json",
        action="store_true",
        help="for each sentence, print a JSON object on one line, with its pieces and alignment too",
    )
    add_model_options(command, beam=True)


def run(options: argparse.Namespace) -> None:
    """Print the translations; raise AttnvizError, with the line number, for text that cannot be translated."""
    if options.text is not None:
        trace = load_translator(options).translate(options.text, beam=options.beam)
        print(_as_json(trace) if options.json else trace.translation)
        return
    at_once = 1 if options.json or sys.stdin.isatty() else _BLOCK
    if sys.stdin.isatty():
        print("Type one sentence per line; Ctrl+D ends the input.", file=sys.stderr)
    blocks = _blocks(numbered(input_lines()), at_once)
    first = next(blocks, None)
    if first is None:
        raise AttnvizError(
            "There is no sentence on standard input. Write one sentence per line, or give the sentence as an argument."
        )
    translator = load_translator(options)
    with progress("sentence", hidden=sys.stdout.isatty()) as bar:
        for block in chain([first], blocks):
            for line in _translated(translator, block, options):
                print(line, flush=True)
                bar.update()


def _translated(translator: Translator, block: Sequence[tuple[int, str]], options: argparse.Namespace) -> Iterator[str]:
    """Yield the output line for each numbered input line; raise AttnvizError with the number of an invalid one.

    A blank line gives a blank line, or with --json an object without pieces, so that line numbers of input and output
    match.
    """
    if not options.json:
        # If the batch fails, translate line by line instead, so that lines before the invalid one are printed.
        with contextlib.suppress(AttnvizError):
            filled = translator.translate_batch([text for _, text in block if text.strip()], beam=options.beam)
            translations = iter(filled)
            yield from [next(translations) if text.strip() else "" for _, text in block]
            return
    for number, text in block:
        if not text.strip():
            yield json.dumps(dict.fromkeys(("source", "translation"), "") | _NO_PIECES) if options.json else ""
            continue
        with about(f"Line {number}"):
            trace = translator.translate(text, beam=options.beam)
        yield _as_json(trace) if options.json else trace.translation


def _as_json(trace: Trace) -> str:
    fields = {
        "source": trace.source_text,
        "translation": trace.translation,
        "source_pieces": trace.source_pieces,
        "target_pieces": trace.target_pieces,
        "alignment": [[round(weight, 7) for weight in row] for row in trace.alignment.tolist()],
    }
    return json.dumps(fields, ensure_ascii=False)


def _blocks(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while block := list(islice(items, size)):
        yield block
