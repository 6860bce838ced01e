"""Saved records of every class: tables of quantities, round trips, immutability, and damaged files."""

from __future__ import annotations

import base64
import contextlib
import copy
import dataclasses
import json
import pickle
import subprocess
import sys
import typing
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Trace, Translator, attention, figures
from attnviz.detector import Detector
from attnviz.network import DecomposableConfig, TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import Judgement, TransformerTrace
from attnviz.trace.saved import Computation
from attnviz.trace.storage import element_type
from tests.analysis.filled_equations import equations
from tests.conftest import REPOSITORY, SENTENCES
from tests.detectors import random_detector
from tests.transformers import random_transformer

Damage = Callable[[dict[str, Any]], object]
"""Changes the JSON of a record."""
CLASSES = (Trace, TransformerTrace, Judgement)
SENTENCE = "A girl is riding a red \U0001f6b2 bicycle."
every_class = pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)


def assert_same(one: Computation, other: Computation) -> None:
    """Assert that two records have the same type and equal fields, arrays bit for bit."""
    assert type(one) is type(other)
    for field in dataclasses.fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == theirs.dtype, field.name
            assert np.array_equal(mine, theirs), field.name
        else:
            assert mine == theirs, field.name


def packed(array: np.ndarray) -> dict[str, Any]:
    """Return an array in the encoding of a record's JSON."""
    content = base64.b64encode(zlib.compress(array.tobytes())).decode()
    return {"dtype": array.dtype.name, "shape": array.shape, "zlib": content}


@pytest.fixture(scope="module")
def records(translator: Translator, tokenizer: Tokenizer) -> dict[type, Any]:
    """Return a record of each class."""
    transformer = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    detector = random_detector(DecomposableConfig(len(tokenizer), 5, 7), 2)
    return {
        Trace: translator.translate(SENTENCE, beam=3),
        TransformerTrace: Translator(transformer, tokenizer, "small").translate(SENTENCE, beam=3),
        Judgement: Detector(detector, tokenizer, "small").judge(SENTENCE, SENTENCES[1]),
    }


@pytest.fixture(scope="module")
def contents(records: dict[type, Any]) -> dict[type, str]:
    """Return the files of the records."""
    return {kind: record.to_json() for kind, record in records.items()}


@every_class
def test_table_lists_every_array_with_its_shape(records: dict[type, Any], kind: Any) -> None:
    record, hints = records[kind], typing.get_type_hints(kind)
    arrays = [field.name for field in dataclasses.fields(kind) if element_type(hints[field.name]) is not None]
    assert sorted(quantity.name for quantity in kind.arrays) == sorted(arrays)
    record.check_shapes()
    for quantity in kind.arrays:
        array = getattr(record, quantity.name)
        longer = np.concatenate([array, np.zeros((1, *array.shape[1:]), array.dtype)])
        # Sizes are read from some arrays: if one of those is longer, the error names another array.
        with pytest.raises(ValueError, match="has the shape"):
            dataclasses.replace(record, **{quantity.name: longer}).check_shapes()


@every_class
def test_file_has_the_whole_record(records: dict[type, Any], kind: Any, tmp_path: Path) -> None:
    record = records[kind]
    record.save(tmp_path / "x.json")
    loaded = kind.load(tmp_path / "x.json")
    assert_same(record, loaded)
    assert loaded.to_json() == record.to_json()
    assert loaded.fingerprint == record.fingerprint


@every_class
def test_fingerprint_covers_every_number_but_the_time(records: dict[type, Any], kind: Any) -> None:
    record = records[kind]
    assert dataclasses.replace(record, seconds=9.0).fingerprint == record.fingerprint
    assert dataclasses.replace(record, model="other").fingerprint != record.fingerprint
    for quantity in kind.arrays:
        array = getattr(record, quantity.name).copy()
        if array.size and array.dtype.kind == "f":
            array.flat[0] = np.nextafter(array.flat[0], np.float32(np.inf))
            changed = dataclasses.replace(record, **{quantity.name: array})
            assert changed.fingerprint != record.fingerprint, quantity.name


