"""Verification of a transformer's trace: full recomputation, and checks of single steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.transformer_verification import TransformerVerifier, expected_arrays, recompute_transformer
from attnviz.analysis.verification import Verification
from attnviz.analysis.weight_shapes import MisfitError
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import TransformerTrace
from attnviz.trace.transformer_trace import TRANSFORMER_ARRAYS, TRANSFORMER_QUANTITIES
from attnviz.translator import Translator
from tests.analysis.given import deviation
from tests.conftest import SENTENCES
from tests.strategies import FEW
from tests.transformers import random_transformer, sizes

Weights = dict[str, np.ndarray]


def _forced_translation(
    tokenizer: Tokenizer, config: TransformerConfig, seed: int = 0
) -> tuple[TransformerTrace, Weights]:
    network = random_transformer(config, seed)
    trace = Translator(network, tokenizer, "small").translate(SENTENCES[0], target=SENTENCES[1])
    return trace, {name: tensor.numpy() for name, tensor in network.state_dict().items()}


@pytest.fixture(scope="module")
def small(tokenizer: Tokenizer) -> tuple[TransformerTrace, Weights]:
    return _forced_translation(tokenizer, TransformerConfig(len(tokenizer), 16, 4, 2, 12))


@settings(max_examples=FEW)
@given(data=st.data(), seed=st.integers(0, 99))
def test_every_recorded_array_matches_the_recomputation(tokenizer: Tokenizer, data: st.DataObject, seed: int) -> None:
    trace, weights = _forced_translation(tokenizer, data.draw(sizes(len(tokenizer))), seed)
    found = recompute_transformer(weights, trace.config, trace.source_ids, trace.target_ids)
    off = {name: deviation(getattr(trace, name), values) for name, values in expected_arrays(trace, found).items()}
    assert set(off) == {quantity.name for quantity in TRANSFORMER_ARRAYS} - {"top_ids"}
    assert max(off.values()) < 1e-4, off
    assert (trace.top_ids == np.argsort(-found["distributions"], axis=1, kind="stable")[:, :100]).mean() > 0.95
    verification = TransformerVerifier(trace, weights).verify(data.draw(st.integers(0, len(trace.target_ids) - 1)))
    assert verification.holds, verification.discrepancies
    assert {check.quantity for check in verification.checks} == set(off)


def test_checks_count_the_numbers_of_a_step(small: tuple[TransformerTrace, Weights]) -> None:
    trace, weights = small
    known = trace.sizes()
    for check in TransformerVerifier(trace, weights).verify(2).checks:
        shape = list(TRANSFORMER_QUANTITIES[check.quantity].shape)
        if "Ty" in shape:
            shape.remove("Ty")
        assert check.numbers == np.prod([known[size] for size in shape], dtype=int), check.quantity


@pytest.mark.parametrize("name", [quantity.name for quantity in TRANSFORMER_ARRAYS if quantity.name != "top_ids"])
def test_a_wrong_number_is_named(small: tuple[TransformerTrace, Weights], name: str) -> None:
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


def _verifications(trace: TransformerTrace, weights: Weights) -> list[Verification]:
    verifier = TransformerVerifier(trace, weights)
    return [verifier.verify(step) for step in range(len(trace.target_ids))]


def test_verification_detects_a_change_of_any_weight(small: tuple[TransformerTrace, Weights]) -> None:
    trace, weights = small
    for name, values in weights.items():
        changed = values.copy()
        changed[trace.top_ids[0, 0] if name.startswith("output") else 0] += 0.1
        assert not all(verification.holds for verification in _verifications(trace, weights | {name: changed})), name


def test_an_unmasked_score_is_infinitely_wrong(small: tuple[TransformerTrace, Weights]) -> None:
    trace, weights = small
    scores = trace.decoder_energies.copy()
    scores[0, 0, 0, 1] = 1.0
    verification = TransformerVerifier(dataclasses.replace(trace, decoder_energies=scores), weights).verify(0)
    check = next(check for check in verification.checks if check.quantity == "decoder_energies")
    assert check.largest_difference == float("inf")


@pytest.mark.parametrize(
    "change",
    [
        lambda weights: weights.pop("encoder_norm.bias"),
        lambda weights: weights.update(more=np.zeros(1)),
        lambda weights: weights.update({"decoder.0.cross.key.weight": np.zeros((3, 3))}),
    ],
    ids=["a weight too few", "a weight too many", "a weight of another shape"],
)
def test_weights_of_another_model_are_refused(
    small: tuple[TransformerTrace, Weights], change: Callable[[Weights], object], snapshot: SnapshotAssertion
) -> None:
    trace, weights = small[0], dict(small[1])
    change(weights)
    with pytest.raises(MisfitError) as error:
        TransformerVerifier(trace, weights)
    assert str(error.value) == snapshot
