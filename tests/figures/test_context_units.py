"""Figure and table of the context's units: stacked bars that add up to the context vector."""

from typing import Any

import numpy as np
import pytest

from attnviz.analysis.diagram import context_units
from attnviz.figures.context import draw_context_units
from attnviz.figures.subject import Subject
from tests.figures.synthetic import trace as make_trace

LONG = "The European agreement on economic questions was signed in August ."
SOURCES = pytest.mark.parametrize("source", [LONG, "No ."])


def trace_and_figure(source: str, step: int) -> tuple[Any, Any]:
    trace = make_trace(source)
    return trace, trace.step_figure(step, "units")


@SOURCES
def test_bars_are_stacked_up_to_the_context(source) -> None:
    trace, figure = trace_and_figure(source, 2)
    found, added = context_units(trace, 2), figure.data[1]
    rows, count = len(found.terms) + 1, len(found.units)
    base, length = (np.reshape(added[name], (rows, count)) for name in ("base", "y"))
    lines = np.arange(rows)[:, None]
    np.testing.assert_allclose(base[0], 0)
    for row in range(1, rows - 1):
        np.testing.assert_allclose(base[row] - lines[row], base[row - 1] + length[row - 1] - lines[row - 1], atol=1e-9)
    # The last line is the sum, drawn from its own line.
    np.testing.assert_allclose(base[-1], rows - 1)
    np.testing.assert_allclose(length[-1], base[-2] + length[-2] - lines[-2], atol=1e-5)
    np.testing.assert_allclose(length[-1] / length[-1][0], found.context / found.context[0], rtol=1e-6)
    assert np.abs(np.concatenate([base - lines, base - lines + length])).max() < 0.5, "a bar crosses a line"


@SOURCES
def test_the_weight_bar_adds_up_to_one(source) -> None:
    trace, figure = trace_and_figure(source, 1)
    chip = figure.data[3]
    np.testing.assert_allclose(chip.x, context_units(trace, 1).weights)
    np.testing.assert_allclose(np.asarray(chip.base)[1:], np.cumsum(chip.x)[:-1])
    assert chip.base[-1] + chip.x[-1] == pytest.approx(1, abs=1e-5)


def test_the_table_has_terms_sum_and_mean() -> None:
    trace = make_trace(LONG)
    found, table = context_units(trace, 2), draw_context_units(Subject(trace, 2)).frame()
    numbers = table.to_numpy()
    np.testing.assert_allclose(numbers[2:, :-2].sum(axis=1), numbers[2:, -2], atol=1e-5)
    np.testing.assert_allclose(numbers[2:, -1], found.mean)
    np.testing.assert_allclose(numbers[0, : len(found.weights)], found.weights)
    assert [int(unit) - 1 for unit in table.index[2:]] == found.units.tolist()
