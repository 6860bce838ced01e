"""Layout of a beam search's tree: a column for each step, and as few rows as possible."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.trace import BeamTree

Part = Literal["winner", "finished", "dropped", "twig"]
"""Kind of a branch: the winner's, another finished one, one dropped after a while, or a twig.

A twig is a hypothesis that was dropped at its own step; "dropped" ones stayed in the beam for a while.
"""


_SHORT = 3
"""Steps of the longest branch that may use any row; longer branches use every second, which leaves room for twigs."""


@dataclass(frozen=True)
class Places:
    """Row of each node of a tree, by its index; columns are the steps, from the left."""

    rows: NDArray[np.int64]
    """Row from the top, (N,); the winner's path is in row 0."""
    parts: tuple[Part, ...]

    @cached_property
    def height(self) -> int:
        """Number of rows."""
        return int(self.rows.max()) + 1


def places_of(tree: BeamTree) -> Places:
    """Return the rows of the nodes of `tree`.

    The tree is split into branches: the winner's path, what each other finished hypothesis does not share, branches
    that stayed in the beam, then twigs. Each takes the free row nearest to the one it branches off from. A row is free
    again after a branch ends. The row of a finished hypothesis stays taken for one more step, for its score. The
    winner's row is its own.
    """
    grid, rows = _Grid(), np.zeros(len(tree.nodes), dtype=np.int64)
    parts: list[Part | None] = [None] * len(tree.nodes)
    for part, leaf in _leaves(tree):
        branch = [index for index in tree.path(leaf) if parts[index] is None]
        first, last = tree.nodes[branch[0]], tree.nodes[branch[-1]]
        beside = 0 if first.parent is None else int(rows[first.parent])
        end = tree.steps if part == "winner" else last.step + (part == "finished")
        row = grid.take(beside, first.step, end, every=2 if len(branch) > _SHORT else 1)
        for index in branch:
            rows[index], parts[index] = row, part
    used = np.unique(rows)
    return Places(np.searchsorted(used, rows), tuple(part or "twig" for part in parts))


def _leaves(tree: BeamTree) -> list[tuple[Part, int]]:
    """Return the ends of all branches, in the order in which they get rows."""
    ends: dict[Part, list[int]] = {"winner": [tree.winner], "finished": list(tree.finished[1:])}
    dropped = [index for index, node in enumerate(tree.nodes) if node.fate in ("overtaken", "pruned")]
    ends["dropped"] = sorted(dropped, key=lambda index: -tree.nodes[index].step)
    ends["twig"] = [index for index, node in enumerate(tree.nodes) if node.fate in ("outside", "late")]
    return [(part, leaf) for part, leaves in ends.items() for leaf in leaves]


class _Grid:
    """The occupied columns of each row."""

    def __init__(self) -> None:
        self._taken: set[tuple[int, int]] = set()

    def take(self, beside: int, first: int, last: int, every: int) -> int:
        """Occupy the columns from `first` to `last` in the free row nearest to `beside`, and return it.

        Of two equally near rows it is the lower one. Only multiples of `every` are used.
        """
        distance = 0
        while True:
            for row in (beside + distance, beside - distance):
                if row >= 0 and row % every == 0 and self._free(row, first, last):
                    self._taken.update((row, column) for column in range(first, last + 1))
                    return row
            distance += 1

    def _free(self, row: int, first: int, last: int) -> bool:
        return not any((row, column) in self._taken for column in range(first, last + 1))
