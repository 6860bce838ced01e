"""The links of every pair of a file or list, read with the words they join; pairs of two files, matched by number.

Links stay as in the file until its base (0 or 1) and direction are chosen.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple, SupportsIndex, overload

import numpy as np

from attnviz.analysis.gold import as_gold_links
from attnviz.analysis.measures import links as largest_links
from attnviz.arguments import check_whole_argument
from attnviz.bounds import shortened_repr
from attnviz.errors import AttnvizError, user_error
from attnviz.evaluation.alignment import memberships
from attnviz.importing.attention_reader import read_attention
from attnviz.importing.records import AttentionRecords, numbers_between
from attnviz.importing.sentence_pair import SentencePair, check_numbers
from attnviz.languages import gettext, ngettext
from attnviz.text import abbreviated
from attnviz.trace import Aligned, Attention, Link, OneLine
from attnviz.trace.tokens import to_pieces
from attnviz.trace.word_link_text import Counted, Counting, CountingError, Links, infer_counting


class WordMap(NamedTuple):
    """The words that the token numbers of a side's links mean."""

    owners: Sequence[int | None]
    """0-based word of each token; None for a special token."""
    size: int
    """Number of words."""

    def word(self, index: int) -> int | None:
        """Return the word of the token at 0-based `index`; a number out of range where the token does not exist."""
        if 0 <= index < len(self.owners):
            return self.owners[index]
        return index if index < 0 else self.size + index - len(self.owners)


class SideWords(NamedTuple):
    """The words of one side of a pair."""

    words: list[str] | None = None
    """None where they are unknown."""
    map: WordMap | None = None
    """The words that links mean; None where links count words."""

    def joined(self, other: SideWords) -> SideWords:
        """Return these words, or the `other` ones where these are unknown."""
        return other if self.words is None else self


_UNKNOWN = (SideWords(), SideWords())


class LinkedPair(NamedTuple):
    """The links of one pair, with the words that they join."""

    links: Links
    """Links as in the file."""
    sides: tuple[SideWords, ...] = _UNKNOWN
    """Source and target."""

    def between_words(self, base: int) -> Links:
        """Return the links between words, from 0, without those of special tokens; `base` is the first token's."""
        moved, maps = self.links.moved(-base, -base), [side.map for side in self.sides]
        if maps == [None, None]:
            return moved

        def words(group: frozenset[Link]) -> frozenset[Link]:
            mapped = ([map_.word(n) if map_ else n for n, map_ in zip(link, maps, strict=True)] for link in group)
            return frozenset((j, i) for j, i in mapped if j is not None and i is not None)

        sure = words(moved.all - moved.possible)
        every = sure | words(moved.possible)
        return Links(every, every - sure)


@dataclass(frozen=True)
class FileLinks:
    """The links of every pair of one file."""

    pairs: Sequence[LinkedPair]
    bases: tuple[int, ...] = (0,)
    """Possible numbers of the first token, 0 or 1; links from a matrix count from 0."""
    given_numbers: Sequence[int] | None = None
    """Numbers of the pairs, from 1, where the file gives them."""
    places: Sequence[int | None] = ()
    """Index in the file of each pair; None for a pair of the other file that this file lacks."""
    remarks: tuple[str, ...] = ()
    """In sentences."""

    @property
    def numbers(self) -> Sequence[int]:
        """Numbers of the pairs, from 1, in order where the file gives none."""
        return self.given_numbers or range(1, len(self.pairs) + 1)

    def turned(self) -> FileLinks:
        """Return the links with source and target swapped."""
        return replace(self, pairs=[LinkedPair(pair.links.swapped(), pair.sides[::-1]) for pair in self.pairs])

    def from_zero(self, base: int) -> list[Links]:
        """Return the links of each pair between words, from 0; links out of range stay out of range."""
        return [pair.between_words(base) for pair in self.pairs]

    def out_of_range(self, base: int, others: FileLinks) -> list[tuple[int, Link]]:
        """Return the links to tokens that do not exist: number of the pair, and the link as in the file.

        The words of the pairs of `others` count where this file has none.
        """
        faulty = list[tuple[int, Link]]()
        for number, (links, sides), other in zip(self.numbers, self.pairs, others.pairs, strict=True):
            if not links.all:
                continue
            sizes = list[float]()
            for own, theirs in zip(sides, other.sides, strict=True):
                tokens = own.map.owners if own.map else own.joined(theirs).words
                sizes.append(math.inf if tokens is None else len(tokens))
            highest = [max(places) - base for places in zip(*links.all, strict=True)]
            if base == 0 and all(high < size for high, size in zip(highest, sizes, strict=True)):
                continue
            faulty += [
                (number, link)
                for link in sorted(links.all)
                if not all(0 <= place - base < size for place, size in zip(link, sizes, strict=True))
            ]
        return faulty


