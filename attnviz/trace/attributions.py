"""What changes of the input do to the words of a translation: numbers of the network, which no trace holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Attributions:
    """How log p(y_i) hangs on the embedding of each source piece, through encoder and decoder, by two measures."""

    gradient: Array
    """d log p(y_i) / d E x_j . E x_j, (Ty, Tx), in nats (gradient × input: Denil et al. 2014; Ding et al. 2019)."""
    erased: Array
    """log p(y_i) less what it is with E x_j replaced by the mean embedding of the vocabulary, (Ty, Tx), in nats."""


@dataclass(frozen=True, eq=False)
class Signals:
    """How strongly what is to be learnt of each word reaches each source piece: lengths of gradients by its embedding,
    through the two ways that lead from the decoder into the encoder. As vectors the two add up to the whole."""

    whole: Array
    """|d log p(y_i) / d E x_j|, (Ty, Tx)."""
    start: Array
    """That of the part that enters the encoder by the decoder's first state s_0, (Ty, Tx)."""
    contexts: Array
    """That of the part that enters it by the contexts and their weights, (Ty, Tx)."""
