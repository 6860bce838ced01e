"""Collect the arrays of the trace of a recurrent translator from the steps of a search or of forced decoding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from attnviz.decoding.search import largest
from attnviz.decoding.search_path import Course
from attnviz.network.output import OutputLayer
from attnviz.network.seq2seq_stepping import Seq2SeqMemory, Seq2SeqStepDecoder
from attnviz.network.stepping import Memory, StepDecoder
from attnviz.trace import STORED_CANDIDATES


def recorded(decoder: StepDecoder, memory: Memory, course: Course) -> dict[str, Tensor]:
    """Return the arrays of the one sentence in `memory`, named and shaped as in `Trace`."""
    column = partial(_column, course)
    pieces, units, scorer = memory.annotations.shape[1], memory.keys.shape[-1], decoder.attention
    alignment = column("alignment")[:, :pieces]
    none = memory.keys.new_zeros(0 if scorer.reads_before else (units, 0))
    return {
        "annotations": memory.annotations[0],
        "initial_state": decoder.decoder.initial_state(memory.annotations)[0],
        "keys": memory.keys[0],
        "queries": column("query"),
        "score_vector": torch.zeros(0) if scorer.score_vector is None else scorer.score_vector,
        "features": column("features")[:, :pieces] if scorer.reads_before else alignment.new_zeros(*alignment.shape, 0),
        "feature_weight": none if scorer.feature_weight is None else scorer.feature_weight,
        "energies": column("energies")[:, :pieces],
        "alignment": alignment,
        "contexts": alignment @ memory.annotations[0, :, : scorer.context_size],
        "states": column("state"),
        "update_gates": column("update_gate"),
        "reset_gates": column("reset_gate"),
        "candidates": column("candidate"),
    } | _chosen(decoder.output, course)


def recorded_import(decoder: Seq2SeqStepDecoder, memory: Seq2SeqMemory, course: Course) -> dict[str, Tensor]:
    """Return the arrays of the one sentence in `memory`, named and shaped as in `Seq2SeqTrace`."""
    column, pieces = partial(_column, course), memory.annotations.shape[1]
    return {
        "annotations": memory.annotations[0],
        "initial_state": memory.states[0, -1],
        "initial_states": memory.states[0],
        "initial_memories": memory.memories[0],
        "keys": memory.keys[0],
        "queries": column("query"),
        "score_vector": decoder.decoder.score_vector,
        "energies": column("energies")[:, :pieces],
        "alignment": column("alignment")[:, :pieces],
        "contexts": column("context"),
        "gates": column("gates"),
        "memories": column("memories"),
        "layer_states": column("states"),
    } | _chosen(decoder.output, course)


def _rows(course: Course, parts: Sequence[Tensor]) -> Tensor:
    return torch.stack([part[place] for part, place in zip(parts, course.places, strict=True)])


def _column(course: Course, name: str) -> Tensor:
    """Return the values that the steps of a course have under a name, (Ty, ...)."""
    return _rows(course, [getattr(step, name) for step in course.steps])


def _chosen(output: OutputLayer, course: Course) -> dict[str, Tensor]:
    """Return the readouts of a course and the probabilities of the written and the likeliest pieces."""
    readouts, known = _column(course, "readout"), course.log_probabilities
    log_probabilities = output.log_probabilities(readouts) if known is None else _rows(course, known)
    top, top_ids = largest(log_probabilities, min(STORED_CANDIDATES, log_probabilities.shape[-1]))
    chosen = log_probabilities.gather(1, torch.tensor(course.ids, device=top.device)[:, None])[:, 0]
    return {
        "readouts": readouts,
        "log_probabilities": chosen,
        "top_ids": top_ids.int(),
        "top_probabilities": top.exp(),
    }
