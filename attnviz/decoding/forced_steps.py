"""Run the step decoder through a given translation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from attnviz.decoding.interventions import energy_change
from attnviz.network.stepping import Memory, Step, StepDecoder
from attnviz.text import BOS
from attnviz.trace.interventions import Intervention


def forced_steps(
    decoder: StepDecoder, memory: Memory, target: Sequence[int], interventions: Sequence[Intervention] = ()
) -> Iterator[Step]:
    """Yield the steps of all S sentences in `memory` with the same `target`."""
    state = decoder.start(memory)
    for i, previous in enumerate((BOS, *target[:-1])):
        before = torch.full((len(memory.annotations), 1), previous, device=memory.annotations.device)
        step, state = decoder.step(memory, state, before, energy_change(interventions, i))
        yield step
