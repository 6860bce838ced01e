"""Greedy search over several sentences at once: the likeliest piece at each step.

It finds what `search` finds with a beam of width 1. Logits decide; probabilities are computed only where steps are
recorded.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch

from attnviz.decoding.interventions import check_limit, check_reached, energy_change
from attnviz.decoding.search import SearchStep
from attnviz.network.output import OutputLayer, largest_logit
from attnviz.network.searchable import MemoryT, StateT, Stepping, StepT
from attnviz.text import BOS, EOS, UNK
from attnviz.trace.interventions import Intervention, forced_words

_COMPACT_BELOW = 0.75
"""Share of unfinished sentences below which a batch is compacted; compacting copies the states of the rest."""


@torch.inference_mode()
def greedy(
    decoder: Stepping[MemoryT, StateT, StepT],
    memory: MemoryT,
    limits: Sequence[int],
    history: list[SearchStep[StepT]] | None = None,
    interventions: Sequence[Intervention] = (),
    unk: bool = False,
) -> list[tuple[int, ...]]:
    """Return the target of each sentence of `memory`, EOS last; append each step to `history`.

    `limits` are the largest numbers of pieces. PAD and BOS are never chosen, and UNK only with `unk`. `interventions`
    apply to every sentence at their steps. Raise AttnvizError where one names a step that the search does not reach.
    """
    words = forced_words(interventions)
    check_limit(words, min(limits))
    last_forced = max(words, default=-1)
    targets: list[list[int]] = [[] for _ in limits]
    sentences = list(range(len(limits)))
    state, previous = decoder.start(memory), [BOS] * len(limits)
    for i in itertools.count():
        ids = torch.tensor(previous, device=memory.annotations.device)[:, None]
        step, state = decoder.step(memory, state, ids, energy_change(interventions, i))
        first = EOS if i > last_forced else EOS + 1  # no translation ends before a forced word
        likeliest = _likeliest(decoder.output, step, first, UNK if unk else None, sentences, history)
        previous = [words[i]] * len(sentences) if i in words else likeliest
        for row, sentence in enumerate(sentences):
            target = targets[sentence]
            if not target or target[-1] != EOS:
                target.append(previous[row] if i + 1 < limits[sentence] else EOS)
        rows = [row for row, sentence in enumerate(sentences) if targets[sentence][-1] != EOS]
        if not rows:
            break
        if len(rows) <= _COMPACT_BELOW * len(sentences):
            state, memory = state.select(rows, [[0]] * len(rows)), memory.select(rows)
            sentences, previous = [sentences[row] for row in rows], [previous[row] for row in rows]
    check_reached(interventions, i + 1)
    return [tuple(target) for target in targets]


def _likeliest(
    output: OutputLayer,
    step: StepT,
    first: int,
    also: int | None,
    sentences: list[int],
    history: list[SearchStep[StepT]] | None,
) -> list[int]:
    """Return the likeliest piece of each sentence after this step, among ids from `first` on and `also`.

    With a `history`, append the step and its probabilities.
    """
    readouts = step.readout[:, 0]
    if history is None:
        return output.likeliest(readouts, first, also)
    logits = output.logits(readouts)
    history.append(SearchStep(step, sentences, [[0] for _ in sentences], torch.log_softmax(logits, -1)[:, None]))
    return largest_logit(logits, first, also)
