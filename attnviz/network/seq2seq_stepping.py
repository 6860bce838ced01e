"""The decoder of an imported translator one step at a time, as translating needs it, with all that a step computes.

Nothing of a `Seq2SeqStepDecoder` changes after it is made, so that one instance serves many threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from attnviz.network.output import OutputLayer
from attnviz.network.selection import selected
from attnviz.network.seq2seq import Seq2Seq


@dataclass(frozen=True)
class Seq2SeqMemory:
    """What the decoder reads of S encoded sentences."""

    annotations: Tensor
    """(S, Tx, 2m)."""
    initial: Tensor
    """s_0, (S, n)."""
    keys: Tensor
    """(S, Tx, n')."""
    mask: Tensor
    """0, or -inf for padding, (S, 1, Tx)."""

    def select(self, rows: list[int]) -> Seq2SeqMemory:
        """Return the memory of the sentences `rows`."""
        return Seq2SeqMemory(self.annotations[rows], self.initial[rows], self.keys[rows], self.mask[rows])

    def alone(self, row: int, pieces: int) -> Seq2SeqMemory:
        """Return the memory of the one sentence `row`, without the padding that follows its `pieces`."""
        rows, seen = slice(row, row + 1), slice(pieces)
        return Seq2SeqMemory(
            self.annotations[rows, seen], self.initial[rows], self.keys[rows, seen], self.mask[rows, :, seen]
        )


class Seq2SeqState(NamedTuple):
    """What the step before leaves, of k hypotheses for each of S sentences."""

    states: Tensor
    """Of all layers, (S, k, L, n)."""
    memories: Tensor
    """(S, k, L, n), or (S, k, 0, n) of GRUs."""
    readout: Tensor
    """t_{i-1}, (S, k, r), at first 0."""

    def select(self, sentences: list[int], hypotheses: list[list[int]]) -> Seq2SeqState:
        """Return the states of these `sentences`, and of each its `hypotheses`, by their indices."""
        return Seq2SeqState(*selected(self, sentences, hypotheses))


class Seq2SeqStep(NamedTuple):
    """What one step computed, for k hypotheses of S sentences."""

    energies: Tensor
    """(S, k, Tx), -inf where masked."""
    alignment: Tensor
    """(S, k, Tx)."""
    query: Tensor
    """(S, k, n')."""
    context: Tensor
    """c_i, (S, k, 2m)."""
    gates: Tensor
    """(S, k, L, 3 or 4, n)."""
    states: Tensor
    """(S, k, L, n)."""
    memories: Tensor
    """(S, k, L or 0, n)."""
    readout: Tensor
    """t_i, (S, k, r)."""


class Seq2SeqStepDecoder:
    """A network's decoder, prepared for stepping."""

    def __init__(self, network: Seq2Seq) -> None:
        """Take a network in evaluation mode, whose weights must not change afterwards."""
        self.config, self.decoder = network.config, network.decoder
        self.output = OutputLayer(network.output)

    def memory(self, annotations: Tensor, ends: Tensor, lengths: Tensor) -> Seq2SeqMemory:
        """Return what the decoder reads of `annotations` (S, Tx, 2m) with the last states of both directions, `ends`
        (S, 2m), and `lengths` (S,) pieces each."""
        padded = torch.arange(annotations.shape[1], device=lengths.device) >= lengths[:, None]
        mask = annotations.new_zeros(padded.shape).masked_fill_(padded, float("-inf"))
        decoder = self.decoder
        return Seq2SeqMemory(annotations, decoder.first_state(ends), decoder.key(annotations), mask[:, None])

    def start(self, memory: Seq2SeqMemory) -> Seq2SeqState:
        """Return s_0 of each sentence in every layer, one hypothesis each."""
        first = memory.initial[:, None, None].expand(-1, 1, self.config.layers, -1)
        kept = first if self.config.cell == "lstm" else first[:, :, :0]
        readout = first.new_zeros(len(first), 1, self.config.readout_size)
        return Seq2SeqState(first, kept, readout)

    def step(
        self,
        memory: Seq2SeqMemory,
        before: Seq2SeqState,
        previous: Tensor,
        intervention: Callable[[Tensor], Tensor] | None = None,
    ) -> tuple[Seq2SeqStep, Seq2SeqState]:
        """Return step i and what it leaves, given what the step before left and the ids `previous` (S, k) of y_{i-1}.

        An `intervention` makes the energies (S, k, Tx) into others of that shape, of which the softmax is taken.
        """
        words, shape = self.decoder.words(previous), previous.shape
        if self.config.asks_before:
            query, energies, alignment, context = self._look(memory, before.states[:, :, -1], intervention)
            given = torch.cat([words, context], dim=-1)
        else:
            given = torch.cat([words, before.readout], dim=-1) if self.config.input_feeding else words
        states, memories, gates = (
            part.unflatten(0, shape)
            for part in self.decoder.move(
                given.flatten(0, 1), before.states.flatten(0, 1), before.memories.flatten(0, 1)
            )
        )
        if not self.config.asks_before:
            query, energies, alignment, context = self._look(memory, states[:, :, -1], intervention)
        readout = self.decoder.read(states[:, :, -1], context, words)
        step = Seq2SeqStep(energies, alignment, query, context, gates, states, memories, readout)
        return step, Seq2SeqState(states, memories, readout)

    def _look(
        self, memory: Seq2SeqMemory, state: Tensor, intervention: Callable[[Tensor], Tensor] | None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return query, energies, alignment and context of a look asked by a state, (S, k, n)."""
        query = self.decoder.queries(state)
        energies = self.decoder.energies(query, memory.keys[:, None]) + memory.mask
        alignment = torch.softmax(energies if intervention is None else intervention(energies), -1)
        return query, energies, alignment, torch.bmm(alignment, memory.annotations)
