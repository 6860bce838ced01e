"""Collect the arrays of a trace: of a recurrent translator step by step, of a transformer in one pass.

A search caches keys and values only. One pass over the whole target recomputes the numbers of its steps: the causal
mask hides later words, so that the numbers differ by rounding only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from attnviz.decoding.search import Course, largest
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.network.config import TransformerConfig
from attnviz.network.output import OutputLayer
from attnviz.network.seq2seq_stepping import Seq2SeqMemory, Seq2SeqStepDecoder
from attnviz.network.stepping import Memory, StepDecoder
from attnviz.network.transformer import Attended, Transformer
from attnviz.text import BOS
from attnviz.trace import STORED_CANDIDATES
from attnviz.trace.storage import LARGEST


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


@torch.inference_mode()
def recorded_pass(
    network: Transformer, output: OutputLayer, source: Sequence[int], target: Sequence[int]
) -> dict[str, Tensor]:
    """Return the numbers of one sentence and its translation, named and shaped as in `TransformerTrace`.

    `source` and `target` are ids with EOS last. Raise AttnvizError where the numbers take too much memory.
    """
    _check_size(network.config, len(source), len(target))
    device = network.output.weight.device
    lengths = torch.tensor([len(source)], device=device)
    encoded = network.encode(torch.tensor([list(source)], device=device), lengths)
    previous = torch.tensor([[BOS, *target[:-1]]], device=device)
    decoded = network.decode(encoded.annotations, lengths, previous)
    readouts = decoded.readouts[0]
    log_probabilities = output.log_probabilities(readouts)
    top, top_ids = largest(log_probabilities, min(STORED_CANDIDATES, log_probabilities.shape[-1]))
    chosen = log_probabilities.gather(1, torch.tensor(list(target), device=device)[:, None])[:, 0]
    return {
        **_of_layers("encoder", encoded.attention),
        **_of_layers("decoder", decoded.attention),
        **_of_layers("cross", decoded.cross),
        "encoder_streams": torch.cat(encoded.streams),
        "annotations": encoded.annotations[0],
        "decoder_streams": torch.cat(decoded.streams),
        "readouts": readouts,
        "log_probabilities": chosen,
        "top_ids": top_ids.int(),
        "top_probabilities": top.exp(),
    }


def _of_layers(kind: str, layers: Sequence[Attended]) -> dict[str, Tensor]:
    """Return the numbers of one kind of attention, with the layers stacked."""
    return {f"{kind}_{name}": torch.cat([getattr(one, name) for one in layers]) for name in Attended._fields}


def _check_size(config: TransformerConfig, source_pieces: int, target_pieces: int) -> None:
    """Raise AttnvizError where scores and weights of all heads, four bytes each, exceed half the limit of a trace."""
    cells = source_pieces**2 + target_pieces**2 + source_pieces * target_pieces
    if 8 * config.layers * config.heads * cells > LARGEST // 2:
        raise AttnvizError(
            gettext(
                "The attention of all heads, over {source} source pieces and {target} target pieces, is too "
                "large to store. Shorten the sentence.",
                source=source_pieces,
                target=target_pieces,
            )
        )
