"""Reduce a large matrix to a thumbnail by the maximum of each block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGEST = 48
"""Largest number of rows and columns of a thumbnail."""


def thumbnail(matrix: NDArray[np.floating], largest: int = LARGEST) -> NDArray[np.floating]:
    """Return `matrix`, (m, n), with at most `largest` rows and columns, by the maximum of each block.

    The maximum keeps single bright cells visible.
    """
    for axis in (0, 1):
        if (size := matrix.shape[axis]) > largest:
            starts = np.arange(largest) * size // largest
            matrix = np.maximum.reduceat(matrix, starts, axis=axis)
    return matrix
