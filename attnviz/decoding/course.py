"""What a search made of one sentence: its target, and the steps that led there, found in the history of the search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attnviz.decoding.search import Finished, SearchStep
from attnviz.network.stepping import Step


class Course(NamedTuple):
    """What became of one sentence."""

    ids: tuple[int, ...]
    """Target pieces, EOS last."""
    steps: list[Step]
    places: list[tuple[int, int]]
    """Of each step, the row that the sentence had in its batch, and the hypothesis."""


def course_of(history: Sequence[SearchStep], sentence: int, best: Finished) -> Course:
    """Return the steps of a search that led to `best`, a hypothesis of the 0-based `sentence`."""
    places: list[tuple[int, int]] = []
    hypothesis = best.parent
    for length in reversed(range(len(best.ids))):
        if places:  # a step of which this is the way on
            hypothesis = history[length].parents[places[-1][0]][hypothesis]
        places.append((history[length].sentences.index(sentence), hypothesis))
    return Course(best.ids, [one.step for one in history[: len(best.ids)]], places[::-1])
