"""Find the pair of another file that is the pair shown, by number, position or words, and read its gold links."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from attnviz.analysis.gold import GoldLinks, linkable_words, validated
from attnviz.errors import AttnvizError
from attnviz.evaluation.scoring import different_pairs, joined_words, matched_sides
from attnviz.importing.link_text import CountingError
from attnviz.importing.records import AttentionRecords
from attnviz.languages import gettext
from attnviz.trace import Aligned


def check_pair_counts(records: AttentionRecords, count: int) -> None:
    """Raise AttnvizError where no pair of `records` can be that of a file of `count` pairs."""
    if records.pairs.first is not None or len(records) in (1, count):
        return
    if count > 1 or records.tokens(0) == (None, None):
        raise different_pairs(count, len(records))


def has_no_place(records: AttentionRecords) -> bool:
    """Return whether a file has one pair, whose words and number it does not give."""
    return len(records) == 1 and records.pairs.first is None and records.tokens(0) == (None, None)


def pair_place(records: AttentionRecords, number: int, count: int, shown: Aligned) -> int | None:
    """Return the 0-based index of the pair of `records` that is pair `number` of a file of `count` pairs.

    It is found by its number where the file has numbers, by position in a file of as many pairs, else by the words of
    the pair `shown`. None where there is none.
    """
    if len(records) == count:
        return number - 1
    if (first := records.pairs.first) is not None and count > 1:
        return number - first if 0 <= number - first < len(records) else None
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
        known = [_letters(words or ()).removesuffix("</s>") for words in sides]
        if any(known) and all(one in ("", own) for one, own in zip(known, letters, strict=True)):
            return index
    return None


def check_same_pair(record: Aligned, shown: Aligned) -> None:
    """Raise AttnvizError unless `record` and `shown` have the same letters, or one word in the same place."""
    sides = (linkable_words(one.words()) for one in (record, shown))
    for own, theirs in zip(*sides, strict=True):
        has_word = len(own) == len(theirs) and any(map(_same_word, own, theirs))
        if not has_word and _letters(own) != _letters(theirs):
            raise AttnvizError(
                gettext(
                    "The file has the words “{other}”, but the pair shown has “{shown}”.",
                    other=" ".join(own)[:60],
                    shown=" ".join(theirs)[:60],
                )
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


def gold_of_pair(records: AttentionRecords, number: int, count: int, shown: Aligned) -> GoldLinks | None:
    """Return the gold links between the words of `shown`, pair `number` of a file of `count` pairs.

    Links that people marked count before others. Where the file has no words, it counts words, or pieces if the links
    fit only these. None where `records` lacks the pair; raise AttnvizError where its words differ, or a link names a
    word that does not exist.
    """
    place = pair_place(records, number, count, shown)
    if place is None:
        return None
    words, pieces = linkable_words(shown.words()), (shown.source_pieces, shown.target_pieces)
    try:
        record = records.attention(place, *missing_sides(records, place, words))
    except CountingError:
        record = records.attention(place, *missing_sides(records, place, pieces))
    check_same_pair(record, shown)
    marked = dataclasses.replace(record, links=()) if record.sure or record.possible else record
    (pair,) = matched_sides([marked], [shown], [])[0].pairs
    return validated(GoldLinks(pair.all - pair.possible, pair.possible), shown.words())
