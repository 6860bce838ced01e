"""`Trace`: round trips, immutability, opening without torch, and damaged files."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Trace, Translator, export, figures
from attnviz.text import LONGEST_SENTENCE, join_pieces
from tests.analysis.filled_equations import equations
from tests.conftest import SENTENCES
from tests.records import (
    Damage,
    assert_changed_byte_is_handled,
    assert_damage_is_refused,
    assert_same,
    open_without_torch,
    packed,
)
from tests.snapshots import plain


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.translate("A girl is riding a red \U0001f6b2 bicycle.", beam=3)


def test_array_shapes_and_ranges(trace: Trace) -> None:
    rows, columns, n = len(trace.target_pieces), len(trace.source_pieces), 10
    assert trace.source_pieces[-1] == "</s>"
    assert trace.alignment.shape == trace.energies.shape == (rows, columns)
    assert trace.annotations.shape == (columns, 2 * n)
    assert trace.contexts.shape == (rows, 2 * n)
    assert trace.states.shape == (rows, n)
    assert trace.initial_state.shape == (n,)
    np.testing.assert_allclose(trace.alignment.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(trace.contexts, trace.alignment @ trace.annotations, atol=1e-5)
    assert ((trace.update_gates > 0) & (trace.update_gates < 1)).all()
    assert (np.abs(trace.candidate_states) <= 1).all()
    assert (np.diff(trace.top_probabilities, axis=1) <= 1e-7).all()
    state = (1 - trace.update_gates) * trace.candidate_states + trace.update_gates * trace.previous_states
    np.testing.assert_allclose(trace.states, state, atol=1e-5)


def test_round_trip(trace: Trace, tmp_path: Path) -> None:
    trace.save(tmp_path / "x.json")
    loaded = Trace.load(tmp_path / "x.json")
    assert_same(trace, loaded)
    assert loaded.to_json() == trace.to_json()


@pytest.mark.parametrize("version", [5, 7])
def test_file_of_another_version_is_refused(trace: Trace, version: int, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as error:
        Trace.from_json(json.dumps(json.loads(trace.to_json()) | {"version": version}))
    assert str(error.value) == snapshot


def test_opens_without_torch_and_without_the_model(trace: Trace, tmp_path: Path) -> None:
    expressions = f"record.translation == {trace.translation!a}, record.words().alignment.sum(), len(record.top(0, 3))"
    same, total, count = open_without_torch(trace, tmp_path / "x.json", expressions, module="attnviz")
    assert (same, count) == ("True", "3")
    assert float(total) == pytest.approx(len(trace.words().target), abs=1e-3)


def test_fingerprint_covers_all_numbers(trace: Trace) -> None:
    assert Trace.from_json(trace.to_json()).fingerprint == trace.fingerprint
    assert dataclasses.replace(trace, seconds=9.0).fingerprint == trace.fingerprint
    energies = trace.energies.copy()
    energies[0, 0] += 1e-3
    for other in (dataclasses.replace(trace, energies=energies), dataclasses.replace(trace, model="other")):
        assert other.fingerprint != trace.fingerprint


def test_notebook_representation_is_the_heatmap(trace: Trace, snapshot: SnapshotAssertion) -> None:
    assert trace.heatmap(by="steps", step=1) == figures.heatmap(trace, by="steps", step=1).figure()
    assert trace.step_figure(0) == trace.step_figure(0, "attention")
    last = len(trace.target_pieces) - 1
    assert trace.step_figure(-1, "candidates", theme="dark") == trace.step_figure(last, "candidates", theme="dark")
    with pytest.raises(AttnvizError):
        trace.step_figure(last + 1)
    with pytest.raises(AttnvizError) as error:
        trace.step_figure(0, "pie")
    assert plain(error.value) == snapshot
    assert f"Choose from: {', '.join(figures.step_figures(figures.Subject(trace, 0)))}." in str(error.value)
    assert trace._repr_html_() == export.heatmap_html(trace)


def test_words_merge_by_sum_and_mean(trace: Trace) -> None:
    words = trace.words()
    np.testing.assert_allclose(words.alignment.sum(axis=1), 1, atol=1e-5)
    assert words.alignment.shape == (len(words.target), len(words.source))
    assert words.source[:2] == ("A", "girl")
    assert words.source[-1] == "</s>"
    for i, target in enumerate(words.target_groups):
        for j, source in enumerate(words.source_groups):
            block = trace.alignment[np.ix_(target, source)]
            assert words.alignment[i, j] == pytest.approx(block.sum(axis=1).mean(), abs=1e-6)
    for word, group in zip(words.source, words.source_groups, strict=True):
        assert word == join_pieces(trace.source_surfaces[index] for index in group)


def test_top_pieces_of_a_step(trace: Trace, snapshot: SnapshotAssertion) -> None:
    candidates = trace.top(0, 5)
    assert len(candidates) == 5
    assert candidates[0] == (trace.top_pieces[0][0], pytest.approx(trace.top_probabilities[0, 0]))
    for bad in (0, -1, 101):
        with pytest.raises(AttnvizError, match="100") as error:
            trace.top(0, bad)
        assert str(error.value) == snapshot
    with pytest.raises(AttnvizError):
        trace.top(len(trace.target_pieces))


def test_trace_is_immutable(trace: Trace) -> None:
    for field in dataclasses.fields(Trace):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(trace, field.name, None)
        value = getattr(trace, field.name)
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0
        else:
            assert not isinstance(value, list), field.name
    with pytest.raises(ValueError, match="read-only"):
        trace.words().alignment[...] = 0
    loaded = Trace.from_json(trace.to_json())
    with pytest.raises(ValueError, match="read-only"):
        loaded.alignment[...] = 0


def _row(columns: int) -> np.ndarray:
    """Return a row of weights that sums to 1, one of them negative."""
    row = np.zeros(columns, np.float32)
    row[:2] = -1, 2
    return row


DAMAGE: dict[str, Damage] = {
    "no mark": lambda r: r.pop("format"),
    "another format": lambda r: r.update(format="something-else"),
    "a newer version": lambda r: r.update(version=99),
    "no version": lambda r: r.pop("version"),
    "no alignment": lambda r: r.pop("alignment"),
    "no pieces": lambda r: r.update(source_pieces=[], target_pieces=[]),
    "a piece too few": lambda r: r["source_pieces"].pop(),
    "a candidate row too few": lambda r: r["top_pieces"].pop(),
    "alignment a number": lambda r: r.update(alignment=3),
    "alignment null": lambda r: r.update(alignment=None),
    "alignment a string": lambda r: r.update(alignment="abc"),
    "pieces null": lambda r: r.update(target_pieces=None),
    "base64 damaged": lambda r: r["alignment"].update(zlib="!!!"),
    "compression damaged": lambda r: r["alignment"].update(zlib=base64.b64encode(b"abcdefgh").decode()),
    "compression cut": lambda r: r["annotations"].update(zlib=r["annotations"]["zlib"][:8]),
    "wrong shape": lambda r: r["alignment"].update(shape=[2, 2]),
    "negative shape": lambda r: r["alignment"].update(shape=[-1, -1]),
    "huge shape": lambda r: r["alignment"].update(shape=[10**9, 10**9]),
    "shape of words": lambda r: r["alignment"].update(shape=["a", "b"]),
    "shape missing": lambda r: r["alignment"].pop("shape"),
    "objects for numbers": lambda r: r["alignment"].update(dtype="object"),
    "unknown number type": lambda r: r["alignment"].update(dtype="quaternion"),
    "a bomb": lambda r: r.update(readouts={**packed(np.zeros(10**7, np.float32)), "shape": [1, 1]}),
    "rows that do not sum to 1": lambda r: r.update(
        alignment=packed(np.zeros((len(r["target_pieces"]), len(r["source_pieces"])), np.float32))
    ),
    "a score vector of another model": lambda r: r.update(score_vector=packed(np.zeros(8, np.float32))),
    "states of another sentence": lambda r: r.update(layer_states=packed(np.zeros((99, 1, 10), np.float32))),
    "more numbers than memory": lambda r: r["readouts"].update(shape=[2**20, 2**10]),
    "pieces that are numbers": lambda r: r.update(source_pieces=[1] * len(r["source_pieces"])),
    "half a character": lambda r: r["target_pieces"].__setitem__(0, "\ud83d"),
    "half a character for a name": lambda r: r.update(model="\udc00"),
    "a time that is none": lambda r: r.update(seconds=float("nan")),
    "a name that is a list": lambda r: r.update(model=["en-fr"]),
    "attention of another kind": lambda r: r["config"].update(attention="soft"),
    "no kind of attention": lambda r: r["config"].pop("attention"),
    "numbers that are none": lambda r: r.update(
        gates=packed(np.full((len(r["target_pieces"]), 1, 3, 10), np.nan, np.float32))
    ),
    "negative weights": lambda r: r.update(
        alignment=packed(np.tile(_row(len(r["source_pieces"])), (len(r["target_pieces"]), 1)))
    ),
    "whole numbers for energies": lambda r: r.update(
        energies=packed(np.zeros((len(r["target_pieces"]), len(r["source_pieces"])), np.int32))
    ),
    "contexts of one half": lambda r: r.update(contexts=packed(np.zeros((len(r["target_pieces"]), 10), np.float32))),
    "an id beyond the vocabulary": lambda r: r["target_ids"].__setitem__(0, 10**6),
    "an architecture of another class": lambda r: r["config"].update(architecture="transformer"),
    "an import without its choices": lambda r: r["config"].update(architecture="seq2seq"),
    "a vocabulary without a size": lambda r: r["config"].pop("vocabulary_size"),
    "an unknown search": lambda r: r["search"].update(method="lucky"),
    "search with unknown fields": lambda r: r["search"].update(temperature=1),
    "a config with more than scalars": lambda r: r["config"].update(hidden_size=[10]),
    "hypotheses a number": lambda r: r.update(hypotheses=5),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damaged_file_is_refused(trace: Trace, tmp_path: Path, damage: Damage) -> None:
    assert_damage_is_refused(trace, damage, tmp_path / "damaged.json")


@given(st.integers(0, 10**6), st.integers(0, 255))
def test_changed_byte_is_harmless_or_refused(trace: Trace, place: int, value: int) -> None:
    assert_changed_byte_is_handled(trace, place, value)


REPLACEMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=6,
)


@given(st.data())
def test_any_field_value_is_refused_or_drawn(trace: Trace, data: st.DataObject) -> None:
    record = json.loads(trace.to_json())
    holder = record
    name = data.draw(st.sampled_from(sorted(record)))
    while isinstance(holder[name], (dict, list)) and holder[name] and data.draw(st.booleans()):
        holder = holder[name]
        name = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
    holder[name] = data.draw(REPLACEMENTS)
    with contextlib.suppress(AttnvizError):
        loaded = Trace.from_json(json.dumps(record))
        subject = figures.Subject(loaded, 0)
        for picture in figures.step_figures(subject).values():
            picture.draw(subject).to_json()
        loaded.heatmap().to_json()
        equations(loaded, 0)


def test_traces_of_every_length(translator: Translator) -> None:
    for text in ("a", SENTENCES[4], " ".join(["dogs"] * LONGEST_SENTENCE)):
        assert_same(traced := translator.translate(text, beam=1), Trace.from_json(traced.to_json()))
