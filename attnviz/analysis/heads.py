"""One head of a transformer opened up, of any of its three attentions: all that its looks came from and led to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.trace import FloatArray, TransformerTrace
from attnviz.trace.looks import words_of
from attnviz.trace.parts import Words

BLOCKS = ("attention", "cross", "feedforward")
"""The blocks of a layer of the decoder, in their order; the encoder's have no cross-attention."""
Kind = Literal["encoder", "decoder", "cross"]
"""Who asks whom: the source itself, the target itself, the target the source."""
_BLOCK: Mapping[Kind, tuple[int, int]] = {"encoder": (2, 0), "decoder": (3, 0), "cross": (3, 1)}
"""Of each kind, how many blocks a layer has, and which of them it is."""


@dataclass(frozen=True, eq=False)
class OpenHead:
    """A head, seen as a translation is: its rows ask, its columns are asked."""

    translated: ClassVar[bool] = True
    recurrent: ClassVar[bool] = False
    imported: ClassVar[bool] = False
    has_heads: ClassVar[bool] = True

    trace: TransformerTrace
    """The record it is of."""
    layer: int
    """0-based, as is the head."""
    head: int
    kind: Kind = "cross"

    def _own(self, name: str) -> FloatArray:
        found: FloatArray = getattr(self.trace, f"{self.kind}_{name}")[self.layer, self.head]
        return found

    @property
    def queries(self) -> FloatArray:
        """q_i, (asking, d/H)."""
        return self._own("queries")

    @property
    def keys(self) -> FloatArray:
        """k_j, (asked, d/H)."""
        return self._own("keys")

    @property
    def values(self) -> FloatArray:
        """v_j, (asked, d/H)."""
        return self._own("values")

    @property
    def scores(self) -> FloatArray:
        """s_ij = q_i . k_j / sqrt(d/H), (asking, asked); -inf for what a step of the decoder does not see."""
        return self._own("scores")

    @property
    def finite_scores(self) -> FloatArray:
        """The same, with nan for -inf, which has no bar."""
        return np.where(np.isfinite(self.scores), self.scores, np.float32(np.nan))

    @property
    def weights(self) -> FloatArray:
        """alpha_ij = softmax_j(s_ij), (asking, asked), rows sum to 1."""
        return self._own("weights")

    @property
    def outputs(self) -> FloatArray:
        """z_i = sum_j alpha_ij v_j, (asking, d/H): what the head found."""
        return self.weights @ self.values

    @property
    def block(self) -> int:
        """The 0-based block that the head is in, of the encoder or of the decoder."""
        each, place = _BLOCK[self.kind]
        return each * self.layer + place

    @property
    def streams(self) -> FloatArray:
        """The residual stream it adds to, before the first and after every block, (blocks + 1, asking, d)."""
        return self.trace.encoder_streams if self.kind == "encoder" else self.trace.decoder_streams

    @property
    def added(self) -> FloatArray:
        """What each block added to the stream, (blocks, asking, d)."""
        return np.diff(self.streams, axis=0)

    @property
    def blocks(self) -> tuple[str, ...]:
        """The blocks of a layer of the side that asks, of `BLOCKS`."""
        return tuple(name for name in BLOCKS if name != "cross") if self.kind == "encoder" else BLOCKS

    def seen(self, row: int) -> int:
        """Return how many of those that are asked a 0-based row may look at: a step of the decoder sees none that comes
        after it."""
        return row + 1 if self.kind == "decoder" else len(self.source_pieces)

    @property
    def name(self) -> str:
        """What it is called in addresses and file names, counted from 1: "cross.2.3" is head 3 of layer 2."""
        return f"{self.kind}.{self.layer + 1}.{self.head + 1}"

    # What follows is what pictures of an alignment need: see `trace.looks.Looks`.

    @property
    def alignment(self) -> FloatArray:
        """The weights."""
        return self.weights

    @property
    def target_pieces(self) -> tuple[str, ...]:
        """Those that ask; of the decoder those that its steps write."""
        return self.trace.source_pieces if self.kind == "encoder" else self.trace.target_pieces

    @property
    def source_pieces(self) -> tuple[str, ...]:
        """Those that are asked. The decoder asks what it has read: `<s>`, and every piece but the last."""
        return self.trace.previous_pieces if self.kind == "decoder" else self.trace.source_pieces

    @property
    def source_surfaces(self) -> tuple[str, ...]:
        """Those that are asked, as they were typed."""
        return self.source_pieces if self.kind == "decoder" else self.trace.source_surfaces

    @property
    def target_ids(self) -> tuple[int, ...]:
        """The ids of those that ask."""
        return self.trace.source_ids if self.kind == "encoder" else self.trace.target_ids

    @property
    def vocabulary_size(self) -> int:
        """Pieces that the model knows."""
        return int(self.config["vocabulary_size"])

    @property
    def source_text(self) -> str:
        """The sentence that was translated, as typed."""
        return self.trace.source_text

    @property
    def config(self) -> Mapping[str, Any]:
        """The config of the model that made the record."""
        return self.trace.config

    @property
    def model(self) -> str:
        """The model that made the record."""
        return self.trace.model

    @property
    def attends(self) -> bool:
        """True."""
        return True

    @cached_property
    def fingerprint(self) -> str:
        """Tells it from other heads, and from those of other translations."""
        return f"{self.trace.fingerprint}-{self.name}"

    def words(self) -> Words:
        """Return the merged view."""
        return self._words

    @cached_property
    def _words(self) -> Words:
        return words_of(self, self.source_surfaces)


def open_head(seen: TransformerTrace | OpenHead) -> OpenHead:
    """Return the head of the cross-attention that a record is seen by or, where it is seen by the mean of several, the
    one of these that is nearest to it: of the least total variation, mean over all steps. Its record is then seen by it
    alone. A head that is open already stays as it is."""
    if isinstance(seen, OpenHead):
        return seen
    layer, head = seen.nearest_head
    return OpenHead(seen.seen_by(layer, head), layer, head)


def named_head(trace: TransformerTrace, name: str) -> OpenHead | None:
    """Return the head of `trace` that is called `name`, as "cross.2.3"; None where there is none such."""
    found = {one.name: one for kind in _BLOCK for one in heads_of(trace, kind)}
    return found.get(name)


def heads_of(trace: TransformerTrace, kind: Kind) -> list[OpenHead]:
    """Return all heads of one kind, layer by layer."""
    layers, heads = map(range, getattr(trace, f"{kind}_weights").shape[:2])
    return [OpenHead(trace, layer, head, kind) for layer in layers for head in heads]


def words_of_looks(trace: TransformerTrace, step: int) -> FloatArray:
    """Return how much each head of the cross-attention looks at each source word at 0-based `step`, the sum over the
    pieces of a word: (L, H, source words), rows sum to 1."""
    looks = trace.cross_weights[:, :, step]
    return np.stack([looks[..., list(group)].sum(axis=-1) for group in trace.words().source_groups], axis=-1)


def strongest_words(trace: TransformerTrace, step: int) -> NDArray[np.intp]:
    """Return the 0-based source word that each head looks at most at 0-based `step`, (L, H)."""
    found: NDArray[np.intp] = words_of_looks(trace, step).argmax(axis=-1)
    return found