@dataclass(frozen=True, eq=False, repr=False)
class SymmetrisedLinks(OneLine, Sequence[frozenset[Link]]):
    """One alignment made of two directions: the links (source word, target word) of each pair, from 0."""

    file: FileLinks = field(repr=False)
    remarks: tuple[str, ...] = ()
    """In sentences: how both files were read."""

    def __len__(self) -> int:
        """Return the number of sentence pairs."""
        return len(self.file.pairs)

    @overload
    def __getitem__(self, index: int) -> frozenset[Link]: ...

    @overload
    def __getitem__(self, index: slice) -> list[frozenset[Link]]: ...

    def __getitem__(self, index: int | slice) -> frozenset[Link] | list[frozenset[Link]]:
        """Return the links of the pair at 0-based `index`, or a list for a slice."""
        pairs = self.file.pairs
        return [pair.links.all for pair in pairs[index]] if isinstance(index, slice) else pairs[index].links.all

    def pharaoh(self, *, swapped: bool = False, base: int = 0) -> str:
        """Return the links as text, one line for each pair; lines of pairs that the file lacks are empty.

        Args:
            swapped: Whether to write the second word of a link first.
            base: Number that is subtracted from the numbers of words.
        """
        check_whole_argument(gettext("base"), base, -1, 1)
        lines = dict(zip(self.file.numbers, self, strict=True))
        check_numbers(1, max(lines))
        texts = [
            " ".join(f"{j - base}-{i - base}" for j, i in sorted(link[::-1] if swapped else link for link in links))
            for links in (lines.get(number, ()) for number in range(1, max(lines) + 1))
        ]
        return "".join(f"{text}\n" for text in texts)


def side_of(links: Any, *, gold: bool = False) -> FileLinks:
    """Return the links of a file, records or a list; as `gold`, those that people drew in records of attention."""
    if isinstance(links, (str, os.PathLike)):
        links = read_attention(links)
    if isinstance(links, SymmetrisedLinks):
        return replace(links.file, remarks=links.remarks)
    if isinstance(links, AttentionRecords):
        return _records_side(links, gold=gold)
    if isinstance(links, Aligned):
        links = [links]
    if not isinstance(links, Iterable):
        raise user_error("Give a file of links, records, or a list of links, not {found}.", found=shortened_repr(links))
    given = [*links]
    items = [given] if given and all(map(_is_link, given)) else given
    return FileLinks([_pair_of(item, gold=gold) for item in items], places=range(len(items)))


def _pair_of(item: Any, *, gold: bool) -> LinkedPair:
    """Return the links of a record, or of what `as_gold_links` reads."""
    if isinstance(item, Aligned):
        return pair_of_record(item, _record_links(item, gold=gold))
    links = as_gold_links(item)
    return LinkedPair(Links(links.sure | links.possible, links.possible))


def _is_link(item: Any) -> bool:
    """Return whether an item is a link, so that a list of such is one sentence."""
    return isinstance(item, Sequence) and len(item) == 2 and all(isinstance(one, SupportsIndex) for one in item)


def pair_of_record(record: Aligned, links: Links) -> LinkedPair:
    """Return links between the words of a record, which count from 0, without special tokens."""
    words = record.words().linkable
    return LinkedPair(links, tuple(SideWords(list(side)) for side in (words.source, words.target)))


def _record_links(record: Aligned, *, gold: bool) -> Links:
    """Return the links of a record between its words: those it was made of, or the largest weight of each row.

    As `gold`, links that people drew come first.
    """
    if gold and isinstance(record, Attention) and (record.sure or record.possible) and not record.links:
        return Links(frozenset(record.sure) | frozenset(record.possible), frozenset(record.possible))
    words = record.words().linkable
    if isinstance(record, Attention) and words.links:
        return Links(frozenset(words.links), frozenset(record.possible))
    between = np.asarray(words.alignment, dtype=np.float64)
    return Links(frozenset(largest_links(between)) if between.size else frozenset())


