"""Where each hypothesis of a beam search stands in its picture: a column for each step, and as few rows as will do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.trace import BeamTree

Part = Literal["winner", "finished", "dropped", "twig"]
"""What a hypothesis is part of: the way to the winner, the way to another that finished, a way that lived in the beam
for a while and led nowhere, or nothing: it fell at its own step."""


_SHORT = 3
"""Steps of a way that may lie in any row; of longer ones every second is, so that twigs find room near by."""


@dataclass(frozen=True)
class Places:
    """Where the nodes of a tree stand, by their index; its steps are the columns, from the left."""

    rows: NDArray[np.int64]
    """From 0 at the top, where the winner's way lies, (N,)."""
    parts: tuple[Part, ...]

    @cached_property
    def height(self) -> int:
        """How many rows there are."""
        return int(self.rows.max()) + 1


def places_of(tree: BeamTree) -> Places:
    """Return where the nodes of `tree` stand.

    It is taken apart into ways: that of the winner, then what each other finished hypothesis has for itself, then each
    that lived a while, then the twigs. Each takes the free row nearest to the one it branches off. A row is free again
    after a way has ended; beside one that finished it stays
    free for a step, for there its score is written; the winner has its row alone.
    """
    grid, rows = _Grid(), np.zeros(len(tree.nodes), dtype=np.int64)
    parts: list[Part | None] = [None] * len(tree.nodes)
    for part, leaf in _leaves(tree):
        way = [index for index in tree.path(leaf) if parts[index] is None]
        first, last = tree.nodes[way[0]], tree.nodes[way[-1]]
        beside = 0 if first.parent is None else int(rows[first.parent])
        end = tree.steps if part == "winner" else last.step + (part == "finished")
        row = grid.take(beside, first.step, end, every=2 if len(way) > _SHORT else 1)
        for index in way:
            rows[index], parts[index] = row, part
    used = np.unique(rows)
    return Places(np.searchsorted(used, rows), tuple(part or "twig" for part in parts))


def _leaves(tree: BeamTree) -> list[tuple[Part, int]]:
    """Return the ends of all ways, in the order in which they are given rows."""
    ends: dict[Part, list[int]] = {"winner": [tree.winner], "finished": list(tree.finished[1:])}
    lived = [index for index, node in enumerate(tree.nodes) if node.fate in ("overtaken", "pruned")]
    ends["dropped"] = sorted(lived, key=lambda index: -tree.nodes[index].step)
    ends["twig"] = [index for index, node in enumerate(tree.nodes) if node.fate in ("outside", "late")]
    return [(part, leaf) for part, leaves in ends.items() for leaf in leaves]


class _Grid:
    """Which columns of each row are taken."""

    def __init__(self) -> None:
        self._taken: set[tuple[int, int]] = set()

    def take(self, beside: int, first: int, last: int, every: int) -> int:
        """Take the columns from `first` to `last` in the free row nearest to the one `beside`, the lower of two, and
        return it; `every` second row only, where rows between are left for twigs."""
        distance = 0
        while True:
            for row in (beside + distance, beside - distance):
                if row >= 0 and row % every == 0 and self._free(row, first, last):
                    self._taken.update((row, column) for column in range(first, last + 1))
                    return row
            distance += 1

    def _free(self, row: int, first: int, last: int) -> bool:
        return not any((row, column) in self._taken for column in range(first, last + 1))
