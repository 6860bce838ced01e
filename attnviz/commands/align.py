"""The command `attnviz align`: the words of sentence pairs linked by attention, before or after the word."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from attnviz import AttnvizError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from attnviz.trace import Words
from attnviz.commands.shared import (
    about,
    add_head_options,
    add_model_options,
    input_lines,
    load_translator,
    numbered,
    progress,
    seen_by_heads,
    share,
)

SUMMARY = "link the words of sentence pairs, by what attention turned out to be about"


def add_options(command: argparse.ArgumentParser) -> None:
    """Give `command` its options."""
    command.add_argument("file", nargs="?", default="-", help="source<TAB>target a line; - or nothing: standard input")
    when = command.add_mutually_exclusive_group()
    when.add_argument(
        "--after",
        dest="after",
        action="store_true",
        default=None,
        help="by the posterior, once the word written is known; the default, for it draws better links on the "
        "development links (see the card of en-fr), but for a transformer or an import, which have none",
    )
    when.add_argument(
        "--before", dest="after", action="store_false", help="by attention, which is chosen before the word is known"
    )
    command.add_argument(
        "--threshold",
        type=share,
        help="link all words with at least this share of the posterior (or, with --before, of attention)",
    )
    command.add_argument(
        "--words", action="store_true", help="print the words that the numbers count, before the links"
    )
    add_head_options(command)
    add_model_options(command, beam=False)


def run(options: argparse.Namespace) -> None:
    """Print the links of each pair; raise AttnvizError, with the number of the line, for a bad one."""
    from attnviz.analysis.posterior import words_after
    from attnviz.text_files import read_text_lines

    lines = list(numbered(input_lines() if options.file == "-" else read_text_lines(Path(options.file))))
    pairs = [(number, *_pair(number, line)) for number, line in lines]
    if not pairs:
        raise AttnvizError("There is no sentence pair to align. Give source<TAB>target a line.")
    translator = load_translator(options)
    if not translator.network.attends:
        raise AttnvizError(
            f"The model {options.model} has no attention, so it aligns nothing. Name another with --model."
        )
    once = translator.network.attends_once
    if options.after and not once:
        raise AttnvizError(
            f"The model {options.model} is a transformer, or was imported, and has no links after the word: leave out "
            "--after."
        )
    after = once if options.after is None else options.after
    weights = _weights(options.model) if after else {}
    with progress("pair", len(pairs), hidden=sys.stdout.isatty()) as bar:
        for number, source, target in pairs:
            with about(f"Line {number}"):
                trace = seen_by_heads(translator.translate(source, target=target), options)
                words = words_after(trace, weights) if after else trace.words()
            print(_pharaoh(words, options.threshold, options.words), flush=True)
            bar.update()


def _weights(folder: Path) -> dict[str, NDArray[np.float64]]:
    import numpy as np

    from attnviz.analysis import load_weights

    return {name: np.asarray(value, dtype=np.float64) for name, value in load_weights(folder).items()}


def _pharaoh(words: Words, threshold: float | None, named: bool) -> str:
    """Return the links as `i-j`, source before target, both from 0; where `named`, after the words of both sides."""
    from attnviz.analysis.pharaoh import pharaoh

    found = pharaoh(words, threshold)
    return "\t".join([" ".join(words.source[:-1]), " ".join(words.target[:-1]), found]) if named else found


def _pair(number: int, line: str) -> tuple[str, str]:
    columns = line.split("\t")
    if len(columns) != 2:
        raise AttnvizError(f"Line {number} must be source<TAB>target, with exactly one tab.")
    return columns[0], columns[1]
