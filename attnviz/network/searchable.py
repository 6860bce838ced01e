"""What networks offer to searches: memory, decoder and mask, and the selection of sentences from a batch.

`rnnsearch`, `transformer` and `seq2seq` implement them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import torch
from torch import Tensor

from attnviz.network.model_config import ModelConfig, Seq2SeqConfig, TransformerConfig
from attnviz.network.output import OutputLayer


@dataclass(frozen=True)
class SourceMemory:
    """The encoder's output for S sentences, as the decoder reads it; subclasses add fields."""

    annotations: Tensor
    """h_j, (S, Tx, .)."""
    mask: Tensor
    """0 where attention is allowed and -inf elsewhere, (S, ..., Tx)."""

    def select(self, rows: list[int]) -> Self:
        """Return the memory of the sentences `rows`."""
        return self._changed(lambda _, part: part[rows])

    def without_padding(self, row: int, length: int) -> Self:
        """Return the memory of one sentence without padding: `row` with its first `length` pieces."""
        rows, columns = slice(row, row + 1), slice(length)

        def cut(name: str, part: Tensor) -> Tensor:
            if name == "mask":
                return part[rows, ..., columns]
            return part[rows, ..., columns, :] if name in _BY_PIECE else part[rows]

        return self._changed(cut)

    def _changed(self, change: Callable[[str, Tensor], Tensor]) -> Self:
        """Return the memory with each tensor changed, given the name of its field; a field may be a tuple or None."""
        parts: dict[str, Any] = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        for name, part in parts.items():
            if isinstance(part, tuple):
                parts[name] = tuple(change(name, one) for one in part)
            elif part is not None:
                parts[name] = change(name, part)
        return dataclasses.replace(self, **parts)


_BY_PIECE = ("annotations", "keys", "values")
"""Fields of a memory whose axis before the last is that of the source pieces."""


class HypothesisState(Protocol):
    """Decoder state between steps, for k hypotheses of each of S sentences."""

    def select(self, sentences: list[int], hypotheses: list[list[int]]) -> Self:
        """Return the states of these `sentences`, and of each its `hypotheses`, by their indices."""


class ComputedStep(Protocol):
    """Numbers of one step, for k hypotheses of S sentences."""

    @property
    def readout(self) -> Tensor:
        """t_i, from which the logits are computed, (S, k, .)."""


MemoryT = TypeVar("MemoryT", bound=SourceMemory)
StateT = TypeVar("StateT", bound=HypothesisState)
StepT = TypeVar("StepT", bound=ComputedStep)
StepT_co = TypeVar("StepT_co", bound=ComputedStep, covariant=True)
MemoryT_contra = TypeVar("MemoryT_contra", bound=SourceMemory, contravariant=True)


class Stepping(Protocol[MemoryT_contra, StateT, StepT_co]):
    """A decoder that a search runs step by step."""

    output: OutputLayer

    @property
    def config(self) -> ModelConfig | TransformerConfig | Seq2SeqConfig:
        """Config of the network."""

    def start(self, memory: MemoryT_contra) -> StateT:
        """Return the state before the first step, one hypothesis for each sentence."""

    def step(
        self,
        memory: MemoryT_contra,
        state: StateT,
        previous_ids: Tensor,
        intervention: Callable[[Tensor], Tensor] | None = None,
    ) -> tuple[StepT_co, StateT]:
        """Return step i and its state, given the state before it and the ids `previous_ids` (S, k) of y_{i-1}.

        `intervention` maps energies to changed energies before the softmax.
        """


def selected(parts: Iterable[Tensor], sentences: Sequence[int], hypotheses: Sequence[Sequence[int]]) -> list[Tensor]:
    """Return these `sentences` of each of `parts` (S, k, ...), and of each its `hypotheses`, by their indices."""
    parts = list(parts)
    count, width = parts[0].shape[:2]
    flat = [row * width + index for row, chosen in zip(sentences, hypotheses, strict=True) for index in chosen]
    if flat == list(range(count * width)):
        return parts
    index = torch.tensor(flat, device=parts[0].device)
    shape = len(sentences), -1
    return [part.flatten(0, 1).index_select(0, index).unflatten(0, shape) for part in parts]


def additive_mask(masked: Tensor) -> Tensor:
    """Return -inf where the boolean tensor `masked` holds and 0 elsewhere: (...) to (...)."""
    return torch.zeros(masked.shape, device=masked.device).masked_fill_(masked, float("-inf"))
