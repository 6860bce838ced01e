"""Functions that write attention in other programs' formats, following those programs' own code."""

import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SOURCE = ("The", "economic", "area", "was", "signed", ".")
TARGET = ("La", "zone", "économ@@", "ique", "a", "été", "signée", ".")
LOOKS = (0, 2, 1, 1, 3, 3, 4, 5, 6)
"""Where each target token looks, `</s>` last."""


def matrix(seed: int = 0) -> NDArray[np.float64]:
    """Weights (9, 7) of SOURCE and TARGET with their ends, most of each row where LOOKS says."""
    weights = np.random.default_rng(seed).random((len(LOOKS), len(SOURCE) + 1)) * 0.1
    weights[np.arange(len(LOOKS)), LOOKS] += 1
    return weights / weights.sum(axis=1, keepdims=True)


def marian(weights: NDArray[np.float64], target: Sequence[str] = TARGET) -> str:
    """Return a line of `marian-decoder --alignment soft`: C++ streams print six significant digits."""
    return " ".join(target) + " ||| " + " ".join(",".join(f"{x:.6g}" for x in row) for row in weights)


def logged(rows: Sequence[str], columns: Sequence[str], weights: NDArray[np.float64], *, starred: bool = False) -> str:
    """Return a table of `-attn_debug`: ten characters for each name and number, source names cut to seven letters."""
    lines = ["{:>10.10} ".format("") + "".join(f"{name:>10.7} " for name in columns)]
    for name, row in zip(rows, weights, strict=True):
        numbers = [f"{x:>10.7f} " for x in row]
        if starred:  # up to version 3.0 blanks before the largest are asterisks
            numbers[int(row.argmax())] = f"{row.max():*>10.7f} "
        lines.append(f"{name:>10.10} " + "".join(numbers))
    return "\n".join(lines) + "\n"


def npz(**arrays: object) -> bytes:
    """Return the bytes of a .npz file."""
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def arrays_of_one_pair(**more: object) -> dict[str, object]:
    """Return arrays of two layers of two heads, of words that no subword mark tells."""
    return {
        "source": ["green", "house", "s", "."],
        "target": ["mai", "sons", "vertes", "."],
        "matrix": np.random.default_rng(4).dirichlet(np.ones(4), size=(2, 2, 4)),
        "source_word_of": [0, 1, 1, 2],
        "target_word_of": [0, 0, 1, 2],
        "links": [[1, 0], [1, 1], [0, 2], [3, 3]],
        "sure": [[1, 0], [0, 1]],
        "possible": [[2, 2]],
        **more,
    }


def npy(array: NDArray[np.float64]) -> bytes:
    """Return the bytes of a .npy file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()
