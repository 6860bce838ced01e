"""Forced decoding of any architecture: run the decoder through a given target, without gradients."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from attnviz.decoding.interventions import energy_change
from attnviz.network.searchable import MemoryT, StateT, Stepping, StepT
from attnviz.text import BOS
from attnviz.trace.interventions import Intervention


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