def _records_side(records: AttentionRecords, *, gold: bool) -> FileLinks:
    """Return the links of a file, between tokens; of a matrix, between words. Damaged and blank pairs are left out."""
    file_pairs, remarks = [records.pair(place) for place in range(len(records))], list[str]()
    linked = any(pair.links is not None for pair in file_pairs if not pair.problem)
    loaded = dict[int, Attention]()
    for place in () if linked else range(len(records)):
        if (record := records.filled(place)) is not None:
            loaded[place] = record
    places = [place for place, pair in enumerate(file_pairs) if not pair.problem] if linked else [*loaded]
    numbers = _numbers((file_pairs[place] for place in places), records.pairs.first)
    if len(places) < len(file_pairs):
        numbers = numbers or [place + 1 for place in places]
        damaged = [
            gettext("Pair {number}: {error}", number=place + 1, error=pair.problem)
            for place, pair in enumerate(file_pairs)
            if pair.problem
        ]
        problems = damaged if linked else [*records.problems.values()]
        remarks += [abbreviated(problems, " ")] if problems else []
    if not linked:
        found = [_pair_of(record, gold=gold) for record in loaded.values()]
        return FileLinks(found, (0,), numbers, places, tuple(remarks))
    pairs = [file_pairs[place].links or Links(frozenset()) for place in places]
    tokens = [file_pairs[place].sides for place in places]
    counting = _counting(records, pairs, tokens)
    if counting is None:
        swapped = [pair.swapped() for pair in pairs]
        if counting := _counting(records, swapped, tokens):
            pairs = swapped
            remarks.append(
                gettext(
                    "The links fit the sentences only with the target word first, so source and target were swapped."
                )
            )
    ends, special = bool(counting and counting.ends), records.options.special
    found = [
        LinkedPair(links, tuple(_words_of(side, special, ends=ends) for side in sides))
        for links, sides in zip(pairs, tokens, strict=True)
    ]
    return FileLinks(found, _bases(records, pairs, counting), numbers, places, tuple(remarks))


def pair_numbers(records: AttentionRecords) -> list[int] | None:
    """Return the numbers of the pairs, from 1, by their lines; None where the file does not number its pairs."""
    return _numbers(records.pairs, records.pairs.first) if records.pairs[0].line is not None else None


def _numbers(pairs: Iterable[SentencePair], first: int | None) -> list[int] | None:
    lines = [pair.line for pair in pairs]
    known = [line + (first or 1) for line in lines if line is not None]
    return known if known and len({*known}) == len(lines) else None


def _counting(
    records: AttentionRecords, pairs: Sequence[Links], tokens: Sequence[Iterable[list[str] | None]]
) -> Counting | None:
    """Return how the links of a file count; None where they do not fit the tokens."""
    counted = list[Counted]()
    for number, (links, sides) in enumerate(zip(pairs, tokens, strict=True), 1):
        source, target = (None if side is None else len(side) for side in sides)
        counted.append(Counted(links, source, target, number))
    try:
        return infer_counting(counted, records.pairs.ends, records.pairs.base)
    except CountingError:
        return None


def _bases(records: AttentionRecords, pairs: Sequence[Links], counting: Counting | None) -> tuple[int, ...]:
    """Return the possible bases, 0 or 1, of the links of a file, judging by its own links and tokens."""
    if records.pairs.base is not None:
        return (records.pairs.base,)
    if any(0 in link for links in pairs for link in links.all):
        return (0,)
    return (1,) if counting and counting.remark == "counted-from-1" else (0, 1)


def _words_of(tokens: list[str] | None, special: Sequence[str], *, ends: bool) -> SideWords:
    """Return the words that tokens form by their subword marks, and which word each token belongs to.

    With `ends`, a token after the last means `</s>`.
    """
    if not tokens:
        return SideWords(tokens, WordMap([None], 0) if ends and tokens is not None else None)
    pieces = to_pieces(tokens, special)
    words = [""] * (max(pieces.words) + 1)
    for piece, word in zip(pieces.pieces, pieces.words, strict=True):
        if word >= 0:
            words[word] += piece.lstrip("\u2581")
    owners = [None if word < 0 else word for word in pieces.words] + [None] * ends
    return SideWords(words, None if owners == [*range(len(words))] else WordMap(owners, len(words)))


def joined_words(tokens: list[str] | None) -> list[str] | None:
    """Return the words that tokens form by their subword marks."""
    return _words_of(tokens, (), ends=False).words


