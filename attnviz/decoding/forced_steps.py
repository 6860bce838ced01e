"""Forced decoding of RNNsearch for one target and several sources, as attributions need it."""

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
    for i, previous_id in enumerate((BOS, *target[:-1])):
        previous_ids = torch.full((len(memory.annotations), 1), previous_id, device=memory.annotations.device)
        step, state = decoder.step(memory, state, previous_ids, energy_change(interventions, i))
        yield step
