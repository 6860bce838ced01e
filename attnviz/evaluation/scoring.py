"""Score links or attention against gold links (AER): infer base (0 or 1) and direction; symmetrise two directions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, TypeVar

from attnviz.analysis.gold import GoldLinks
from attnviz.analysis.measures import (
    CONFIDENCE,
    SAMPLES,
    SYMMETRISATION_METHODS,
    AlignmentError,
    Method,
    WordError,
    score_links,
)
from attnviz.analysis.measures import (
    links as largest_links,
)
from attnviz.arguments import check_choice, check_number, check_seed, check_whole_argument
from attnviz.errors import AttnvizError, user_error
from attnviz.evaluation.file_links import (
    FileLinks,
    LinkedPair,
    SymmetrisedLinks,
    in_words_of,
    matched,
    pair_of_record,
    side_of,
    with_words_of,
)
from attnviz.languages import gettext, ngettext
from attnviz.trace import Aligned, Array, Link
from attnviz.trace.word_link_text import Links, listed_links

_MOST_SAMPLES = 1_000_000
_CLEARLY = 0.1
"""Smallest drop in AER at which another base or direction of the links than the usual one is chosen."""
_Item = TypeVar("_Item")


class LinkConvention(NamedTuple):
    """Base of links and of gold links, and direction of the links."""

    links_base: int
    gold_base: int
    swapped: bool
    """Whether the links have the target word first."""


class ChosenConvention(NamedTuple):
    """The chosen `LinkConvention`, its AER, and that of the usual one."""

    convention: LinkConvention
    side: FileLinks
    """The links in this direction, mapped to the words of the gold file."""
    aer: float
    usual_aer: float | None
    """None where the words of both files show that the links have the target word first."""

    @property
    def links(self) -> list[frozenset[Link]]:
        """The links of each pair, (source word, target word) from 0."""
        return [pair.all for pair in self.side.from_zero(self.convention.links_base)]


@dataclass(frozen=True)
class ScoredLinks:
    """Scores, and remarks on how both files were read."""

    error: AlignmentError
    remarks: tuple[str, ...]
    """In sentences."""
    gold: tuple[GoldLinks, ...]
    """The gold links of each scored pair, between the words of the gold file, from 0."""
    convention: LinkConvention
    numbers: tuple[int, ...]
    """Number of each scored pair, from 1."""
    places: tuple[int | None, ...]
    """Index in the file of links of each scored pair; None for a pair that this file lacks."""


def by_record(items: Sequence[_Item], places: Sequence[int | None]) -> list[_Item | None]:
    """Return the items of matched pairs by the index in their file; None for a pair that the other file lacks."""
    found = {place: item for place, item in zip(places, items, strict=True) if place is not None}
    return [found.get(place) for place in range(max(found, default=-1) + 1)]


class GoldScorer:
    """Scores several matrices of the same records against gold links; base and direction are chosen once."""

    def __init__(self, records: Sequence[Aligned], gold: Any, usual: Sequence[Array]) -> None:
        """Read the gold links; the `usual` matrices, (target words, source words), choose base and direction.

        Raise AttnvizError as `alignment_error` does.
        """
        self._records, self._file = records, side_of(gold, gold=True)
        predicted, reference = self._matched(usual)
        chosen = choose_convention(predicted, reference)
        self._convention, self._gold = chosen.convention, gold_links(chosen, reference)

    def score(self, matrices: Sequence[Array]) -> AlignmentError:
        """Return the scores of the largest weight of each row of the matrices, without a bootstrap interval.

        Those are (Ty, Tx) between words, one for each record.
        """
        predicted, reference = self._matched(matrices)
        turned = predicted.turned() if self._convention.swapped else predicted
        found = in_words_of(reference, turned).from_zero(self._convention.links_base)
        return score_links([pair.all for pair in found], self._gold, samples=0)

    def _matched(self, matrices: Sequence[Array]) -> tuple[FileLinks, FileLinks]:
        links = [Links(frozenset(largest_links(matrix)) if matrix.size else frozenset()) for matrix in matrices]
        predicted = FileLinks(list(map(pair_of_record, self._records, links)), places=range(len(links)))
        return matched(predicted, self._file, [])


def alignment_error(
    links: Any, gold: Any, *, samples: int = SAMPLES, confidence: float = CONFIDENCE, seed: int = 1
) -> AlignmentError:
    """Return AER, precision, recall and F1 of links against gold links, for all sentences and for each.

    Whether files count from 0 or 1, and have the target word first, is inferred from all their links. Pairs are matched
    by their numbers where a file has numbers. Links to words that do not exist count as wrong.

    Args:
        links: A file, what `read_attention` or `symmetrise` returns, or a list with an item for each sentence, which is
            a record, pairs (source word, target word) from 0, or Pharaoh text (`0-0` sure, `1?2` possible). A matrix
            links each target word to the source word of its largest weight, without `</s>`; pieces are mapped to words.
            One sentence needs no list.
        gold: The gold links, in the same forms; of a record, those that people drew (`sure` and `possible`), if any.
        samples: Resampled corpora of the bootstrap interval of the AER, over sentences.
        confidence: Share of the samples inside the interval.
        seed: Seed of the samples.

    Returns:
        The scores.

    Raises:
        AttnvizError: The files are not of the same sentences, there are no links, or a gold link is out of range.
    """
    return score(links, gold, samples=samples, confidence=confidence, seed=seed).error


def score(
    links: Any, gold: Any, *, samples: int = SAMPLES, confidence: float = CONFIDENCE, seed: int = 1
) -> ScoredLinks:
    """Return `alignment_error` with remarks: pairs left out, base and direction of the links, links out of range."""
    check_whole_argument(gettext("samples"), samples, 0, _MOST_SAMPLES)
    check_number(gettext("confidence"), confidence, 1)
    check_seed(seed)
    remarks = list[str]()
    predicted, reference = matched(side_of(links), side_of(gold, gold=True), remarks)
    best = choose_convention(predicted, reference)
    gold_pairs = gold_links(best, reference)
    if best.convention.swapped:
        remarks.append(
            gettext(
                "By their words, your links name the target word first, so source and target were swapped."
                if best.usual_aer is None
                else "Your links seem to name the target word first, so source and target were swapped. The alignment "
                "error rate (AER) is now {aer:.3f}; before the swap it was {other:.3f}.",
                aer=best.aer,
                other=best.usual_aer,
            )
        )
    remarks.append(
        gettext(
            "Your links count words from {links}; the gold links count words from {gold}.",
            links=best.convention.links_base,
            gold=best.convention.gold_base,
        )
    )
    if faulty := best.side.out_of_range(best.convention.links_base, reference):
        remarks.append(
            ngettext(
                "{count} of your links names a word that does not exist, and counts as wrong: {links}.",
                "{count} of your links name words that do not exist, and count as wrong: {links}.",
                len(faulty),
                links=listed_links(faulty),
            )
        )
    error = score_links(best.links, gold_pairs, samples=samples, confidence=confidence, seed=seed)
    pairs = with_words_of(reference, best.side).pairs
    error = replace(error, word_errors=_word_errors(best.links, gold_pairs, pairs))
    numbers, places = tuple(reference.numbers), tuple(predicted.places)
    return ScoredLinks(error, tuple(remarks), tuple(gold_pairs), best.convention, numbers, places)


def _word_errors(
    found: Sequence[frozenset[Link]], gold: Sequence[GoldLinks], pairs: Sequence[LinkedPair]
) -> tuple[WordError, ...] | None:
    """Return the wrong word pairs, the most frequent first; None where the words of a pair with one are unknown."""
    counts = Counter[tuple[str, str, bool]]()
    for links, pair, (_, sides) in zip(found, gold, pairs, strict=True):
        source, target = (side.words for side in sides)
        wrong = [(link, True) for link in links - pair.sure - pair.possible]
        wrong += [(link, False) for link in pair.sure - links]
        if wrong and (source is None or target is None):
            return None
        for (j, i), linked in wrong:
            if source and target and 0 <= j < len(source) and 0 <= i < len(target):
                counts[source[j], target[i], linked] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(WordError(*error, count) for error, count in ordered)


def symmetrise(a: Any, b: Any, method: Method = "grow-diag-final-and") -> SymmetrisedLinks:
    """Return one alignment made of those of both directions (Och & Ney 2003; Koehn et al. 2005).

    Args:
        a: Links of a model from source to target, in the forms of `links` in `alignment_error`.
        b: Links of a model from target to source, in either order. The words of both files decide, else the lower AER
            between them, and `remarks` say what was done.
        method: "intersection", "union" or "grow-diag-final-and", whose results are those of `atools` of fast_align.

    Returns:
        The links, which `alignment_error` scores between the words of `a`.

    Raises:
        AttnvizError: The files hold different pairs, neither has links, or there is no such method.
    """
    check_choice("method", method, SYMMETRISATION_METHODS)
    remarks = list[str]()
    reverse, first = matched(side_of(b), side_of(a), remarks)
    best = choose_convention(reverse, first, same_tokens=True)
    base = best.convention.gold_base
    pairs = [
        LinkedPair(
            Links(SYMMETRISATION_METHODS[method](one.all, other)), tuple(side._replace(map=None) for side in pair.sides)
        )
        for one, other, pair in zip(first.from_zero(base), best.links, first.pairs, strict=True)
    ]
    remarks.append(
        gettext(
            "The reverse links seem to name the target word first, so they were swapped. The error rate between both "
            "directions is {aer:.3f}."
            if best.convention.swapped
            else "The reverse links seem to name the source word first, as the other links do. The error rate between "
            "both directions is {aer:.3f}.",
            aer=best.aer,
        )
    )
    if base or best.convention.links_base:
        remarks.append(
            gettext(
                "The first file counts words from {first}; the second file counts words from {other}.",
                first=base,
                other=best.convention.links_base,
            )
        )
    bases = (0, 1) if first.bases == (0, 1) and base == 0 else (0,)
    return SymmetrisedLinks(replace(first, pairs=pairs, bases=bases, remarks=()), tuple(remarks))


def choose_convention(predicted: FileLinks, reference: FileLinks, *, same_tokens: bool = False) -> ChosenConvention:
    """Return the base and direction with the lowest AER; the usual ones, unless others are clearly better.

    Where both files have words, these decide on the direction. With `same_tokens`, links without words count the tokens
    of the reference. Raise AttnvizError where the words differ, or neither side has links.
    """
    sides = {False: predicted, True: predicted.turned()}
    shared = {swapped: _shared_words(side, reference) for swapped, side in sides.items()}
    fitting = dict[bool, FileLinks]()
    for swapped, side in sides.items():
        if shared[swapped] < shared[not swapped]:
            continue
        try:
            fitting[swapped] = in_words_of(reference, with_words_of(side, reference) if same_tokens else side)
        except AttnvizError:
            if not fitting:
                raise
    rates = dict[LinkConvention, float]()
    for gold_base, links_base, swapped in product(reference.bases, predicted.bases, fitting):
        gold = _gold(reference, gold_base)
        if (
            gold_base
            and len(reference.bases) > 1
            and any(min(link) < 0 for pair in gold for link in pair.sure | pair.possible)
        ):
            continue
        convention = LinkConvention(links_base, gold_base, swapped)
        found = (pair.all for pair in fitting[swapped].from_zero(links_base))
        try:
            rates[convention] = score_links(found, gold, samples=0).aer or 0.0
        except ValueError as error:
            raise user_error("Neither file has links.") from error
    usual = next(iter(rates))
    best = min(rates, key=lambda convention: (rates[convention], convention != usual))
    if rates[best] > rates[usual] - _CLEARLY:
        best = usual
    return ChosenConvention(best, fitting[best.swapped], rates[best], None if usual.swapped else rates[usual])


def _shared_words(side: FileLinks, reference: FileLinks) -> int:
    """Return how many words both files have on the same side of the same pair."""
    return sum(
        len({*map(str.casefold, mine.words)} & {*map(str.casefold, theirs.words)})
        for own, other in zip(side.pairs, reference.pairs, strict=True)
        for mine, theirs in zip(own.sides, other.sides, strict=True)
        if mine.words and theirs.words
    )


def gold_links(best: ChosenConvention, reference: FileLinks) -> list[GoldLinks]:
    """Return the gold links of each pair from 0; raise AttnvizError where there is none, or one is out of range."""
    if not any(pair.links.all for pair in reference.pairs):
        raise user_error("The gold file has no links.")
    if faulty := reference.out_of_range(best.convention.gold_base, best.side):
        raise AttnvizError(
            ngettext(
                "{count} gold link names a word that does not exist: {links}. Give the gold file of these sentences.",
                "{count} gold links name words that do not exist: {links}. Give the gold file of these sentences.",
                len(faulty),
                links=listed_links(faulty),
            )
        )
    return _gold(reference, best.convention.gold_base)


def _gold(reference: FileLinks, base: int) -> list[GoldLinks]:
    """Return the gold links of each pair from 0."""
    return [GoldLinks(pair.all - pair.possible, pair.possible) for pair in reference.from_zero(base)]
