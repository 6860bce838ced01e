"""Posterior attention: Bayes' rule over single annotations, and agreement of two implementations."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from attnviz import AttnvizError, analysis
from attnviz.analysis import recomputation as again
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.measures import error_rate, links
from attnviz.analysis.posterior import POSTERIOR_KINDS, erasure_log_drops, posterior_words
from attnviz.evaluation.alignment import GoldAlignment
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.trace.interventions import ReplaceWeights
from attnviz.translator import Translator
from tests.analysis.given import KINDS, SIZES, Weights, forced_trace, state_before, step_probabilities
from tests.conftest import SENTENCES, ModelFactory
from tests.strategies import FEW


def test_posterior_refuses_unknown_kinds_and_other_weights(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, ("additive", "previous"))
    with pytest.raises(AttnvizError, match="guess"):
        analysis.posterior(trace, weights, kind="guess")  # type: ignore[arg-type]
    _, others = forced_trace(make_network, tokenizer, ("additive", "previous"), hidden_size=3)
    with pytest.raises(AttnvizError, match="does not fit"):
        analysis.posterior(trace, others)


def test_posterior_words_merge_the_posterior_of_pieces(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    trace, weights = forced_trace(make_network, tokenizer, ("additive", "previous"))
    before, after = trace.words(), posterior_words(trace, weights)
    assert (after.source, after.target) == (before.source, before.target)
    np.testing.assert_array_equal(before.merged(trace.alignment), before.alignment)
    pieces = analysis.posterior(trace, weights)
    column, row = before.source_groups[1], before.target_groups[2]
    assert after.alignment[2, 1] == pytest.approx(pieces[np.ix_(row, column)].sum(axis=1).mean(), rel=1e-6)
    np.testing.assert_allclose(after.alignment.sum(axis=1), 1, atol=1e-6)


OWN_LINKS = (
    (
        "The black cat sleeps on the red chair .",
        "Le chat noir dort sur la chaise rouge .",
        "0-0 1-2 2-1 3-3 4-4 5-5 6-7 7-6 8-8",
    ),
    (
        "I do not know where my friends are .",
        "Je ne sais pas où sont mes amis .",
        "0-0 2-1 2-3 3-2 4-4 5-6 6-7 7-5 8-8",
    ),
    ("A young girl is reading a long book .", "Une jeune fille lit un long livre .", "0-0 1-1 2-2 4-3 5-4 6-5 7-6 8-7"),
    (
        "The European parliament approved the report .",
        "Le parlement européen a approuvé le rapport .",
        "0-0 1-2 2-1 3-3 3-4 4-5 5-6 6-7",
    ),
    (
        "Two white dogs run in the deep snow .",
        "Deux chiens blancs courent dans la neige profonde .",
        "0-0 1-2 2-1 3-3 4-4 5-5 6-7 7-6 8-8",
    ),
)


def test_posterior_lowers_the_error_rate_of_the_shipped_model(
    shipped_model: Path, shipped_translator: Translator
) -> None:
    weights = analysis.load_weights(shipped_model)
    gold, before, after = [], [], []
    for source, target, drawn in OWN_LINKS:
        sure = frozenset((int(j), int(i)) for j, i in (link.split("-") for link in drawn.split()))
        gold.append(GoldAlignment("own", tuple(source.split()), tuple(target.split()), sure, frozenset()))
        trace = shipped_translator.translate(source, target=target)
        words = trace.words()
        assert len(words.target) == len(target.split()) + 1
        before.append(links(words.alignment[:-1, :-1]))
        posteriors = [analysis.posterior(trace, weights, kind) for kind in POSTERIOR_KINDS]
        after.append([links(words.merged(posterior)[:-1, :-1]) for posterior in posteriors])
    error = error_rate(before, gold).aer
    for found in zip(*after, strict=True):
        assert error_rate(found, gold).aer < 0.75 * error


def recomputed(trace: Trace, weights: Weights) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log likelihood, posterior and the heatmap's posterior, (Ty, Tx) each, by the recomputation."""
    network, annotations = again.RecurrentEquations(weights, trace.config), trace.annotations.astype(np.float64)
    states = [state_before(trace, step) for step in range(len(trace.target_ids))]
    words, prior = [network.word(piece) for piece in trace.previous_ids], trace.alignment.astype(np.float64)
    logarithms = np.stack(
        [
            network.log_likelihood(annotations, *operands)
            for operands in zip(states, words, trace.target_ids, strict=True)
        ]
    )
    posterior = np.stack([again.recomputed_bayes(*rows) for rows in zip(prior, logarithms, strict=True)])
    by_recomputation = network.heatmap_posterior(annotations, states, words, trace.target_ids, prior)
    return logarithms, posterior, by_recomputation


