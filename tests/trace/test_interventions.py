"""Interventions as values: validation, and JSON."""

import contextlib
import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import AttnvizError, ExcludePosition, ForceWords, ReplaceEnergies, ReplaceWeights, Temperature
from attnviz.text import EOS
from attnviz.trace.interventions import KINDS, from_json_dict, interventions_at, to_json_dict
from attnviz.trace.what_ifs import whole_weights

NAN, ENDLESS = float("nan"), math.inf
ROWS = [(-0.5, 1.5), (0.0, 1e-31), (1.01e30, 1.0), (NAN, 1.0), (ENDLESS, 0.0), (), "1", (True, False)]
LENDERS = [("model", "x" * 81), ("model", "x\n"), ("nobody", ""), ("step", "x"), ("model", 3)]
BAD: dict[type, list[tuple[Any, ...]]] = {
    ReplaceWeights: [*((row,) for row in ROWS), *(((1,), 0, *lender) for lender in LENDERS)],
    ReplaceEnergies: [((0.0, -10001),), ((0.0, -ENDLESS),), ((0.0, 1e300),), (np.zeros((2, 2)),)],
    Temperature: [(value,) for value in (0, 0.009, -1.0, 101.0, NAN, -ENDLESS, "Infinity", "hot")]
    + [(0.5, -1), (0.5, True)],
    ExcludePosition: [(-1,), (0.5,)],
    ForceWords: [((4,) * 2001,), ((1,),), ((4.5,),), ((),), ((9,), None), ((9,), 0, 0), ((9,), 0, 1, 1)],
}


@pytest.mark.parametrize("kind", BAD)
def test_invalid_values_are_refused(kind) -> None:
    for values in BAD[kind]:
        with pytest.raises(AttnvizError, match=r"\.$"):
            pytest.fail(f"{kind(*values)}")


def test_order_of_interventions_and_what_each_kind_undoes() -> None:
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
    one, two, three = Temperature(0.5, 1), ExcludePosition(0), Temperature(2.0, 2)
    assert interventions_at((one, ForceWords((9,), 1), two, three), 1) == (one, two)
    assert interventions_at((three, two), 2) == (three, two)
    assert interventions_at((one, three), 0) == ()


places = st.integers(0, 300)
ids = st.lists(st.integers(EOS, 7999), min_size=1, max_size=9)
rows = st.lists(st.floats(0, 1), min_size=1, max_size=40).filter(lambda row: sum(row) > 1e-3)
changes = st.one_of(
    st.builds(ReplaceWeights, rows.map(whole_weights), places),
    st.builds(
        ReplaceWeights, rows.map(whole_weights), places, st.just("model"), st.text(max_size=20).filter(str.isprintable)
    ),
    st.builds(ReplaceWeights, rows, st.none() | places, st.just("step"), places.map(str)),
    st.builds(ReplaceEnergies, rows, st.none() | places),
    st.builds(ExcludePosition, places, st.none() | places),
    st.builds(Temperature, st.floats(0.01, 100) | st.just(math.inf), st.none() | places),
    st.builds(ForceWords, ids.map(tuple), places, st.integers(1, 9)),
    st.builds(ForceWords, st.lists(st.integers(EOS + 1, 7999), max_size=30).map(lambda ids: (*ids, EOS))),
)
"""All kinds of interventions, whether or not a sentence has such places."""
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**6) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
NAMES = sorted({field.name for kind in KINDS.values() for field in dataclasses.fields(kind)} | {"kind", "other"})
RECORDS = st.one_of(ANYTHING, st.dictionaries(st.sampled_from(NAMES), ANYTHING | st.sampled_from(sorted(KINDS))))


@given(change=changes, record=RECORDS)
def test_json_round_trip_and_any_other_json_is_refused(change, record) -> None:
    again = from_json_dict(json.loads(json.dumps(to_json_dict(change), allow_nan=False)))
    assert (again, repr(again)) == (change, repr(change))
    with contextlib.suppress(AttnvizError):
        made = from_json_dict(record)
        assert from_json_dict(to_json_dict(made)) == made
