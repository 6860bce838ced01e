"""Map gold links between the words of another tokenisation to the words of an analysed pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from attnviz.analysis.alignment_error import Link
from attnviz.analysis.findings.rules import is_word
from attnviz.corpora.analysed_pair import AnalysedPair
from attnviz.evaluation.alignment import GoldAlignment, memberships
from attnviz.trace import Words


def gold_links_of(gold: GoldAlignment, pair: AnalysedPair, words: Words) -> dict[Link, bool]:
    """Return the links (source, target), 0-based, between the words of `pair`, and whether each is sure.

    A gold word corresponds to the words that share letters with it. Where these are several, the link is possible for
    each. Punctuation is separate: the mark in "station?" is linked to marks of the other side, if any, and not to what
    "station" is linked to. Marks inside gold words have no gold links: equal marks are possible links.
    """
    source = _matching_words(pair.source_surfaces, words.source_groups, gold.source)
    target = _matching_words(pair.target_surfaces, words.target_groups, gold.target)
    mapped_links = {
        (j, i): False
        for source_word, target_word in product(source, target)
        if source_word.words or target_word.words
        for j, i in product(source_word.marks, target_word.marks)
        if words.source[j] == words.target[i]
    }
    for links_of_kind, sure in ((gold.possible, False), (gold.sure, True)):
        for j, i in links_of_kind:
            for links in _word_and_mark_links(source[j], target[i]):
                for link in links:
                    mapped_links[link] = mapped_links.get(link, False) or (sure and len(links) == 1)
    return mapped_links


class _MatchingWords(NamedTuple):
    """Words and punctuation marks of the pair that correspond to one gold word."""

    words: list[int]
    marks: list[int]


def _word_and_mark_links(source: _MatchingWords, target: _MatchingWords) -> Iterator[list[Link]]:
    """Yield the links that correspond to one gold link: those of words and those of marks."""
    if source.marks and target.marks:
        yield [(j, i) for j, i in product(source.marks, target.marks)]
    if source.words and target.words:
        yield [(j, i) for j, i in product(source.words, target.words)]
    elif not (source.marks and target.marks):
        yield [(j, i) for j, i in product(source.words + source.marks, target.words + target.marks)]


def _matching_words(
    surfaces: Sequence[str], groups: Sequence[Sequence[int]], gold_words: Sequence[str]
) -> list[_MatchingWords]:
    shares = memberships(surfaces[:-1], gold_words)
    matches = [_MatchingWords([], []) for _ in gold_words]
    for k, group in enumerate(groups[:-1]):
        text = "".join(surfaces[piece] for piece in group)
        for word in np.flatnonzero(shares[:, list(group)].any(axis=1)):
            (matches[word].words if is_word(text) else matches[word].marks).append(k)
    return matches
