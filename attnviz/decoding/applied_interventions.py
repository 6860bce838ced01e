"""Apply interventions while decoding: change energies before the softmax, force words, decode given targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from attnviz.errors import user_error
from attnviz.imported_families import NEVER_EMPTY
from attnviz.network.searchable import MemoryT, StateT, Stepping, StepT
from attnviz.text import BOS, EOS
from attnviz.trace import interventions_at
from attnviz.trace.interventions import Intervention, forced_words


def energy_change(interventions: Iterable[Intervention], step: int) -> Callable[[Tensor], Tensor] | None:
    """Return the function that changes the energies (S, k, Tx) of 0-based `step` before the softmax.

    All hypotheses change alike. Return None where no intervention applies.
    """
    acting = interventions_at(interventions, step)

    def change(energies: Tensor) -> Tensor:
        for one in acting:
            # The softmax is invariant to shifts; relative to the largest energy, differences keep their precision.
            shifted = energies - energies.amax(-1, keepdim=True)
            energies = one.enter(shifted, energies.new_tensor).expand_as(energies)
        return energies

    return change if acting else None


def first_end(words: Mapping[int, int], family: str) -> int:
    """Return the first 0-based step at which a translation may end: after the last forced word.

    The search of some programs, by the `family` of an imported translator, never ends before the first word.
    """
    return max(max(words, default=-1) + 1, int(family in NEVER_EMPTY))


def constrained(log_probabilities: Tensor, words: Mapping[int, int], step: int, first_end: int) -> Tensor:
    """Return `log_probabilities` (S, k, K) of 0-based `step`.

    Where a word is forced, all other pieces are -inf; before `first_end`, EOS is -inf.
    """
    if step >= first_end:
        return log_probabilities
    if step not in words:
        masked = log_probabilities.clone()
        masked[..., EOS] = float("-inf")
        return masked
    forced = torch.full_like(log_probabilities, float("-inf"))
    forced[..., words[step]] = log_probabilities[..., words[step]]
    return forced


def forced_target(target: Sequence[int], interventions: Sequence[Intervention]) -> list[int]:
    """Return `target`, EOS last, with the words that `interventions` force, up to the first EOS.

    Raise AttnvizError where they name a step beyond the target, or replace its end by a word.
    """
    check_reached(interventions, len(target))
    words = forced_words(interventions)
    ids = [words.get(step, piece) for step, piece in enumerate(target)]
    if ids[-1] != EOS:
        raise user_error("In forced decoding, a word cannot replace the end mark of the translation.")
    ids = ids[: ids.index(EOS) + 1]
    check_reached(interventions, len(ids))
    return ids


def check_reached(interventions: Sequence[Intervention], steps: int) -> None:
    """Raise AttnvizError unless all `interventions` are within the first `steps` steps."""
    changed = [one.step for one in interventions if one.step is not None]
    last = max([*changed, *forced_words(interventions)], default=-1)
    if last >= steps:
        raise user_error(
            "The translation ends with step {count}: nothing can be changed at step {step}.",
            count=steps,
            step=last + 1,
        )


def check_limit(words: Mapping[int, int], limit: int) -> None:
    """Raise AttnvizError unless targets of at most `limit` pieces, EOS last, can contain these forced words."""
    last = max(words, default=-1)
    if last > limit - 1 or (last == limit - 1 and words[last] != EOS):
        raise user_error(
            "The translation can have at most {count} pieces: no word can be forced at step {step}.",
            count=limit,
            step=last + 1,
        )


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
def force(
    decoder: Stepping[MemoryT, StateT, StepT],
    memory: MemoryT,
    targets: Sequence[Sequence[int]],
    interventions: Sequence[Intervention] = (),
) -> list[StepT]:
    """Return the steps of all sentences in `memory`, as `forced_steps`."""
    return list(forced_steps(decoder, memory, targets, interventions))
