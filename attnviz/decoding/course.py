"""What a search made of one sentence: its target, and the steps that led there, found in the history of the search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import Tensor

from attnviz.decoding.search import SearchStep


class Course(NamedTuple):
    """What became of one sentence."""

    ids: tuple[int, ...]
    """Target pieces, EOS last."""
    steps: list[Any]
    """As the decoder of its architecture computed them."""
    places: list[tuple[int, int]]
    """Of each step, the row that the sentence had in its batch, and the hypothesis."""
    log_probabilities: list[Tensor] | None = None
    """Log p(y_i) of each step, (S, k, K), where the search computed them."""


def course_of(history: Sequence[SearchStep[Any]], sentence: int, ids: tuple[int, ...], hypothesis: int) -> Course:
    """Return the steps of a search that led to `ids`, a target of the 0-based `sentence` found by this `hypothesis` of
    its last step."""
    places: list[tuple[int, int]] = []
    for length in reversed(range(len(ids))):
        if places:  # a step of which this is the way on
            hypothesis = history[length].parents[places[-1][0]][hypothesis]
        places.append((history[length].sentences.index(sentence), hypothesis))
    taken = history[: len(ids)]
    return Course(ids, [one.step for one in taken], places[::-1], [one.log_probabilities for one in taken])
