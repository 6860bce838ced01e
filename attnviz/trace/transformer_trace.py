"""`TransformerTrace`: everything a transformer computed for a sentence, and the table of its quantities.

Sizes: Tx source and Ty target pieces, `</s>` included; L layers of encoder and decoder each, H heads of an attention; d
the residual stream, d/H a head; 2L+1 and 3L+1 residual streams of encoder and decoder, before the first block and after
every block; k candidates stored of each step; K pieces of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from attnviz import bounds
from attnviz.errors import AttnvizError
from attnviz.trace import storage
from attnviz.trace.drawing import drawing
from attnviz.trace.head_views import HeadViews, mean_of_heads
from attnviz.trace.parts import FloatArray, Heads
from attnviz.trace.quantity import Quantity, piece_quantities
from attnviz.trace.record import Record

_ALL = Heads()

ATTENTIONS: Mapping[str, tuple[str, str]] = {
    "encoder": ("Tx", "Tx"),
    "decoder": ("Ty", "Ty"),
    "cross": ("Ty", "Tx"),
}
"""The three kinds of attention: the numbers of queries and of keys."""
_SIDE_NAMES = {
    "encoder": ("a source piece", "a source piece"),
    "decoder": ("a step", "a step"),
    "cross": ("a step", "a source piece"),
}


def _attention_quantities(kind: str) -> tuple[Quantity, ...]:
    """Return the five quantities of every head of one kind of attention."""
    (query_axis, key_axis), (query_name, key_name) = ATTENTIONS[kind], _SIDE_NAMES[kind]
    mark = rf"^{{\mathrm{{{kind}}}}}"
    key_input = "m" if kind == "cross" else r"\bar x"
    queries, keys, scores = ("L", "H", query_axis, "d/H"), ("L", "H", key_axis, "d/H"), ("L", "H", query_axis, key_axis)
    later = "; minus infinity for later steps" if kind == "decoder" else ""
    return (
        Quantity(f"{kind}_queries", f"q{mark}", queries, r"q = \bar x W_Q", f"query of a head, for {query_name}"),
        Quantity(f"{kind}_keys", f"k{mark}", keys, f"k = {key_input} W_K", f"key of a head, for {key_name}"),
        Quantity(f"{kind}_values", f"v{mark}", keys, f"v = {key_input} W_V", f"value of a head, for {key_name}"),
        Quantity(
            f"{kind}_scores",
            f"s{mark}_{{ij}}",
            scores,
            r"s_{ij} = q_i \cdot k_j / \sqrt{d/H}",
            f"score: how well query and key fit{later}",
        ),
        Quantity(
            f"{kind}_weights",
            rf"\alpha{mark}_{{ij}}",
            scores,
            r"\alpha_{ij} = \exp(s_{ij}) / \sum_k \exp(s_{ik})",
            "attention weights; rows sum to 1",
        ),
    )


_TABLE = (
    *_attention_quantities("encoder"),
    *_attention_quantities("decoder"),
    *_attention_quantities("cross"),
    Quantity(
        "encoder_streams",
        r"x",
        ("2L+1", "Tx", "d"),
        r"x_0 = \sqrt{d}\, E y + p,\quad x_{b+1} = x_b + \mathrm{Block}_b(\mathrm{LayerNorm}(x_b))",
        "residual stream of the encoder, before the first and after every block",
    ),
    Quantity(
        "annotations",
        r"m_j",
        ("Tx", "d"),
        r"m = \mathrm{LayerNorm}(x_{2L})",
        "annotation: normalised output of the encoder",
    ),
    Quantity(
        "decoder_streams",
        r"x",
        ("3L+1", "Ty", "d"),
        r"x_0 = \sqrt{d}\, E y_{i-1} + p,\quad x_{b+1} = x_b + \mathrm{Block}_b(\mathrm{LayerNorm}(x_b))",
        "residual stream of the decoder, before the first and after every block",
    ),
    Quantity(
        "readouts",
        r"t_i",
        ("Ty", "d"),
        r"t = \mathrm{LayerNorm}(x_{3L})",
        "normalised output of the decoder, from which the logits are computed",
    ),
    *piece_quantities(r"p(y_i) = \operatorname{softmax}(E t_i + b)"),
    Quantity("logits", r"o_i", ("Ty", "K"), r"E t_i + b", "logits of all pieces", recorded=False),
    Quantity(
        "probabilities",
        r"p(y_i)",
        ("Ty", "K"),
        r"p(y_i) = \operatorname{softmax}(E t_i + b)",
        "probabilities of all pieces",
        recorded=False,
    ),
)

QUANTITIES: Mapping[str, Quantity] = {quantity.name: quantity for quantity in _TABLE}
"""The table, by name."""
RECORDED = tuple(quantity for quantity in _TABLE if quantity.recorded)
"""The quantities that a trace stores as arrays."""
DERIVED = tuple(quantity for quantity in _TABLE if not quantity.recorded)
"""The quantities that follow from those and the weights."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TransformerTrace(HeadViews, Record):
    """Everything computed while one sentence was translated by a transformer (Vaswani et al. 2017).

    Tx and Ty count source and target pieces; L is the number of layers of encoder and of decoder, H the number of heads
    of every attention, d the size of the residual stream, k the number of candidates stored of each step and K the
    vocabulary's size. Layers and heads count from 0. The config is a `TransformerConfig`.
    """

    saved_as: ClassVar[storage.FileFormat] = storage.FileFormat("attnviz-transformer-trace", 3)
    architectures: ClassVar[tuple[str, ...]] = ("transformer",)
    arrays: ClassVar[tuple[Quantity, ...]] = RECORDED
    has_heads: ClassVar[bool] = True
    attention_figure: ClassVar[str] = "scores"
    derived: ClassVar[tuple[Quantity, ...]] = DERIVED

    encoder_queries: FloatArray
    """Queries q = x W_Q of encoder self-attention, (L, H, Tx, d/H), where x is the normalised residual stream."""
    encoder_keys: FloatArray
    """Keys k = x W_K of encoder self-attention, (L, H, Tx, d/H)."""
    encoder_values: FloatArray
    """Values v = x W_V of encoder self-attention, (L, H, Tx, d/H)."""
    encoder_scores: FloatArray
    """Scores q_i . k_j / sqrt(d/H) of encoder self-attention, (L, H, Tx, Tx)."""
    encoder_weights: FloatArray
    """Weights of encoder self-attention, softmax of the scores over j, (L, H, Tx, Tx); rows sum to 1."""
    decoder_queries: FloatArray
    """Queries q of decoder self-attention, (L, H, Ty, d/H)."""
    decoder_keys: FloatArray
    """Keys k of decoder self-attention, (L, H, Ty, d/H)."""
    decoder_values: FloatArray
    """Values v of decoder self-attention, (L, H, Ty, d/H)."""
    decoder_scores: FloatArray
    """Scores of decoder self-attention, (L, H, Ty, Ty); -inf where j > i (causal mask)."""
    decoder_weights: FloatArray
    """Weights of decoder self-attention, (L, H, Ty, Ty); rows sum to 1."""
    cross_queries: FloatArray
    """Queries q of cross-attention, (L, H, Ty, d/H)."""
    cross_keys: FloatArray
    """Keys k = m W_K of the annotations, (L, H, Tx, d/H)."""
    cross_values: FloatArray
    """Values v = m W_V of the annotations, (L, H, Tx, d/H)."""
    cross_scores: FloatArray
    """Scores of cross-attention, (L, H, Ty, Tx)."""
    cross_weights: FloatArray
    """Weights of cross-attention, (L, H, Ty, Tx); rows sum to 1."""
    encoder_streams: FloatArray
    """The residual stream before the first block and after every block, (2L+1, Tx, d).

    The blocks of a layer are attention and feed-forward.
    """
    annotations: FloatArray
    """Annotations m_j, the normalised output of the encoder, (Tx, d)."""
    decoder_streams: FloatArray
    """The residual stream before the first block and after every block, (3L+1, Ty, d).

    The blocks of a layer are self-attention, cross-attention and feed-forward.
    """
    readouts: FloatArray
    """Readouts t_i, the normalised output of the decoder, (Ty, d)."""

    heads: Heads = _ALL
    """The heads whose mean is `alignment`; `select_heads` returns the trace with others."""

    @property
    def attends(self) -> bool:
        """True: every head of every layer attends at every step."""
        return True

    @property
    def attends_once(self) -> bool:
        """False: a step has many attention distributions."""
        return False

    @property
    def head_weights(self) -> FloatArray:
        """The weights of every cross-attention head, (L, H, Ty, Tx)."""
        return self.cross_weights

    def cross_attention(self, layer: int | None = None, head: int | None = None) -> FloatArray:
        """Return the cross-attention, (Ty, Tx), read-only; rows sum to 1.

        Of one 0-based `head` of one 0-based `layer`, or of the mean of its heads. Layer -1 is the last, None the mean
        of all layers' heads. Raise AttnvizError where there is no such head.
        """
        self._check_heads(layer, head)
        return mean_of_heads(self.cross_weights, Heads(layer, head))

    @cached_property
    def _alignment(self) -> FloatArray:
        return self.cross_attention(self.heads.layer, self.heads.head)

    @property
    def alignment(self) -> FloatArray:
        """Mean cross-attention of the selected `heads`, (Ty, Tx); rows sum to 1.

        The default is the mean of all heads, which agrees best with word links (see the card of `small-transformer`).
        """
        return self._alignment

    def heatmap(self, layer: int | None = None, head: int | None = None, **choices: Any) -> Any:
        """Return the alignment as a Plotly figure; `choices` as for `figures.heatmap`.

        With a layer, that of `select_heads(layer, head)`.
        """
        return drawing().draw_heatmap(self if layer is head is None else self.select_heads(layer, head), **choices)

    def sizes(self) -> dict[str, int]:
        """Return the value of each size symbol in the table of quantities.

        Raise IndexError or KeyError where an array lacks a dimension or the config a size, ValueError where a size is
        out of bounds.
        """
        bounds.check_model(self.config)
        layers, heads, size = (int(self.config[name]) for name in ("layers", "heads", "model_size"))
        return {
            "Tx": len(self.source_pieces),
            "Ty": len(self.target_pieces),
            "L": layers,
            "H": heads,
            "d": size,
            "d/H": size // heads,
            "2L+1": 2 * layers + 1,
            "3L+1": 3 * layers + 1,
            "k": self.top_ids.shape[1],
            "K": self.config["vocabulary_size"],
        }

    def check_numbers(self) -> None:
        """Raise ValueError unless all rows of weights sum to 1 and decoder self-attention is causal."""
        for kind in ATTENTIONS:
            weights = getattr(self, f"{kind}_weights")
            if not np.allclose(weights.sum(axis=-1), 1, atol=1e-3) or weights.min() < 0:
                raise ValueError(f"a row of {kind}_weights does not sum to 1")
        if np.triu(self.decoder_weights, 1).any():
            raise ValueError("a step looked at a later one")
        try:
            self._check_heads(self.heads.layer, self.heads.head)
        except AttnvizError as error:
            raise ValueError(str(error)) from error
