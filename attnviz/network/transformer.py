"""The transformer (Vaswani et al. 2017), with layer normalisation before each block, and its decoder step by step.

One module serves all kinds of attention: self-attention of source and target, and cross-attention. Every intermediate
number is returned, so that it can be recorded.

`TransformerStepDecoder` computes the equations of `Transformer.decode`, and has no mutable state, so threads may share
one. Sizes: S sentences, k hypotheses of each, H heads, d units of a vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import embedding

from attnviz.network.model_config import TransformerConfig
from attnviz.network.output import OutputLayer
from attnviz.network.searchable import SourceMemory, additive_mask, selected


class AttentionOutput(NamedTuple):
    """Numbers of one multi-head attention: H heads of d/H units each."""

    queries: Tensor
    """q = x W_Q, (B, H, Ty, d/H)."""
    keys: Tensor
    """k = m W_K, (B, H, Tx, d/H)."""
    values: Tensor
    """v = m W_V, (B, H, Tx, d/H)."""
    energies: Tensor
    """q . k / sqrt(d/H), (B, H, Ty, Tx); -inf where masked."""
    alignment: Tensor
    """Softmax of the energies, (B, H, Ty, Tx); rows sum to 1."""


class MultiHeadAttention(nn.Module):
    """MultiHead(x, m) = [head_1 ; ... ; head_H] W_O with head_h = softmax(q k^T / sqrt(d/H)) v (section 3.2)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        d, self.heads = config.model_size, config.heads
        self.query, self.key, self.value, self.projection = (nn.Linear(d, d, bias=False) for _ in range(4))

    def queries(self, vectors: Tensor) -> Tensor:
        """Return x W_Q, split into heads: (B, Ty, d) to (B, H, Ty, d/H)."""
        return self._split(self.query(vectors))

    def keys_and_values(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Return m W_K and m W_V, split into heads: (B, Tx, d) to (B, H, Tx, d/H) each."""
        return self._split(self.key(vectors)), self._split(self.value(vectors))

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | float
    ) -> tuple[Tensor, AttentionOutput]:
        """Return the output of all heads, (B, Ty, d), and all intermediate numbers.

        `mask` is 0 where attention is allowed and -inf elsewhere, and broadcasts to (B, H, Ty, Tx).
        """
        energies = queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1]) + mask
        alignment = torch.softmax(energies, -1)
        output: Tensor = self.projection((alignment @ values).transpose(-2, -3).flatten(-2))
        return output, AttentionOutput(queries, keys, values, energies, alignment)

    def forward(self, query_vectors: Tensor, key_vectors: Tensor, mask: Tensor) -> tuple[Tensor, AttentionOutput]:
        """Attend from `query_vectors` (B, Ty, d) to `key_vectors` (B, Tx, d); return as `attend` does."""
        return self.attend(self.queries(query_vectors), *self.keys_and_values(key_vectors), mask)

    def _split(self, vectors: Tensor) -> Tensor:
        heads: Tensor = vectors.unflatten(-1, (self.heads, -1))
        return heads.transpose(-2, -3)


class _FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2 (section 3.3), (..., d) to (..., d)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.inner = nn.Linear(config.model_size, config.feedforward_size)
        self.outer = nn.Linear(config.feedforward_size, config.model_size)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return FFN of each vector, (..., d)."""
        output: Tensor = self.outer(torch.relu(self.inner(vectors)))
        return output


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each in a residual block x + Block(LayerNorm(x))."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.model_size)
        self.attention = MultiHeadAttention(config)
        self.feedforward_norm = nn.LayerNorm(config.model_size)
        self.feedforward = _FeedForward(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, stream: Tensor, mask: Tensor) -> tuple[list[Tensor], AttentionOutput]:
        """Return the stream after each of the two blocks, (B, Tx, d) like `stream`, and the attention."""
        normal = self.attention_norm(stream)
        output, attended = self.attention(normal, normal, mask)
        after_attention = stream + self.dropout(output)
        return [
            after_attention,
            after_attention + self.dropout(self.feedforward(self.feedforward_norm(after_attention))),
        ], attended


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention and feed-forward network, each in a residual block.

    A block adds to the residual stream: x + Block(LayerNorm(x)).
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.model_size)
        self.attention = MultiHeadAttention(config)
        self.cross_norm = nn.LayerNorm(config.model_size)
        self.cross = MultiHeadAttention(config)
        self.feedforward_norm = nn.LayerNorm(config.model_size)
        self.feedforward = _FeedForward(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, stream: Tensor, mask: Tensor, annotations: Tensor, cross_mask: Tensor
    ) -> tuple[list[Tensor], AttentionOutput, AttentionOutput]:
        """Return the stream after each of the three blocks, (B, Ty, d), self-attention and cross-attention.

        `annotations` (B, Tx, d); `mask` broadcasts to (B, H, Ty, Ty) and `cross_mask` to (B, H, Ty, Tx).
        """
        normal = self.attention_norm(stream)
        output, attended = self.attention(normal, normal, mask)
        after_attention = stream + self.dropout(output)
        output, crossed = self.cross(self.cross_norm(after_attention), annotations, cross_mask)
        after_cross = after_attention + self.dropout(output)
        return (
            [
                after_attention,
                after_cross,
                after_cross + self.dropout(self.feedforward(self.feedforward_norm(after_cross))),
            ],
            attended,
            crossed,
        )


