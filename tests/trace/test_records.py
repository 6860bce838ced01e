"""Saved records of every class: tables of quantities, round trips and immutability."""

import copy
import dataclasses
import json
import pickle
import subprocess
import sys
import typing

import numpy as np
import pytest

from attnviz import AttnvizError, Trace, attention
from attnviz.trace import Judgement, TransformerTrace
from attnviz.trace.saved import Computation
from attnviz.trace.storage import element_type
from tests.conftest import REPOSITORY

CLASSES = (Trace, TransformerTrace, Judgement)
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


@every_class
def test_table_lists_every_array_with_its_shape(records, kind) -> None:
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
def test_file_has_the_whole_record(records, kind, tmp_path) -> None:
    record = records[kind]
    record.save(tmp_path / "x.json")
    loaded = kind.load(tmp_path / "x.json")
    assert_same(record, loaded)
    assert loaded.to_json() == record.to_json()
    assert loaded.fingerprint == record.fingerprint


@every_class
def test_fingerprint_covers_every_number_but_the_time(records, kind) -> None:
    record = records[kind]
    assert dataclasses.replace(record, seconds=9.0).fingerprint == record.fingerprint
    others = [{"model": "other"}, *[{"interventions": ()}] * (kind is not Judgement)]
    assert all(dataclasses.replace(record, **other).fingerprint != record.fingerprint for other in others)
    for quantity in kind.arrays:
        array = getattr(record, quantity.name).copy()
        if array.size and array.dtype.kind == "f":
            array.flat[0] = np.nextafter(array.flat[0], np.float32(np.inf))
            changed = dataclasses.replace(record, **{quantity.name: array})
            assert changed.fingerprint != record.fingerprint, quantity.name


@every_class
def test_record_and_its_copies_are_immutable(records, kind) -> None:
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
def test_file_of_another_class_or_version_is_refused(records, kind, snapshot) -> None:
    content = {one.__name__: records[one].to_json() for one in CLASSES if one is not kind}
    own = json.loads(records[kind].to_json())
    content |= {f"version {change:+}": json.dumps(own | {"version": own["version"] + change}) for change in (-1, 1)}
    said = {}
    for name, text in content.items():
        with pytest.raises(AttnvizError) as error:
            kind.from_json(text)
        said[name] = str(error.value)
    assert said == snapshot


def test_records_open_without_torch(records, tmp_path) -> None:
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
