"""Rows and columns of an alignment, word by word or piece by piece, before or after the word: what heatmaps, tables and
TikZ all draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.measures import coverage, entropy
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.text import piece_name
from attnviz.trace import FloatArray, Record
from attnviz.trace.looks import Looks

By = Literal["words", "pieces"]
Face = Literal["before", "after", "difference"]
"""Of an alignment: alpha, chosen before the word is known; its posterior once it is; the posterior less alpha."""
FACES: tuple[Face, ...] = get_args(Face)

_ENDS = (0.1, 0.2, 0.4, 0.6, 0.8)
"""Of the scale of a difference, where none is larger; else 1."""


@dataclass(frozen=True)
class Grid:
    """What the heatmap draws: names of the columns and rows, the numbers of its cells, and the step of each row."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alpha: NDArray[np.float32]
    """(rows, columns), exact, whatever face is shown."""
    face: Face
    shown: NDArray[np.floating]
    """The numbers of the face, (rows, columns): alpha, the posterior in [0, 1], or their difference in [-1, 1]."""
    steps: tuple[tuple[int, ...], ...]
    """For each row, the 0-based decoder steps that wrote it."""
    pieces: tuple[tuple[int, ...], ...]
    """For each column, its 0-based source pieces."""
    covered: NDArray[np.float64]
    """Of what is shown, the sum of each column over all rows, those not drawn included: (columns,)."""
    entropies: NDArray[np.float64]
    """H_i in bits of each row of what is shown, that of its pieces; for a word of several the mean. For the
    difference it is that of the posterior less that of alpha."""

    @property
    def after(self) -> NDArray[np.floating]:
        """The posterior, (rows, columns), where a face that needs it is shown; else alpha."""
        return self.alpha + self.shown if self.face == "difference" else self.shown

    @property
    def range(self) -> tuple[float, float]:
        """The ends of the scale: 0 and 1, and for the difference a round number on both sides, so that small ones are
        seen."""
        if self.face != "difference":
            return 0, 1
        end = scale_end(float(np.abs(self.shown).max()))
        return -end, end


def scale_end(largest: float) -> float:
    """Return where the scale of differences ends of which none is larger: a round number, so that small ones are
    seen."""
    return next((end for end in _ENDS if end >= largest), 1.0)


def grid(
    trace: Looks,
    by: By = "words",
    end: bool = True,
    face: Face = "before",
    posterior: NDArray[np.float64] | None = None,
    weights: FloatArray | None = None,
) -> Grid:
    """Return the rows and columns to draw, word by word or piece by piece; `end=False` leaves out `</s>` on both axes.

    `posterior`, (Ty, Tx), is what `analysis.posterior` returns; every face but "before" needs it. `weights`, (Ty, Tx),
    stand in the alignment's place: those of one head of a transformer, say. Raise AttnvizError where a posterior is
    lacking, and ValueError unless `by` and `face` are of their kinds.
    """
    chosen = trace.alignment if weights is None else weights
    numbers = _numbers(trace, chosen, face, posterior)
    if by == "words":
        words = trace.words()
        source, target, steps = words.source, words.target, words.target_groups
        alpha = words.alignment if weights is None else words.merged(weights)
        pieces = words.source_groups
        shown = alpha if face == "before" else words.merged(numbers)
    elif by == "pieces":
        source = tuple(piece_name(piece) for piece in trace.source_pieces)
        target = tuple(piece_name(piece) for piece in trace.target_pieces)
        alpha, steps = chosen, tuple((i,) for i in range(len(target)))
        pieces, shown = tuple((j,) for j in range(len(source))), numbers
    else:
        raise ValueError(f"by must be words or pieces, not {by!r}")
    rows, columns = alpha.shape
    if not end:
        columns -= trace.source_pieces[-1] == "</s>" and columns > 1
        rows -= trace.target_pieces[-1] == "</s>" and rows > 1
    bits = entropy(chosen if posterior is None or face == "before" else posterior)
    if face == "difference":
        bits = bits - entropy(chosen)
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


def _numbers(
    trace: Looks, alignment: FloatArray, face: Face, posterior: NDArray[np.float64] | None
) -> NDArray[np.floating]:
    """Return what the cells of pieces show, (Ty, Tx); raise as `grid` does."""
    if face not in FACES:
        raise ValueError(f"face must be one of {', '.join(FACES)}, not {face!r}")
    if face == "before":
        return alignment
    if not isinstance(trace, Record):
        raise AttnvizError(gettext("There is no reading after the word of attention alone: it takes the whole model."))
    if posterior is None:
        told = gettext(
            "What a step was about after its word is reckoned from the weights of the model {model}: give them, "
            "or show the alignment before the word.",
            model=trace.model,
        )
        raise AttnvizError(told)
    return posterior if face == "after" else posterior - alignment


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
