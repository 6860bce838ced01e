"""`Judgement`, the record of a detector: shapes, ranges, round trips, immutability, damaged files."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Trace
from attnviz.analysis.judgement import recompute_decomposable
from attnviz.detector import Detector
from attnviz.network import DecomposableConfig
from attnviz.text import Tokenizer
from attnviz.trace import Judgement
from attnviz.trace.judgement_record import JUDGEMENT_ARRAYS
from attnviz.trace.storage import element_type
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.detectors import random_detector
from tests.records import Damage, assert_changed_byte_is_handled, assert_same, open_without_torch


@pytest.fixture(scope="module")
def judgement(tokenizer: Tokenizer) -> Judgement:
    detector = Detector(random_detector(DecomposableConfig(len(tokenizer), 5, 7), 2), tokenizer, "small")
    return detector.judge("A girl is riding a red \U0001f6b2 bicycle.", SENTENCES[1])


def test_quantities_list_every_array(judgement: Judgement, tokenizer: Tokenizer) -> None:
    hints = typing.get_type_hints(Judgement)
    fields = [field.name for field in dataclasses.fields(Judgement)]
    arrays = [name for name in fields if element_type(hints[name]) is not None]
    assert sorted(quantity.name for quantity in JUDGEMENT_ARRAYS) == sorted(arrays)
    network = random_detector(DecomposableConfig(len(tokenizer), 5, 7), 2)
    weights = {name: value.numpy() for name, value in network.state_dict().items()}
    computed = recompute_decomposable(weights, judgement.source_ids, judgement.target_ids)
    assert set(computed) == {quantity.name for quantity in JUDGEMENT_ARRAYS}
    judgement.check_shapes()


@pytest.mark.parametrize("quantity", JUDGEMENT_ARRAYS, ids=lambda quantity: quantity.name)
def test_wrong_array_shape_is_named(judgement: Judgement, quantity: Any) -> None:
    array = getattr(judgement, quantity.name)
    with pytest.raises(ValueError, match=f"{quantity.name} has the shape"):
        dataclasses.replace(judgement, **{quantity.name: np.concatenate([array, array[:1]])}).check_shapes()


def test_array_shapes_and_ranges(judgement: Judgement) -> None:
    rows, columns = len(judgement.source_pieces), len(judgement.target_pieces)
    assert judgement.energies.shape == (rows, columns)
    np.testing.assert_allclose(judgement.energies, judgement.source_features @ judgement.target_features.T, atol=1e-4)
    np.testing.assert_allclose(judgement.source_alignment.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(judgement.target_alignment.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(
        judgement.source_aligned, judgement.source_alignment @ judgement.target_projected, atol=1e-4
    )
    np.testing.assert_allclose(judgement.source_sum, judgement.source_comparisons.sum(axis=0), rtol=1e-4)
    assert judgement.probability == pytest.approx(float(judgement.probabilities[1]))
    assert judgement.is_translation == (judgement.probability > 0.5)
    assert judgement.source_surfaces[-1] == judgement.target_surfaces[-1] == "</s>"
    assert "\U0001f6b2" in "".join(judgement.source_surfaces)


def test_judgement_is_read_only(judgement: Judgement) -> None:
    for quantity in JUDGEMENT_ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(judgement, quantity.name)[...] = 0
    for twin in (copy.deepcopy(judgement), pickle.loads(pickle.dumps(judgement))):  # noqa: S301
        assert twin.fingerprint == judgement.fingerprint
        with pytest.raises(ValueError, match="read-only"):
            twin.energies[...] = 0


def test_round_trip(judgement: Judgement, tmp_path: Path) -> None:
    judgement.save(tmp_path / "x.json")
    loaded = Judgement.load(tmp_path / "x.json")
    assert_same(judgement, loaded)
    assert loaded.fingerprint == judgement.fingerprint


def test_fingerprint_covers_every_number_but_the_time(judgement: Judgement) -> None:
    assert dataclasses.replace(judgement, seconds=9.0).fingerprint == judgement.fingerprint
    for quantity in JUDGEMENT_ARRAYS:
        array = getattr(judgement, quantity.name).copy()
        array.flat[0] = np.nextafter(array.flat[0], np.float32(np.inf))
        assert dataclasses.replace(judgement, **{quantity.name: array}).fingerprint != judgement.fingerprint


def test_trace_and_judgement_are_not_interchangeable(
    judgement: Judgement, translator: Translator, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(AttnvizError) as error:
        Trace.from_json(judgement.to_json())
    assert str(error.value) == snapshot(name="judgement as trace")
    with pytest.raises(AttnvizError) as error:
        Judgement.from_json(translator.translate(SENTENCES[0], beam=1).to_json())
    assert str(error.value) == snapshot(name="trace as judgement")


def test_opens_without_torch(judgement: Judgement, tmp_path: Path) -> None:
    (probability,) = open_without_torch(judgement, tmp_path / "x.json", "record.probability")
    assert float(probability) == pytest.approx(judgement.probability)


def _without(name: str) -> Damage:
    return lambda record: record.pop(name)


def _with(name: str, value: object) -> Damage:
    return lambda record: record.update({name: value})


DAMAGE: dict[str, Damage] = {
    "no energies": _without("energies"),
    "ids too few": _with("source_ids", [1]),
    "no pieces": _with("target_pieces", []),
    "a newer version": _with("version", 2),
    "sizes left out": _with("config", {"vocabulary_size": 150}),
    "a number as model": _with("model", 3),
    "no source text": _with("source_text", None),
    "a small vocabulary": lambda record: record["config"].update(vocabulary_size=5),
    "energies as weights": lambda record: record.update(source_alignment=record["energies"]),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damaged_file_is_refused(judgement: Judgement, damage: Damage, snapshot: SnapshotAssertion) -> None:
    record = json.loads(judgement.to_json())
    damage(record)
    with pytest.raises(AttnvizError) as error:
        Judgement.from_json(json.dumps(record))
    assert str(error.value) == snapshot


@given(place=st.integers(0, 10**6), value=st.integers(0, 255))
def test_changed_byte_is_harmless_or_refused(judgement: Judgement, place: int, value: int) -> None:
    assert_changed_byte_is_handled(judgement, place, value)
