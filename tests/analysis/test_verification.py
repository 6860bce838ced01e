"""Verification: correct results pass, and altered numbers and weights are named."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis import measures
from attnviz.analysis.judgement import JudgementVerifier
from attnviz.analysis.labels import quote
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.measures import coverage, entropy
from attnviz.analysis.posterior import bayes, posterior_of
from attnviz.analysis.transformer_verification import TransformerVerifier, recompute_transformer
from attnviz.analysis.verification import RecurrentVerifier, Verification, discrepancy_text
from attnviz.analysis.weight_shapes import MisfitError
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.checkpoint import save_model
from attnviz.detector import Detector
from attnviz.model_folder import read_weights
from attnviz.network import DecomposableConfig, TransformerConfig
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import Tokenizer, piece_name
from attnviz.trace import Judgement, Trace, TransformerTrace
from attnviz.trace.judgement_record import JUDGEMENT_ARRAYS
from attnviz.trace.trace import RECORDED
from attnviz.trace.transformer_trace import TRANSFORMER_ARRAYS, TRANSFORMER_QUANTITIES
from attnviz.translator import Translator
from tests.analysis.given import deviation
from tests.conftest import SENTENCES, ModelFactory
from tests.detectors import random_detector
from tests.strategies import FEW
from tests.transformers import random_transformer, sizes
from tests.whole_recomputation import recompute


def verify(trace: Trace, weights: Mapping[str, NDArray[Any]], step: int) -> Verification:
    return RecurrentVerifier(trace, weights).verify(step)


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


@pytest.mark.parametrize("made", ATTENTION_KINDS)
def test_weights_of_another_attention_kind_are_refused(
    make_network: ModelFactory, tokenizer: Tokenizer, made: str, snapshot: SnapshotAssertion
) -> None:
    sizes = {"hidden_size": 8, "alignment_size": 8}
    trace, messages = Translator(make_network(made, **sizes), tokenizer).translate(SENTENCES[2], beam=1), []
    for other in (kind for kind in ATTENTION_KINDS if kind != made):
        weights = {name: tensor.numpy() for name, tensor in make_network(other, **sizes).state_dict().items()}
        with pytest.raises(MisfitError) as error:
            RecurrentVerifier(trace, weights)
        messages.append(str(error.value))
    assert made != "additive" or messages == snapshot


@pytest.mark.parametrize("size", ["hidden_size", "alignment_size", "maxout_size", "vocabulary_size"])
def test_weights_of_another_size_are_refused(translator: Translator, make_network: ModelFactory, size: str) -> None:
    other = make_network(**{size: getattr(translator.network.config, size) + 1})
    weights = {name: tensor.numpy() for name, tensor in other.state_dict().items()}
    with pytest.raises(MisfitError):
        verify(translator.translate(SENTENCES[2], beam=1), weights, 0)


def test_a_wrongly_masked_energy_is_infinitely_wrong(model_folder: Path, translator: Translator) -> None:
    trace = translator.translate(SENTENCES[2], beam=1)
    energies = trace.energies.copy()
    energies[1, 0] = -np.inf
    verification = verify(dataclasses.replace(trace, energies=energies), read_weights(model_folder), 1)
    assert verification.largest_difference == np.inf
    assert [wrong.quantity for wrong in verification.discrepancies] == ["energies"]
    assert verification.discrepancies[0].index == (0,)


def test_the_shipped_model_is_verified_at_every_step(shipped_model: Path, shipped_translator: Translator) -> None:
    trace = shipped_translator.translate("A girl is riding a red bicycle.", beam=1)
    weights = read_weights(shipped_model)
    for step in range(len(trace.target_pieces)):
        assert verify(trace, weights, step).holds


def _deviations(folder: Path, trace: Trace) -> dict[str, float]:
    """Return, for each quantity, the largest difference to the recomputation over the largest number in it."""
    found = recompute(read_weights(folder), trace.config, trace.source_ids, trace.target_ids)
    expected = dict(found)
    expected["top_probabilities"] = np.take_along_axis(found["distributions"], trace.top_ids.astype(np.int64), axis=1)
    chosen = found["distributions"][np.arange(len(trace.target_ids)), list(trace.target_ids)]
    expected["log_probabilities"] = np.log(chosen)
    shown = {quantity.name: getattr(trace, quantity.name) for quantity in RECORDED if quantity.name in expected}
    shown |= {"entropy": entropy(trace.alignment), "coverage": coverage(trace.alignment)}
    return {name: deviation(values, expected[name]) for name, values in shown.items()}


@pytest.mark.parametrize(("attention", "readout_state"), list(product(ATTENTION_KINDS, READOUT_STATES)))
def test_every_number_of_a_trace_matches_the_recomputation(
    tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer, attention: str, readout_state: str
) -> None:
    save_model(tmp_path, make_network(attention, readout_state), tokenizer)
    trace = Translator.load(tmp_path, device="cpu").translate(SENTENCES[0], beam=4)
    found = _deviations(tmp_path, trace)
    recorded = {quantity.name for quantity in RECORDED} - {"top_ids", "score_vector", "feature_weight"}
    assert set(found) == recorded | {"entropy", "coverage"}
    assert max(found.values()) < 1e-4, found


TransformerWeights = dict[str, np.ndarray]


def transformer_translation(
    tokenizer: Tokenizer, config: TransformerConfig, seed: int = 0
) -> tuple[TransformerTrace, TransformerWeights]:
    network = random_transformer(config, seed)
    trace = Translator(network, tokenizer, "small").translate(SENTENCES[0], target=SENTENCES[1])
    return trace, {name: tensor.numpy() for name, tensor in network.state_dict().items()}


@pytest.fixture(scope="module")
def small(tokenizer: Tokenizer) -> tuple[TransformerTrace, TransformerWeights]:
    return transformer_translation(tokenizer, TransformerConfig(len(tokenizer), 16, 4, 2, 12))


@settings(max_examples=FEW)
@given(data=st.data(), seed=st.integers(0, 99))
def test_every_recorded_array_matches_the_recomputation(tokenizer: Tokenizer, data: st.DataObject, seed: int) -> None:
    trace, weights = transformer_translation(tokenizer, data.draw(sizes(len(tokenizer))), seed)
    found = recompute_transformer(weights, trace.config, trace.source_ids, trace.target_ids)
    names = {quantity.name for quantity in TRANSFORMER_ARRAYS} - {"top_ids"}
    off = {name: deviation(getattr(trace, name), found[name]) for name in names & {*found}}
    assert max(off.values()) < 1e-4, off
    assert (trace.top_ids == np.argsort(-found["distributions"], axis=1, kind="stable")[:, :100]).mean() > 0.95
    verification = TransformerVerifier(trace, weights).verify(data.draw(st.integers(0, len(trace.target_ids) - 1)))
    assert verification.holds, verification.discrepancies
    assert {check.quantity for check in verification.checks} == names


@pytest.mark.parametrize("name", [quantity.name for quantity in TRANSFORMER_ARRAYS if quantity.name != "top_ids"])
def test_a_wrong_number_of_a_transformer_is_named(
    small: tuple[TransformerTrace, TransformerWeights], name: str
) -> None:
    trace, weights = small
    step = 2
    values = getattr(trace, name).copy()
    axes = [axis for axis, size in enumerate(TRANSFORMER_QUANTITIES[name].shape) if size == "Ty"]
    place = [0] * values.ndim
    if axes:
        place[axes[0]] = step
    values[tuple(place)] += 0.01 * max(1.0, np.abs(values[np.isfinite(values)]).max())
    verification = TransformerVerifier(dataclasses.replace(trace, **{name: values}), weights).verify(step)
    assert name in {wrong.quantity for wrong in verification.discrepancies}
    wrong = next(wrong for wrong in verification.discrepancies if wrong.quantity == name)
    assert wrong.shown != pytest.approx(wrong.recomputed, abs=1e-3)


def _verifications(trace: TransformerTrace, weights: TransformerWeights) -> list[Verification]:
    verifier = TransformerVerifier(trace, weights)
    return [verifier.verify(step) for step in range(len(trace.target_ids))]


def test_verification_detects_a_change_of_any_weight(small: tuple[TransformerTrace, TransformerWeights]) -> None:
    trace, weights = small
    for name, values in weights.items():
        changed = values.copy()
        changed[trace.top_ids[0, 0] if name.startswith("output") else 0] += 0.1
        assert not all(verification.holds for verification in _verifications(trace, weights | {name: changed})), name


@pytest.mark.parametrize(
    "change",
    [
        lambda weights: weights.pop("encoder_norm.bias"),
        lambda weights: weights.update(more=np.zeros(1)),
        lambda weights: weights.update({"decoder.0.cross.key.weight": np.zeros((3, 3))}),
    ],
    ids=["a weight too few", "a weight too many", "a weight of another shape"],
)
def test_weights_of_another_transformer_are_refused(
    small: tuple[TransformerTrace, TransformerWeights],
    change: Callable[[TransformerWeights], object],
    snapshot: SnapshotAssertion,
) -> None:
    trace, weights = small[0], dict(small[1])
    change(weights)
    with pytest.raises(MisfitError) as error:
        TransformerVerifier(trace, weights)
    assert str(error.value) == snapshot


Weights = Mapping[str, NDArray[Any]]


@pytest.fixture(scope="module")
def detector(tokenizer: Tokenizer) -> Detector:
    return Detector(random_detector(DecomposableConfig(len(tokenizer), 12, 14), 3), tokenizer, "small")


@pytest.fixture(scope="module")
def detector_weights(detector: Detector) -> Weights:
    return {name: tensor.numpy() for name, tensor in detector.network.state_dict().items()}


@pytest.fixture(scope="module")
def judgement(detector: Detector) -> Judgement:
    return detector.judge(SENTENCES[0], SENTENCES[1])


def test_verification_holds_for_a_correct_judgement(judgement: Judgement, detector_weights: Weights) -> None:
    verification = JudgementVerifier(judgement, detector_weights).verify(0)
    assert verification.holds, verification.discrepancies
    assert [check.quantity for check in verification.checks] == [quantity.name for quantity in JUDGEMENT_ARRAYS]
    assert verification.numbers == sum(getattr(judgement, quantity.name).size for quantity in JUDGEMENT_ARRAYS)


@pytest.mark.parametrize("quantity", JUDGEMENT_ARRAYS, ids=lambda quantity: quantity.name)
def test_verification_names_an_altered_number(judgement: Judgement, detector_weights: Weights, quantity: Any) -> None:
    array = getattr(judgement, quantity.name).copy()
    array.flat[-1] += 0.01 * max(1.0, float(np.abs(array).max()))
    verification = JudgementVerifier(dataclasses.replace(judgement, **{quantity.name: array}), detector_weights).verify(
        0
    )
    assert not verification.holds
    found = {discrepancy.quantity: discrepancy.index for discrepancy in verification.discrepancies}
    assert found[quantity.name] == tuple(size - 1 for size in array.shape)


def test_weights_of_another_detector_are_refused(judgement: Judgement, detector_weights: Weights) -> None:
    with pytest.raises(MisfitError, match="hidden_gain"):
        JudgementVerifier(judgement, {**detector_weights, "hidden_gain": np.zeros(3)}).verify(0)
    with pytest.raises(MisfitError, match=r"aggregate\.bias"):
        JudgementVerifier(judgement, {**detector_weights, "aggregate.bias": np.zeros(3)}).verify(0)
    with pytest.raises(MisfitError, match="small"):
        JudgementVerifier(dataclasses.replace(judgement, config={"vocabulary_size": 150}), detector_weights).verify(0)
