"""The decoder of an imported translator step by step, for decoding and recording.

A `Seq2SeqStepDecoder` has no mutable state, so threads may share one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from attnviz.network.output import OutputLayer
from attnviz.network.searchable import selected
from attnviz.network.seq2seq import LastStates, Seq2Seq


@dataclass(frozen=True)
class Seq2SeqMemory:
    """The encoder's output for S sentences, as the decoder reads it."""

    annotations: Tensor
    """h_j, (S, Tx, 2m)."""
    states: Tensor
    """s_0 of all layers, (S, L, n)."""
    memories: Tensor
    """Cell states before the first step, (S, L, n); (S, 0, n) for GRUs."""
    keys: Tensor
    """U_a h_j + b_a, (S, Tx, n')."""
    mask: Tensor
    """0 for pieces and -inf for padding, (S, 1, Tx)."""

    def select(self, rows: list[int]) -> Seq2SeqMemory:
        """Return the memory of the sentences `rows`."""
        parts = (self.annotations, self.states, self.memories, self.keys, self.mask)
        return Seq2SeqMemory(*(part[rows] for part in parts))

    def without_padding(self, row: int, length: int) -> Seq2SeqMemory:
        """Return the memory of one sentence without padding: `row` with its first `length` pieces."""
        rows, columns = slice(row, row + 1), slice(length)
        return Seq2SeqMemory(
            self.annotations[rows, columns],
            self.states[rows],
            self.memories[rows],
            self.keys[rows, columns],
            self.mask[rows, :, columns],
        )


class Seq2SeqState(NamedTuple):
    """Decoder state between steps, for k hypotheses of each of S sentences."""

    states: Tensor
    """s_{i-1} of all layers, (S, k, L, n)."""
    memories: Tensor
    """Cell states of LSTMs, (S, k, L, n); (S, k, 0, n) for GRUs."""
    readout: Tensor
    """t_{i-1}, (S, k, r); 0 before the first step."""

    def select(self, sentences: list[int], hypotheses: list[list[int]]) -> Seq2SeqState:
        """Return the states of these `sentences`, and of each its `hypotheses`, by their indices."""
        return Seq2SeqState(*selected(self, sentences, hypotheses))


class Seq2SeqStep(NamedTuple):
    """Numbers of one step, for k hypotheses of S sentences."""

    energies: Tensor
    """e_ij, (S, k, Tx); -inf where masked."""
    alignment: Tensor
    """alpha_ij, (S, k, Tx)."""
    query: Tensor
    """The query, (S, k, n')."""
    context: Tensor
    """c_i, (S, k, 2m)."""
    gates: Tensor
    """Gates of all layers, (S, k, L, 3 or 4, n)."""
    states: Tensor
    """s_i of all layers, (S, k, L, n)."""
    memories: Tensor
    """Cell states, (S, k, L or 0, n)."""
    readout: Tensor
    """t_i, (S, k, r)."""


class Seq2SeqStepDecoder:
    """A network's decoder, prepared for single steps."""

    def __init__(self, network: Seq2Seq) -> None:
        """Take a network in evaluation mode; its weights must not change afterwards."""
        self.config, self.decoder = network.config, network.decoder
        self.output = OutputLayer(network.output)

    def memory(self, annotations: Tensor, ends: LastStates, lengths: Tensor) -> Seq2SeqMemory:
        """Return the memory of `annotations` (S, Tx, 2m) with `lengths` (S,) pieces each, and the encoder's `ends`."""
        padded = torch.arange(annotations.shape[1], device=lengths.device) >= lengths[:, None]
        mask = annotations.new_zeros(padded.shape).masked_fill_(padded, float("-inf"))
        decoder = self.decoder
        return Seq2SeqMemory(annotations, *decoder.first_states(ends), decoder.keys(annotations), mask[:, None])

    def start(self, memory: Seq2SeqMemory) -> Seq2SeqState:
        """Return s_0 of every layer, one hypothesis for each sentence."""
        readout = memory.states.new_zeros(len(memory.states), 1, self.config.readout_size)
        return Seq2SeqState(memory.states[:, None], memory.memories[:, None], readout)

    def step(
        self,
        memory: Seq2SeqMemory,
        state: Seq2SeqState,
        previous_ids: Tensor,
        intervention: Callable[[Tensor], Tensor] | None = None,
    ) -> tuple[Seq2SeqStep, Seq2SeqState]:
        """Return step i and its state, given the state before it and the ids `previous_ids` (S, k) of y_{i-1}.

        `intervention` maps energies (S, k, Tx) to changed energies before the softmax.
        """
        words, shape = self.decoder.words(previous_ids), previous_ids.shape
        if self.config.queries_previous_state:
            query, energies, alignment, context = self._attend(memory, state.states[:, :, -1], words, intervention)
            inputs = self.decoder.inputs(words, context)
        else:
            inputs = torch.cat([words, state.readout], dim=-1) if self.config.input_feeding else words
        states, memories, gates = (
            part.unflatten(0, shape)
            for part in self.decoder.run_layers(
                inputs.flatten(0, 1), state.states.flatten(0, 1), state.memories.flatten(0, 1)
            )
        )
        if not self.config.queries_previous_state:
            query, energies, alignment, context = self._attend(memory, states[:, :, -1], words, intervention)
        readout = self.decoder.readout_of(states[:, :, -1], context, words)
        step = Seq2SeqStep(energies, alignment, query, context, gates, states, memories, readout)
        return step, Seq2SeqState(states, memories, readout)

    def _attend(
        self, memory: Seq2SeqMemory, state: Tensor, words: Tensor, intervention: Callable[[Tensor], Tensor] | None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return query, energies, alignment and context for a querying state, (S, k, n), and embedded `words`."""
        query = self.decoder.queries(state, words)
        energies = self.decoder.energies(query, memory.keys[:, None]) + memory.mask
        alignment = torch.softmax(energies if intervention is None else intervention(energies), -1)
        return query, energies, alignment, torch.bmm(alignment, memory.annotations)
