"""Interventions as values: validation, and saving them to files."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.errors import AttnvizError
from attnviz.trace import Trace
from attnviz.trace.interventions import (
    KINDS,
    ExcludePosition,
    ForceWords,
    Intervention,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
    from_json_dict,
    interventions_at,
    to_json_dict,
)
from attnviz.translator import Translator
from tests.conftest import SENTENCES

NAN, ENDLESS = float("nan"), float("inf")

BAD: dict[str, Callable[[], Intervention]] = {
    "weights below 0": lambda: ReplaceWeights((-0.5, 1.5)),
    "no weight at all": lambda: ReplaceWeights((0.0, 1e-31)),
    "weights beyond measure": lambda: ReplaceWeights((1.01e30, 1.0)),
    "a lender with a long name": lambda: ReplaceWeights((1,), 0, "model", "x" * 81),
    "a lender with a line break": lambda: ReplaceWeights((1,), 0, "model", "x\n"),
    "energies just beyond measure": lambda: ReplaceEnergies((0.0, -10001)),
    "a temperature near 0": lambda: Temperature(0.009),
    "more words than a translation has": lambda: ForceWords((4,) * 2001),
    "weights of nobody": lambda: ReplaceWeights((1,), 0, "nobody"),
    "weights of a step that is none": lambda: ReplaceWeights((1,), 0, "step", "x"),
    "weights that are none": lambda: ReplaceWeights((NAN, 1.0)),
    "infinite weights": lambda: ReplaceWeights((ENDLESS, 0.0)),
    "no weights": lambda: ReplaceWeights(()),
    "weights in a string": lambda: ReplaceWeights("1"),  # type: ignore[arg-type]
    "truth for weights": lambda: ReplaceWeights((True, False)),
    "infinite energies": lambda: ReplaceEnergies((0.0, -ENDLESS)),
    "energies beyond measure": lambda: ReplaceEnergies((0.0, 1e300)),
    "a table of energies": lambda: ReplaceEnergies(np.zeros((2, 2))),  # type: ignore[arg-type]
    "temperature 0": lambda: Temperature(0),
    "temperature below 0": lambda: Temperature(-1.0),
    "no temperature": lambda: Temperature(NAN),
    "endless cold": lambda: Temperature(-ENDLESS),
    "a temperature beyond measure": lambda: Temperature(101.0),
    "an infinite temperature in words": lambda: Temperature("Infinity"),  # type: ignore[arg-type]
    "a word for a temperature": lambda: Temperature("hot"),  # type: ignore[arg-type]
    "a position below 0": lambda: ExcludePosition(-1),
    "half a position": lambda: ExcludePosition(0.5),  # type: ignore[arg-type]
    "a step below 0": lambda: Temperature(0.5, -1),
    "a step of truth": lambda: Temperature(0.5, True),
    "a word at no step": lambda: ForceWords((9,), None),  # type: ignore[arg-type]
    "a word that is no text": lambda: ForceWords((1,), 0),
    "no words": lambda: ForceWords(()),
    "words for nothing": lambda: ForceWords((9,), 0, 0),
    "words kept by a number": lambda: ForceWords((9,), kept=1),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD.keys())
def test_invalid_values_are_refused(make: Callable[[], Intervention]) -> None:
    with pytest.raises(AttnvizError, match=r"\.$"):
        make()


def test_only_ratios_of_weights_count(translator: Translator) -> None:
    count = len(translator.translate(SENTENCES[0], beam=1).source_ids)
    row = np.arange(count)
    one, other = (
        translator.translate(SENTENCES[0], interventions=[ReplaceWeights(weights, 1)], beam=1)
        for weights in (tuple(row.tolist()), tuple((row / row.sum()).tolist()))
    )
    np.testing.assert_allclose(one.alignment[1], row / row.sum(), atol=1e-6)
    np.testing.assert_allclose(one.alignment[1], other.alignment[1], atol=1e-6)


def test_what_each_kind_undoes() -> None:
    earlier = (
        ReplaceWeights((1, 2), 0),
        Temperature(2.0),
        Temperature(2.0, 0),
        ExcludePosition(1, 0),
        ExcludePosition(1),
    )
    undone = {
        ReplaceWeights((3, 1), 0): (True, False, True, True, False),
        ReplaceEnergies((3, 1)): (True, True, True, True, True),
        Temperature(5.0): (False, True, False, False, False),
        ExcludePosition(1, 0): (False, False, False, True, False),
    }
    for intervention, expected in undone.items():
        assert tuple(intervention.undoes(one) for one in earlier) == expected, intervention


def test_interventions_of_a_step_keep_their_order() -> None:
    one, two, three = Temperature(0.5, 1), ExcludePosition(0), Temperature(2.0, 2)
    assert interventions_at((one, ForceWords((9,), 1), two, three), 1) == (one, two)
    assert interventions_at((three, two), 2) == (three, two)
    assert interventions_at((one, three), 0) == ()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**6) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
NAMES = sorted({field.name for kind in KINDS.values() for field in dataclasses.fields(kind)} | {"kind", "other"})


@given(st.one_of(ANYTHING, st.dictionaries(st.sampled_from(NAMES), ANYTHING | st.sampled_from(sorted(KINDS)))))
def test_any_record_is_an_intervention_or_refused(record: object) -> None:
    with contextlib.suppress(AttnvizError):
        made = from_json_dict(record)
        assert from_json_dict(to_json_dict(made)) == made


@pytest.fixture(scope="module")
def changed(translator: Translator) -> Trace:
    return translator.translate(SENTENCES[0], interventions=[Temperature(0.5, 1), ForceWords((40,), 2)], beam=1)


DAMAGE: dict[str, Callable[[dict[str, Any]], object]] = {
    "none at all": lambda r: r.pop("interventions"),
    "a number": lambda r: r.update(interventions=3),
    "another kind": lambda r: r["interventions"][0].update(kind="wish"),
    "a field too few": lambda r: r["interventions"][0].pop("temperature"),
    "a field too many": lambda r: r["interventions"][0].update(position=1),
    "a hot one": lambda r: r["interventions"][0].update(temperature=1e9),
    "beyond the sentence": lambda r: r["interventions"].append({"kind": "exclusion", "position": 999, "step": None}),
    "beyond the vocabulary": lambda r: r["interventions"][1].update(pieces=[10**6]),
    "without attention": lambda r: r["config"].update(attention="none"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damaged_interventions_are_refused(changed: Trace, damage: Callable[[dict[str, Any]], object]) -> None:
    record = json.loads(changed.to_json())
    assert Trace.from_json(json.dumps(record)).interventions == changed.interventions
    damage(record)
    with pytest.raises(AttnvizError):
        Trace.from_json(json.dumps(record))


def test_fingerprint_includes_interventions(translator: Translator, changed: Trace) -> None:
    assert dataclasses.replace(changed, interventions=()).fingerprint != changed.fingerprint
