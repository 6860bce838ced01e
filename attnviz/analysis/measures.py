"""Measures of an attention matrix: entropy, coverage, links by the largest weights, order of weights, uniformity."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnviz.trace import FloatArray, TransformerTrace
from attnviz.trace.aligned import AttentionMatrix


def entropy(alignment: ArrayLike) -> NDArray[np.float64]:
    """Return H_i = -sum_j alpha_ij log2 alpha_ij, in bits: (Ty, Tx) to (Ty,), from 0 to log2 Tx.

    0 where a target piece attends to one source piece only, log2 Tx where its attention is uniform.
    """
    rows = np.asarray(alignment, dtype=np.float64)
    logarithms = np.log2(np.where(rows > 0, rows, 1))
    bits: NDArray[np.float64] = (rows * -logarithms).sum(axis=-1)
    return bits


def coverage(alignment: ArrayLike) -> NDArray[np.float64]:
    """Return sum_i alpha_ij: (Ty, Tx) to (Tx,), the total attention to each source piece; it sums to Ty."""
    total: NDArray[np.float64] = np.asarray(alignment, dtype=np.float64).sum(axis=0)
    return total


def links(alignment: ArrayLike, threshold: float | None = None) -> list[tuple[int, int]]:
    """Return (source, target) links of a (target words, source words) matrix, sorted, 0-based.

    Each target word links to the source word with its largest weight (the first of equals), or, given a `threshold`, to
    every source word with at least that weight. A row of zeros has no links.
    """
    rows = np.asarray(alignment, dtype=np.float64)
    if threshold is None:
        nonzero_rows = np.flatnonzero(rows.any(axis=1))
        return sorted(zip(rows[nonzero_rows].argmax(axis=1).tolist(), nonzero_rows.tolist(), strict=True))
    i, j = np.nonzero(rows >= threshold)
    return sorted(zip(j.tolist(), i.tolist(), strict=True))


def weight_order(trace: AttentionMatrix, step: int) -> list[int]:
    """Return the 0-based source pieces of 0-based `step` by weight, largest first, ties in sentence order."""
    return [int(j) for j in np.argsort(-trace.alignment[step], kind="stable")]


def is_uniform(trace: AttentionMatrix, step: int) -> bool:
    """Return whether 0-based `step` has uniform attention over several source pieces, within 1e-6."""
    weights = trace.alignment[step]
    return len(weights) > 1 and float(np.ptp(weights)) < 1e-6


def attended_words(trace: AttentionMatrix) -> NDArray[np.intp]:
    """Return the source word with the largest weight of each target word, (target words,), as 0-based indices.

    -1 where all pieces of the target word have uniform attention, or its row is zero: then no word has the largest.
    """
    words = trace.words()
    uniform = np.array([all(is_uniform(trace, step) for step in group) for group in words.target_groups], dtype=bool)
    strongest: NDArray[np.intp] = words.alignment.argmax(axis=1)
    return np.where(uniform | ~words.alignment.any(axis=1), -1, strongest)


def word_weights_of_heads(trace: TransformerTrace, step: int) -> FloatArray:
    """Return the attention of each cross-attention head to each source word at 0-based `step`, (L, H, source words).

    Weights of a word's pieces are summed; rows sum to 1.
    """
    weights = trace.cross_alignment[:, :, step]
    return np.stack([weights[..., list(group)].sum(axis=-1) for group in trace.words().source_groups], axis=-1)


def strongest_words(trace: TransformerTrace, step: int) -> NDArray[np.intp]:
    """Return the 0-based source word with the most attention of each head at 0-based `step`, (L, H)."""
    words: NDArray[np.intp] = word_weights_of_heads(trace, step).argmax(axis=-1)
    return words
