"""Verification of a trace step by step: correct traces pass, altered numbers and weights are named."""

from __future__ import annotations

import dataclasses
import typing
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis import measures
from attnviz.analysis.labels import quote
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.posterior import bayes, posterior_of
from attnviz.analysis.verification import RecurrentVerifier, discrepancy_text, verify
from attnviz.analysis.weight_shapes import MisfitError
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.checkpoint import save_model
from attnviz.model_folder import read_weights
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import Tokenizer, piece_name
from attnviz.translator import Translator
from tests.conftest import SENTENCES, ModelFactory
from tests.strategies import FEW


@pytest.mark.parametrize(("attention", "readout_state"), list(product(ATTENTION_KINDS, READOUT_STATES)))
def test_verification_holds_for_every_step_of_a_correct_trace(
    tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer, attention: str, readout_state: str
) -> None:
    save_model(tmp_path, make_network(attention, readout_state), tokenizer)
    trace = Translator.load(tmp_path, "cpu").translate(SENTENCES[0], target=SENTENCES[1])
    weights = read_weights(tmp_path)
    for step in range(len(trace.target_pieces)):
        verification = verify(trace, weights, step)
        assert verification.holds, verification.discrepancies
        assert verification.largest_difference < 1e-5
        # At least energies, alignment, context, state with gates and candidate, readout and 100 candidates.
        assert verification.numbers > 2 * len(trace.source_pieces) + 5 * 10 + 6 + 100


@pytest.mark.parametrize(
    ("array", "place", "quantity"),
    [
        ("annotations", (0, 0), "annotations"),
        ("initial_states", (0, 0), "initial_states"),
        ("keys", (0, 0), "keys"),
        ("score_vector", (0,), "score_vector"),
        ("queries", (2, 0), "queries"),
        ("energies", (2, 0), "energies"),
        ("alignment", (2, 0), "alignment"),
        ("contexts", (2, 0), "contexts"),
        ("gates", (2, 0, 0, 0), "reset_gates"),
        ("gates", (2, 0, 1, 0), "update_gates"),
        ("gates", (2, 0, 2, 0), "candidate_states"),
        ("layer_states", (2, 0, 0), "states"),
        ("readouts", (2, 0), "readouts"),
        ("top_probabilities", (2, 0), "top_probabilities"),
        ("log_probabilities", (2,), "log_probabilities"),
    ],
)
def test_a_wrong_number_is_named(
    model_folder: Path, translator: Translator, array: str, place: tuple[int, ...], quantity: str
) -> None:
    trace = translator.translate(SENTENCES[2], beam=1)
    changed = getattr(trace, array).copy()
    changed[place] += 0.01
    verification = verify(dataclasses.replace(trace, **{array: changed}), read_weights(model_folder), 2)
    assert not verification.holds
    assert quantity in {wrong.quantity for wrong in verification.discrepancies}


@pytest.mark.parametrize("measure", ["entropy", "coverage"])
def test_a_wrong_measure_is_named(
    model_folder: Path, translator: Translator, monkeypatch: pytest.MonkeyPatch, measure: str
) -> None:
    trace = translator.translate(SENTENCES[2], beam=1)
    verifier = RecurrentVerifier(trace, read_weights(model_folder))
    numbers = {check.quantity: check.numbers for check in verifier.verify(2).checks}
    assert (numbers["entropy"], numbers["coverage"]) == (1, len(trace.source_pieces))
    true = getattr(measures, measure)
    monkeypatch.setattr(f"attnviz.analysis.verification.{measure}", lambda alignment: true(alignment) + 0.01)
    wrong = RecurrentVerifier(trace, read_weights(model_folder)).verify(2).discrepancies
    assert [one.quantity for one in wrong] == [measure]
    assert wrong[0].shown == pytest.approx(wrong[0].recomputed + 0.01, abs=1e-4)


def test_coverage_reveals_altered_weights_of_other_steps(model_folder: Path, translator: Translator) -> None:
    trace = translator.translate(SENTENCES[2], beam=1)
    alignment = trace.alignment.copy()
    alignment[0] = np.roll(alignment[0], 1)
    altered = dataclasses.replace(trace, alignment=alignment)
    assert [one.quantity for one in verify(altered, read_weights(model_folder), 2).discrepancies] == ["coverage"]


