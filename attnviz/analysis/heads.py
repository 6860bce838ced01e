"""One head of a transformer's cross-attention opened up: all that its look at each step came from and led to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.trace import FloatArray, TransformerTrace

BLOCKS = ("attention", "cross", "feedforward")
"""The blocks of a layer of the decoder, in their order."""


@dataclass(frozen=True, eq=False)
class OpenHead:
    """A head of the cross-attention, of a record that is seen by it alone."""

    trace: TransformerTrace
    """Its `alignment` is this head's."""
    layer: int
    """0-based, as is the head."""
    head: int

    @property
    def queries(self) -> FloatArray:
        """q_i, (Ty, d/H)."""
        found: FloatArray = self.trace.cross_queries[self.layer, self.head]
        return found

    @property
    def keys(self) -> FloatArray:
        """k_j, (Tx, d/H)."""
        found: FloatArray = self.trace.cross_keys[self.layer, self.head]
        return found

    @property
    def values(self) -> FloatArray:
        """v_j, (Tx, d/H)."""
        found: FloatArray = self.trace.cross_values[self.layer, self.head]
        return found

    @property
    def scores(self) -> FloatArray:
        """s_ij = q_i . k_j / sqrt(d/H), (Ty, Tx)."""
        found: FloatArray = self.trace.cross_scores[self.layer, self.head]
        return found

    @property
    def weights(self) -> FloatArray:
        """alpha_ij = softmax_j(s_ij), (Ty, Tx), rows sum to 1."""
        return self.trace.alignment

    @property
    def outputs(self) -> FloatArray:
        """z_i = sum_j alpha_ij v_j, (Ty, d/H): what the head found."""
        return self.weights @ self.values

    @property
    def block(self) -> int:
        """The 0-based block of the decoder that the head is in: its layer's cross-attention."""
        return len(BLOCKS) * self.layer + BLOCKS.index("cross")


def open_head(trace: TransformerTrace) -> OpenHead:
    """Return the head that `trace` is seen by or, where it is seen by the mean of several, the one of these that is
    nearest to it: of the least total variation, mean over all steps."""
    layer, head = trace.nearest_head
    return OpenHead(trace.seen_by(layer, head), layer, head)


def added(trace: TransformerTrace) -> FloatArray:
    """Return what each block of the decoder added to the residual stream, (3L, Ty, d): with the first stream, they are
    terms of the sum that the last one is."""
    return np.diff(trace.decoder_streams, axis=0)
