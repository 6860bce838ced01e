"""Choose the few units that represent a vector in figures: those with the largest variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.trace import Seq2SeqTrace, Trace

SQUARES = 8
"""Number of units that represent a vector, or each direction of an annotation."""

Units = NDArray[np.intp]


@dataclass(frozen=True)
class DrawnUnits:
    """The displayed units (0-based, ascending) of each kind of vector, the same for the whole translation."""

    annotation: Units
    """Forward units, then as many backward units where the encoder reads backwards."""
    context: Units
    """The same as for annotations, or only the forward units for models without attention."""
    state: Units
    readout: Units


def drawn_units(trace: Trace | Seq2SeqTrace) -> DrawnUnits:
    """Return the units with the largest variance over source pieces or steps."""
    hidden = trace.annotations.shape[1] // (1 + trace.reads_backwards)
    forward = most_varied(trace.annotations[:, :hidden])
    annotation = forward
    if trace.reads_backwards:
        annotation = np.concatenate([forward, hidden + most_varied(trace.annotations[:, hidden:])])
    context = annotation if trace.contexts.shape[1] > hidden else forward
    states = np.vstack([trace.initial_state[None], trace.states])
    return DrawnUnits(annotation, context, most_varied(states), most_varied(trace.readouts))


def most_varied(vectors: NDArray[np.floating], count: int = SQUARES) -> Units:
    """Return the `count` units with the largest variance over `vectors`, (R, n), ascending; of equals the first."""
    spread = vectors.astype(np.float64).var(axis=0)
    return np.sort(np.argsort(-spread, kind="stable")[:count])
