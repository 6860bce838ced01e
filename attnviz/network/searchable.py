"""The seam between networks and searches: what a decoder, prepared for stepping, offers to a search over its words.

`stepping` has that of RNNsearch and `transformer_stepping` that of the transformer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self, TypeVar

from torch import Tensor

from attnviz.network.config import ModelConfig, TransformerConfig
from attnviz.network.output import OutputLayer
from attnviz.network.seq2seq_config import Seq2SeqConfig


class SourceMemory(Protocol):
    """What the decoder reads of S encoded sentences."""

    @property
    def annotations(self) -> Tensor:
        """What the encoder made of each piece, (S, Tx, .)."""

    def select(self, rows: list[int]) -> Self:
        """Return the memory of the sentences `rows`."""


class HypothesisState(Protocol):
    """What the steps so far leave to the next, for k hypotheses of each of S sentences."""

    def select(self, sentences: list[int], hypotheses: list[list[int]]) -> Self:
        """Return the states of these `sentences`, and of each its `hypotheses`, by their indices."""


class ComputedStep(Protocol):
    """What a step computed, for k hypotheses of S sentences."""

    @property
    def readout(self) -> Tensor:
        """What the words are scored with, (S, k, .)."""


MemoryT = TypeVar("MemoryT", bound=SourceMemory)
StateT = TypeVar("StateT", bound=HypothesisState)
StepT = TypeVar("StepT", bound=ComputedStep)
StepT_co = TypeVar("StepT_co", bound=ComputedStep, covariant=True)
MemoryT_contra = TypeVar("MemoryT_contra", bound=SourceMemory, contravariant=True)


class Stepping(Protocol[MemoryT_contra, StateT, StepT_co]):
    """A decoder that a search leads from word to word."""

    output: OutputLayer

    @property
    def config(self) -> ModelConfig | TransformerConfig | Seq2SeqConfig:
        """The network's."""

    def start(self, memory: MemoryT_contra) -> StateT:
        """Return the state before the first step, one hypothesis for each sentence."""

    def step(
        self,
        memory: MemoryT_contra,
        before: StateT,
        previous: Tensor,
        intervention: Callable[[Tensor], Tensor] | None = None,
    ) -> tuple[StepT_co, StateT]:
        """Return step i and its state, given the state before it and the ids `previous` (S, k) of y_{i-1}; an
        `intervention` makes energies into others."""
