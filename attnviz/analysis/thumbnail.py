"""A large matrix as a small one, for a picture of a thumb's size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGEST = 48
"""Rows and columns of a thumbnail at most."""


def thumbnail(matrix: NDArray[np.floating], largest: int = LARGEST) -> NDArray[np.floating]:
    """Return `matrix`, (m, n), with at most `largest` rows and columns: each the largest number of those it stands for,
    so that a single bright cell is not lost."""
    for axis in (0, 1):
        if (size := matrix.shape[axis]) > largest:
            starts = np.arange(largest) * size // largest
            matrix = np.maximum.reduceat(matrix, starts, axis=axis)
    return matrix
