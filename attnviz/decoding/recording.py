"""What is recorded of a translation, gathered from the steps that led there."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attnviz.decoding.course import Course
from attnviz.decoding.search import largest
from attnviz.network.stepping import Memory, StepDecoder
from attnviz.trace import STORED_CANDIDATES


def recorded(decoder: StepDecoder, memory: Memory, course: Course) -> dict[str, Tensor]:
    """Return what was computed of the one sentence in `memory`, named and shaped as in `Trace`."""

    def rows(parts: Sequence[Tensor]) -> Tensor:
        return torch.stack([part[place] for part, place in zip(parts, course.places, strict=True)])

    def column(name: str) -> Tensor:
        return rows([getattr(step, name) for step in course.steps])

    readouts, known = column("readout"), course.log_probabilities
    log_probabilities = decoder.output.log_probabilities(readouts) if known is None else rows(known)
    top, top_ids = largest(log_probabilities, min(STORED_CANDIDATES, log_probabilities.shape[-1]))
    chosen = log_probabilities.gather(1, torch.tensor(course.ids, device=top.device)[:, None])[:, 0]
    pieces, scorer = memory.annotations.shape[1], decoder.attention
    alignment = column("alignment")[:, :pieces]
    return {
        "annotations": memory.annotations[0],
        "initial_state": decoder.decoder.initial_state(memory.annotations)[0],
        "keys": memory.keys[0],
        "queries": column("query"),
        "score_vector": torch.zeros(0) if scorer.score_vector is None else scorer.score_vector,
        "energies": column("energies")[:, :pieces],
        "alignment": alignment,
        "contexts": alignment @ memory.annotations[0, :, : scorer.context_size],
        "states": column("state"),
        "update_gates": column("update_gate"),
        "reset_gates": column("reset_gate"),
        "candidates": column("candidate"),
        "readouts": readouts,
        "log_probabilities": chosen,
        "top_ids": top_ids.int(),
        "top_probabilities": top.exp(),
    }
