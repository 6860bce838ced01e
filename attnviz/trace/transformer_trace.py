"""`TransformerTrace`: all that was computed while a transformer translated a sentence."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from attnviz import bounds
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import storage
from attnviz.trace.drawing import drawing
from attnviz.trace.parts import FloatArray, Heads
from attnviz.trace.quantity import Quantity
from attnviz.trace.record import Record
from attnviz.trace.transformer_quantities import ATTENTIONS, RECORDED

_ALL = Heads()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TransformerTrace(Record):
    """Everything computed while one sentence was translated by a transformer (Vaswani et al. 2017).

    L layers of encoder and decoder, H heads of every attention, d units of the residual stream; shapes and equations of
    the arrays stand in the table of `trace.transformer_quantities`. Layers and heads count from 0. The config is a
    `TransformerConfig`.
    """

    saved_as: ClassVar[storage.Format] = storage.Format(
        "attnviz-transformer-trace", 2, {2: {"heads": {"layer": None, "head": None}}}
    )
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

    heads: Heads = _ALL
    """Whose looks the `alignment` is the mean of: of the many that every step had, those that are shown. `seen_by`
    returns the record with others."""

    @property
    def attends(self) -> bool:
        """True: every step chose where to look, in each head of each layer."""
        return True

    @property
    def attends_once(self) -> bool:
        """False: it did so many times."""
        return False

    def cross_attention(self, layer: int | None = None, head: int | None = None) -> FloatArray:
        """Return where the steps looked in the source, (Ty, Tx), rows sum to 1, read-only: by one 0-based `head` of one
        0-based `layer`, or by the mean of its heads; layer -1 is the last, None the mean of all layers' heads.

        Raise AttnvizError where there is none such.
        """
        self._check_heads(layer, head)
        if layer is None:
            found: FloatArray = self.cross_weights.mean(axis=(0, 1))
        else:
            found = self.cross_weights[layer].mean(axis=0) if head is None else self.cross_weights[layer, head]
        found.setflags(write=False)
        return found

    @cached_property
    def _alignment(self) -> FloatArray:
        return self.cross_attention(self.heads.layer, self.heads.head)

    @property
    def alignment(self) -> FloatArray:
        """The cross-attention of the `heads`, (Ty, Tx), rows sum to 1: unless others were chosen, the mean of all, of
        the best links (see the card of `small-transformer`)."""
        return self._alignment

    @cached_property
    def nearest_head(self) -> tuple[int, int]:
        """Layer and head, both 0-based, of the look that is on show or, where that is a mean, of the one among its
        heads that is nearest to it: of the least total variation, mean over all steps."""
        first, shown = self.heads.layer or 0, self.heads
        looks = self.cross_weights if shown.layer is None else self.cross_weights[[first]]
        if shown.head is not None:
            return first, shown.head
        variations = np.abs(looks.astype(np.float64) - self.alignment).sum(axis=-1).mean(axis=-1) / 2
        layer, head = np.unravel_index(int(variations.argmin()), variations.shape)
        return first + int(layer), int(head)

    def seen_by(self, layer: int | None = None, head: int | None = None) -> TransformerTrace:
        """Return this record with the `alignment` of one 0-based `head` of one 0-based `layer`, or of the mean of its
        heads, or with None of all heads of all layers: words, links, heatmap and files are then by these.

        Raise AttnvizError where there is none such.
        """
        self._check_heads(layer, head)
        heads = Heads(layer if layer is None else layer % len(self.cross_weights), head)
        if heads in self._family:
            return self._family[heads]
        # Not by its constructor, which would copy all arrays: nobody can change them, so that both may have them.
        seen = object.__new__(type(self))
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        vars(seen).update(fields | {"heads": heads, "_family": self._family})
        return self._family.setdefault(heads, seen)

    @cached_property
    def _family(self) -> dict[Heads, TransformerTrace]:
        """The same as seen by other heads: whoever asks for the same has the same object."""
        return {self.heads: self}

    def _check_heads(self, layer: int | None, head: int | None) -> None:
        """Raise AttnvizError unless there is such a layer, and in it such a head."""
        layers, heads = self.cross_weights.shape[:2]
        if layer is None and head is not None:
            raise AttnvizError(gettext("A head is one of a layer: say which layer, from 1 to {layers}.", layers=layers))
        if layer is not None and not -1 <= layer < layers:
            raise AttnvizError(
                gettext(
                    "There is no layer {number}: this transformer has layers 1 to {layers}.",
                    number=layer + 1,
                    layers=layers,
                )
            )
        if head is not None and not 0 <= head < heads:
            raise AttnvizError(
                gettext(
                    "There is no head {number}: each layer of this transformer has heads 1 to {heads}.",
                    number=head + 1,
                    heads=heads,
                )
            )

    def heatmap(self, layer: int | None = None, head: int | None = None, **choices: Any) -> Any:
        """Return the alignment as a Plotly figure, for a notebook: that of the `heads` or, given a layer, that of
        `seen_by(layer, head)`; choices as those of `figures.heatmap`."""
        return drawing().heatmap(self if layer is head is None else self.seen_by(layer, head), **choices)

    def step_figure(self, i: int, picture: str = "scores", **choices: Any) -> Any:
        """Return a picture of step index `i` (0-based), named as in `figures.STEP_FIGURES`, of the head that is opened
        (`analysis.heads`).

        Raise IndexError where there is no such step and AttnvizError where there is no such picture.
        """
        return drawing().step_figure(self, range(len(self.target_pieces))[i], picture, **choices)

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
        """Raise ValueError unless all rows of weights are shares, and of no step of later ones."""
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
