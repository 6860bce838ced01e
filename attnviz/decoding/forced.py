"""Forced decoding: the target is given, and the decoder says what it would have thought at each of its steps."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from attnviz.network.stepping import Memory, Step, StepDecoder
from attnviz.text import BOS


@torch.inference_mode()
def force(decoder: StepDecoder, memory: Memory, target: Sequence[int]) -> list[Step]:
    """Return the steps of the one sentence in `memory` when the pieces of `target`, EOS last, are its translation."""
    state, steps = decoder.start(memory), []
    for previous in (BOS, *target[:-1]):
        step, state = decoder.step(memory, state, torch.tensor([[previous]], device=memory.annotations.device))
        steps.append(step)
    return steps
