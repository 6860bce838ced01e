"""Forced decoding of any architecture: run the decoder through given targets, without gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from attnviz.decoding.interventions import energy_change
from attnviz.network.searchable import MemoryT, StateT, Stepping, StepT
from attnviz.text import BOS, EOS
from attnviz.trace.interventions import Intervention


def forced_steps(
    decoder: Stepping[MemoryT, StateT, StepT],
    memory: MemoryT,
    targets: Sequence[Sequence[int]],
    interventions: Sequence[Intervention] = (),
) -> Iterator[StepT]:
    """Yield the steps of all sentences in `memory`, each with the pieces of its target, EOS last, as its translation.

    After its end, a shorter target continues with EOS. `interventions` on the attention apply at their steps.
    """
    state, previous = decoder.start(memory), [(BOS, *target[:-1]) for target in targets]
    for i in range(max(map(len, previous))):
        ids = [[pieces[i] if i < len(pieces) else EOS] for pieces in previous]
        previous_ids = torch.tensor(ids, device=memory.annotations.device)
        step, state = decoder.step(memory, state, previous_ids, energy_change(interventions, i))
        yield step


@torch.inference_mode()
def force_together(
    decoder: Stepping[MemoryT, StateT, StepT],
    memory: MemoryT,
    targets: Sequence[Sequence[int]],
    interventions: Sequence[Intervention] = (),
) -> list[StepT]:
    """Return the steps of all sentences in `memory`, as `forced_steps`."""
    return list(forced_steps(decoder, memory, targets, interventions))


def force(
    decoder: Stepping[MemoryT, StateT, StepT],
    memory: MemoryT,
    target: Sequence[int],
    interventions: Sequence[Intervention] = (),
) -> list[StepT]:
    """Return the steps of the one sentence in `memory` with its `target`, as `forced_steps`."""
    return force_together(decoder, memory, [target], interventions)
