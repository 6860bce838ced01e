"""Map gold links between the words of another tokenisation to the words of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from attnviz.analysis.alignment_error import Link
from attnviz.analysis.findings.twins import is_word
from attnviz.corpora.pair_read import PairRead
from attnviz.evaluation.alignment import GoldAlignment, memberships
from attnviz.trace import Words


def gold_links_of(gold: GoldAlignment, pair: PairRead, words: Words) -> dict[Link, bool]:
    """Return the links (source, target), 0-based, between the words of `pair`, and whether each is sure.

    A gold word corresponds to the words that share letters with it. Where these are several, the link is possible for
    each. Punctuation is separate: the mark in "station?" is linked to marks of the other side, if any, and not to what
    "station" is linked to. Marks inside gold words have no gold links: equal marks are possible links.
    """
    source = _places_of(pair.source_surfaces, words.source_groups, gold.source)
    target = _places_of(pair.target_surfaces, words.target_groups, gold.target)
    drawn = {
        (j, i): False
        for theirs, ours in product(source, target)
        if theirs.words or ours.words
        for j, i in product(theirs.marks, ours.marks)
        if words.source[j] == words.target[i]
    }
    for theirs, sure in ((gold.possible, False), (gold.sure, True)):
        for j, i in theirs:
            for links in _word_and_mark_links(source[j], target[i]):
                for link in links:
                    drawn[link] = drawn.get(link, False) or (sure and len(links) == 1)
    return drawn


class _Places(NamedTuple):
    """Our words and marks that correspond to one gold word."""

    words: list[int]
    marks: list[int]


def _word_and_mark_links(source: _Places, target: _Places) -> Iterator[list[Link]]:
    """Yield the links that correspond to one gold link: those of words and those of marks."""
    if source.marks and target.marks:
        yield [(j, i) for j, i in product(source.marks, target.marks)]
    if source.words and target.words:
        yield [(j, i) for j, i in product(source.words, target.words)]
    elif not (source.marks and target.marks):
        yield [(j, i) for j, i in product(source.words + source.marks, target.words + target.marks)]


def _places_of(surfaces: Sequence[str], groups: Sequence[Sequence[int]], theirs: Sequence[str]) -> list[_Places]:
    shares = memberships(surfaces[:-1], theirs)
    places = [_Places([], []) for _ in theirs]
    for k, group in enumerate(groups[:-1]):
        text = "".join(surfaces[piece] for piece in group)
        for word in np.flatnonzero(shares[:, list(group)].any(axis=1)):
            (places[word].words if is_word(text) else places[word].marks).append(k)
    return places
