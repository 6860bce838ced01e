"""Attention heads of a transformer: one as a displayable alignment with its numbers, and functions to select heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from attnviz.trace import FloatArray, TransformerTrace
from attnviz.trace.aligned import words_of
from attnviz.trace.parts import Kind, Words

BLOCKS = ("attention", "cross", "feedforward")
"""Blocks of a decoder layer, in order; an encoder layer has no cross-attention."""
_BLOCK_POSITION: Mapping[Kind, tuple[int, int]] = {"encoder": (2, 0), "decoder": (3, 0), "cross": (3, 1)}
"""For each kind, the number of blocks of a layer, and the index of the attention block."""


@dataclass(frozen=True, eq=False)
class HeadTrace:
    """One head as a displayable alignment: rows are queries, columns are keys."""

    translated: ClassVar[bool] = True
    recurrent: ClassVar[bool] = False
    imported: ClassVar[bool] = False
    has_maxout: ClassVar[bool] = False
    has_heads: ClassVar[bool] = True

    trace: TransformerTrace
    """The trace that the head belongs to."""
    layer: int
    """0-based layer."""
    head: int
    kind: Kind = "cross"

    def _array_of_head(self, name: str) -> FloatArray:
        array: FloatArray = getattr(self.trace, f"{self.kind}_{name}")[self.layer, self.head]
        return array

    @property
    def queries(self) -> FloatArray:
        """q_i, (queries, d/H)."""
        return self._array_of_head("queries")

    @property
    def keys(self) -> FloatArray:
        """k_j, (keys, d/H)."""
        return self._array_of_head("keys")

    @property
    def values(self) -> FloatArray:
        """v_j, (keys, d/H)."""
        return self._array_of_head("values")

    @property
    def scores(self) -> FloatArray:
        """s_ij = q_i . k_j / sqrt(d/H), (queries, keys); -inf where the causal mask applies."""
        return self._array_of_head("scores")

    @property
    def finite_scores(self) -> FloatArray:
        """The scores with nan in place of -inf, which has no bar."""
        return np.where(np.isfinite(self.scores), self.scores, np.float32(np.nan))

    @property
    def weights(self) -> FloatArray:
        """alpha_ij = softmax_j(s_ij), (queries, keys); rows sum to 1."""
        return self._array_of_head("weights")

    @property
    def outputs(self) -> FloatArray:
        """z_i = sum_j alpha_ij v_j, the output of the head, (queries, d/H)."""
        return self.weights @ self.values

    @property
    def block(self) -> int:
        """0-based block of the head, within the encoder or decoder."""
        blocks_per_layer, index = _BLOCK_POSITION[self.kind]
        return blocks_per_layer * self.layer + index

    @property
    def streams(self) -> FloatArray:
        """The residual stream that the head adds to, (blocks + 1, queries, d): first, and after every block."""
        return self.trace.encoder_streams if self.kind == "encoder" else self.trace.decoder_streams

    @property
    def added(self) -> FloatArray:
        """What each block adds to the stream, (blocks, queries, d)."""
        return np.diff(self.streams, axis=0)

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the blocks of a layer on the querying side, from `BLOCKS`."""
        return tuple(name for name in BLOCKS if name != "cross") if self.kind == "encoder" else BLOCKS

    def visible_key_count(self, row: int) -> int:
        """Return how many keys a 0-based row may attend to: decoder self-attention is causal."""
        return row + 1 if self.kind == "decoder" else len(self.source_pieces)

    @property
    def name(self) -> str:
        """Name in URLs and files, counted from 1: "cross.2.3" is head 3 of layer 2."""
        return f"{self.kind}.{self.layer + 1}.{self.head + 1}"

    # The rest implements the protocol `trace.aligned.AttentionMatrix`, which figures need.

    @property
    def alignment(self) -> FloatArray:
        """The attention weights, (queries, keys)."""
        return self.weights

    @property
    def target_pieces(self) -> tuple[str, ...]:
        """Query pieces; in the decoder those that its steps write."""
        return self.trace.source_pieces if self.kind == "encoder" else self.trace.target_pieces

    @property
    def source_pieces(self) -> tuple[str, ...]:
        """Key pieces; in decoder self-attention the inputs: `<s>` and every piece except the last."""
        return self.trace.previous_pieces if self.kind == "decoder" else self.trace.source_pieces

    @property
    def source_surfaces(self) -> tuple[str, ...]:
        """Key pieces as they were typed."""
        return self.source_pieces if self.kind == "decoder" else self.trace.source_surfaces

    @property
    def target_ids(self) -> tuple[int, ...]:
        """Ids of the query pieces."""
        return self.trace.source_ids if self.kind == "encoder" else self.trace.target_ids

    @property
    def vocabulary_size(self) -> int:
        """Number of pieces of the model's vocabulary."""
        return int(self.config["vocabulary_size"])

    @property
    def source_text(self) -> str:
        """The source sentence as typed."""
        return self.trace.source_text

    @property
    def config(self) -> Mapping[str, Any]:
        """Config of the model."""
        return self.trace.config

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.trace.model

    @property
    def attends(self) -> bool:
        """True: a head is an attention matrix."""
        return True

    @cached_property
    def fingerprint(self) -> str:
        """Identifies the head of this translation."""
        return f"{self.trace.fingerprint}-{self.name}"

    def words(self) -> Words:
        """Return the alignment by words."""
        return self._words

    @cached_property
    def _words(self) -> Words:
        return words_of(self.source_surfaces, self.target_pieces, self.alignment)


def head_trace(trace: TransformerTrace | HeadTrace) -> HeadTrace:
    """Return the selected head of a trace; where several are averaged, the one nearest to their mean.

    Nearest is by total variation, averaged over the steps. The trace of the returned head selects it. An `HeadTrace` is
    returned unchanged.
    """
    if isinstance(trace, HeadTrace):
        return trace
    layer, head = trace.nearest_head
    return HeadTrace(trace.select_heads(layer, head), layer, head)


def named_head(trace: TransformerTrace, name: str) -> HeadTrace | None:
    """Return the head of `trace` with this `name`, such as "cross.2.3"; None where there is none."""
    by_name = {head.name: head for kind in _BLOCK_POSITION for head in heads_of(trace, kind)}
    return by_name.get(name)


def heads_of(trace: TransformerTrace, kind: Kind) -> list[HeadTrace]:
    """Return all heads of one kind, layer by layer."""
    layers, heads = map(range, getattr(trace, f"{kind}_weights").shape[:2])
    return [HeadTrace(trace, layer, head, kind) for layer in layers for head in heads]


def word_weights_of_heads(trace: TransformerTrace, step: int) -> FloatArray:
    """Return the attention of each cross-attention head to each source word at 0-based `step`, (L, H, source words).

    Weights of a word's pieces are summed; rows sum to 1.
    """
    weights = trace.cross_weights[:, :, step]
    return np.stack([weights[..., list(group)].sum(axis=-1) for group in trace.words().source_groups], axis=-1)


def strongest_words(trace: TransformerTrace, step: int) -> NDArray[np.intp]:
    """Return the 0-based source word with the most attention of each head at 0-based `step`, (L, H)."""
    words: NDArray[np.intp] = word_weights_of_heads(trace, step).argmax(axis=-1)
    return words
