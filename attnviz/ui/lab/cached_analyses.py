"""Cached analyses for the lab: attributions, perturbation tests, best attention, shuffling, minimal change, beam tree.

The cache is shared by all visitors. `unavailable_reason` says why a translation cannot be analysed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from attnviz import Trace
from attnviz.analysis.attribution_methods import AttributionMethods, attribution_methods
from attnviz.analysis.perturbation_tests import PermutationEffects, PerturbationTests, perturbation_tests, shuffled
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.step_evaluation import MinimalChange, PerturbedStep, best_attention, minimal_change
from attnviz.analysis.weight_shapes import MisfitError, check_fit
from attnviz.architectures import architecture_of
from attnviz.figures.registry import PERTURBATION_TESTS
from attnviz.figures.subject import Subject
from attnviz.lru_cache import LRUCache, size_of
from attnviz.trace import BeamTree
from attnviz.ui import resources
from attnviz.ui.resources import cached_attributions, weights_digest_of, weights_of
from attnviz.ui.waiting import TURNS

_Result = TypeVar("_Result")

_CACHE: LRUCache[object] = LRUCache(8 << 20, size=size_of)
"""LRU cache; the attributions of a sentence of sixty words take a quarter of a megabyte."""

_PERTURBATION_TEST_CACHE: LRUCache[object] = LRUCache(64 << 20, size=size_of)
"""LRU cache of perturbation tests, each with a hundred distributions over the vocabulary.

That is 13 MB for 16,000 pieces; it serves the same step in another language, theme or width.
"""


def attribution_methods_of(trace: Trace) -> AttributionMethods:
    """Return the attributions of every step of `trace`."""
    return _cached(
        "attributions", trace, lambda weights: attribution_methods(trace, weights, cached_attributions(trace))
    )


def perturbation_tests_of(trace: Trace, step: int) -> PerturbationTests:
    """Return the perturbation tests of 0-based `step`; raise IndexError for an invalid step."""
    return _cached(
        f"perturbation tests {step}",
        trace,
        lambda weights: perturbation_tests(trace, step, weights),
        _PERTURBATION_TEST_CACHE,
    )


def best_attention_of(trace: Trace, step: int, piece_id: int) -> PerturbedStep:
    """Return the attention that makes a piece likeliest at 0-based `step`; raise IndexError for invalid arguments."""
    return _cached(
        f"best attention {step} {piece_id}",
        trace,
        lambda weights: best_attention(trace, step, weights, piece_id=piece_id),
        _PERTURBATION_TEST_CACHE,
    )


def shuffled_of(trace: Trace) -> PermutationEffects:
    """Return the effect of shuffled weights at every step of `trace`."""
    return _cached("shuffled", trace, lambda weights: shuffled(trace, weights))


def minimal_change_of(trace: Trace) -> MinimalChange:
    """Return the minimal change of the attention at every step of `trace`."""
    return _cached("minimal-change", trace, lambda weights: minimal_change(trace, weights))


def cached_beam_tree(trace: Trace, beam: int) -> BeamTree:
    """Return the beam search tree of this width; raise AttnvizError where it misses the step of an intervention."""

    def build_tree(_: Weights) -> BeamTree:
        tree = resources.beam_tree_of(trace, beam)
        assert tree is not None  # callers check `unavailable_reason` first
        return tree

    return _cached(f"beam tree {beam}", trace, build_tree)


def _cached(
    name: str, trace: Trace, compute: Callable[[Weights], _Result], cache: LRUCache[object] = _CACHE
) -> _Result:
    weights = weights_of(trace)
    assert weights is not None  # callers check `unavailable_reason` first
    key = name, trace.fingerprint, weights_digest_of(trace)
    with TURNS.released():
        return cast("_Result", cache.get(key, lambda: compute(weights)))


def unavailable_reason(trace: Trace) -> str:
    """Return why `trace` has no attributions and perturbation tests, as a sentence; empty where it has."""
    if sentence := architecture_of(trace).missing.get("lab"):
        return sentence()
    weights = weights_of(trace)
    subject = Subject(trace, 0, weights)
    if weights is None or not trace.attends:
        return PERTURBATION_TESTS.missing(subject)
    try:
        check_fit(trace, weights)
    except MisfitError as error:  # altered, or not made by this model
        return str(error)
    return ""
