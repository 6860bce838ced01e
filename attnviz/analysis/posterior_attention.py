"""`PosteriorAttention`: prior, likelihood and posterior of the attention of every step, as one result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.posterior import bayes, posterior_of
from attnviz.analysis.recomputation import Weights
from attnviz.trace import Trace

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PosteriorAttention:
    """Prior, likelihood and posterior of every step and source piece, (Ty, Tx) each, in [0, 1]."""

    prior: Array
    """alpha_ij after interventions; rows sum to 1."""
    likelihood: Array
    """p(y_i | s_{i-1}, y_{i-1}, c = h_j), as `likelihood` returns it."""
    posterior: Array
    """p(j | y_i) by Bayes' rule, from prior and likelihood; rows sum to 1."""
    reading: Array
    """Posterior attention of the heatmap: the default kind of `analysis.posterior`, which normalises over steps too."""

    def change(self, step: int) -> float:
        """Return the total variation between prior and posterior of 0-based `step`, from 0 to 1."""
        return float(0.5 * np.abs(self.posterior[step] - self.prior[step]).sum())


def posterior_attention(trace: Trace, weights: Weights, reading: Array | None = None) -> PosteriorAttention:
    """Return prior, likelihood and posterior of every step of `trace`.

    `weights` are those of the model that made the trace (`load_weights`); `reading`, (Ty, Tx), is the posterior of the
    heatmap where already computed. Raise AttnvizError where the weights are another model's, or where the model has no
    attention.
    """
    readouts = Readouts(trace, weights)
    return PosteriorAttention(
        readouts.alignment,
        np.exp(readouts.alone),
        bayes(readouts.alignment, readouts.alone),
        posterior_of(readouts) if reading is None else reading,
    )