@settings(max_examples=FEW)
@given(**SIZES)
def test_columns_follow_bayes_rule_and_match_the_recomputation(
    make_network: ModelFactory, tokenizer: Tokenizer, kind, **sizes: int
) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind, **sizes)
    found = analysis.posterior_attention(trace, weights)
    joint = found.prior * found.likelihood
    np.testing.assert_array_equal(found.prior, trace.alignment)
    np.testing.assert_allclose(found.posterior, joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_array_equal(found.heatmap_posterior, analysis.posterior(trace, weights))
    np.testing.assert_array_equal(found.posterior, analysis.posterior(trace, weights, "posterior"))
    logarithms, posterior, by_recomputation = recomputed(trace, weights)
    np.testing.assert_allclose(np.log(found.likelihood), logarithms, atol=1e-5)
    np.testing.assert_allclose(found.posterior, posterior, atol=1e-5)
    np.testing.assert_allclose(found.heatmap_posterior, by_recomputation, atol=1e-5)
    variation = np.maximum(found.posterior - found.prior, 0).sum(axis=1)
    np.testing.assert_allclose(
        [found.change(step) for step in range(-1, len(variation) - 1)], np.roll(variation, 1), atol=1e-6
    )


@settings(max_examples=FEW)
@given(**SIZES)
def test_one_hot_attention_has_its_annotation_as_context(
    make_network: ModelFactory, tokenizer: Tokenizer, kind, **sizes: int
) -> None:
    length = len(tokenizer.encode(SENTENCES[2])) + 1
    alone = [ReplaceWeights(tuple(float(k == j) for k in range(length)), step=j) for j in range(3)]
    trace, weights = forced_trace(make_network, tokenizer, kind, alone, **sizes)
    found = analysis.posterior_attention(trace, weights)
    for j in range(3):
        np.testing.assert_allclose(trace.contexts[j], trace.annotations[j], atol=1e-6)
        # The likelihood equals the probability of the step, which attended to nothing else.
        assert found.likelihood[j, j] == pytest.approx(float(trace.probabilities[j]), rel=1e-4)
        assert found.likelihood[j, j] == pytest.approx(
            step_probabilities(trace, weights, j, np.eye(length)[j])[trace.target_ids[j]], rel=1e-4
        )
        np.testing.assert_array_equal(found.posterior[j], np.eye(length)[j])
        assert found.change(j) == 0
        # Without it, no weight is left, and the context is 0.
        readouts = Readouts(trace, weights)
        without = readouts.log_probabilities(j, np.zeros((1, length)))[0, trace.target_ids[j]]
        drop = np.log(found.likelihood[j, j]) - without
        assert erasure_log_drops(readouts)[j, j] == pytest.approx(drop, abs=1e-4)


def test_likelihoods_of_step_ranges_match_those_of_all_steps(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    for kind in KINDS:
        trace, weights = forced_trace(make_network, tokenizer, kind)
        readouts = Readouts(trace, weights)
        for steps in (slice(1, 2), slice(2, 5), slice(0, 99)):
            np.testing.assert_allclose(readouts.log_likelihood(steps=steps), readouts.alone[steps], atol=1e-6)


def test_recomputation_imports_nothing_from_the_first_implementation() -> None:
    tree = ast.parse(Path(again.__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not imported & {
        "attnviz.analysis.likelihood",
        "attnviz.analysis.posterior",
    }
