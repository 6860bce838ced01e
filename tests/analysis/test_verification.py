"""Verification: altered numbers, computations and weights are named, of every architecture.

That correct translations pass is tested where they are made, in `tests/decoding/test_random_networks.py`.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from attnviz import Trace, Translator
from attnviz.analysis import verification as module
from attnviz.analysis.judgement import JudgementVerifier
from attnviz.analysis.labels import quote
from attnviz.analysis.transformer_verification import TransformerVerifier, recompute_transformer
from attnviz.analysis.verification import RecurrentVerifier, Verification, discrepancy_text
from attnviz.analysis.weight_shapes import MisfitError
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.detector import Detector
from attnviz.model_folder import read_weights
from attnviz.network import DecomposableConfig, TransformerConfig
from attnviz.text import Tokenizer, piece_name
from attnviz.trace import TransformerTrace
from attnviz.trace.trace import GATES
from attnviz.trace.transformer_trace import TRANSFORMER_ARRAYS
from tests.analysis.given import deviation
from tests.conftest import SENTENCES
from tests.detectors import random_detector
from tests.strategies import FEW
from tests.transformers import random_transformer, sizes

Weights = Mapping[str, NDArray[Any]]
STEP = 2


class Subject(NamedTuple):
    """A record, the weights that made it, and what verifies a step of it."""

    record: Any
    weights: Weights
    verify: Callable[[Any, Weights, int], Verification]


def weights_of(network: Any) -> dict[str, NDArray[Any]]:
    return {name: tensor.numpy() for name, tensor in network.state_dict().items()}


def transformer_translation(tokenizer: Tokenizer, config: TransformerConfig, seed: int) -> Subject:
    network = random_transformer(config, seed)
    trace = Translator(network, tokenizer, "small").translate(SENTENCES[0], target=SENTENCES[1])
    return Subject(trace, weights_of(network), lambda *given: TransformerVerifier(*given[:2]).verify(given[2]))


@pytest.fixture(scope="module")
def subjects(translator, model_folder, tokenizer) -> dict[str, Subject]:
    detector = Detector(random_detector(DecomposableConfig(len(tokenizer), 12, 14), 3), tokenizer, "small")
    return {
        "rnnsearch": Subject(
            translator.translate(SENTENCES[2], beam=1),
            read_weights(model_folder),
            lambda trace, weights, step: RecurrentVerifier(trace, weights).verify(step),
        ),
        "transformer": transformer_translation(tokenizer, TransformerConfig(len(tokenizer), 16, 4, 2, 12), 0),
        "decomposable": Subject(
            detector.judge(*SENTENCES[:2]),
            weights_of(detector.network),
            lambda judgement, weights, _: JudgementVerifier(judgement, weights).verify(0),
        ),
    }


@pytest.fixture(params=["rnnsearch", "transformer", "decomposable"])
def subject(request, subjects) -> Subject:
    return subjects[request.param]


@pytest.fixture
def recurrent(subjects) -> Subject:
    return subjects["rnnsearch"]


def altered_numbers(record: Any) -> Iterator[tuple[str, Any]]:
    """Yield each quantity of STEP that is verified, with the record in which one of its numbers is wrong."""
    for quantity in record.arrays:
        array = getattr(record, quantity.name)
        if quantity.name == "top_ids" or not array.size:
            continue
        names = {"gates": GATES["gru"], "layer_states": ("states",)}.get(quantity.name, (quantity.name,))
        for place, name in enumerate(names):
            changed = array.copy()
            index = [STEP if size == "Ty" else 0 for size in quantity.shape]
            if quantity.name == "gates":
                index[2] = place
            changed[tuple(index)] += 0.01 * max(1.0, np.abs(array[np.isfinite(array)]).max())
            yield name, dataclasses.replace(record, **{quantity.name: changed})


def test_wrong_number_is_named_and_a_change_of_any_weight_noticed(subject) -> None:
    correct = subject.verify(subject.record, subject.weights, STEP)
    assert correct.holds, correct.discrepancies
    assert correct.numbers == sum(check.numbers for check in correct.checks)
    names = set[str]()
    for name, record in altered_numbers(subject.record):
        names.add(name)
        found = {one.quantity: one for one in subject.verify(record, subject.weights, STEP).discrepancies}
        assert found[name].shown != pytest.approx(found[name].recomputed, abs=1e-3)
    assert names <= {check.quantity for check in correct.checks}
    record, chance = subject.record, np.random.default_rng(0)
    for name, values in subject.weights.items():
        changed = dict(subject.weights) | {name: values + 0.1 * chance.normal(size=values.shape)}
        steps = range(len(record.target_pieces))
        assert not all(subject.verify(record, changed, step).holds for step in steps), name


def test_weights_of_another_model_are_refused(subject, snapshot) -> None:
    name, *_ = subject.weights
    fewer = {other: subject.weights[other] for other in subject.weights if other != name}
    messages = []
    for weights in (fewer, {**subject.weights, "more": np.zeros(1)}, {**subject.weights, name: np.zeros((3, 3))}):
        with pytest.raises(MisfitError) as error:
            subject.verify(subject.record, weights, STEP)
        messages.append(str(error.value))
    assert messages == snapshot


def test_weights_of_another_attention_or_size_are_refused(make_network, tokenizer, recurrent, snapshot) -> None:
    even = {"hidden_size": 8, "alignment_size": 8}
    networks, messages = {kind: make_network(kind, **even) for kind in ATTENTION_KINDS}, {}
    for made, network in networks.items():
        trace = Translator(network, tokenizer).translate(SENTENCES[2], target=SENTENCES[3])
        for other in ATTENTION_KINDS:
            if other != made:
                with pytest.raises(MisfitError) as error:
                    RecurrentVerifier(trace, weights_of(networks[other]))
                messages[made, other] = str(error.value)
    assert {other: text for (made, other), text in messages.items() if made == "additive"} == snapshot
    for size in ("hidden_size", "alignment_size", "maxout_size", "vocabulary_size"):
        larger = make_network(**{size: recurrent.record.config[size] + 1})
        with pytest.raises(MisfitError):
            RecurrentVerifier(recurrent.record, weights_of(larger))


@pytest.mark.parametrize(
    ("computation", "quantity"),
    [
        ("entropy", "entropy"),
        ("coverage", "coverage"),
        ("Readouts.log_likelihood", "log_likelihood"),
        ("bayes", "posterior"),
        ("posterior_of", "heatmap_posterior"),
    ],
)
def test_wrong_computation_is_named(recurrent, monkeypatch, computation: str, quantity: str) -> None:
    true = attrgetter(computation)(module)

    def altered(*given: Any, **named: Any) -> NDArray[Any]:
        found = np.array(true(*given, **named))
        found[(..., STEP) if found.ndim else ()] += 0.01
        return found

    monkeypatch.setattr(f"{module.__name__}.{computation}", altered)
    verifier = RecurrentVerifier(recurrent.record, recurrent.weights)
    wrong = verifier.verify(1, with_heatmap_posterior=quantity == "heatmap_posterior").discrepancies
    assert quantity in [one.quantity for one in wrong]
    assert {one.index for one in wrong} == {(0,) if quantity == "entropy" else (STEP,)}
    if quantity not in ("entropy", "coverage"):
        assert quote(piece_name(recurrent.record.source_pieces[STEP])) in discrepancy_text(
            recurrent.record, wrong[0], 1
        )


def test_displayed_sums_weights_of_other_steps_and_masks_are_verified(recurrent) -> None:
    alignment = recurrent.record.alignment.copy()
    alignment[0] = np.roll(alignment[0], 1)
    altered = dataclasses.replace(recurrent.record, alignment=alignment)
    wrong = recurrent.verify(altered, recurrent.weights, STEP).discrepancies
    assert [one.quantity for one in wrong] == ["coverage"]
    trace, weights = recurrent.record, recurrent.weights
    checks = {check.quantity: check for check in RecurrentVerifier(trace, weights).verify(1, pieces=[5, 17]).checks}
    assert checks["energy sums"].numbers == len(trace.source_pieces)
    asked = {trace.target_ids[1], *trace.top_ids[1, :10].tolist(), 5, 17}
    assert checks["attribution sums"].numbers == len(asked)
    assert checks["maxout pairs"].numbers == trace.readouts.shape[1]
    # The energy decomposition draws v_a of the trace, so a wrong v_a alters its sums.
    altered = dataclasses.replace(trace, score_vector=trace.score_vector + 0.1)
    wrong = {one.quantity for one in recurrent.verify(altered, weights, 1).discrepancies}
    assert wrong == {"score_vector", "energy sums"}
    energies = recurrent.record.energies.copy()
    energies[1, 0] = -np.inf
    altered: Trace = dataclasses.replace(recurrent.record, energies=energies)
    verification = recurrent.verify(altered, recurrent.weights, 1)
    assert verification.largest_difference == np.inf
    assert [(wrong.quantity, wrong.index) for wrong in verification.discrepancies] == [("energies", (0,))]


@settings(max_examples=FEW)
@given(data=st.data(), seed=st.integers(0, 99))
def test_every_array_of_a_transformer_is_recomputed(tokenizer, data: st.DataObject, seed: int) -> None:
    trace, weights, verify = transformer_translation(tokenizer, data.draw(sizes(len(tokenizer))), seed)
    assert isinstance(trace, TransformerTrace)
    found = recompute_transformer(weights, trace.config, trace.source_ids, trace.target_ids)
    names = {quantity.name for quantity in TRANSFORMER_ARRAYS} - {"top_ids"}
    off = {name: deviation(getattr(trace, name), found[name]) for name in names & {*found}}
    assert max(off.values()) < 1e-4, off
    assert (trace.top_ids == np.argsort(-found["distributions"], axis=1, kind="stable")[:, :100]).mean() > 0.95
    verification = verify(trace, weights, data.draw(st.integers(0, len(trace.target_ids) - 1)))
    assert verification.holds, verification.discrepancies
    assert {check.quantity for check in verification.checks} == names
