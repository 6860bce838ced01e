"""The links of every pair of a file or list, read with the words they join; pairs of two files, matched by number.

Links stay as in the file until its base (0 or 1) and direction are chosen.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import Any, NamedTuple, SupportsIndex, overload

import numpy as np

from attnviz.analysis.gold import GoldLinks, as_gold_links
from attnviz.analysis.measures import links as largest_links
from attnviz.arguments import check_whole_argument
from attnviz.bounds import shortened_repr
from attnviz.errors import AttnvizError, user_error
from attnviz.evaluation.alignment import memberships
from attnviz.importing.attention_reader import read_attention
from attnviz.importing.records import AttentionRecords
from attnviz.importing.sentence_pair import SentencePair
from attnviz.languages import gettext, ngettext
from attnviz.text import abbreviated
from attnviz.trace import Aligned, Attention
from attnviz.trace.parts import OneLine
from attnviz.trace.tokens import to_pieces
from attnviz.trace.word_link_text import Counted, Counting, CountingError, Link, Links, infer_counting

Sides = tuple[list[str] | None, list[str] | None]
"""Source and target words of a pair, as far as they are known."""


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


@dataclass(frozen=True)
class FileLinks:
    """The links of every pair of one file."""

    pairs: Sequence[Links]
    """Links as in the file."""
    bases: tuple[int, ...]
    """Possible numbers of the first token, 0 or 1; links from a matrix count from 0."""
    words: Sequence[Sides]
    maps: Sequence[tuple[WordMap | None, WordMap | None]]
    """For both sides of each pair, the words that links mean; None where links count words."""
    numbers: Sequence[int] | None = None
    """Numbers of the pairs, from 1, where the file gives them."""
    places: Sequence[int | None] = ()
    """Index in the file of each pair; None for a pair of the other file that this file lacks."""
    remarks: tuple[str, ...] = ()
    """In sentences."""

    def turned(self) -> FileLinks:
        """Return the links with source and target swapped."""
        return replace(
            self,
            pairs=[pair.swapped() for pair in self.pairs],
            words=[(target, source) for source, target in self.words],
            maps=[(target, source) for source, target in self.maps],
        )

    def from_zero(self, base: int) -> list[Links]:
        """Return the links of each pair between words, from 0; links out of range stay out of range."""
        moved = (pair.moved(-base, -base) for pair in self.pairs)
        return [
            pair if maps == (None, None) else _between_words(pair, maps)
            for pair, maps in zip(moved, self.maps, strict=True)
        ]

    def out_of_range(self, base: int, others: FileLinks) -> list[tuple[int, Link]]:
        """Return the links to tokens that do not exist: number of the pair, and the link as in the file.

        The words of the pairs of `others` count where this file has none.
        """
        faulty = list[tuple[int, Link]]()
        for index, pair in enumerate(self.pairs):
            if not pair.all:
                continue
            sizes = list[float]()
            for map_, own, theirs in zip(self.maps[index], self.words[index], others.words[index], strict=True):
                tokens = map_.owners if map_ else theirs if own is None else own
                sizes.append(math.inf if tokens is None else len(tokens))
            highest = [max(places) - base for places in zip(*pair.all, strict=True)]
            if base == 0 and all(high < size for high, size in zip(highest, sizes, strict=True)):
                continue
            number = self.numbers[index] if self.numbers else index + 1
            faulty += [
                (number, link)
                for link in sorted(pair.all)
                if not all(0 <= place - base < size for place, size in zip(link, sizes, strict=True))
            ]
        return faulty


def _between_words(links: Links, maps: tuple[WordMap | None, WordMap | None]) -> Links:
    """Return links between tokens, from 0, as links between words, without those of special tokens."""

    def words(group: frozenset[Link]) -> frozenset[Link]:
        moved = ((maps[0].word(j) if maps[0] else j, maps[1].word(i) if maps[1] else i) for j, i in group)
        return frozenset((j, i) for j, i in moved if j is not None and i is not None)

    sure = words(links.all - links.possible)
    every = sure | words(links.possible)
    return Links(every, every - sure)


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
        return [pair.all for pair in pairs[index]] if isinstance(index, slice) else pairs[index].all

    def pharaoh(self, *, swapped: bool = False, base: int = 0) -> str:
        """Return the links as text, one line for each pair; lines of pairs that the file lacks are empty.

        Args:
            swapped: Whether to write the second word of a link first.
            base: Number that is subtracted from the numbers of words.
        """
        check_whole_argument(gettext("base"), base, -1, 1)
        lines = dict(zip(self.file.numbers or range(1, len(self) + 1), self, strict=True))
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
    given, pairs, words = [*links], list[Links](), list[Sides]()
    for item in [given] if given and all(map(_is_link, given)) else given:
        record = item if isinstance(item, Aligned) else None
        pairs.append(_links_of(as_gold_links(item)) if record is None else _record_links(record, gold=gold))
        words.append((None, None) if record is None else linkable(record))
    return word_side(pairs, words)


def _is_link(item: Any) -> bool:
    """Return whether an item is a link, so that a list of such is one sentence."""
    return isinstance(item, Sequence) and len(item) == 2 and all(isinstance(one, SupportsIndex) for one in item)


def word_side(pairs: Sequence[Links], words: Sequence[Sides], numbers: Sequence[int] | None = None) -> FileLinks:
    """Return links between words, from 0."""
    return FileLinks(pairs, (0,), words, [(None, None)] * len(pairs), numbers, range(len(pairs)))


def _links_of(gold: GoldLinks) -> Links:
    return Links(gold.sure | gold.possible, gold.possible)


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


def linkable(record: Aligned) -> Sides:
    """Return the source and target words of a record, without special tokens."""
    words = record.words().linkable
    return list(words.source), list(words.target)


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
        words = [linkable(record) for record in loaded.values()]
        side = word_side([_record_links(record, gold=gold) for record in loaded.values()], words, numbers)
        return replace(side, places=places, remarks=tuple(remarks))
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
    words, maps = list[Sides](), list[tuple[WordMap | None, WordMap | None]]()
    for pair in tokens:
        source, target = (_words_of(side, special, ends=ends) for side in pair)
        words.append((source[0], target[0]))
        maps.append((source[1], target[1]))
    return FileLinks(pairs, _bases(records, pairs, counting), words, maps, numbers, places, tuple(remarks))


def pair_numbers(records: AttentionRecords) -> list[int] | None:
    """Return the numbers of the pairs, from 1, by their lines; None where the file does not number its pairs."""
    return _numbers(records.pairs, records.pairs.first) if records.pairs[0].line is not None else None


def _numbers(pairs: Iterable[SentencePair], first: int | None) -> list[int] | None:
    lines = [pair.line for pair in pairs]
    known = [line + (first or 1) for line in lines if line is not None]
    return known if known and len({*known}) == len(lines) else None


def _counting(records: AttentionRecords, pairs: Sequence[Links], tokens: Sequence[Sides]) -> Counting | None:
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


def _words_of(
    tokens: list[str] | None, special: Sequence[str], *, ends: bool
) -> tuple[list[str] | None, WordMap | None]:
    """Return the words that tokens form by their subword marks, and which word each token belongs to.

    With `ends`, a token after the last means `</s>`.
    """
    if not tokens:
        return tokens, WordMap([None], 0) if ends and tokens is not None else None
    pieces = to_pieces(tokens, special)
    words = [""] * (max(pieces.words) + 1)
    for piece, word in zip(pieces.pieces, pieces.words, strict=True):
        if word >= 0:
            words[word] += piece.lstrip("\u2581")
    owners = [None if word < 0 else word for word in pieces.words] + [None] * ends
    return words, None if owners == [*range(len(words))] else WordMap(owners, len(words))


def joined_words(tokens: list[str] | None) -> list[str] | None:
    """Return the words that tokens form by their subword marks."""
    return _words_of(tokens, (), ends=False)[0]


def matched(predicted: FileLinks, reference: FileLinks, remarks: list[str]) -> tuple[FileLinks, FileLinks]:
    """Return both sides with the same pairs: those of the reference, by number where a file has numbers, else in order.

    Append to `remarks`. Raise AttnvizError where the pairs cannot be matched.
    """
    remarks += [*predicted.remarks, *reference.remarks]
    if predicted.numbers is None and reference.numbers is None:
        if len(predicted.pairs) != len(reference.pairs):
            raise different_pairs(len(predicted.pairs), len(reference.pairs))
        return predicted, reference
    own, theirs, remark = common_numbers(
        predicted.numbers, len(predicted.pairs), reference.numbers, len(reference.pairs)
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
        pairs=[Links(frozenset()) if place is None else predicted.pairs[place] for place in places],
        words=[(None, None) if place is None else predicted.words[place] for place in places],
        maps=[(None, None) if place is None else predicted.maps[place] for place in places],
        numbers=theirs,
        places=[None if place is None else predicted.places[place] for place in places],
    )
    return predicted, replace(reference, numbers=theirs)


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
    missing = (number for one, two in pairwise(sorted(given)) for number in range(one + 1, two))
    if gaps := [*islice(missing, 5)]:
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
    maps = list[tuple[WordMap | None, WordMap | None]]()
    for index, words in enumerate(zip(side.maps, side.words, reference.words, strict=True)):
        number = side.numbers[index] if side.numbers else index + 1
        source, target = (_mapped(*one, number) for one in zip(*words, strict=True))
        maps.append((source, target))
    return replace(side, maps=maps)


def _mapped(map_: WordMap | None, mine: list[str] | None, theirs: list[str] | None, number: int) -> WordMap | None:
    """Return the map of links to the word in `theirs` that holds most of each of `mine`, where their numbers differ."""
    if mine is None or theirs is None or len(mine) == len(theirs):
        return map_
    if "".join(mine) != "".join(theirs):
        raise different_words(number, mine, theirs)
    owners = [int(word) for word in memberships(mine, theirs).argmax(axis=0)]
    tokens = range(len(mine)) if map_ is None else map_.owners
    return WordMap([None if word is None else owners[word] for word in tokens], len(theirs))


def with_words_of(side: FileLinks, reference: FileLinks) -> FileLinks:
    """Return the links with the words and maps of the reference, on each side where they have none."""
    words, maps = list[Sides](), list[tuple[WordMap | None, WordMap | None]]()
    for own, own_maps, theirs, their_maps in zip(side.words, side.maps, reference.words, reference.maps, strict=True):
        known = [one is not None for one in own]
        words.append((own[0] if known[0] else theirs[0], own[1] if known[1] else theirs[1]))
        maps.append((own_maps[0] if known[0] else their_maps[0], own_maps[1] if known[1] else their_maps[1]))
    return replace(side, words=words, maps=maps)
