"""Waterfall figures and tables of logit attribution and energy decomposition."""

import dataclasses
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz.analysis.energy_equations import EnergyDecomposition
from attnviz.analysis.logit_attribution import LogitAttribution
from attnviz.figures.energy_decomposition_figure import SATURATION_MARK, SHOWN_ENERGY_UNITS, draw_energy_decomposition
from attnviz.figures.logit_attribution_figure import SOURCES, draw_logit_attribution
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.trace import Trace
from tests.figures.synthetic import trace as make_trace

LONG = " ".join(["word"] * 30)


def random_attribution(count: int) -> LogitAttribution:
    return LogitAttribution(2, 7, 0.5, -1.25, 0.75, np.random.default_rng(1).normal(size=count))


def subject_of(trace: Trace, entries: LogitAttribution, title: str = "word", **choices: Any) -> Subject:
    """Return a step whose word has these contributions to its logit, compared with a mean of 0."""
    mean = LogitAttribution(entries.step, None, 0.0, 0.0, 0.0, np.zeros(len(entries.source)))
    known = {(entries.step, 7): entries, (entries.step, None): mean}
    subject = Subject(trace, entries.step, word=7, foil=7, spelling=lambda _: title, known_logit_attributions=known)
    return dataclasses.replace(subject, **choices)


def draw_attribution(trace: Trace, entries: LogitAttribution, **choices: Any) -> go.Figure:
    return draw_logit_attribution(subject_of(trace, entries, **choices)).figure()


def random_decomposition(size: int, bounded: bool = True) -> EnergyDecomposition:
    query, key, score = np.random.default_rng(2).normal(size=(3, size)) * 2
    if bounded:
        return EnergyDecomposition(query, key, np.tanh(query + key), score, names=("(Wₐ s)ₖ", "(Uₐ h)ₖ"))
    return EnergyDecomposition(query, key, query * key, np.ones(size), bounded=False)


def draw_energy(units: EnergyDecomposition, *, operands: bool = True) -> Spec:
    """Return the figure of an energy that no trace has."""
    subject = Subject(make_trace(), 0)
    vars(subject)["energy_decomposition"] = units
    return draw_energy_decomposition(subject, operands=operands)


def trace_named(figure: go.Figure, name: str) -> Any:
    return next(trace for trace in figure.data if trace.name == name)


@pytest.mark.parametrize("source", ["one two three .", LONG])
def test_logit_attribution_bars_add_up_to_the_logit(source: str) -> None:
    trace = make_trace(source)
    entries = random_attribution(len(trace.source_pieces))
    figure = draw_attribution(trace, entries, title="<b>x</b> $y$")
    bars = trace_named(figure, "sum")
    assert sum(bars.x[:-1]) == pytest.approx(entries.logit)
    assert bars.x[-1] == pytest.approx(entries.logit)
    assert len(bars.x) == 3 + min(SOURCES, len(trace.source_pieces)) + (len(trace.source_pieces) > SOURCES) + 1
    assert "<b>x" not in figure.layout.yaxis.ticktext[-1]
    assert f"{entries.logit:.2f}" in figure.layout.meta["alt"]
    low, high = figure.layout.xaxis.range
    assert low <= np.cumsum(bars.x[:-1]).min()
    assert np.cumsum(bars.x[:-1]).max() <= high


def test_the_chosen_piece_always_has_a_row() -> None:
    trace = make_trace(LONG)
    entries = random_attribution(len(trace.source_pieces))
    least, largest = int(np.abs(entries.source).argmin()), int(np.abs(entries.source).argmax())
    assert draw_attribution(trace, entries, source=largest).layout.meta["entries"][least] is None
    figure = draw_attribution(trace, entries, source=least)
    rows = [row for row in figure.layout.meta["entries"] if row is not None]
    assert rows == list(range(3, 3 + SOURCES))
    assert trace_named(figure, "sum").x[figure.layout.meta["entries"][least]] == entries.source[least]
    assert trace_named(figure, "sum").x[-1] == pytest.approx(entries.logit)


def test_the_table_of_a_logit_attribution_has_every_entry() -> None:
    trace = make_trace(LONG)
    entries = random_attribution(len(trace.source_pieces))
    table = draw_logit_attribution(subject_of(trace, entries)).frame()
    assert table["adds"].iloc[:-1].sum() == pytest.approx(entries.logit)
    assert table["alpha"].iloc[3:-1].to_numpy(dtype=float) == pytest.approx(trace.alignment[2])
    assert table["alpha"].isna().sum() == 4


@pytest.mark.parametrize("size", [1, 3, SHOWN_ENERGY_UNITS, 40])
@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("operands", [True, False])
def test_energy_decomposition_bars_add_up_to_the_energy(size: int, bounded: bool, operands: bool) -> None:
    units = random_decomposition(size, bounded)
    drawn = draw_energy(units, operands=operands)
    figure = drawn.figure()
    bars = trace_named(figure, "sum")
    assert bars.x[-1] == pytest.approx(units.energy)
    assert sum(bars.x[:-1]) == pytest.approx(units.energy)
    low, high = figure.layout.xaxis.range
    assert low <= min(0, np.cumsum(bars.x[:-1]).min())
    assert max(0, np.cumsum(bars.x[:-1]).max()) <= high
    table = drawn.frame()
    assert table["running sum"].iloc[-1] == pytest.approx(units.energy)
    assert list(table["contribution"].abs()) == sorted(table["contribution"].abs(), reverse=True)
    marked = sum(SATURATION_MARK in label for label in figure.layout.yaxis.ticktext)
    assert marked == int(table["saturated"].iloc[:SHOWN_ENERGY_UNITS].sum())
    if not bounded:
        assert not table["saturated"].any()


@pytest.mark.parametrize("size", [1, 3, 40])
def test_strip_shows_all_units_sorted_below_their_running_sum(size: int) -> None:
    units = random_decomposition(size)
    figure = draw_energy(units).figure()
    positive, negative, running = (trace_named(figure, name) for name in ("for", "against", "running"))
    *contributions, end = np.array(positive.y) + np.array(negative.y)
    assert contributions == pytest.approx(np.sort(units.contributions)[::-1])
    assert end == contributions[-1]  # the right edge of the last step
    assert min(positive.y) >= 0 >= max(negative.y)
    assert np.array(running.y) == pytest.approx(np.cumsum(contributions))
    assert running.y[-1] == pytest.approx(units.energy)
    assert list(positive.x) == [0.5 + place for place in range(size + 1)]
    assert len(positive.customdata) == size + 1
    low, high = figure.layout.yaxis3.domain
    assert figure.layout.yaxis2.domain[1] <= low < high < figure.layout.yaxis.domain[0]


def test_the_operands_of_a_unit_give_its_contribution() -> None:
    figure = draw_energy(random_decomposition(40)).figure()
    query, key, together, activation, score = (
        np.array(trace_named(figure, name).x) for name in ("query", "key", "together", "activation", "score")
    )
    assert query + key == pytest.approx(together)
    assert np.tanh(together) == pytest.approx(activation)
    assert score * activation == pytest.approx(np.array(trace_named(figure, "sum").x[:SHOWN_ENERGY_UNITS]))
    product = draw_energy(random_decomposition(40, bounded=False)).figure()
    assert np.array(trace_named(product, "query").x) * np.array(trace_named(product, "key").x) == pytest.approx(
        np.array(trace_named(product, "sum").x[:SHOWN_ENERGY_UNITS])
    )
