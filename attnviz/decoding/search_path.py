"""`Course`: the steps that led to a translation, found by following the backpointers of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import Tensor

from attnviz.decoding.search import SearchStep


class Course(NamedTuple):
    """Target and steps of one sentence."""

    ids: tuple[int, ...]
    """Ids of the target pieces, EOS last."""
    steps: list[Any]
    """The steps, as the decoder of the architecture returned them."""
    places: list[tuple[int, int]]
    """For each step, the row of the sentence in its batch, and the hypothesis."""
    log_probabilities: list[Tensor] | None = None
    """log p(y_i) of each step, (S, k, K), where the search computed them."""


def course_of(history: Sequence[SearchStep[Any]], sentence: int, ids: tuple[int, ...], hypothesis: int) -> Course:
    """Return the steps of a search that led to `ids`, the target of the 0-based `sentence`.

    `hypothesis` is its index among those of its last step.
    """
    places: list[tuple[int, int]] = []
    for length in reversed(range(len(ids))):
        if places:  # not the last step: follow its backpointer
            hypothesis = history[length].parents[places[-1][0]][hypothesis]
        places.append((history[length].sentences.index(sentence), hypothesis))
    steps = history[: len(ids)]
    return Course(ids, [step.step for step in steps], places[::-1], [step.log_probabilities for step in steps])