def matched(predicted: FileLinks, reference: FileLinks, remarks: list[str]) -> tuple[FileLinks, FileLinks]:
    """Return both sides with the same pairs: those of the reference, by number where a file has numbers, else in order.

    Append to `remarks`. Raise AttnvizError where the pairs cannot be matched.
    """
    remarks += [*predicted.remarks, *reference.remarks]
    if predicted.given_numbers is None and reference.given_numbers is None:
        if len(predicted.pairs) != len(reference.pairs):
            raise different_pairs(len(predicted.pairs), len(reference.pairs))
        return predicted, reference
    own, theirs, remark = common_numbers(
        predicted.given_numbers, len(predicted.pairs), reference.given_numbers, len(reference.pairs)
    )
    remarks += [remark] if remark else []
    place_of = {number: index for index, number in enumerate(own)}
    places = [place_of.get(number) for number in theirs]
    if absent := [number for number in theirs if number not in place_of]:
        if len(absent) == len(theirs):
            raise different_pairs(len(own), len(theirs))
        remarks.append(
            ngettext(
                "One file lacks sentence pair {numbers}, which counts there as a pair without links.",
                "One file lacks {count} sentence pairs, which count there as pairs without links: {numbers}.",
                len(absent),
                numbers=abbreviated(absent),
            )
        )
    if extra := [number for number in own if number not in {*theirs}]:
        remarks.append(
            ngettext(
                "Sentence pair {numbers} is left out: only one of the two files contains this pair.",
                "{count} sentence pairs are left out, because only one of the two files contains them: {numbers}.",
                len(extra),
                numbers=abbreviated(extra),
            )
        )
    predicted = replace(
        predicted,
        pairs=[LinkedPair(Links(frozenset())) if place is None else predicted.pairs[place] for place in places],
        given_numbers=theirs,
        places=[None if place is None else predicted.places[place] for place in places],
    )
    return predicted, replace(reference, given_numbers=theirs)


def common_numbers(
    own: Sequence[int] | None, own_count: int, theirs: Sequence[int] | None, their_count: int
) -> tuple[Sequence[int], Sequence[int], str]:
    """Return the numbers of the pairs of two files, of which at least one has numbers, and a remark or "".

    The pairs of a file without numbers are the lines 1, 2, … Raise AttnvizError where it has too few lines.
    """
    if own and theirs:
        return own, theirs, ""
    given, count = (own, their_count) if own else (theirs or (), own_count)
    if max(given, default=0) <= count:
        return own or range(1, own_count + 1), theirs or range(1, their_count + 1), ""
    if [*given] == [*range(given[0], given[0] + count)]:
        remark = gettext(
            "One file has the sentence pairs {first} to {last}, by their numbers. They were matched with the pairs "
            "of the other file, which has no numbers, in order.",
            first=given[0],
            last=given[-1],
        )
        return given, given, remark
    message = gettext(
        "In one file, the number of the last sentence pair is {last}, but the other file has {count} pairs, without "
        "numbers. Compared files must hold the same sentence pairs.",
        last=max(given),
        count=count,
    )
    if gaps := [*islice(numbers_between(given), 5)]:
        gaps_text = gettext("The numbered file lacks pair {numbers}.", numbers=", ".join(map(str, gaps)))
        message = f"{message} {gaps_text}"
    raise AttnvizError(message)


def different_pairs(links: int, gold: int) -> AttnvizError:
    """Return the error for two files with different numbers of sentence pairs."""
    return user_error(
        "One file has links for {links} sentence pairs, but the other file has links for {gold}. Compared files "
        "must hold the same sentence pairs, in the same order.",
        links=links,
        gold=gold,
    )


def different_words(number: int, own: Sequence[str], others: Sequence[str]) -> AttnvizError:
    """Return the error for a pair, counted from 1, whose words are not the same in both files."""
    return user_error(
        "The words of pair {number} differ: one file has “{own}”, the other file has “{gold}”.",
        number=number,
        own=" ".join(own)[:60],
        gold=" ".join(others)[:60],
    )


def in_words_of(reference: FileLinks, side: FileLinks) -> FileLinks:
    """Return links between the words of the reference; where words are split differently, map them by characters.

    Raise AttnvizError where the words differ.
    """
    pairs = [
        LinkedPair(
            own.links, tuple(_mapped(mine, other, number) for mine, other in zip(own.sides, theirs.sides, strict=True))
        )
        for number, own, theirs in zip(side.numbers, side.pairs, reference.pairs, strict=True)
    ]
    return replace(side, pairs=pairs)


def _mapped(mine: SideWords, theirs: SideWords, number: int) -> SideWords:
    """Return the words, with links mapped to the words of `theirs` that hold most of each if their numbers differ."""
    words, others = mine.words, theirs.words
    if words is None or others is None or len(words) == len(others):
        return mine
    if "".join(words) != "".join(others):
        raise different_words(number, words, others)
    owners = [int(word) for word in memberships(words, others).argmax(axis=0)]
    tokens = range(len(words)) if mine.map is None else mine.map.owners
    return SideWords(words, WordMap([None if word is None else owners[word] for word in tokens], len(others)))


def with_words_of(side: FileLinks, reference: FileLinks) -> FileLinks:
    """Return the links with the words and maps of the reference, on each side where they have none."""
    pairs = [
        LinkedPair(own.links, tuple(map(SideWords.joined, own.sides, theirs.sides)))
        for own, theirs in zip(side.pairs, reference.pairs, strict=True)
    ]
    return replace(side, pairs=pairs)
