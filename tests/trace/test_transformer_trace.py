"""`TransformerTrace`: shapes, ranges, round trips, immutability, damaged files."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Trace
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import TransformerTrace
from attnviz.trace.storage import element_type
from attnviz.trace.transformer_trace import ATTENTIONS, TRANSFORMER_ARRAYS
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.records import (
    Damage,
    assert_changed_byte_is_handled,
    assert_damage_is_refused,
    assert_same,
    open_without_torch,
    packed,
)
from tests.transformers import random_transformer


@pytest.fixture(scope="module")
def trace(tokenizer: Tokenizer) -> TransformerTrace:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    return Translator(network, tokenizer, "small").translate("A girl is riding a red \U0001f6b2 bicycle.", beam=3)


def test_quantities_list_every_array(trace: TransformerTrace) -> None:
    hints = typing.get_type_hints(TransformerTrace)
    fields = [field.name for field in dataclasses.fields(TransformerTrace)]
    arrays = [name for name in fields if element_type(hints[name]) is not None]
    assert sorted(quantity.name for quantity in TRANSFORMER_ARRAYS) == sorted(arrays)
    trace.check_shapes()


@pytest.mark.parametrize("quantity", TRANSFORMER_ARRAYS, ids=lambda quantity: quantity.name)
def test_wrong_array_shape_is_named(trace: TransformerTrace, quantity: Any) -> None:
    array = getattr(trace, quantity.name)
    with pytest.raises(ValueError, match="has the shape"):
        dataclasses.replace(trace, **{quantity.name: np.concatenate([array, array[:1]])}).check_shapes()


def test_array_shapes_and_ranges(trace: TransformerTrace) -> None:
    rows, columns = len(trace.target_pieces), len(trace.source_pieces)
    assert trace.cross_alignment.shape == (2, 4, rows, columns)
    assert trace.encoder_streams.shape == (5, columns, 16)
    assert trace.decoder_streams.shape == (7, rows, 16)
    for kind in ATTENTIONS:
        weights, energies = getattr(trace, f"{kind}_alignment"), getattr(trace, f"{kind}_energies")
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
        queries, keys = getattr(trace, f"{kind}_queries"), getattr(trace, f"{kind}_keys")
        expected = queries @ keys.swapaxes(-1, -2) / 2
        open_ = np.isfinite(energies)
        np.testing.assert_allclose(energies[open_], expected[open_], atol=1e-4)
    later = np.triu(np.ones((rows, rows), dtype=bool), 1)
    assert (trace.decoder_energies[..., later] == -np.inf).all()
    assert np.isfinite(trace.decoder_energies[..., ~later]).all()


def test_cross_attention_by_layer_and_head(trace: TransformerTrace, snapshot: SnapshotAssertion) -> None:
    np.testing.assert_allclose(trace.alignment, trace.cross_alignment.mean(axis=(0, 1)), atol=1e-6)
    np.testing.assert_array_equal(trace.cross_attention(-1), trace.cross_alignment[-1].mean(axis=0))
    np.testing.assert_array_equal(trace.cross_attention(0), trace.cross_alignment[0].mean(axis=0))
    np.testing.assert_array_equal(trace.cross_attention(1, 3), trace.cross_alignment[1, 3])
    np.testing.assert_allclose(trace.cross_attention(0).sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(trace.cross_attention(None), trace.cross_alignment.mean(axis=(0, 1)), atol=1e-6)
    for layer, head in ((2, None), (-2, None), (0, 4), (0, -1), (None, 1)):
        for chosen in (trace.cross_attention, trace.select_heads, trace.heatmap):
            with pytest.raises(AttnvizError) as error:
                chosen(layer, head)
            assert str(error.value) == snapshot(name=f"layer {layer}, head {head}")
    for found in (trace.alignment, trace.cross_attention(0), trace.cross_attention(0, 1), trace.words().alignment):
        with pytest.raises(ValueError, match="read-only"):
            found[...] = 0


def test_seen_by_selects_alignment_of_heads(trace: TransformerTrace) -> None:
    seen = trace.select_heads(0, 2)
    np.testing.assert_array_equal(seen.alignment, trace.cross_alignment[0, 2])
    np.testing.assert_allclose(seen.words().alignment, trace.words().merged(trace.cross_alignment[0, 2]), atol=1e-6)
    assert seen.cross_energies is trace.cross_energies
    assert seen.fingerprint != trace.fingerprint
    assert seen is trace.select_heads(0, 2) is trace.select_heads(1, 1).select_heads(0, 2)
    assert trace.select_heads() is trace.select_heads(None) is seen.select_heads() is trace
    assert trace.select_heads(-1) is trace.select_heads(1)
    assert seen.nearest_head == (0, 2)
    assert trace.select_heads(1).nearest_head[0] == 1
    loaded = TransformerTrace.from_json(seen.to_json())
    assert loaded.heads == seen.heads
    assert loaded.fingerprint == seen.fingerprint


@pytest.mark.parametrize(
    "heads",
    [
        {"layer": 2, "head": None},
        {"layer": None, "head": 1},
        {"layer": 0, "head": 4},
        {"layer": 0.0, "head": None},
        {"layer": 0, "head": True},
        [0, 1],
        None,
        "0",
    ],
)
def test_file_with_missing_heads_is_refused(trace: TransformerTrace, heads: Any) -> None:
    with pytest.raises(AttnvizError, match="damaged"):
        TransformerTrace.from_json(json.dumps(json.loads(trace.to_json()) | {"heads": heads}))


def test_words_merge_pieces_of_the_alignment(trace: TransformerTrace) -> None:
    words = trace.words()
    np.testing.assert_allclose(words.alignment, words.merged(trace.alignment), atol=1e-6)
    assert words.source[:2] == ("A", "girl")


def test_round_trip(trace: TransformerTrace, tmp_path: Path) -> None:
    trace.save(tmp_path / "x.json")
    loaded = TransformerTrace.load(tmp_path / "x.json")
    assert_same(trace, loaded)
    assert loaded.to_json() == trace.to_json()
    assert loaded.fingerprint == trace.fingerprint


def test_recurrent_and_transformer_traces_are_not_interchangeable(
    trace: TransformerTrace, translator: Translator, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(AttnvizError) as error:
        Trace.from_json(trace.to_json())
    assert str(error.value) == snapshot(name="transformer as RNNsearch")
    with pytest.raises(AttnvizError) as error:
        TransformerTrace.from_json(translator.translate(SENTENCES[0], beam=1).to_json())
    assert str(error.value) == snapshot(name="RNNsearch as transformer")


def test_opens_without_torch(trace: TransformerTrace, tmp_path: Path) -> None:
    expressions = f"record.translation == {trace.translation!a}, len(record.top(0, 3))"
    assert open_without_torch(trace, tmp_path / "x.json", expressions) == ["True", "3"]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])  # noqa: S301
def test_trace_is_immutable(trace: TransformerTrace, again: Callable[[TransformerTrace], TransformerTrace]) -> None:
    for one in (trace, again(trace), TransformerTrace.from_json(trace.to_json())):
        assert_same(one, trace)
        for field in dataclasses.fields(one):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(one, field.name, None)
            value = getattr(one, field.name)
            if isinstance(value, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    value[...] = 0
        with pytest.raises(TypeError):
            one.config["heads"] = 2  # type: ignore[index]


def _looking_ahead(record: dict[str, Any]) -> None:
    rows = len(record["target_pieces"])
    weights = np.zeros((2, 4, rows, rows), np.float32)
    weights[..., -1] = 1
    record["decoder_alignment"] = packed(weights)


DAMAGE: dict[str, Damage] = {
    "no mark": lambda r: r.pop("format"),
    "a newer version": lambda r: r.update(version=4),
    "no weights": lambda r: r.pop("cross_alignment"),
    "a piece too few": lambda r: r["source_pieces"].pop(),
    "weights a number": lambda r: r.update(encoder_alignment=3),
    "another number of heads": lambda r: r["config"].update(heads=2),
    "no heads": lambda r: r["config"].update(heads=0),
    "heads of words": lambda r: r["config"].update(heads="four"),
    "layers in part": lambda r: r["config"].update(layers=2.0),
    "no size": lambda r: r["config"].pop("model_size"),
    "streams of one layer": lambda r: r["decoder_streams"].update(shape=[4, 1, 16]),
    "rows that do not sum to 1": lambda r: r.update(
        cross_alignment=packed(np.zeros((2, 4, len(r["target_pieces"]), len(r["source_pieces"])), np.float32))
    ),
    "a look ahead": _looking_ahead,
    "numbers that are none": lambda r: r.update(
        readouts=packed(np.full((len(r["target_pieces"]), 16), np.nan, np.float32))
    ),
    "more numbers than memory": lambda r: r["readouts"].update(shape=[2**20, 2**10]),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damaged_file_is_refused(trace: TransformerTrace, tmp_path: Path, damage: Damage) -> None:
    assert_damage_is_refused(trace, damage, tmp_path / "damaged.json")


@given(st.integers(0, 10**6), st.integers(0, 255))
def test_changed_byte_is_harmless_or_refused(trace: TransformerTrace, place: int, value: int) -> None:
    assert_changed_byte_is_handled(trace, place, value)
