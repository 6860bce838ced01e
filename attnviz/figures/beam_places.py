"""Rows of the nodes of a beam search's tree, as few as possible; its columns are the steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.trace import BeamTree

BranchKind = Literal["winner", "finished", "dropped", "twig"]
"""Kind of a branch: the winner's, another finished one, one dropped after a while, or a twig.

A twig is a hypothesis that was dropped at its own step; "dropped" ones stayed in the beam for a while.
"""


_SHORT_BRANCH = 3
"""Steps of the longest branch that may use any row; longer branches use every second, which leaves space for twigs."""


@dataclass(frozen=True)
class Places:
    """Row of each node of a tree, by its index; columns are the steps, from the left."""

    rows: NDArray[np.int64]
    """Row from the top, (N,); the winner's path is in row 0."""
    parts: tuple[BranchKind, ...]
    """Kind of the branch of each node."""

    @cached_property
    def height(self) -> int:
        """Number of rows."""
        return int(self.rows.max()) + 1


def places_of(tree: BeamTree) -> Places:
    """Return the rows of the nodes of `tree`.

    The tree is split into branches: the winner's path, the unshared ends of the other finished hypotheses, branches
    that stayed in the beam for a while, then twigs. Each takes the free row nearest to the one it branches off from.
    A row is free again after a branch ends; that of a finished hypothesis is occupied for one more step, by its score.
    No other branch uses the winner's row.
    """
    grid, rows = _Grid(), np.zeros(len(tree.nodes), dtype=np.int64)
    parts: list[BranchKind | None] = [None] * len(tree.nodes)
    for part, leaf in _branch_ends(tree):
        branch = [index for index in tree.path(leaf) if parts[index] is None]
        first, last = tree.nodes[branch[0]], tree.nodes[branch[-1]]
        parent_row = 0 if first.parent is None else int(rows[first.parent])
        end = tree.steps if part == "winner" else last.step + (part == "finished")
        row = grid.occupy(parent_row, first.step, end, multiple_of=2 if len(branch) > _SHORT_BRANCH else 1)
        for index in branch:
            rows[index], parts[index] = row, part
    used = np.unique(rows)
    return Places(np.searchsorted(used, rows), tuple(part or "twig" for part in parts))


def _branch_ends(tree: BeamTree) -> list[tuple[BranchKind, int]]:
    """Return the ends of all branches, in the order in which they get rows."""
    ends: dict[BranchKind, list[int]] = {"winner": [tree.winner], "finished": list(tree.finished[1:])}
    dropped = [index for index, node in enumerate(tree.nodes) if node.fate in ("overtaken", "pruned")]
    ends["dropped"] = sorted(dropped, key=lambda index: -tree.nodes[index].step)
    ends["twig"] = [index for index, node in enumerate(tree.nodes) if node.fate in ("outside", "late")]
    return [(part, leaf) for part, leaves in ends.items() for leaf in leaves]


class _Grid:
    """The occupied columns of each row."""

    def __init__(self) -> None:
        self._occupied: set[tuple[int, int]] = set()

    def occupy(self, near_row: int, first: int, last: int, multiple_of: int) -> int:
        """Occupy the columns from `first` to `last` in the free row nearest to `near_row`, and return it.

        Of two equally near rows it is the lower one. Only multiples of `multiple_of` are used.
        """
        distance = 0
        while True:
            for row in (near_row + distance, near_row - distance):
                if row >= 0 and row % multiple_of == 0 and self._free(row, first, last):
                    self._occupied.update((row, column) for column in range(first, last + 1))
                    return row
            distance += 1

    def _free(self, row: int, first: int, last: int) -> bool:
        return not any((row, column) in self._occupied for column in range(first, last + 1))
