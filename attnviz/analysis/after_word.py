"""What the look of a step turned out to be about, in three columns: prior, likelihood, posterior."""

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
class AfterWord:
    """Of every step and source piece, (Ty, Tx) each, in [0, 1]."""

    prior: Array
    """alpha_ij, as used, before the word is known; rows sum to 1."""
    likelihood: Array
    """P(y_i | s_{i-1}, y_{i-1}, c = h_j), as `likelihood` returns it."""
    posterior: Array
    """p(j | y_i): prior times likelihood over their sum, Bayes as it stands; rows sum to 1."""
    reading: Array
    """What the heatmap shows after the word, the default of `analysis.posterior`: it asks other steps too."""

    def change(self, step: int) -> float:
        """Return the total variation between prior and posterior of 0-based `step`, from 0 to 1."""
        return float(0.5 * np.abs(self.posterior[step] - self.prior[step]).sum())


def after_word(trace: Trace, weights: Weights, reading: Array | None = None) -> AfterWord:
    """Return what every step of `trace` was about once its word was known; `reading`, (Ty, Tx), is what the heatmap
    shows, where that is known already.

    `weights` are those of the model that made the trace (`load_weights`); raise AttnvizError where they are not, or
    where the model has no attention.
    """
    readouts = Readouts(trace, weights)
    return AfterWord(
        readouts.alignment,
        np.exp(readouts.alone),
        bayes(readouts.alignment, readouts.alone),
        posterior_of(readouts) if reading is None else reading,
    )