def test_an_altered_scorer_weight_is_detected(model_folder: Path, translator: Translator) -> None:
    trace = translator.translate(SENTENCES[2], beam=1)
    weights = read_weights(model_folder)
    score = weights["decoder.attention.score"].copy()
    score[0] += 0.1
    verification = verify(trace, weights | {"decoder.attention.score": score}, 1)
    names = {wrong.quantity for wrong in verification.discrepancies}
    assert "energies" in names
    assert "queries" not in names


def test_an_altered_encoder_weight_is_detected(model_folder: Path, translator: Translator) -> None:
    trace = translator.translate(SENTENCES[2], beam=1)
    weights = read_weights(model_folder)
    wrong = weights | {"encoder.gru.bias_hh_l0": weights["encoder.gru.bias_hh_l0"] + 0.1}
    assert [found.quantity for found in verify(trace, wrong, 1).discrepancies] == ["annotations"]


def test_displayed_sums_are_verified(model_folder: Path, translator: Translator) -> None:
    trace = translator.translate(SENTENCES[2], beam=1)
    weights = read_weights(model_folder)
    checks = {check.quantity: check for check in RecurrentVerifier(trace, weights).verify(1, pieces=[5, 17]).checks}
    assert checks["energy sums"].numbers == len(trace.source_pieces)
    asked = {trace.target_ids[1], *trace.top_ids[1, :10].tolist(), 5, 17}
    assert checks["attribution sums"].numbers == len(asked)
    assert checks["maxout pairs"].numbers == trace.readouts.shape[1]
    # The energy decomposition draws v_a of the trace, so a wrong v_a alters its sums.
    altered = dataclasses.replace(trace, score_vector=trace.score_vector + 0.1)
    assert {wrong.quantity for wrong in verify(altered, weights, 1).discrepancies} == {"score_vector", "energy sums"}


@settings(max_examples=FEW)
@given(
    kind=st.sampled_from(list(product(ATTENTION_KINDS, READOUT_STATES))),
    hidden_size=st.integers(1, 24),
    alignment_size=st.integers(1, 16),
    maxout_size=st.integers(1, 12),
    embedding_size=st.integers(1, 16),
)
def test_verification_holds_for_random_networks(
    make_network: ModelFactory, tokenizer: Tokenizer, kind: tuple[str, str], **sizes: int
) -> None:
    sizes["hidden_size"] *= 2 if kind[0] == "dot" else 1  # it needs an even one
    network = make_network(*kind, **sizes)
    trace = Translator(network, tokenizer).translate(SENTENCES[4], target=SENTENCES[5])
    verifier = RecurrentVerifier(trace, {name: tensor.numpy() for name, tensor in network.state_dict().items()})
    for step in range(len(trace.target_pieces)):
        verification = verifier.verify(step, with_heatmap_posterior=True)
        assert verification.holds, verification.discrepancies
        assert ("heatmap_posterior" in {check.quantity for check in verification.checks}) == trace.attends


AFTER = {"likelihood", "log_likelihood", "posterior"}


def test_prior_likelihood_and_posterior_are_verified(model_folder: Path, translator: Translator) -> None:
    trace, weights = translator.translate(SENTENCES[2], beam=1), read_weights(model_folder)
    verifier, pieces = RecurrentVerifier(trace, weights), len(trace.source_pieces)
    for shown in (False, True):
        numbers = {check.quantity: check.numbers for check in verifier.verify(1, with_heatmap_posterior=shown).checks}
        assert {name: numbers.get(name) for name in AFTER} == dict.fromkeys(AFTER, pieces)
        assert numbers.get("heatmap_posterior") == (pieces if shown else None)
    # An altered attention weight also alters the posterior.
    alignment = trace.alignment.copy()
    alignment[1] = np.roll(alignment[1], 1)
    wrong = verify(dataclasses.replace(trace, alignment=alignment), weights, 1)
    assert {"alignment", "posterior"} <= {one.quantity for one in wrong.discrepancies}