class EncoderOutput(NamedTuple):
    """Numbers of the encoder."""

    annotations: Tensor
    """The normalised stream after the last layer, (B, Tx, d)."""
    streams: list[Tensor]
    """The residual stream, (B, Tx, d), before the first block and after every block."""
    attention: list[AttentionOutput]
    """Self-attention of every layer."""


class DecoderOutput(NamedTuple):
    """Numbers of the decoder under teacher forcing."""

    readouts: Tensor
    """The normalised stream after the last layer, from which the logits are computed, (B, Ty, d)."""
    streams: list[Tensor]
    """The residual stream, (B, Ty, d), before the first block and after every block."""
    attention: list[AttentionOutput]
    """Self-attention of every layer."""
    cross: list[AttentionOutput]
    """Cross-attention of every layer."""


class Transformer(nn.Module):
    """The whole network; one matrix E (K, d) embeds the pieces of both sides and computes the logits (section 3.4).

    x = sqrt(d) E y + position,  p(y) = softmax(E t + b)
    """

    attends = True
    """Whether the decoder has attention."""
    writes_unk = False
    """Whether a search may write `<unk>` by default."""
    attends_once = False
    """False: a step has one attention distribution in every head of every layer."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.encoder_norm = nn.LayerNorm(config.model_size)
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.layers))
        self.decoder_norm = nn.LayerNorm(config.model_size)
        self.output = nn.Linear(config.model_size, config.vocabulary_size)
        """E and b."""

    def embed(self, pieces: Tensor, first: int = 0) -> Tensor:
        """Return sqrt(d) E y + position, the stream before the first block: ids (..., T) to (..., T, d).

        `first` is the 0-based position of the first of the T pieces.
        """
        matrix, size = self.output.weight, self.config.model_size
        exact = np.float64 if matrix.dtype == torch.float64 else np.float32
        places = torch.tensor(sinusoids(first, pieces.shape[-1], size).astype(exact), device=matrix.device)
        embedded: Tensor = self.dropout(embedding(pieces, matrix) * math.sqrt(size) + places)
        return embedded

    def encode(self, source: Tensor, lengths: Tensor) -> EncoderOutput:
        """Return the encoder's numbers for `source` ids (B, Tx), of which row b has `lengths[b]` pieces.

        Padded positions are undefined; attention masks them.
        """
        mask, streams, attention = source_mask(lengths, source.shape[1]), [self.embed(source)], []
        for layer in self.encoder:
            layer_streams, attended = layer(streams[-1], mask)
            streams += layer_streams
            attention.append(attended)
        return EncoderOutput(self.encoder_norm(streams[-1]), streams, attention)

    def decode(self, annotations: Tensor, lengths: Tensor, previous: Tensor) -> DecoderOutput:
        """Return the decoder's numbers under teacher forcing.

        `annotations` (B, Tx, d), `lengths` (B,): source pieces of each row, `previous` (B, Ty): ids of y_{i-1}.
        """
        cross_mask = source_mask(lengths, annotations.shape[1])
        mask = causal_mask(previous.shape[1], previous.device)
        streams, attention, cross = [self.embed(previous)], [], []
        for layer in self.decoder:
            layer_streams, attended, crossed = layer(streams[-1], mask, annotations, cross_mask)
            streams += layer_streams
            attention.append(attended)
            cross.append(crossed)
        return DecoderOutput(self.decoder_norm(streams[-1]), streams, attention, cross)

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """Return readouts (B, Ty, d) and alignment (B, Ty, Tx), the mean cross-attention of all heads of all layers.

        `source` ids (B, Tx), `lengths` (B,), `previous` (B, Ty): ids of y_{i-1}.
        """
        decoded = self.decode(self.encode(source, lengths).annotations, lengths, previous)
        alignments = torch.stack([attended.alignment.mean(1) for attended in decoded.cross])
        return self.dropout(decoded.readouts), alignments.mean(0)

    @torch.no_grad()
    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Initialise all weights: E is N(0, 1/sqrt(d)), other matrices are Glorot-uniform, gains 1 and biases 0."""
        for name, parameter in self.named_parameters():
            if name == "output.weight":
                nn.init.normal_(parameter, std=self.config.model_size**-0.5, generator=generator)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter, generator=generator)
            elif name.endswith("norm.weight"):
                parameter.fill_(1)
            else:
                parameter.zero_()


