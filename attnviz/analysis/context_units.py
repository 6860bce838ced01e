"""A context vector in its most unusual units, as a sum over source words; units that represent vectors in figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.measures import weight_order
from attnviz.trace import Trace
from attnviz.trace.parts import Array
from attnviz.trace.transformer_trace import Head

SHOWN_UNITS = 24
"""Number of units of a context vector that are displayed."""
WORDS = 6
"""Number of source words with a term of their own; the others form one more term."""


@dataclass(frozen=True)
class ContextUnits:
    """K units of c_i = sum_j alpha_ij h_j, and its terms by source word, in sentence order.

    All indices are 0-based, all numbers float64.
    """

    units: NDArray[np.intp]
    """Units in which c_i is farthest from the mean of all steps' contexts, farthest first, (K,)."""
    mean: Array
    """That mean in these units, (K,)."""
    words: tuple[int, ...]
    """The source words with a term of their own."""
    terms: Array
    """Term of each word, the sum of alpha_ij h_j over its pieces, (W, K).

    The last is of all other words, where there are any.
    """
    weights: Array
    """The sums of alpha_ij of each term, (W,); they sum to 1."""
    context: Array
    """c_i in these units, (K,): the sum of the terms."""
    cosines: Array
    """Cosine of c_i with each annotation h_j over all units, (Tx,), in [-1, 1]; 0 where either is 0."""

    @property
    def partial_sums(self) -> Array:
        """The partial sum before each term, (W, K)."""
        return np.vstack([np.zeros(len(self.units)), np.cumsum(self.terms, axis=0)[:-1]])

    @property
    def nearest(self) -> NDArray[np.intp]:
        """The source pieces by cosine of their annotation with c_i, largest first, (Tx,)."""
        return np.argsort(-self.cosines, kind="stable")


def context_units(trace: Trace, step: int) -> ContextUnits:
    """Decompose the context vector of 0-based `step`.

    Raise ValueError without attention, where the context is the same at every step, and IndexError without the step.
    """
    if not trace.attends:
        raise ValueError("without attention a context is no sum of annotations, and the same at every step")
    alpha, annotations = trace.alignment[step].astype(np.float64), trace.annotations.astype(np.float64)
    contexts = trace.contexts.astype(np.float64)
    mean = contexts.mean(axis=0)
    units = np.argsort(-np.abs(contexts[step] - mean), kind="stable")[:SHOWN_UNITS]
    groups = [list(group) for group in trace.words().source_groups]
    shares = np.array([alpha[group].sum() for group in groups])
    chosen = np.sort(np.argsort(-shares, kind="stable")[:WORDS])
    term_groups = [groups[k] for k in chosen]
    other_pieces = [j for k, group in enumerate(groups) if k not in chosen for j in group]
    term_groups += [other_pieces] if other_pieces else []
    return ContextUnits(
        units,
        mean[units],
        tuple(chosen.tolist()),
        np.stack([alpha[group] @ annotations[np.ix_(group, units)] for group in term_groups]),
        np.array([alpha[group].sum() for group in term_groups]),
        contexts[step, units],
        _cosines(contexts[step], annotations),
    )


def _cosines(vector: Array, others: Array) -> Array:
    lengths = np.linalg.norm(others, axis=1) * np.linalg.norm(vector)
    cosines: Array = np.divide(others @ vector, lengths, out=np.zeros(len(others)), where=lengths > 0)
    return np.clip(cosines, -1, 1)


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


def drawn_units(trace: Trace) -> DrawnUnits:
    """Return the units with the largest variance over source pieces or steps."""
    hidden = trace.annotations.shape[1] // (1 + trace.reads_backwards)
    forward = most_varied(trace.annotations[:, :hidden])
    annotation = forward
    if trace.reads_backwards:
        annotation = np.concatenate([forward, hidden + most_varied(trace.annotations[:, hidden:])])
    context = annotation if trace.contexts.shape[1] > hidden else forward
    states = np.vstack([trace.initial_state[None], trace.states])
    return DrawnUnits(annotation, context, most_varied(states), most_varied(trace.readouts))


def most_varied(vectors: NDArray[np.floating]) -> Units:
    """Return the SQUARES units with the largest variance over `vectors`, (R, n), ascending; of equals the first."""
    spread = vectors.astype(np.float64).var(axis=0)
    return np.sort(np.argsort(-spread, kind="stable")[:SQUARES])


TERMS = 3
"""Number of source pieces with a strip of their own in the picture of fit, share and mixture."""


@dataclass(frozen=True)
class WeightedSum:
    """SQUARES units of c_i = sum_j alpha_ij h_j, or of z_i = sum_j alpha_ij v_j of a head, and its largest terms.

    All indices are 0-based.
    """

    units: Units
    """The units, the same at every step: those in which the values h_j or v_j differ most, ascending, (K,)."""
    values: Array
    """h_j or v_j in these units, (Tx, K)."""
    pieces: list[int]
    """The source pieces with the largest weights, largest first."""
    weights: list[float]
    """Their weights, and the sum of all others where there are any, (R,)."""
    terms: Array
    """Their terms alpha_ij h_j, and the sum of all others where there are any, (R, K)."""
    total: Array
    """c_i or z_i, (K,): the sum of the terms."""


def weighted_sum(attention: Trace | Head, step: int) -> WeightedSum:
    """Return the largest terms of the context of 0-based `step`, of a trace that attends, or of a head."""
    units = most_varied(attention.values)
    alpha, values = attention.alignment[step].astype(np.float64), attention.values[:, units].astype(np.float64)
    order = weight_order(attention, step)
    groups = [[j] for j in order[:TERMS]] + ([order[TERMS:]] if len(order) > TERMS else [])
    return WeightedSum(
        units,
        values,
        order[:TERMS],
        [float(alpha[group].sum()) for group in groups],
        np.stack([alpha[group] @ values[group] for group in groups]),
        attention.contexts[step, units].astype(np.float64),
    )
