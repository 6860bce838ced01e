"""Result classes of attribution: gradient × input and erasure of source pieces, and gradient norms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Attributions:
    """How much each source piece contributes to log p(y_i), measured through encoder and decoder in two ways."""

    gradient: Array
    """Gradient × input: d log p(y_i) / d E x_j . E x_j, (Ty, Tx), in nats (Denil et al. 2014; Ding et al. 2019)."""
    erased: Array
    """Erasure: drop of log p(y_i) when E x_j becomes the vocabulary's mean embedding, (Ty, Tx), in nats."""


@dataclass(frozen=True, eq=False)
class Signals:
    """Gradient norms of log p(y_i) by the source embeddings, split by the two paths into the encoder.

    As vectors, the gradients of the two paths add up to the whole gradient; their norms do not.
    """

    whole: Array
    """Norm |d log p(y_i) / d E x_j| of the whole gradient, (Ty, Tx)."""
    start: Array
    """Norm of the gradient that enters the encoder through the initial decoder state s_0, (Ty, Tx)."""
    contexts: Array
    """Norm of the gradient that enters the encoder through the context vectors and their weights, (Ty, Tx)."""
