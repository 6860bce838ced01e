"""Rows and columns of an alignment, word by word or piece by piece: what heatmaps, tables and TikZ all draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.measures import coverage, entropy
from attnviz.text import piece_name
from attnviz.trace import FloatArray, Record

By = Literal["words", "pieces"]


@dataclass(frozen=True)
class Grid:
    """What the heatmap draws: names of the columns and rows, their weights, and the step each row belongs to."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alpha: NDArray[np.float32]
    """(rows, columns), exact."""
    steps: tuple[tuple[int, ...], ...]
    """For each row, the 0-based decoder steps that wrote it."""
    pieces: tuple[tuple[int, ...], ...]
    """For each column, its 0-based source pieces."""
    covered: NDArray[np.float64]
    """sum_i alpha_ij of each column over all rows, those not drawn included: (columns,)."""
    entropies: NDArray[np.float64]
    """H_i in bits of each row, that of its pieces, as the network computed them; for a word of several the mean."""


def grid(trace: Record, by: By = "words", end: bool = True, weights: FloatArray | None = None) -> Grid:
    """Return the rows and columns to draw, word by word or piece by piece; `end=False` leaves out `</s>` on both axes.

    `weights`, (Ty, Tx), stand in the alignment's place: those of one head of a transformer, say. Raise ValueError
    unless `by` is "words" or "pieces".
    """
    if by == "words":
        words = trace.words()
        source, target, steps = words.source, words.target, words.target_groups
        alpha = words.alignment if weights is None else words.merged(weights)
        pieces = words.source_groups
    elif by == "pieces":
        source = tuple(piece_name(piece) for piece in trace.source_pieces)
        target = tuple(piece_name(piece) for piece in trace.target_pieces)
        alpha, steps = trace.alignment if weights is None else weights, tuple((i,) for i in range(len(target)))
        pieces = tuple((j,) for j in range(len(source)))
    else:
        raise ValueError(f"by must be words or pieces, not {by!r}")
    rows, columns = alpha.shape
    if not end:
        columns -= trace.source_pieces[-1] == "</s>" and columns > 1
        rows -= trace.target_pieces[-1] == "</s>" and rows > 1
    bits = entropy(trace.alignment if weights is None else weights)
    return Grid(
        source[:columns], target[:rows], alpha[:rows, :columns], steps[:rows], pieces[:columns],
        coverage(alpha)[:columns], np.array([bits[list(group)].mean() for group in steps[:rows]]),
    )  # fmt: skip


def rows_of_steps(cells: Grid, count: int) -> list[int | None]:
    """Return the row that each of `count` steps wrote, or None where it is not drawn."""
    return places_of_pieces(cells.steps, count)


def places_of_pieces(groups: tuple[tuple[int, ...], ...], count: int) -> list[int | None]:
    """Return the row (or column) that each of `count` pieces is in, or None where that is not drawn."""
    places: list[int | None] = [None] * count
    for place, group in enumerate(groups):
        for piece in group:
            places[piece] = place
    return places
