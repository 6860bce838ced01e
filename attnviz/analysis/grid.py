"""The data of a heatmap or its table: rows, columns, and attention, posterior or difference by words or pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.measures import coverage, entropy
from attnviz.arguments import check_choice
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.text import piece_name
from attnviz.trace import FloatArray, Record
from attnviz.trace.aligned import AttentionMatrix
from attnviz.trace.drawing import By, Face

GRID_UNITS: tuple[By, ...] = get_args(By)
FACES: tuple[Face, ...] = get_args(Face)

_ENDS = (0.1, 0.2, 0.4, 0.6, 0.8)
"""Ends of a difference's colour scale for small differences; larger ones use 1."""


@dataclass(frozen=True)
class Grid:
    """The data of a heatmap: names of columns and rows, cell values, and the steps of each row."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alpha: NDArray[np.float32]
    """alpha, (rows, columns), unrounded, whatever face is displayed."""
    face: Face
    shown: NDArray[np.floating]
    """Displayed values, (rows, columns): alpha or the posterior in [0, 1], or their difference in [-1, 1]."""
    steps: tuple[tuple[int, ...], ...]
    """For each row, the 0-based decoder steps that wrote it."""
    pieces: tuple[tuple[int, ...], ...]
    """For each column, its 0-based source pieces."""
    covered: NDArray[np.float64]
    """Sum of each displayed column over all rows, including rows that are not drawn, (columns,)."""
    entropies: NDArray[np.float64]
    """H_i of the pieces of each displayed row, in bits; for a word the mean over its pieces.

    For the difference, the entropy of the posterior minus that of alpha.
    """

    @property
    def posterior_or_weights(self) -> NDArray[np.floating]:
        """The posterior, (rows, columns), where the face needs it; else alpha."""
        return self.alpha + self.shown if self.face == "difference" else self.shown

    @property
    def range(self) -> tuple[float, float]:
        """Ends of the colour scale: 0 and 1, or for differences a symmetric round number near the largest."""
        if self.face != "difference":
            return 0, 1
        end = scale_end(float(np.abs(self.shown).max()))
        return -end, end


def scale_end(largest: float) -> float:
    """Return the end of the colour scale for differences up to `largest`: a round number."""
    return next((end for end in _ENDS if end >= largest), 1.0)


def grid(
    trace: AttentionMatrix,
    by: By = "words",
    end: bool = True,
    face: Face = "before",
    posterior: NDArray[np.float64] | None = None,
    weights: FloatArray | None = None,
) -> Grid:
    """Return the rows and columns to draw, by words or by pieces; `end=False` leaves out `</s>` on both axes.

    `posterior`, (Ty, Tx), from `analysis.posterior`, is needed for every face except "before". `weights`, (Ty, Tx),
    replace the alignment, such as those of one head of a transformer. Raise AttnvizError where a posterior is missing,
    and for an unknown `by` or `face`.
    """
    check_choice("by", by, ("words", "pieces"))
    piece_weights = trace.alignment if weights is None else weights
    piece_values = _piece_values(trace, piece_weights, face, posterior)
    if by == "words":
        words = trace.words()
        source, target, steps = words.source, words.target, words.target_groups
        alpha = words.alignment if weights is None else words.merged(weights)
        pieces = words.source_groups
        shown = alpha if face == "before" else words.merged(piece_values)
    else:
        source = tuple(piece_name(piece) for piece in trace.source_pieces)
        target = tuple(piece_name(piece) for piece in trace.target_pieces)
        alpha, steps = piece_weights, tuple((i,) for i in range(len(target)))
        pieces, shown = tuple((j,) for j in range(len(source))), piece_values
    rows, columns = alpha.shape
    if not end:
        columns -= trace.source_pieces[-1] == "</s>" and columns > 1
        rows -= trace.target_pieces[-1] == "</s>" and rows > 1
    bits = entropy(piece_weights if posterior is None or face == "before" else posterior)
    if face == "difference":
        bits = bits - entropy(piece_weights)
    return Grid(
        source[:columns],
        target[:rows],
        alpha[:rows, :columns],
        face,
        shown[:rows, :columns],
        steps[:rows],
        pieces[:columns],
        coverage(shown)[:columns],
        np.array([bits[list(group)].mean() for group in steps[:rows]]),
    )


def _piece_values(
    trace: AttentionMatrix, alignment: FloatArray, face: Face, posterior: NDArray[np.float64] | None
) -> NDArray[np.floating]:
    """Return the values of the cells by pieces, (Ty, Tx); raise AttnvizError where a posterior is missing."""
    if face not in FACES:
        check_choice("face", face, FACES)
    if face == "before":
        return alignment
    if not isinstance(trace, Record):
        raise AttnvizError(
            gettext(
                "This alignment holds only attention weights. Posterior attention (the attention once the word "
                "is known) cannot be computed from weights alone."
            )
        )
    if posterior is None:
        message = gettext(
            "Posterior attention (the attention once the word is known) is computed from the weights of the model "
            "{model}. Give the model {model} too, or show the attention before the word is known.",
            model=trace.model,
        )
        raise AttnvizError(message)
    return posterior if face == "after" else posterior - alignment


def rows_of_steps(heatmap: Grid, count: int) -> list[int | None]:
    """Return the row that each of `count` steps wrote; None where it is not drawn."""
    return places_of_pieces(heatmap.steps, count)


def places_of_pieces(groups: tuple[tuple[int, ...], ...], count: int) -> list[int | None]:
    """Return the row or column of each of `count` pieces; None where it is not drawn."""
    places: list[int | None] = [None] * count
    for place, group in enumerate(groups):
        for piece in group:
            places[piece] = place
    return places
