"""In-place tanh for decoding, fast for the few numbers of a step on the CPU."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from attnviz.network.derivatives import derivatives_are_taken


def tanh_(values: Tensor) -> Tensor:
    """Replace each x of `values` by tanh(x) in place and return `values`, any shape, contiguous and without gradient.

    On the CPU this is NumPy's tanh, within 2 units in the last place. It takes a tenth of the time of torch's, which
    wakes several threads even for a few hundred numbers.
    """
    if values.device.type != "cpu" or derivatives_are_taken():
        return values.tanh_()
    array = values.numpy()
    np.tanh(array, out=array)
    return values
