"""The command `attnviz align`: link the words of sentence pairs by attention or by its posterior."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from attnviz.commands.options import (
    AS_INPUT,
    AS_OUTPUT,
    INPUT_OPTIONS,
    HeadOptions,
    ModelOptions,
    Output,
    Positive,
    Share,
    Unescape,
)
from attnviz.commands.shared import (
    STDIN,
    input_lines,
    model_text,
    print_skipped,
    printing_to,
    progress,
    report_escapes,
)
from attnviz.errors import AttnvizError, locate_errors

if TYPE_CHECKING:
    from attnviz.pair_files import Skipped
    from attnviz.trace import Words
    from attnviz.translator import Translator


@INPUT_OPTIONS
@dataclass(frozen=True)
class _Options:
    """How pairs are read and linked."""

    after: Annotated[bool | None, AS_OUTPUT, Parameter(negative="--before")] = None
    """link words by posterior attention, the attention once the target word is known (--after, the default for
    RNNsearch models; not possible for transformers and imported models), or by attention, as computed before the target
    word is known (--before, the default for transformers and imported models)"""
    threshold: Annotated[Share | None, AS_OUTPUT] = None
    """link every pair of words whose posterior attention (with --before: attention) is at least this value, from 0 to
    1"""
    words: Annotated[bool, AS_OUTPUT] = False
    """before the links, print the words that the link numbers refer to"""
    tokenised: bool = False
    """the tokens of a sentence are separated by spaces, as in “I 'm hungry .”; link numbers count these tokens"""
    unescape: Unescape = False
    batch_size: Positive = 200
    """number of pairs computed together"""
    skip_malformed: bool = False
    """print a blank line for lines that are not source<TAB>target, even if they are more than 1 % of the file, and for
    pairs that are too long for the model"""

    def text(self, sentence: str) -> str:
        """Return the text that the model reads for a sentence."""
        return model_text(sentence, unescape=self.unescape, tokenised=self.tokenised)


def align_command(
    file: Annotated[str, AS_INPUT, Parameter(show_default=False)] = STDIN,
    /,
    *,
    options: _Options = _Options(),
    output: Output | None = None,
    heads: HeadOptions = HeadOptions(),
    model: ModelOptions = ModelOptions(),
) -> None:
    """Link the words of sentence pairs by attention.

    Args:
        file: file with one source<TAB>target per line; “-” or no file means standard input
        output: file to write the links to
    """
    folder = model.folder  # fails before torch is imported, and input is read
    from attnviz.evaluation.alignment import between_tokens

    pairs, skipped = _numbered_pairs(file, options)
    translator = model.load()
    if not translator.network.attends:
        raise AttnvizError(
            f"The model {folder} has no attention, so it cannot align words. Choose another model with --model."
        )
    once = translator.network.attends_once
    if options.after and not once:
        raise AttnvizError(
            f"Posterior attention needs an RNNsearch model, but {folder} is a transformer or was imported "
            "from another toolkit. Leave out --after."
        )
    after = once if options.after is None else options.after
    if options.skip_malformed:
        too_long = _too_long(translator, pairs, options)
        pairs = [pair for pair in pairs if pair[0] not in too_long]
        skipped += list(too_long.values())
    if not options.unescape:
        report_escapes((number, f"{one} {two}") for number, one, two in pairs)
    given = [(number, options.text(one), options.text(two)) for number, one, two in pairs]
    # Attention of chosen heads is computed from traces, one pair at a time.
    linked = (
        _words_of_heads(translator, given, heads)
        if heads.given
        else _words(translator, given, after, options.batch_size)
    )
    printed = 0
    with printing_to(output), progress("pair", len(pairs), hidden=sys.stdout.isatty()) as bar:
        for (number, source, target), linked_words in zip(pairs, linked, strict=False):
            for _ in range(printed + 1, number):  # lines of output and input correspond
                print(flush=True)
            if options.tokenised:
                linked_words = between_tokens(linked_words, *(_tokens(side, options) for side in (source, target)))
            print(_pharaoh(linked_words, options.threshold, options.words), flush=True)
            printed = number
            bar.update()
        for _ in range(sum(line.number > printed for line in skipped)):
            print()


def _numbered_pairs(file: str, options: _Options) -> tuple[list[tuple[int, str, str]], list[Skipped]]:
    """Return the pairs of the file with the numbers of their lines, and the skipped lines, which are reported."""
    from attnviz.file_kinds import STANDARD_INPUT
    from attnviz.pair_files import pairs_in

    name = STANDARD_INPUT if file == STDIN else file
    found = pairs_in(input_lines(file), Path(name), skip_malformed=options.skip_malformed)
    print_skipped([(line.number, line.reason) for line in found.skipped], len(found.skipped))
    left_out = {line.number for line in found.skipped}
    numbers = (number for number in itertools.count(1) if number not in left_out)
    return [(number, *pair) for number, pair in zip(numbers, found.pairs, strict=False)], found.skipped


def _too_long(translator: Translator, pairs: Sequence[tuple[int, str, str]], options: _Options) -> dict[int, Skipped]:
    """Return the numbered pairs that the model cannot read, by the number of their line, and report them."""
    from attnviz.evaluation.forced import EncodedPair
    from attnviz.pair_files import Skipped

    found = {}
    for number, source, target in pairs:
        try:
            EncodedPair.of(translator.tokenizer, options.text(source), options.text(target))
        except AttnvizError as error:
            found[number] = Skipped(number, str(error).removesuffix("."), malformed=False)
    print_skipped([(line.number, line.reason) for line in found.values()], len(found))
    return found


def _tokens(text: str, options: _Options) -> list[str]:
    """Return the tokens of a sentence of the file."""
    from attnviz.trace.tokens import unescaped

    return unescaped(text.split(), joiner="") if options.unescape else text.split()


def _words(
    translator: Translator, pairs: Sequence[tuple[int, str, str]], after: bool, batch_size: int
) -> Iterator[Words]:
    """Yield the words of each numbered pair with the attention, or the posterior, between them.

    Raise AttnvizError with the line number of an invalid pair, after yielding the pairs before it.
    """
    from attnviz.analysis.posterior import DEFAULT
    from attnviz.corpora.batch_posterior import BatchPosterior
    from attnviz.evaluation.forced import EncodedPair, force_encoded

    posterior = BatchPosterior(translator, DEFAULT) if after else None
    for start in range(0, len(pairs), batch_size):
        encoded, problem = [], None
        for number, source, target in pairs[start : start + batch_size]:
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
    translator: Translator, pairs: Sequence[tuple[int, str, str]], heads: HeadOptions
) -> Iterator[Words]:
    """Yield the words of each numbered pair with the attention of the chosen heads between them."""
    for number, source, target in pairs:
        with locate_errors(f"Line {number}"):
            yield heads.of(translator.translate(source, target=target)).words()


def _pharaoh(words: Words, threshold: float | None, named: bool) -> str:
    """Return the links as `i-j`, source before target, both from 0; if `named`, after the words of both sides."""
    from attnviz.analysis.gold import pharaoh

    links = pharaoh(words, threshold)
    return "\t".join([" ".join(words.source[:-1]), " ".join(words.target[:-1]), links]) if named else links
