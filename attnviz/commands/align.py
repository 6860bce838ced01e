"""The command `attnviz align`: link the words of sentence pairs by attention or by its posterior."""

from __future__ import annotations

import argparse
import itertools
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from attnviz import AttnvizError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from attnviz.text_files import Skipped
    from attnviz.trace import Words
    from attnviz.translator import Translator
from attnviz.commands.shared import (
    Command,
    add_head_options,
    add_model_options,
    add_unescape_option,
    input_lines,
    load_translator,
    model_text,
    positive,
    print_skipped,
    progress,
    report_escapes,
    share,
    with_heads,
)
from attnviz.errors import locate_errors

_TOGETHER = 200
"""Default number of pairs computed and printed together."""


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    command.add_argument(
        "file",
        nargs="?",
        default="-",
        help="file with one source<TAB>target per line; “-” or no file means standard input",
    )
    when = command.add_mutually_exclusive_group()
    when.add_argument(
        "--after",
        dest="after",
        action="store_true",
        default=None,
        help="link words by posterior attention, the attention once the target word is known (the default for "
        "RNNsearch models; not possible for transformers and imported models)",
    )
    when.add_argument(
        "--before",
        dest="after",
        action="store_false",
        help="link words by attention, as computed before the target word is known (the default for transformers "
        "and imported models)",
    )
    command.add_argument(
        "--threshold",
        type=share,
        help="link every pair of words whose posterior attention (with --before: attention) is at least this "
        "value, from 0 to 1",
    )
    command.add_argument(
        "--words", action="store_true", help="before the links, print the words that the link numbers refer to"
    )
    command.add_argument(
        "--tokenised",
        action="store_true",
        help="the tokens of a sentence are separated by spaces, as in “I 'm hungry .”; link numbers count these tokens",
    )
    add_unescape_option(command)
    command.add_argument(
        "--batch-size", type=positive, default=_TOGETHER, metavar="N", help="number of pairs computed together"
    )
    command.add_argument(
        "--skip-malformed",
        action="store_true",
        help="print a blank line for lines that are not source<TAB>target, even if they are more than 1 %% of the file",
    )
    add_head_options(command)
    add_model_options(command, beam=False)


def _run(options: argparse.Namespace) -> None:
    """Print the links of each pair; raise AttnvizError, with the line number, for an invalid one."""
    pairs, skipped = _numbered_pairs(options)
    translator = load_translator(options)
    if not translator.network.attends:
        raise AttnvizError(
            f"The model {options.model} has no attention, so it cannot align words. Choose another model with --model."
        )
    once = translator.network.attends_once
    if options.after and not once:
        raise AttnvizError(
            f"Posterior attention needs an RNNsearch model, but {options.model} is a transformer or was imported "
            "from another toolkit. Leave out --after."
        )
    after = once if options.after is None else options.after
    # Attention of chosen heads is computed from traces, one pair at a time.
    words = _words_of_heads if "layer" in options or "head" in options else _words
    if not options.unescape:
        report_escapes((number, f"{one} {two}") for number, one, two in pairs)
    given = [(number, model_text(one, options), model_text(two, options)) for number, one, two in pairs]
    printed = 0
    with progress("pair", len(pairs), hidden=sys.stdout.isatty()) as bar:
        for (number, source, target), linked_words in zip(
            pairs, words(translator, given, after, options), strict=False
        ):
            for _ in range(printed + 1, number):  # lines of output and input correspond
                print(flush=True)
            if options.tokenised:
                linked_words = _between_tokens(linked_words, *(_tokens(side, options) for side in (source, target)))
            print(_pharaoh(linked_words, options.threshold, options.words), flush=True)
            printed = number
            bar.update()
    for _ in range(sum(line.number > printed for line in skipped)):
        print()


def _numbered_pairs(options: argparse.Namespace) -> tuple[list[tuple[int, str, str]], Sequence[Skipped]]:
    """Return the pairs of the file with the numbers of their lines, and the skipped lines, which are reported."""
    from attnviz.reading import STANDARD_INPUT, read_text_lines
    from attnviz.text_files import pairs_in

    name = STANDARD_INPUT if options.file == "-" else options.file
    lines = input_lines() if options.file == "-" else read_text_lines(Path(options.file))
    found = pairs_in(lines, Path(name), skip_malformed=options.skip_malformed)
    print_skipped([(line.number, line.reason) for line in found.skipped], len(found.skipped))
    left_out = {line.number for line in found.skipped}
    numbers = (number for number in itertools.count(1) if number not in left_out)
    return [(number, *pair) for number, pair in zip(numbers, found.pairs, strict=False)], found.skipped


def _tokens(text: str, options: argparse.Namespace) -> list[str]:
    """Return the tokens of a sentence of the file."""
    from attnviz.trace.tokens import unescaped

    return unescaped(text.split(), joiner="") if options.unescape else text.split()


def _between_tokens(words: Words, source: list[str], target: list[str]) -> Words:
    from attnviz.evaluation.alignment import between_tokens

    return between_tokens(words, source, target)


def _words(
    translator: Translator, pairs: Sequence[tuple[int, str, str]], after: bool, options: argparse.Namespace
) -> Iterator[Words]:
    """Yield the words of each numbered pair with the attention, or the posterior, between them.

    Raise AttnvizError with the line number of an invalid pair, after yielding the pairs before it.
    """
    from attnviz.analysis.posterior import DEFAULT
    from attnviz.corpora.batch_posterior import BatchPosterior
    from attnviz.evaluation.forced import EncodedPair, force_encoded

    posterior = BatchPosterior(translator, DEFAULT) if after else None
    for start in range(0, len(pairs), options.batch_size):
        encoded, problem = [], None
        for number, source, target in pairs[start : start + options.batch_size]:
            try:
                with locate_errors(f"Line {number}"):
                    encoded.append(EncodedPair.of(translator.tokenizer, source, target))
            except AttnvizError as error:
                problem = error
                break
        for pair in force_encoded(translator, encoded, posterior):
            words = pair.words()
            yield words if pair.posterior is None else replace(words, alignment=words.merged(pair.posterior))
        if problem:
            raise problem


def _words_of_heads(
    translator: Translator, pairs: Sequence[tuple[int, str, str]], _: bool, options: argparse.Namespace
) -> Iterator[Words]:
    """Yield the words of each numbered pair with the attention of the chosen heads between them."""
    for number, source, target in pairs:
        with locate_errors(f"Line {number}"):
            yield with_heads(translator.translate(source, target=target), options).words()


def _pharaoh(words: Words, threshold: float | None, named: bool) -> str:
    """Return the links as `i-j`, source before target, both from 0; if `named`, after the words of both sides."""
    from attnviz.analysis.gold import pharaoh

    links = pharaoh(words, threshold)
    return "\t".join([" ".join(words.source[:-1]), " ".join(words.target[:-1]), links]) if named else links


ALIGN_COMMAND = Command("align", "link the words of sentence pairs by attention", _add_options, _run)
