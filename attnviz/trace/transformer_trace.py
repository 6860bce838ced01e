"""`TransformerTrace`: everything a transformer computed for a sentence, and the table of its quantities.

Sizes: Tx source and Ty target pieces, `</s>` included; L layers of encoder and decoder each, H heads of an attention; d
the residual stream, d/H a head; 2L+1 and 3L+1 residual streams of encoder and decoder, before the first block and after
every block; k candidates stored of each step; K pieces of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from attnviz import bounds
from attnviz.arguments import check_choice
from attnviz.errors import AttnvizError
from attnviz.palette import ThemeName
from attnviz.trace import storage
from attnviz.trace.aligned import AttentionView
from attnviz.trace.drawing import HeatmapOptions, drawing
from attnviz.trace.head_views import HeadViews, mean_of_heads
from attnviz.trace.parts import HEAD_KINDS, FloatArray, HeadKind, Heads, OneLine
from attnviz.trace.quantity import PROBABILITIES, Quantity, piece_quantities
from attnviz.trace.record import Record

_ALL = Heads()

ATTENTIONS: Mapping[HeadKind, tuple[str, str]] = {
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


def _attention_quantities(kind: HeadKind) -> tuple[Quantity, ...]:
    """Return the five quantities of every head of one kind of attention."""
    (query_axis, key_axis), (query_name, key_name) = ATTENTIONS[kind], _SIDE_NAMES[kind]
    mark = rf"^{{\mathrm{{{kind}}}}}"
    key_input = "m" if kind == "cross" else r"\bar x"
    queries, keys, pairs = ("L", "H", query_axis, "d/H"), ("L", "H", key_axis, "d/H"), ("L", "H", query_axis, key_axis)
    later = "; minus infinity for later steps" if kind == "decoder" else ""
    return (
        Quantity(f"{kind}_queries", f"q{mark}", queries, r"q = \bar x W_Q", f"query of a head, for {query_name}"),
        Quantity(f"{kind}_keys", f"k{mark}", keys, f"k = {key_input} W_K", f"key of a head, for {key_name}"),
        Quantity(f"{kind}_values", f"v{mark}", keys, f"v = {key_input} W_V", f"value of a head, for {key_name}"),
        Quantity(
            f"{kind}_energies",
            f"e{mark}_{{ij}}",
            pairs,
            r"e_{ij} = q_i \cdot k_j / \sqrt{d/H}",
            f"energy: how well query and key fit{later}",
        ),
        Quantity(
            f"{kind}_alignment",
            rf"\alpha{mark}_{{ij}}",
            pairs,
            r"\alpha_{ij} = \exp(e_{ij}) / \sum_k \exp(e_{ik})",
            "attention; rows sum to 1",
        ),
    )


TRANSFORMER_ARRAYS = (
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
)
"""The quantities that a trace stores as arrays."""
_DERIVED = (
    PROBABILITIES,
    Quantity("logits", r"o_i", ("Ty", "K"), r"E t_i + b", "logits of all pieces"),
    Quantity(
        "distributions",
        r"p(y_i)",
        ("Ty", "K"),
        r"p(y_i) = \operatorname{softmax}(E t_i + b)",
        "probabilities of all pieces",
    ),
)
"""The quantities that follow from those and the weights."""
TRANSFORMER_QUANTITIES: Mapping[str, Quantity] = {
    quantity.name: quantity for quantity in (*TRANSFORMER_ARRAYS, *_DERIVED)
}
"""All quantities, by name."""

HEAD_QUANTITIES = ("queries", "keys", "values", "energies", "alignment")
"""The quantities of each head; those of a trace have the kind of attention before the name."""
BLOCKS: Mapping[HeadKind, tuple[str, ...]] = {
    "encoder": ("attention", "feedforward"),
    "decoder": ("attention", "cross", "feedforward"),
    "cross": ("attention", "cross", "feedforward"),
}
"""The blocks of a layer on the querying side of each kind of attention, in order."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Head(OneLine, AttentionView):
    """One attention head of a translation, with the names of a translator's attention: rows are queries, columns keys.

    In decoder self-attention, the keys are the inputs: `<s>` and every piece but the last.
    """

    has_heads: ClassVar[bool] = True
    architecture: ClassVar[str] = "head"
    context_symbol: ClassVar[str] = "z"
    arrays: ClassVar[tuple[Quantity, ...]] = tuple(TRANSFORMER_QUANTITIES[f"cross_{name}"] for name in HEAD_QUANTITIES)
    """The quantities of a head, here with the symbols of cross-attention."""

    kind: HeadKind
    layer: int
    """0-based layer."""
    head: int
    """0-based head of the layer."""
    queries: FloatArray
    """q_i, (queries, d/H)."""
    keys: FloatArray
    """k_j, (keys, d/H)."""
    values: FloatArray
    """v_j, (keys, d/H)."""
    energies: FloatArray
    """e_ij = q_i . k_j / sqrt(d/H), (queries, keys); -inf where the causal mask applies."""
    streams: FloatArray
    """The residual stream that the head adds to, (blocks + 1, queries, d): first, and after every block."""

    @cached_property
    def contexts(self) -> FloatArray:
        """z_i = sum_j alpha_ij v_j, the output of the head, (queries, d/H)."""
        return self.alignment @ self.values

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the blocks of a layer on the querying side."""
        return BLOCKS[self.kind]

    @property
    def block(self) -> int:
        """0-based block of the head, within the encoder or decoder."""
        return len(self.blocks) * self.layer + self.blocks.index("cross" if self.kind == "cross" else "attention")

    @property
    def added(self) -> FloatArray:
        """What each block adds to the stream, (blocks, queries, d)."""
        return np.diff(self.streams, axis=0)

    @property
    def layers(self) -> int:
        """Number of layers, L."""
        return len(self.record.cross_alignment)

    @property
    def heads_of_layer(self) -> int:
        """Number of heads of each layer, H."""
        return int(self.record.cross_alignment.shape[1])

    def visible_key_count(self, row: int) -> int:
        """Return how many keys, from the first, a 0-based row may attend to: decoder self-attention is causal."""
        return row + 1 if self.kind == "decoder" else super().visible_key_count(row)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TransformerTrace(HeadViews, Record):
    """Everything computed while one sentence was translated by a transformer (Vaswani et al. 2017).

    Tx and Ty count source and target pieces; L is the number of layers of encoder and of decoder, H the number of heads
    of every attention, d the size of the residual stream, k the number of candidates stored of each step and K the
    vocabulary's size. Layers and heads count from 0. The config is a `TransformerConfig`.
    """

    saved_as: ClassVar[storage.FileFormat] = storage.FileFormat("attnviz-transformer-trace", 3)
    architectures: ClassVar[tuple[str, ...]] = ("transformer",)
    arrays: ClassVar[tuple[Quantity, ...]] = TRANSFORMER_ARRAYS
    has_heads: ClassVar[bool] = True
    attention_figure: ClassVar[str] = "attention"
    derived: ClassVar[tuple[Quantity, ...]] = _DERIVED

    encoder_queries: FloatArray
    """Queries q = x W_Q of encoder self-attention, (L, H, Tx, d/H), where x is the normalised residual stream."""
    encoder_keys: FloatArray
    """Keys k = x W_K of encoder self-attention, (L, H, Tx, d/H)."""
    encoder_values: FloatArray
    """Values v = x W_V of encoder self-attention, (L, H, Tx, d/H)."""
    encoder_energies: FloatArray
    """Energies q_i . k_j / sqrt(d/H) of encoder self-attention, (L, H, Tx, Tx)."""
    encoder_alignment: FloatArray
    """Encoder self-attention, softmax of the energies over j, (L, H, Tx, Tx); rows sum to 1."""
    decoder_queries: FloatArray
    """Queries q of decoder self-attention, (L, H, Ty, d/H)."""
    decoder_keys: FloatArray
    """Keys k of decoder self-attention, (L, H, Ty, d/H)."""
    decoder_values: FloatArray
    """Values v of decoder self-attention, (L, H, Ty, d/H)."""
    decoder_energies: FloatArray
    """Energies of decoder self-attention, (L, H, Ty, Ty); -inf where j > i (causal mask)."""
    decoder_alignment: FloatArray
    """Decoder self-attention, (L, H, Ty, Ty); rows sum to 1."""
    cross_queries: FloatArray
    """Queries q of cross-attention, (L, H, Ty, d/H)."""
    cross_keys: FloatArray
    """Keys k = m W_K of the annotations, (L, H, Tx, d/H)."""
    cross_values: FloatArray
    """Values v = m W_V of the annotations, (L, H, Tx, d/H)."""
    cross_energies: FloatArray
    """Energies of cross-attention, (L, H, Ty, Tx)."""
    cross_alignment: FloatArray
    """Cross-attention, (L, H, Ty, Tx); rows sum to 1."""
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
    def head_weights(self) -> FloatArray:
        """The weights of every cross-attention head, (L, H, Ty, Tx)."""
        return self.cross_alignment

    def head(self, layer: int, head: int, kind: HeadKind = "cross") -> Head:
        """Return one head.

        Args:
            layer: Layer, 0-based.
            head: Head of the layer, 0-based.
            kind: "cross", "encoder" or "decoder".

        Returns:
            The head.

        Raises:
            AttnvizError: There is no such head.
        """
        check_choice("kind", kind, HEAD_KINDS)
        self._check_heads(layer, head, (int, np.integer))
        self_attends, writes = kind == "encoder", kind == "decoder"
        return Head(
            record=self,
            name=f"{kind}.{layer + 1}.{head + 1}",
            kind=kind,
            layer=layer,
            head=head,
            source_pieces=self.previous_pieces if writes else self.source_pieces,
            source_surfaces=self.previous_pieces if writes else self.source_surfaces,
            target_pieces=self.source_pieces if self_attends else self.target_pieces,
            streams=self.encoder_streams if self_attends else self.decoder_streams,
            **{name: getattr(self, f"{kind}_{name}")[layer, head] for name in HEAD_QUANTITIES},
        )

    def heads_of(self, kind: HeadKind) -> list[Head]:
        """Return all heads of one kind, layer by layer.

        Args:
            kind: "cross", "encoder" or "decoder".
        """
        layers, heads = map(range, self.cross_alignment.shape[:2])
        return [self.head(layer, head, kind) for layer in layers for head in heads]

    def head_named(self, name: str) -> Head | None:
        """Return the head with a name; None where there is none.

        Args:
            name: The name, such as "cross.2.3".
        """
        return next((head for kind in HEAD_KINDS for head in self.heads_of(kind) if head.name == name), None)

    @cached_property
    def displayed(self) -> Head:
        """The selected cross-attention head; where several are averaged, the one nearest to their mean."""
        return self.head(*self.nearest_head)

    def cross_attention(self, layer: int | None = None, head: int | None = None) -> FloatArray:
        """Return the cross-attention of a head or of the mean of several.

        Args:
            layer: Layer, 0-based; -1 is the last, None the mean of all layers' heads.
            head: Head of the layer, 0-based; None is the mean of its heads.

        Returns:
            Weights, (Ty, Tx), read-only; rows sum to 1.

        Raises:
            AttnvizError: There is no such head.
        """
        self._check_heads(layer, head)
        return mean_of_heads(self.cross_alignment, Heads(layer, head))

    @cached_property
    def alignment(self) -> FloatArray:
        """Mean cross-attention of the selected `heads`, (Ty, Tx); rows sum to 1.

        The default is the mean of all heads, which agrees best with word links (see the card of `small-transformer`).
        """
        return self.cross_attention(self.heads.layer, self.heads.head)

    def heatmap(
        self,
        layer: int | None = None,
        head: int | None = None,
        *,
        weights: Mapping[str, NDArray[Any]] | None = None,
        theme: ThemeName = "light",
        **choices: Unpack[HeatmapOptions],
    ) -> Any:
        """Return the alignment as a Plotly figure.

        Args:
            layer: Layer of `select_heads`; without it, the record's own alignment.
            head: Head of `select_heads`.
            weights: As in `AttentionMatrix.heatmap`.
            theme: "light" or "dark".
            **choices: Fields of `figures.HeatmapChoices`.

        Returns:
            The figure.
        """
        shown = self if layer is head is None else self.select_heads(layer, head)
        return drawing().draw_heatmap(shown, weights, theme, **choices)

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
        self._check_shares(*(f"{kind}_alignment" for kind in ATTENTIONS))
        if np.triu(self.decoder_alignment, 1).any():
            raise ValueError("a step looked at a later one")
        try:
            self._check_heads(self.heads.layer, self.heads.head)
        except AttnvizError as error:
            raise ValueError(str(error)) from error