def sinusoids(first: int, count: int, size: int) -> NDArray[np.float64]:
    """Return the encodings of `count` positions from `first` on (section 3.5), (count, size).

    Unit 2k of position p is sin(p / 10000^(2k/d)), unit 2k + 1 the cosine.
    """
    # In NumPy: float32 is too inexact for late positions, and some devices lack float64.
    wavelengths = 10_000.0 ** (np.arange(0, size, 2) / size)
    angles = np.arange(first, first + count)[:, None] / wavelengths
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(count, size)


def source_mask(lengths: Tensor, size: int) -> Tensor:
    """Return 0 for pieces and -inf for padding of `size` source positions, (B, 1, 1, size)."""
    padding = torch.arange(size, device=lengths.device) >= lengths[:, None]
    return additive_mask(padding)[:, None, None]


def causal_mask(size: int, device: torch.device) -> Tensor:
    """Return 0 on and below the diagonal and -inf above it, (size, size)."""
    return additive_mask(torch.ones(size, size, dtype=torch.bool, device=device).triu(1))


@dataclass(frozen=True)
class TransformerMemory(SourceMemory):
    """The encoder's output for S sentences; the mask is (S, 1, 1, Tx)."""

    keys: tuple[Tensor, ...]
    """Keys of each layer's cross-attention, (S, H, Tx, d/H)."""
    values: tuple[Tensor, ...]
    """Values of each layer's cross-attention, (S, H, Tx, d/H)."""


class TransformerState(NamedTuple):
    """Cached keys and values of k hypotheses for each of S sentences, of t pieces each."""

    keys: tuple[Tensor, ...]
    """Keys of each layer's self-attention, (S, k, H, t, d/H)."""
    values: tuple[Tensor, ...]
    """Values of each layer's self-attention, (S, k, H, t, d/H)."""

    def select(self, sentences: list[int], hypotheses: list[list[int]]) -> TransformerState:
        """Return the states of these `sentences`, and of each its `hypotheses`, by their indices."""
        chosen = tuple(selected([*self.keys, *self.values], sentences, hypotheses))
        layers = len(self.keys)
        return TransformerState(chosen[:layers], chosen[layers:])


class TransformerStep(NamedTuple):
    """Numbers of one step, for k hypotheses of S sentences."""

    readout: Tensor
    """t_i, (S, k, d), the input of `TransformerStepDecoder.output`."""


class TransformerStepDecoder:
    """A transformer's decoder, prepared for single steps."""

    def __init__(self, network: Transformer) -> None:
        """Take a network in evaluation mode; its weights must not change afterwards."""
        self.config, self.network = network.config, network
        self._layers = cast("list[DecoderLayer]", list(network.decoder))
        self.output = OutputLayer(network.output)

    def memory(self, annotations: Tensor, lengths: Tensor) -> TransformerMemory:
        """Return the memory of `annotations` (S, Tx, d) with `lengths` (S,) pieces each."""
        projected = [layer.cross.keys_and_values(annotations) for layer in self._layers]
        keys, values = zip(*projected, strict=True)
        return TransformerMemory(annotations, source_mask(lengths, annotations.shape[1]), keys, values)

    def start(self, memory: TransformerMemory) -> TransformerState:
        """Return an empty cache, one hypothesis for each sentence."""
        empty = tuple(keys[:, None, :, :0] for keys in memory.keys)
        return TransformerState(empty, empty)

    def step(
        self,
        memory: TransformerMemory,
        state: TransformerState,
        previous_ids: Tensor,
        intervention: Callable[[Tensor], Tensor] | None = None,
    ) -> tuple[TransformerStep, TransformerState]:
        """Return step i and the extended cache, given the cache `state` and the ids `previous_ids` (S, k) of y_{i-1}.

        Raise ValueError for an `intervention`: a transformer has many attentions that it could apply to.
        """
        if intervention is not None:
            raise ValueError("the attention of a transformer cannot be changed")
        all_keys, all_values = [], []
        stream = self.network.embed(previous_ids[..., None], first=state.keys[0].shape[-2])[..., 0, :]
        for layer_index, layer in enumerate(self._layers):
            normal = layer.attention_norm(stream)[..., None, :]
            new_keys, new_values = layer.attention.keys_and_values(normal)
            keys = torch.cat([state.keys[layer_index], new_keys], -2)
            values = torch.cat([state.values[layer_index], new_values], -2)
            output, _ = layer.attention.attend(layer.attention.queries(normal), keys, values, 0.0)
            stream = stream + output[..., 0, :]
            # The hypotheses of a sentence share one source: the cross-attention treats them as k target positions.
            queries = layer.cross.queries(layer.cross_norm(stream))
            output, _ = layer.cross.attend(queries, memory.keys[layer_index], memory.values[layer_index], memory.mask)
            stream = stream + output
            stream = stream + layer.feedforward(layer.feedforward_norm(stream))
            all_keys.append(keys)
            all_values.append(values)
        readout = self.network.decoder_norm(stream)
        return TransformerStep(readout), TransformerState(tuple(all_keys), tuple(all_values))
