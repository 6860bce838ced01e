"""Symmetrise: make one alignment of those of both directions (Och & Ney 2003; Koehn et al. 2005)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from attnviz.trace.word_link_text import Link

Method = Literal["intersection", "union", "grow-diag-final-and"]
_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def _grow_diag_final_and(forward: frozenset[Link], reverse: frozenset[Link]) -> frozenset[Link]:
    """Return the intersection, grown to neighbours in the union, then with links between two unaligned words.

    Links are visited in the order of source and target words, as `atools` of fast_align does: where two links compete,
    the order decides.
    """
    alignment = set(forward & reverse)
    sources, targets = {j for j, _ in alignment}, {i for _, i in alignment}

    def add(j: int, i: int) -> None:
        alignment.add((j, i))
        sources.add(j)
        targets.add(i)

    # GROW-DIAG: links of the union beside a link, diagonals included, if a word of them is unaligned
    grown = True
    while grown:
        grown = False
        for j, i in sorted((forward | reverse) - alignment):
            is_neighbour = any((j + dj, i + di) in alignment for dj, di in _NEIGHBOURS)
            if is_neighbour and (j not in sources or i not in targets):
                add(j, i)
                grown = True

    # FINAL-AND: links of either direction if both words are unaligned
    for direction in (forward, reverse):
        for j, i in sorted(direction):
            if j not in sources and i not in targets:
                add(j, i)
    return frozenset(alignment)


SYMMETRISATION_METHODS: Mapping[Method, Callable[[frozenset[Link], frozenset[Link]], frozenset[Link]]] = {
    "intersection": frozenset.intersection,
    "union": frozenset.union,
    "grow-diag-final-and": _grow_diag_final_and,
}
"""The functions that make one alignment of the links (source word, target word) of both directions of a pair."""
