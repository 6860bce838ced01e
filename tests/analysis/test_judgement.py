"""Verification of a judgement by decomposable attention: altered numbers and weights are detected."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from attnviz.analysis.judgement import verify_judgement
from attnviz.analysis.weight_shapes import MisfitError
from attnviz.detector import Detector
from attnviz.network import DecomposableConfig
from attnviz.text import Tokenizer
from attnviz.trace import Judgement
from attnviz.trace.judgement_record import JUDGEMENT_ARRAYS
from tests.conftest import SENTENCES
from tests.detectors import random_detector

Weights = Mapping[str, NDArray[Any]]


@pytest.fixture(scope="module")
def detector(tokenizer: Tokenizer) -> Detector:
    return Detector(random_detector(DecomposableConfig(len(tokenizer), 12, 14), 3), tokenizer, "small")


@pytest.fixture(scope="module")
def weights(detector: Detector) -> Weights:
    return {name: tensor.numpy() for name, tensor in detector.network.state_dict().items()}


@pytest.fixture(scope="module")
def judgement(detector: Detector) -> Judgement:
    return detector.judge(SENTENCES[0], SENTENCES[1])


def test_verification_holds_for_a_correct_judgement(judgement: Judgement, weights: Weights) -> None:
    verification = verify_judgement(judgement, weights)
    assert verification.holds, verification.discrepancies
    assert [check.quantity for check in verification.checks] == [quantity.name for quantity in JUDGEMENT_ARRAYS]
    assert verification.numbers == sum(getattr(judgement, quantity.name).size for quantity in JUDGEMENT_ARRAYS)


@pytest.mark.parametrize("quantity", JUDGEMENT_ARRAYS, ids=lambda quantity: quantity.name)
def test_verification_names_an_altered_number(judgement: Judgement, weights: Weights, quantity: Any) -> None:
    array = getattr(judgement, quantity.name).copy()
    array.flat[-1] += 0.01 * max(1.0, float(np.abs(array).max()))
    verification = verify_judgement(dataclasses.replace(judgement, **{quantity.name: array}), weights)
    assert not verification.holds
    found = {discrepancy.quantity: discrepancy.index for discrepancy in verification.discrepancies}
    assert found[quantity.name] == tuple(size - 1 for size in array.shape)


@pytest.mark.parametrize("name", ["embedding.weight", "attend.inner.bias", "compare.outer.weight", "output.weight"])
def test_verification_fails_with_altered_weights(judgement: Judgement, weights: Weights, name: str) -> None:
    assert not verify_judgement(judgement, {**weights, name: weights[name] + np.float32(0.05)}).holds


def test_weights_of_another_model_are_refused(judgement: Judgement, weights: Weights) -> None:
    with pytest.raises(MisfitError, match="hidden_gain"):
        verify_judgement(judgement, {**weights, "hidden_gain": np.zeros(3)})
    with pytest.raises(MisfitError, match=r"aggregate\.bias"):
        verify_judgement(judgement, {**weights, "aggregate.bias": np.zeros(3)})
    with pytest.raises(MisfitError, match="small"):
        verify_judgement(dataclasses.replace(judgement, config={"vocabulary_size": 150}), weights)
