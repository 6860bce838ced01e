"""What the lab reckons of a translation, once for all visitors; callers see to it that nothing is `lacking`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from attnviz import Trace
from attnviz.analysis.answers import Answers, answers
from attnviz.analysis.best_look import best_look
from attnviz.analysis.firmness import Firmness, firmness
from attnviz.analysis.looks import Trial
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.shuffled import Shuffled, shuffled
from attnviz.analysis.trials import Trials, trials
from attnviz.kept import Kept, size_of
from attnviz.trace import BeamTree
from attnviz.ui import resources
from attnviz.ui.resources import attributions_of, weights_digest_of, weights_of
from attnviz.ui.turns import TURNS

Result = TypeVar("Result")

_RECKONED: Kept[object] = Kept(8 << 20, size=size_of)
"""The answers of a sentence of sixty words take a quarter of a megabyte."""

_TRIED: Kept[object] = Kept(64 << 20, size=size_of)
"""The trials of a step have probabilities of the whole vocabulary a hundred times, 13 MB where it has 16,000 pieces:
enough for whoever sees the same step in the other language, the other theme or another width."""


def answers_of(trace: Trace) -> Answers:
    """Return the answers for every step of `trace`."""
    return _once("answers", trace, lambda weights: answers(trace, weights, attributions_of(trace)))


def trials_of(trace: Trace, step: int) -> Trials:
    """Return the trials of 0-based `step`; raise IndexError where there is no such step."""
    return _once(f"trials {step}", trace, lambda weights: trials(trace, weights, step), _TRIED)


def best_look_of(trace: Trace, step: int, piece_id: int) -> Trial:
    """Return where 0-based `step` should have looked for a piece; raise as `trials_of`, also for no such piece."""
    return _once(f"look {step} {piece_id}", trace, lambda weights: best_look(trace, weights, step, piece_id), _TRIED)


def shuffled_of(trace: Trace) -> Shuffled:
    """Return what shuffled weights do to every step of `trace`."""
    return _once("shuffled", trace, lambda weights: shuffled(trace, weights))


def firmness_of(trace: Trace) -> Firmness:
    """Return how firm the choice of every step of `trace` is."""
    return _once("firmness", trace, lambda weights: firmness(trace, weights))


def beam_tree_of(trace: Trace, beam: int) -> BeamTree:
    """Return the tree of a search of this width; raise AttnvizError where it misses what was changed."""

    def grow(_: Weights) -> BeamTree:
        tree = resources.beam_tree_of(trace, beam)
        assert tree is not None  # lacking
        return tree

    return _once(f"beam tree {beam}", trace, grow)


def _once(name: str, trace: Trace, reckon: Callable[[Weights], Result], kept: Kept[object] = _RECKONED) -> Result:
    weights = weights_of(trace)
    assert weights is not None  # lacking
    key = name, trace.fingerprint, weights_digest_of(trace)
    with TURNS.left():
        return cast("Result", kept.get(key, lambda: reckon(weights)))
