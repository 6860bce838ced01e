"""Pairwise agreement of attribution methods: same top piece, order (Kendall's tau), and shares (total variation)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.attribution_methods import AttributionMethod, AttributionMethods
from attnviz.analysis.distributions import total_variation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Agreement:
    """Pairwise agreement of A attribution methods, at one step or averaged over several."""

    names: tuple[AttributionMethod, ...]
    top: Array
    """Whether both have the same top source piece, (A, A), 0 or 1; over several steps the share of steps."""
    tau: Array
    """Kendall's tau-b of their orders, (A, A), from -1 (reversed) over 0 to 1 (the same)."""
    variation: Array
    """Total variation of their positive parts, (A, A), from 0 (the same) to 1 (disjoint)."""

    def apart(self) -> tuple[AttributionMethod, AttributionMethod]:
        """Return the two methods that agree on the top piece at the fewest steps; the first of equals."""
        return self._pair(self.top.argmin())

    def together(self) -> tuple[AttributionMethod, AttributionMethod]:
        """Return the two different methods that agree on the top piece at the most steps; the first of equals."""
        return self._pair(np.where(np.triu(np.ones(self.top.shape), 1) > 0, self.top, -1).argmax())

    def _pair(self, place: np.intp) -> tuple[AttributionMethod, AttributionMethod]:
        first, second = np.unravel_index(place, self.top.shape)
        return self.names[first], self.names[second]


def agreement(methods: AttributionMethods, step: int | None = None) -> Agreement:
    """Return the agreement of the methods at 0-based `step`, or over all steps where `step` is None.

    Means are over the steps at which a number is defined: an order with ties only has no tau, a step without positive
    attributions has no shares. nan where there is no such step. Raise IndexError where the step does not exist.
    """
    names = methods.names
    count = len(methods.matrices[names[0]])
    steps = slice(None) if step is None else slice(range(count)[step], range(count)[step] + 1)
    values = np.stack([methods.matrices[name][steps] for name in names], axis=1)
    support = np.stack([methods.support(name)[steps] for name in names], axis=1)
    best = values.argmax(axis=2)
    top = (best[:, :, None] == best[:, None]).mean(axis=0)
    variation = total_variation(support[:, :, None], support[:, None])
    return Agreement(names, top, _mean(np.stack([kendall(rows) for rows in values])), _mean(variation))


def kendall(values: Array) -> Array:
    """Return Kendall's tau-b of each two rows of `values` (A, Tx): (A, A), from -1 to 1 (Kendall 1945).

    Concordant minus discordant pairs, over the geometric mean of the numbers of untied pairs of both rows. nan where a
    row has ties only.
    """
    signs = np.sign(values[:, :, None] - values[:, None]).reshape(len(values), -1)
    counts = (signs**2).sum(axis=1)
    scale = np.sqrt(counts[:, None] * counts)
    tau: Array = np.divide(signs @ signs.T, scale, out=np.full(scale.shape, np.nan), where=scale > 0)
    return np.clip(tau, -1, 1)


def _mean(by_step: Array) -> Array:
    """Return the mean over the first axis without nan, (S, A, A) to (A, A); nan where all are nan."""
    finite = np.isfinite(by_step)
    counts = finite.sum(axis=0)
    totals = np.where(finite, by_step, 0).sum(axis=0)
    means: Array = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
    return means
