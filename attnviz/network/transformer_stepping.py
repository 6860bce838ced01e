"""The transformer's decoder step by step, with a cache of keys and values.

It computes the equations of `Transformer.decode`. Sizes: S sentences, k hypotheses of each, H heads, d units
of a vector. A `TransformerStepDecoder` has no mutable state, so threads may share one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor

from attnviz.network.output import OutputLayer
from attnviz.network.searchable import selected
from attnviz.network.transformer import DecoderLayer, Transformer, source_mask


@dataclass(frozen=True)
class TransformerMemory:
    """The encoder's output for S sentences, as the decoder reads it."""

    annotations: Tensor
    """The annotations, (S, Tx, d)."""
    keys: tuple[Tensor, ...]
    """Keys of each layer's cross-attention, (S, H, Tx, d/H)."""
    values: tuple[Tensor, ...]
    """Values of each layer's cross-attention, (S, H, Tx, d/H)."""
    mask: Tensor
    """0 for pieces and -inf for padding, (S, 1, 1, Tx)."""

    def select(self, rows: list[int]) -> TransformerMemory:
        """Return the memory of the sentences `rows`."""
        keys, values = (tuple(part[rows] for part in parts) for parts in (self.keys, self.values))
        return TransformerMemory(self.annotations[rows], keys, values, self.mask[rows])

    def without_padding(self, row: int, length: int) -> TransformerMemory:
        """Return the memory of one sentence without padding: `row` with its first `length` pieces."""
        rows, columns = slice(row, row + 1), slice(length)
        keys, values = (tuple(part[rows, :, columns] for part in parts) for parts in (self.keys, self.values))
        return TransformerMemory(self.annotations[rows, columns], keys, values, self.mask[rows, ..., columns])


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
        return TransformerMemory(annotations, keys, values, source_mask(lengths, annotations.shape[1]))

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
