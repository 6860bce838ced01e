"""Score links or attention against gold links (AER): match pairs and words, infer base (0 or 1) and direction."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.alignment_error import CONFIDENCE, SAMPLES, AlignmentError, Link, score_links
from attnviz.analysis.gold import GoldLinks, parse_sure_and_possible
from attnviz.analysis.measures import links as largest_links
from attnviz.errors import AttnvizError
from attnviz.importing.attention_reader import read_attention
from attnviz.importing.link_text import CountingError, Links
from attnviz.importing.records import AttentionRecords
from attnviz.languages import gettext, ngettext
from attnviz.trace import Aligned, Attention
from attnviz.trace.tokens import to_pieces

_CLEARLY = 0.1
"""Smallest drop in AER at which another base or direction of the links than the usual one is chosen."""


class LinkConvention(NamedTuple):
    """Base of links and of gold links, and direction of the links."""

    links_base: int
    gold_base: int
    swapped: bool
    """Whether the links have the target word first."""


class ChosenConvention(NamedTuple):
    """The chosen `LinkConvention`, its AER, and that of the usual one."""

    convention: LinkConvention
    aer: float
    usual_aer: float


@dataclass(frozen=True)
class ScoredLinks:
    """Scores, and remarks on how both files were read."""

    error: AlignmentError
    remarks: tuple[str, ...]
    """In sentences."""
    gold: tuple[GoldLinks, ...]
    """The gold links of each pair, between the words of the gold file, from 0."""


class GoldScorer:
    """Scores several matrices of the same records against gold links; base and direction are chosen once."""

    def __init__(self, records: Sequence[Aligned], gold: Any, usual: Sequence[NDArray[np.float64]]) -> None:
        """Read the gold links; the `usual` matrices, (target words, source words), choose base and direction.

        Raise AttnvizError as `alignment_error` does.
        """
        self._records, self._reference = records, _side(gold)
        if not any(pair.all for pair in self._reference.pairs):
            raise AttnvizError(gettext("The gold file has no links."))
        predicted = self._predicted(usual)
        self._convention = choose_convention(predicted, self._reference).convention

    def score(self, matrices: Sequence[NDArray[np.float64]]) -> AlignmentError:
        """Return the scores of the largest weight of each row of the matrices, without a bootstrap interval.

        Those are (Ty, Tx) between words, one for each record.
        """
        predicted = self._predicted(matrices)
        return score_links(
            moved_links(predicted, self._convention), _gold(self._reference, self._convention), samples=0
        )

    def _predicted(self, matrices: Sequence[NDArray[np.float64]]) -> FileLinks:
        pairs = [Links(frozenset(largest_links(matrix)) if matrix.size else frozenset()) for matrix in matrices]
        words = [tuple(map(_without_end, (one.source, one.target))) for one in (rec.words() for rec in self._records)]
        predicted = FileLinks(pairs, (0,), words, grows=False)  # type: ignore[arg-type]
        predicted, self._reference = _same_length(predicted, self._reference, [])
        return _in_gold_words(predicted, self._reference)


class FileLinks(NamedTuple):
    """The links of every pair of one file."""

    pairs: list[Links]
    bases: tuple[int, ...]
    """Possible numbers of the first token, 0 or 1; links from a matrix count from 0."""
    words: list[tuple[list[str] | None, list[str] | None]]
    """The words of each pair, as far as they are known."""
    grows: bool
    """Whether pairs at the end may be missing because they have no links."""
    counted: int | None = None
    """Number of the first token in the file, 0 or 1, where its own tokens determine it.

    None where it is the one with the lower error.
    """


def alignment_error(
    links: Any, gold: Any, *, samples: int = SAMPLES, confidence: float = CONFIDENCE, seed: int = 1
) -> AlignmentError:
    """Return AER, precision, recall and F1 of links against gold links, for all sentences and for each.

    Each of `links` and `gold` is a file, what `read_attention` returns, or a list with an item for each sentence: a
    record, pairs (source word, target word) from 0, or Pharaoh text, `0-0` sure and `1?2` possible. A matrix links each
    target word to the source word of its largest weight, without `</s>`; pieces are mapped to words. Whether files
    count from 0 or 1, and have the target word first, is inferred from all their links.
    The interval of the AER is a bootstrap over sentences (`samples` corpora, percentiles of `confidence`).
    Raise AttnvizError where they are not of the same sentences, or there are no links.
    """
    return score(links, gold, samples=samples, confidence=confidence, seed=seed).error


def score(
    links: Any, gold: Any, *, samples: int = SAMPLES, confidence: float = CONFIDENCE, seed: int = 1
) -> ScoredLinks:
    """Return `alignment_error` with remarks on the base and direction of the links."""
    remarks = list[str]()
    predicted, reference = matched_sides(links, gold, remarks)
    if not any(pair.all for pair in reference.pairs):
        raise AttnvizError(gettext("The gold file has no links."))
    best = choose_convention(predicted, reference)
    if best.convention.swapped:
        remarks.append(
            gettext(
                "Your links seem to name the target word first, so source and target were swapped. The alignment "
                "error rate (AER) is now {aer:.3f}; before the swap it was {other:.3f}.",
                aer=best.aer,
                other=best.usual_aer,
            )
        )
    remarks.append(
        gettext(
            "Your links count words from {links}; the gold links count words from {gold}.",
            links=best.convention.links_base if predicted.counted is None else predicted.counted,
            gold=best.convention.gold_base if reference.counted is None else reference.counted,
        )
    )
    gold_links = _gold(reference, best.convention)
    error = score_links(
        moved_links(predicted, best.convention), gold_links, samples=samples, confidence=confidence, seed=seed
    )
    return ScoredLinks(error, tuple(remarks), tuple(gold_links))


def matched_sides(links: Any, gold: Any, remarks: list[str]) -> tuple[FileLinks, FileLinks]:
    """Return the links of both files, pair by pair, between the words of the second; append to `remarks`.

    Raise AttnvizError where the files have different numbers of pairs, or their words differ.
    """
    reference = _side(gold)
    predicted, reference = _same_length(_side(links), reference, remarks)
    return _in_gold_words(predicted, reference), reference


def _side(links: Any) -> FileLinks:
    """Return the links of a file, of records, or of a list."""
    if isinstance(links, (str, os.PathLike)):
        links = read_attention(links)
    if isinstance(links, AttentionRecords):
        return _records_side(links)
    pairs, words = list[Links](), list[tuple[list[str] | None, list[str] | None]]()
    for item in links:
        if isinstance(item, Aligned):
            pairs.append(_record_links(item))
            shown = item.words()
            words.append((_without_end(shown.source), _without_end(shown.target)))
        else:
            pairs.append(_item_links(item))
            words.append((None, None))
    return FileLinks(pairs, (0,), words, grows=False)


def _item_links(item: Any) -> Links:
    """Return the links of one sentence in a list."""
    if isinstance(item, str):
        sure, possible = parse_sure_and_possible(item) if item.strip() else (frozenset[Link](), frozenset[Link]())
        return Links(sure | possible, possible - sure)
    if hasattr(item, "sure") and hasattr(item, "possible"):
        return Links(frozenset(item.sure) | frozenset(item.possible), frozenset(item.possible) - frozenset(item.sure))
    try:
        return Links(frozenset((int(j), int(i)) for j, i in item))
    except (TypeError, ValueError) as error:
        raise AttnvizError(
            gettext("A link must be a pair of numbers: source word and target word, both counted from 0.")
        ) from error


def _record_links(record: Aligned) -> Links:
    """Return the links of a record between its words: those it was made of, or the largest weight of each row."""
    if isinstance(record, Attention) and (record.sure or record.possible) and not record.links:
        return Links(frozenset(record.sure) | frozenset(record.possible), frozenset(record.possible))
    words = record.words()
    target, source = linkable_size(record)
    if isinstance(record, Attention) and words.links:
        inside = frozenset((j, i) for j, i in words.links if j < source and i < target)
        return Links(inside, frozenset(record.possible) & inside)
    between = np.asarray(words.alignment, dtype=np.float64)[:target, :source]
    return Links(frozenset(largest_links(between)) if between.size else frozenset())


def linkable_size(record: Aligned) -> tuple[int, int]:
    """Return the numbers of target and source words of a record, without `</s>` at the end."""
    words = record.words()
    return len(_without_end(words.target)), len(_without_end(words.source))


def _without_end(words: Sequence[str]) -> list[str]:
    return list(words[:-1] if words and words[-1] == "</s>" else words)


def _records_side(records: AttentionRecords) -> FileLinks:
    """Return the links of a file, between words where its tokens are known, else between tokens."""
    file_pairs = list(records.pairs)
    grows = records.format == "naacl"
    if not any(pair.links is not None for pair in file_pairs):
        loaded = list(records)
        words = [record.words() for record in loaded]
        return FileLinks(
            [_record_links(record) for record in loaded],
            (0,),
            [(_without_end(one.source), _without_end(one.target)) for one in words],
            grows,
        )
    pairs, sides = list[Links](), list[tuple[list[str] | None, list[str] | None]]()
    known, counted = True, None
    for index, pair in enumerate(file_pairs):
        tokens = records.tokens(index)
        known &= None not in tokens
        sides.append((tokens[0], tokens[1]))
        pairs.append(pair.links or Links(frozenset()))
    bases = (records.pairs.base,) if records.pairs.base is not None else _bases(records, pairs)
    if known and len(bases) == 1:
        pairs = [_between_words(links, bases[0], side) for links, side in zip(pairs, sides, strict=True)]
        sides = [(joined_words(source), joined_words(target)) for source, target in sides]
        bases, counted = (0,), bases[0]
    return FileLinks(pairs, bases, sides, grows, counted)


def _bases(records: AttentionRecords, pairs: Sequence[Links]) -> tuple[int, ...]:
    """Return the possible bases, 0 or 1, of the links of a file, judging by its own links and tokens."""
    if any(0 in link for links in pairs for link in links.all):
        return (0,)
    try:
        counting = records.link_counting
    except CountingError:
        return (0, 1)  # the tokens may be those of the other direction
    return (counting.base,) if counting.remark == "counted-from-1" else (0, 1)


def joined_words(tokens: Sequence[str] | None) -> list[str] | None:
    """Return the words that tokens form by their subword marks."""
    if tokens is None:
        return None
    pieces = to_pieces(tokens)
    words = [""] * (pieces.words[-1] + 1 if pieces.words else 0)
    for piece, word in zip(pieces.pieces, pieces.words, strict=True):
        words[word] += piece.lstrip("\u2581")
    return words


def _between_words(links: Links, base: int, tokens: tuple[Sequence[str] | None, Sequence[str] | None]) -> Links:
    """Return links between the words that tokens form by their subword marks, from 0, without those of `</s>`."""
    word_indices = [to_pieces(side or ()).words if side else () for side in tokens]

    def word(link: Link) -> Link | None:
        j, i = link[0] - base, link[1] - base
        return (
            (word_indices[0][j], word_indices[1][i]) if j < len(word_indices[0]) and i < len(word_indices[1]) else None
        )

    moved = [
        frozenset(word_link for link in group if (word_link := word(link))) for group in (links.all, links.possible)
    ]
    return Links(moved[0], moved[1] - frozenset(word(link) for link in links.all - links.possible))


def _same_length(predicted: FileLinks, reference: FileLinks, remarks: list[str]) -> tuple[FileLinks, FileLinks]:
    """Return both sides with the same number of pairs."""
    extra = len(predicted.pairs) - len(reference.pairs)
    if extra < 0 and predicted.grows:
        predicted = predicted._replace(
            pairs=[*predicted.pairs, *[Links(frozenset())] * -extra], words=[*predicted.words, *[(None, None)] * -extra]
        )
    elif extra > 0 and reference.grows:
        count = len(reference.pairs)
        predicted = predicted._replace(pairs=predicted.pairs[:count], words=predicted.words[:count])
        remarks.append(
            ngettext(
                "The last sentence pair is left out: only one of the two files contains this pair.",
                "The last {count} sentence pairs are left out: only one of the two files contains these pairs.",
                extra,
            )
        )
    elif extra:
        raise different_pairs(len(predicted.pairs), len(reference.pairs))
    return predicted, reference


def different_pairs(links: int, gold: int) -> AttnvizError:
    """Return the error for two files with different numbers of sentence pairs."""
    return AttnvizError(
        gettext(
            "One file has links for {links} sentence pairs, but the other file has links for {gold}. Compared files "
            "must hold the same sentence pairs, in the same order.",
            links=links,
            gold=gold,
        )
    )


def different_words(number: int, own: Sequence[str], others: Sequence[str]) -> AttnvizError:
    """Return the error for a pair, counted from 1, whose words are not the same in both files."""
    return AttnvizError(
        gettext(
            "The words of pair {number} differ: one file has “{own}”, the other file has “{gold}”.",
            number=number,
            own=" ".join(own)[:60],
            gold=" ".join(others)[:60],
        )
    )


def _in_gold_words(predicted: FileLinks, reference: FileLinks) -> FileLinks:
    """Return links between the words of the gold file; where words are split differently, map them by characters."""
    pairs = list(predicted.pairs)
    for index, (own, others) in enumerate(zip(predicted.words, reference.words, strict=True)):
        maps = [_owners(mine, theirs, index + 1) for mine, theirs in zip(own, others, strict=True)]
        if maps == [None, None]:
            continue
        source, target = maps

        def moved(links: Iterable[Link], source: Any = source, target: Any = target) -> Iterator[Link]:
            return ((source[j] if source else j, target[i] if target else i) for j, i in links)

        try:
            pairs[index] = Links(frozenset(moved(pairs[index].all)), frozenset(moved(pairs[index].possible)))
        except IndexError as error:
            raise AttnvizError(
                gettext("Pair {number}: a link names a word that is not in the sentence.", number=index + 1)
            ) from error
    return predicted._replace(pairs=pairs)


def _owners(mine: list[str] | None, theirs: list[str] | None, number: int) -> list[int] | None:
    """Return the index in `theirs` of the word that holds most of each of `mine`; None where no map is needed."""
    if mine is None or theirs is None or len(mine) == len(theirs):
        return None
    if "".join(mine) != "".join(theirs):
        raise different_words(number, mine, theirs)
    from attnviz.evaluation.alignment import memberships  # torch loads with it

    return [int(word) for word in memberships(mine, theirs).argmax(axis=0)]


def choose_convention(
    predicted: FileLinks, reference: FileLinks, directions: Sequence[bool] = (False, True)
) -> ChosenConvention:
    """Return the base and direction with the lowest AER; the usual ones, unless others are clearly better.

    `directions` are the possible values of `LinkConvention.swapped`. At least one side must have links.
    """
    rates = dict[LinkConvention, float]()
    for gold_base, links_base, swapped in product(reference.bases, predicted.bases, directions):
        convention = LinkConvention(links_base, gold_base, swapped)
        gold = _gold(reference, convention)
        if all(j >= 0 and i >= 0 for pair in (*gold,) for j, i in pair.sure | pair.possible):
            rates[convention] = score_links(moved_links(predicted, convention), gold, samples=0).aer or 0.0
    usual = next(iter(rates))
    best = min(rates, key=lambda convention: (rates[convention], convention != usual))
    if rates[best] > rates[usual] - _CLEARLY:
        best = usual
    return ChosenConvention(best, rates[best], rates[usual])


def moved_links(predicted: FileLinks, convention: LinkConvention) -> list[frozenset[Link]]:
    """Return the links of each pair as (source word, target word) from 0."""
    sides = (pair.swapped() if convention.swapped else pair for pair in predicted.pairs)
    return [pair.moved(-convention.links_base, -convention.links_base).all for pair in sides]


def _gold(reference: FileLinks, convention: LinkConvention) -> list[GoldLinks]:
    """Return the gold links of each pair from 0."""
    moved = [pair.moved(-convention.gold_base, -convention.gold_base) for pair in reference.pairs]
    return [GoldLinks(pair.all - pair.possible, pair.possible) for pair in moved]