@every_class
def test_record_and_its_copies_are_immutable(records: dict[type, Any], kind: Any) -> None:
    record = records[kind]
    again = (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record)))  # noqa: S301
    for one in (record, *again, kind.from_json(record.to_json())):
        assert_same(one, record)
        for field in dataclasses.fields(one):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(one, field.name, None)
            value = getattr(one, field.name)
            assert not isinstance(value, list), field.name
            if isinstance(value, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    value[...] = 0
        with pytest.raises(TypeError):
            one.config["heads"] = 2
    if kind is not Judgement:
        with pytest.raises(ValueError, match="read-only"):
            record.words().alignment[...] = 0


@every_class
def test_file_of_another_class_or_version_is_refused(
    records: dict[type, Any], kind: Any, snapshot: SnapshotAssertion
) -> None:
    content = {one.__name__: records[one].to_json() for one in CLASSES if one is not kind}
    own = json.loads(records[kind].to_json())
    content |= {f"version {change:+}": json.dumps(own | {"version": own["version"] + change}) for change in (-1, 1)}
    said = {}
    for name, text in content.items():
        with pytest.raises(AttnvizError) as error:
            kind.from_json(text)
        said[name] = str(error.value)
    assert said == snapshot


def test_records_open_without_torch(records: dict[type, Any], tmp_path: Path) -> None:
    foreign = attention(["a", "b"], ["c"], [[0.25, 0.75]])
    for record in (*records.values(), foreign):
        record.save(tmp_path / f"{type(record).__name__}.json")
    program = (
        "import sys\n"
        "for name in ('torch', 'streamlit', 'plotly', 'safetensors'): sys.modules[name] = None\n"
        "from attnviz.trace import Attention, Judgement, Trace, TransformerTrace\n"
        "for kind in (Trace, TransformerTrace, Judgement, Attention):\n"
        "    record = kind.load(f'{sys.argv[1]}/{kind.__name__}.json')\n"
        "    print(record.fingerprint, kind is Judgement or record.words().alignment.sum())\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    printed = [line.split() for line in done.stdout.splitlines()]
    assert [fingerprint for fingerprint, _ in printed] == [one.fingerprint for one in (*records.values(), foreign)]
    assert float(printed[0][1]) == pytest.approx(len(records[Trace].words().target), abs=1e-3)


def full(array: str, value: float) -> Damage:
    """Return the damage of an array all of whose numbers are `value`."""

    def fill(record: dict[str, Any]) -> None:
        shape = record[array]["shape"]
        record[array] = packed(np.full(shape, value, np.float32))

    return fill


def negative_weights(record: dict[str, Any]) -> None:
    weights = np.zeros(record["alignment"]["shape"], np.float32)
    weights[:, :2] = -1, 2
    record["alignment"] = packed(weights)


def looking_ahead(record: dict[str, Any]) -> None:
    weights = np.zeros(record["decoder_alignment"]["shape"], np.float32)
    weights[..., -1] = 1
    record["decoder_alignment"] = packed(weights)


ANY_DAMAGE: dict[str, Damage] = {
    "no mark": lambda r: r.pop("format"),
    "another format": lambda r: r.update(format="something-else"),
    "no version": lambda r: r.pop("version"),
    "no pieces": lambda r: r.update(source_pieces=[], target_pieces=[]),
    "a piece too few": lambda r: r["source_pieces"].pop(),
    "pieces null": lambda r: r.update(target_pieces=None),
    "pieces that are numbers": lambda r: r.update(source_pieces=[1] * len(r["source_pieces"])),
    "half a character": lambda r: r["target_pieces"].__setitem__(0, "\ud83d"),
    "half a character for a name": lambda r: r.update(model="\udc00"),
    "a name that is a list": lambda r: r.update(model=["en-fr"]),
    "no source text": lambda r: r.update(source_text=None),
    "a time that is none": lambda r: r.update(seconds=float("nan")),
    "ids too few": lambda r: r.update(source_ids=[1]),
    "an id beyond the vocabulary": lambda r: r["target_ids"].__setitem__(0, 10**6),
    "a small vocabulary": lambda r: r["config"].update(vocabulary_size=5),
    "a vocabulary without a size": lambda r: r["config"].pop("vocabulary_size"),
}
DAMAGE: dict[type, dict[str, Damage]] = {
    Trace: {
        "no alignment": lambda r: r.pop("alignment"),
        "a candidate row too few": lambda r: r["top_pieces"].pop(),
        "alignment a number": lambda r: r.update(alignment=3),
        "alignment null": lambda r: r.update(alignment=None),
        "alignment a string": lambda r: r.update(alignment="abc"),
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
        "more numbers than memory": lambda r: r["readouts"].update(shape=[2**20, 2**10]),
        "rows that do not sum to 1": full("alignment", 0),
        "negative weights": negative_weights,
        "numbers that are none": full("gates", np.nan),
        "a score vector of another model": lambda r: r.update(score_vector=packed(np.zeros(8, np.float32))),
        "states of another sentence": lambda r: r.update(layer_states=packed(np.zeros((99, 1, 10), np.float32))),
        "whole numbers for energies": lambda r: r.update(energies=packed(np.zeros(r["energies"]["shape"], np.int32))),
        "contexts of one half": lambda r: r.update(
            contexts=packed(np.zeros((len(r["target_pieces"]), 10), np.float32))
        ),
        "attention of another kind": lambda r: r["config"].update(attention="soft"),
        "no kind of attention": lambda r: r["config"].pop("attention"),
        "an architecture of another class": lambda r: r["config"].update(architecture="transformer"),
        "an import without its choices": lambda r: r["config"].update(architecture="seq2seq"),
        "an unknown search": lambda r: r["search"].update(method="lucky"),
        "search with unknown fields": lambda r: r["search"].update(temperature=1),
        "a config with more than scalars": lambda r: r["config"].update(hidden_size=[10]),
        "hypotheses a number": lambda r: r.update(hypotheses=5),
    },
    TransformerTrace: {
        "no weights": lambda r: r.pop("cross_alignment"),
        "weights a number": lambda r: r.update(encoder_alignment=3),
        "another number of heads": lambda r: r["config"].update(heads=2),
        "no heads": lambda r: r["config"].update(heads=0),
        "heads of words": lambda r: r["config"].update(heads="four"),
        "layers in part": lambda r: r["config"].update(layers=2.0),
        "no size": lambda r: r["config"].pop("model_size"),
        "streams of one layer": lambda r: r["decoder_streams"].update(shape=[4, 1, 16]),
        "rows that do not sum to 1": full("cross_alignment", 0),
        "a look ahead": looking_ahead,
        "numbers that are none": full("readouts", np.nan),
        "a layer that does not exist": lambda r: r.update(heads={"layer": 2, "head": None}),
        "a head of no layer": lambda r: r.update(heads={"layer": None, "head": 1}),
        "a head that does not exist": lambda r: r.update(heads={"layer": 0, "head": 4}),
        "a layer that is a fraction": lambda r: r.update(heads={"layer": 0.0, "head": None}),
        "a head of truth": lambda r: r.update(heads={"layer": 0, "head": True}),
        "selected heads as a list": lambda r: r.update(heads=[0, 1]),
        "no selected heads": lambda r: r.update(heads=None),
    },
    Judgement: {
        "no energies": lambda r: r.pop("energies"),
        "sizes left out": lambda r: r.update(config={"vocabulary_size": 150}),
        "energies as weights": lambda r: r.update(source_alignment=r["energies"]),
    },
}


@every_class
def test_damaged_file_is_refused_by_name(contents: dict[type, str], kind: Any, tmp_path: Path) -> None:
    for name, damage in (ANY_DAMAGE | DAMAGE[kind]).items():
        written = json.loads(contents[kind])
        damage(written)
        path = tmp_path / "damaged.json"
        path.write_text(json.dumps(written), encoding="utf-8")
        with pytest.raises(AttnvizError, match=r"damaged\.json"):
            pytest.fail(f"{name}: {kind.load(path)}")


@every_class
@given(place=st.integers(0, 10**6), value=st.integers(0, 255))
def test_changed_byte_is_harmless_or_refused(contents: dict[type, str], kind: Any, place: int, value: int) -> None:
    content = bytearray(contents[kind].encode())
    content[place % len(content)] = value
    with contextlib.suppress(AttnvizError):
        kind.from_json(content.decode("utf-8", errors="replace"))


SCALARS = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats() | st.text(max_size=5)
REPLACEMENTS = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.text(max_size=5), SCALARS, max_size=2)


def draw(trace: Trace) -> None:
    """Draw the figures of a trace and its first step, and write its equations."""
    subject = figures.Subject(trace, 0)
    for picture in figures.step_figures(subject).values():
        with contextlib.suppress(AttnvizError):  # some need the weights of the model
            picture.draw(subject).figure().to_json()
    trace.heatmap().to_json()
    equations(trace, 0)


@pytest.fixture(scope="module")
def drawn(records: dict[type, Any]) -> None:
    """Draw once, since Hypothesis takes constants of all modules there are, and figures import some when drawn."""
    draw(records[Trace])


@pytest.mark.usefixtures("drawn")
@given(st.data())
def test_any_field_value_is_refused_or_drawn(contents: dict[type, str], data: st.DataObject) -> None:
    holder = record = json.loads(contents[Trace])
    name = data.draw(st.sampled_from(sorted(record)))
    while isinstance(holder[name], (dict, list)) and holder[name] and data.draw(st.booleans()):
        holder = holder[name]
        name = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
    holder[name] = data.draw(REPLACEMENTS)
    with contextlib.suppress(AttnvizError):
        draw(Trace.from_json(json.dumps(record)))
