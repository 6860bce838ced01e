"""Two attention files of the same pairs: agreement of their links, matching of pairs, missing tokens, gold links."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from attnviz.analysis.gold import GoldLinks, linkable_words, validated
from attnviz.analysis.measures import PairAgreement, error_between
from attnviz.errors import AttnvizError, user_error
from attnviz.evaluation.file_links import (
    FileLinks,
    common_numbers,
    different_pairs,
    different_words,
    in_words_of,
    joined_words,
    matched,
    pair_numbers,
    side_of,
)
from attnviz.evaluation.scoring import choose_convention
from attnviz.importing.records import AttentionRecords
from attnviz.languages import gettext, ngettext
from attnviz.trace import Aligned, OneLine
from attnviz.trace.tokens import are_special
from attnviz.trace.word_link_text import CountingError, listed_links


@dataclass(frozen=True, repr=False)
class LinkAgreement(OneLine):
    """The links of two programs for the same sentence pairs."""

    pairs: tuple[PairAgreement, ...]
    remarks: tuple[str, ...]
    """In sentences: how both files were read, and which words differ."""
    numbers: tuple[int, ...]
    """Number of each pair, from 1."""
    places: tuple[int | None, ...]
    """Index in the first file of each pair; None for a pair that this file lacks."""

    @property
    def aer(self) -> float | None:
        """AER over all pairs: all links of both count as sure, so that neither program is preferred."""
        return error_between(self.pairs)


def link_agreement(first: Any, other: Any) -> LinkAgreement:
    """Compare the links of two programs for the same sentence pairs, matched by their numbers if a file has these.

    A matrix links each target word to the source word of its largest weight. Words that are only split differently are
    mapped by their characters.

    Args:
        first: Links in the forms of `links` in `alignment_error`.
        other: Links of the other program.

    Returns:
        The links of both for each pair, with remarks and the AER between them.

    Raises:
        AttnvizError: The files hold different pairs, or neither has links.
    """
    remarks = list[str]()
    own, theirs = matched(side_of(first), side_of(other), remarks)
    best = choose_convention(own, theirs)
    base, other_base, swapped = best.convention
    remarks += _remarks_on_words(best.side, theirs)
    if swapped:
        remarks.append(
            gettext("One file seems to name the target word first, so its source and target words were swapped.")
        )
    if base or other_base:
        remarks.append(
            gettext(
                "The first file counts words from {first}; the second file counts words from {other}.",
                first=base,
                other=other_base,
            )
        )
    if faulty := best.side.out_of_range(base, theirs) + theirs.out_of_range(other_base, best.side):
        remarks.append(
            ngettext(
                "{count} link names a word that does not exist, and counts like the others: {links}.",
                "{count} links name words that do not exist, and count like the others: {links}.",
                len(faulty),
                links=listed_links(faulty),
            )
        )
    other_links = (pair.all for pair in theirs.from_zero(other_base))
    pairs = tuple(PairAgreement(one, two) for one, two in zip(best.links, other_links, strict=True))
    return LinkAgreement(pairs, tuple(remarks), tuple(theirs.numbers), tuple(own.places))


def _remarks_on_words(first: FileLinks, other: FileLinks) -> list[str]:
    """Return a sentence about words that differ; raise AttnvizError where no word is the same at the same place."""
    differing = dict[int, tuple[str, str]]()
    for number, *pairs in zip(other.numbers, first.pairs, other.pairs, strict=True):
        for (own, _), (theirs, _) in zip(*(sides for _, sides in pairs), strict=True):
            if not own or not theirs or len(own) != len(theirs) or own == theirs:
                continue
            if not any(map(_same_word, own, theirs)):
                raise different_words(number, own, theirs)
            word = next((one, two) for one, two in zip(own, theirs, strict=True) if one != two)
            differing.setdefault(number, word)
    if not differing:
        return []
    number, (one, two) = next(iter(differing.items()))
    return [
        ngettext(
            "In {count} pair, the two files have different words, such as “{one}” and “{two}” in pair {number}. Words "
            "are matched by their position.",
            "In {count} pairs, the two files have different words, such as “{one}” and “{two}” in pair {number}. "
            "Words are matched by their position.",
            len(differing),
            one=one[:30],
            two=two[:30],
            number=number,
        )
    ]


def with_tokens_of(records: AttentionRecords, other: AttentionRecords) -> AttentionRecords:
    """Return `records` with the words of `other` on each side where their file has no tokens.

    Where the links fit only the tokens that form the words, take those, without special tokens if they fit.
    """

    def ordinary(tokens: list[str] | None) -> list[str] | None:
        marks = are_special(tokens or (), other.options.special)
        return tokens and [token for token, mark in zip(tokens, marks, strict=True) if not mark]

    for change in (joined_words, ordinary):
        made = _with_sides_of(records, other, change)
        with suppress(CountingError):
            if made.link_counting:
                return made
    return _with_sides_of(records, other, lambda tokens: tokens)


def _with_sides_of(
    records: AttentionRecords, other: AttentionRecords, change: Callable[[list[str] | None], list[str] | None]
) -> AttentionRecords:
    if len(records) != len(other) or any(pair.line not in (None, index) for index, pair in enumerate(records.pairs)):
        return records
    given = dict[str, Sequence[list[str] | None]]()
    for side, name in enumerate(("source", "target")):
        own, theirs = ([one.tokens(index)[side] for index in range(len(one))] for one in (records, other))
        if None in own and None not in theirs:
            given[name] = [change(tokens) for tokens in theirs]
    return dataclasses.replace(records, **given) if given else records  # type: ignore[arg-type]


def check_pair_counts(records: AttentionRecords, file: AttentionRecords) -> None:
    """Raise AttnvizError where no pair of `records` can be one of the `file`."""
    count = len(file)
    if given := _given_numbers(records, file):
        common_numbers(given[0], count, given[1], len(records))
        return
    if len(records) in (1, count):
        return
    if count > 1 or records.tokens(0) == (None, None):
        raise different_pairs(count, len(records))


def _given_numbers(
    records: AttentionRecords, file: AttentionRecords
) -> tuple[Sequence[int] | None, Sequence[int] | None] | None:
    """Return the numbers of the pairs of `file` and `records` if these match them; None where places or words do."""
    own, theirs = pair_numbers(file), pair_numbers(records)
    return (own, theirs) if len(file) > 1 and (theirs or (own and len(records) > 1)) else None


def has_no_place(records: AttentionRecords) -> bool:
    """Return whether a file has one pair, whose words and number it does not give."""
    return len(records) == 1 and records.pairs.first is None and records.tokens(0) == (None, None)


def pair_place(records: AttentionRecords, number: int, file: AttentionRecords | None, shown: Aligned) -> int | None:
    """Return the 0-based index of the pair of `records` that is the pair `shown`, at place `number` of a `file`.

    It is found by its number where a file has numbers, by position in a file of as many pairs, else by its words. None
    where there is none, or `records` has other pairs than the file.
    """
    if file and (given := _given_numbers(records, file)):
        with suppress(AttnvizError):
            own, theirs, _ = common_numbers(given[0], len(file), given[1], len(records))
            return [*theirs].index(own[number - 1]) if own[number - 1] in theirs else None
        return None
    if len(records) == (len(file) if file else 1):
        return number - 1
    if has_no_place(records):
        return 0
    return pair_with_words_of(records, shown)


def pair_with_words_of(records: AttentionRecords, shown: Aligned) -> int | None:
    """Return the 0-based index of the first pair whose words are those of `shown`; None where there is none.

    Case and the borders between words may differ. Pairs without tokens on both sides have none.
    """
    letters = [_letters(side) for side in linkable_words(shown.words())]
    for index in range(len(records)):
        sides = [joined_words(tokens) for tokens in records.tokens(index)]
        known = [_letters(words or ()) for words in sides]
        if any(known) and all(one in ("", own) for one, own in zip(known, letters, strict=True)):
            return index
    return None


def check_same_pair(record: Aligned, shown: Aligned) -> None:
    """Raise AttnvizError unless `record` and `shown` have the same letters, or one word in the same place."""
    sides = (linkable_words(one.words()) for one in (record, shown))
    for own, theirs in zip(*sides, strict=True):
        has_word = len(own) == len(theirs) and any(map(_same_word, own, theirs))
        if not has_word and _letters(own) != _letters(theirs):
            raise user_error(
                "The file has the words “{other}”, but the sentence pair shown has the words “{shown}”.",
                other=" ".join(own)[:60],
                shown=" ".join(theirs)[:60],
            )


def _same_word(one: str, two: str) -> bool:
    return one.casefold() == two.casefold()


def _letters(words: Sequence[str]) -> str:
    return "".join(words).casefold()


def missing_sides(
    records: AttentionRecords, place: int, sides: Sequence[Sequence[str] | None]
) -> list[Sequence[str] | None]:
    """Return those of `sides`, source and target tokens, that the pair at index `place` of a file lacks."""
    return [side if own is None else None for own, side in zip(records.tokens(place), sides, strict=True)]


def gold_of_pair(
    records: AttentionRecords, number: int, file: AttentionRecords | None, shown: Aligned
) -> GoldLinks | None:
    """Return the gold links between the words of `shown`, which is at place `number`, from 1, of a `file`.

    Links that people marked count before others. Where the file has no words, it counts words, or pieces if the links
    fit only these. None where `records` lacks the pair; raise AttnvizError where its words differ, or a link names a
    word that does not exist.
    """
    place = pair_place(records, number, file, shown)
    if place is None:
        return None
    words, pieces = linkable_words(shown.words()), (shown.source_pieces, shown.target_pieces)
    try:
        record = records.attention(place, *missing_sides(records, place, words))
    except CountingError:
        record = records.attention(place, *missing_sides(records, place, pieces))
    check_same_pair(record, shown)
    marked = dataclasses.replace(record, links=()) if record.sure or record.possible else record
    (pair,) = in_words_of(side_of([shown]), side_of([marked], gold=True)).from_zero(0)
    return validated(GoldLinks(pair.all - pair.possible, pair.possible), shown.words())
