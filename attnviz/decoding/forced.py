"""Forced decoding of any architecture: run the decoder through given targets, without gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from attnviz.decoding.interventions import energy_change
from attnviz.network.searchable import MemoryT, StateT, Stepping, StepT
from attnviz.network.stepping import Memory, Step, StepDecoder
from attnviz.text import BOS, EOS
from attnviz.trace.interventions import Intervention


def forced_steps(
    decoder: StepDecoder, memory: Memory, target: Sequence[int], interventions: Sequence[Intervention] = ()
) -> Iterator[Step]:
    """Yield the steps of all S sentences in `memory` with the same `target`."""
    state = decoder.start(memory)
    for i, previous_id in enumerate((BOS, *target[:-1])):
        previous_ids = torch.full((len(memory.annotations), 1), previous_id, device=memory.annotations.device)
        step, state = decoder.step(memory, state, previous_ids, energy_change(interventions, i))
        yield step


@torch.inference_mode()
def force(
    decoder: Stepping[MemoryT, StateT, StepT],
    memory: MemoryT,
    target: Sequence[int],
    interventions: Sequence[Intervention] = (),
) -> list[StepT]:
    """Return the steps of the one sentence in `memory` with the pieces of `target`, EOS last, as its translation.

    `interventions` on the attention apply at their steps.
    """
    state, steps = decoder.start(memory), []
    for i, previous_id in enumerate((BOS, *target[:-1])):
        previous_ids = torch.tensor([[previous_id]], device=memory.annotations.device)
        step, state = decoder.step(memory, state, previous_ids, energy_change(interventions, i))
        steps.append(step)
    return steps


@torch.inference_mode()
def force_together(
    decoder: Stepping[MemoryT, StateT, StepT], memory: MemoryT, targets: Sequence[Sequence[int]]
) -> list[StepT]:
    """Return the steps of all sentences in `memory`, each with the pieces of its target, EOS last.

    After its end, a shorter target continues with EOS.
    """
    state, steps = decoder.start(memory), []
    previous = [[BOS, *target[:-1]] for target in targets]
    for i in range(max(map(len, targets))):
        previous_ids = [[ids[i] if i < len(ids) else EOS] for ids in previous]
        step, state = decoder.step(memory, state, torch.tensor(previous_ids, device=memory.annotations.device))
        steps.append(step)
    return steps
