"""Which units stand for a vector where there is room for a few of them only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.trace import Seq2SeqTrace, Trace

SQUARES = 8
"""Units that stand for a vector, or for each direction of an annotation."""

Units = NDArray[np.intp]


@dataclass(frozen=True)
class DrawnUnits:
    """Units (from 0) of each kind of vector, the same for all of a translation, in their order."""

    annotation: Units
    """Forward ones, then as many backward ones."""
    context: Units
    """The same, or only the forward ones where a context has no others."""
    state: Units
    readout: Units


def drawn_units(trace: Trace | Seq2SeqTrace) -> DrawnUnits:
    """Return the units that differ most: of each direction from source piece to source piece, of states and readouts
    from step to step."""
    hidden = trace.annotations.shape[1] // 2
    forward = most_varied(trace.annotations[:, :hidden])
    annotation = np.concatenate([forward, hidden + most_varied(trace.annotations[:, hidden:])])
    context = annotation if trace.contexts.shape[1] > hidden else forward
    states = np.vstack([trace.initial_state[None], trace.states])
    return DrawnUnits(annotation, context, most_varied(states), most_varied(trace.readouts))


def most_varied(vectors: NDArray[np.floating], count: int = SQUARES) -> Units:
    """Return the `count` units of largest variance over `vectors`, (R, n), in their order; all where there are fewer,
    and of equals the first."""
    spread = vectors.astype(np.float64).var(axis=0)
    return np.sort(np.argsort(-spread, kind="stable")[:count])
