"""`TransformerTrace`: all that was computed while a transformer translated a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from attnviz import bounds
from attnviz.trace import storage
from attnviz.trace.drawing import drawing
from attnviz.trace.parts import FloatArray
from attnviz.trace.quantity import Quantity
from attnviz.trace.record import Record
from attnviz.trace.transformer_quantities import ATTENTIONS, RECORDED


@dataclass(frozen=True, eq=False, kw_only=True)
class TransformerTrace(Record):
    """Everything computed while one sentence was translated by a transformer (Vaswani et al. 2017).

    L layers of encoder and decoder, H heads of every attention, d units of the residual stream; shapes and equations of
    the arrays stand in the table of `trace.transformer_quantities`. Layers and heads count from 0. The config is a
    `TransformerConfig`.
    """

    saved_as: ClassVar[storage.Format] = storage.Format("attnviz-transformer-trace", 1)
    arrays: ClassVar[tuple[Quantity, ...]] = RECORDED

    encoder_queries: FloatArray
    """Of the source asking itself: q = x W_Q, (L, H, Tx, d/H), where x is the normalised stream."""
    encoder_keys: FloatArray
    """k = x W_K, (L, H, Tx, d/H)."""
    encoder_values: FloatArray
    """v = x W_V, (L, H, Tx, d/H)."""
    encoder_scores: FloatArray
    """q_i . k_j / sqrt(d/H), (L, H, Tx, Tx)."""
    encoder_weights: FloatArray
    """Their softmax over j, (L, H, Tx, Tx), rows sum to 1."""
    decoder_queries: FloatArray
    """Of the target asking itself, (L, H, Ty, d/H)."""
    decoder_keys: FloatArray
    """(L, H, Ty, d/H)."""
    decoder_values: FloatArray
    """(L, H, Ty, d/H)."""
    decoder_scores: FloatArray
    """(L, H, Ty, Ty), -inf where j > i: a step does not see later words."""
    decoder_weights: FloatArray
    """(L, H, Ty, Ty), rows sum to 1."""
    cross_queries: FloatArray
    """Of the target asking the source, (L, H, Ty, d/H)."""
    cross_keys: FloatArray
    """k = m W_K of the annotations, (L, H, Tx, d/H)."""
    cross_values: FloatArray
    """v = m W_V of the annotations, (L, H, Tx, d/H)."""
    cross_scores: FloatArray
    """(L, H, Ty, Tx)."""
    cross_weights: FloatArray
    """(L, H, Ty, Tx), rows sum to 1."""
    encoder_streams: FloatArray
    """The residual stream before the first block, and after attention and feed-forward block of each layer,
    (2L+1, Tx, d)."""
    annotations: FloatArray
    """m_j, the encoder's last stream, normalised, (Tx, d)."""
    decoder_streams: FloatArray
    """The residual stream before the first block, and after attention, cross-attention and feed-forward block of each
    layer, (3L+1, Ty, d)."""
    readouts: FloatArray
    """t_i, the decoder's last stream, normalised, (Ty, d)."""

    @property
    def attends(self) -> bool:
        """True: every step chose where to look, in each head of each layer."""
        return True

    def cross_attention(self, layer: int = -1, head: int | None = None) -> FloatArray:
        """Return where the steps looked in the source, (Ty, Tx), rows sum to 1, read-only: by one 0-based `head` of one
        0-based `layer`, or by the mean of its heads; layer -1 is the last. Raise IndexError where there is none such.
        """
        weights = self.cross_weights[layer]
        found: FloatArray = weights.mean(axis=0) if head is None else weights[head]
        found.setflags(write=False)
        return found

    @cached_property
    def _alignment(self) -> FloatArray:
        return self.cross_attention()

    @property
    def alignment(self) -> FloatArray:
        """The cross-attention of the last layer, mean of its heads, (Ty, Tx), rows sum to 1."""
        return self._alignment

    def heatmap(self, layer: int = -1, head: int | None = None, **choices: Any) -> Any:
        """Return `cross_attention` as a Plotly figure, for a notebook; choices as those of `figures.heatmap`."""
        return drawing().heatmap(self, weights=self.cross_attention(layer, head), **choices)

    def _repr_html_(self) -> str:
        """Return the alignment as a bare table: what a notebook shows of a trace."""
        return drawing().table_html(self)

    def sizes(self) -> dict[str, int]:
        """Return the numbers that the symbols of the table's shapes stand for.

        Raise IndexError or KeyError where an array lacks a dimension or the config a size, ValueError where it is none.
        """
        bounds.check_model(self.config)
        layers, heads, size = (int(self.config[name]) for name in ("layers", "heads", "model_size"))
        return {
            "Tx": len(self.source_pieces), "Ty": len(self.target_pieces), "L": layers, "H": heads, "d": size,
            "d/H": size // heads, "2L+1": 2 * layers + 1, "3L+1": 3 * layers + 1,
            "k": self.top_ids.shape[1], "K": self.config["vocabulary_size"],
        }  # fmt: skip

    def check_numbers(self) -> None:
        """Raise ValueError unless all rows of weights are shares, and of no step of later ones."""
        for kind in ATTENTIONS:
            weights = getattr(self, f"{kind}_weights")
            if not np.allclose(weights.sum(axis=-1), 1, atol=1e-3) or weights.min() < 0:
                raise ValueError(f"a row of {kind}_weights does not sum to 1")
        if np.triu(self.decoder_weights, 1).any():
            raise ValueError("a step looked at a later one")
