"""Text cut into pieces in other ways, and which letter is in which piece: the reference of what maps weights."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

LETTERS = "abcdefgh"


def cut(ends: set[int]) -> list[str]:
    """Return LETTERS, cut after these numbers of letters."""
    return [LETTERS[first:last] for first, last in pairwise((0, *sorted(ends), len(LETTERS)))]


CUTS = st.sets(st.integers(1, len(LETTERS) - 1)).map(cut)


def of_letters(lengths: list[int]) -> NDArray[np.float64]:
    """Return which piece each letter is in, (letters, pieces), by the pieces' numbers of letters."""
    return np.repeat(np.eye(len(lengths)), lengths, axis=0)


def shares(pieces: list[int], other: list[int]) -> NDArray[np.float64]:
    """Return the share of each other piece in each piece, (pieces, other pieces), by their numbers of letters."""
    return of_letters(pieces).T @ of_letters(other) / np.maximum(other, 1)