@pytest.mark.parametrize("made", ["log_likelihood", "bayes", "posterior_of"])
def test_an_altered_number_of_the_posterior_is_named(
    model_folder: Path, translator: Translator, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    trace = translator.translate(SENTENCES[2], beam=1)
    verifier = RecurrentVerifier(trace, read_weights(model_folder))
    place = "attnviz.analysis.verification"
    true = {"bayes": bayes, "posterior_of": posterior_of, "log_likelihood": Readouts.log_likelihood}

    def altered(*given: typing.Any, **named: typing.Any) -> np.ndarray:
        found: np.ndarray = true[made](*given, **named)
        found[1 if made == "posterior_of" else 0, 2] += 0.01
        return found

    monkeypatch.setattr(f"{place}.Readouts.log_likelihood" if made == "log_likelihood" else f"{place}.{made}", altered)
    wrong = verifier.verify(1, with_heatmap_posterior=made == "posterior_of").discrepancies
    expected = {"log_likelihood": "log_likelihood", "bayes": "posterior", "posterior_of": "heatmap_posterior"}[made]
    assert expected in [one.quantity for one in wrong]
    assert {one.index for one in wrong} == {(2,)}
    text = discrepancy_text(trace, wrong[0], 1)
    assert quote(piece_name(trace.source_pieces[2])) in text


@pytest.mark.parametrize(("made", "other"), list(permutations(ATTENTION_KINDS, 2)))
def test_weights_of_another_attention_kind_are_refused(
    make_network: ModelFactory, tokenizer: Tokenizer, made: str, other: str, snapshot: SnapshotAssertion
) -> None:
    sizes = {"hidden_size": 8, "alignment_size": 8}
    trace = Translator(make_network(made, **sizes), tokenizer).translate(SENTENCES[2], beam=1)
    weights = {name: tensor.numpy() for name, tensor in make_network(other, **sizes).state_dict().items()}
    with pytest.raises(MisfitError) as error:
        RecurrentVerifier(trace, weights)
    assert str(error.value) == snapshot


@pytest.mark.parametrize("size", ["hidden_size", "alignment_size", "maxout_size", "vocabulary_size"])
def test_weights_of_another_size_are_refused(translator: Translator, make_network: ModelFactory, size: str) -> None:
    other = make_network(**{size: getattr(translator.network.config, size) + 1})
    weights = {name: tensor.numpy() for name, tensor in other.state_dict().items()}
    with pytest.raises(MisfitError):
        verify(translator.translate(SENTENCES[2], beam=1), weights, 0)


def test_arrays_of_different_sentences_are_refused(translator: Translator, model_folder: Path) -> None:
    one, other = translator.translate(SENTENCES[2], beam=1), translator.translate(SENTENCES[4], beam=1)
    with pytest.raises(MisfitError, match="keys"):
        RecurrentVerifier(dataclasses.replace(one, keys=other.keys), read_weights(model_folder))


def test_errors_of_the_verifier_are_not_reported_as_misfit(
    translator: Translator, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verifier = RecurrentVerifier(translator.translate(SENTENCES[2], beam=1), read_weights(model_folder))
    with pytest.raises(IndexError):
        verifier.verify(999)

    def broken(*operands: object) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr("attnviz.analysis.recomputation.RecurrentEquations.logits", broken)
    with pytest.raises(ValueError, match="a defect"):
        verifier.verify(0)


def test_a_wrongly_masked_energy_is_infinitely_wrong(model_folder: Path, translator: Translator) -> None:
    trace = translator.translate(SENTENCES[2], beam=1)
    energies = trace.energies.copy()
    energies[1, 0] = -np.inf
    verification = verify(dataclasses.replace(trace, energies=energies), read_weights(model_folder), 1)
    assert verification.largest_difference == np.inf
    assert [wrong.quantity for wrong in verification.discrepancies] == ["energies"]
    assert verification.discrepancies[0].index == (0,)


def test_the_shipped_model_is_verified_at_every_step(shipped_model: Path) -> None:
    trace = Translator.load(shipped_model, "cpu").translate("A girl is riding a red bicycle.", beam=1)
    weights = read_weights(shipped_model)
    for step in range(len(trace.target_pieces)):
        assert verify(trace, weights, step).holds
