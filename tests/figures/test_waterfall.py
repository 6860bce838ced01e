"""Ledger and microscope as figures and tables: what is drawn adds up to what is computed."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz.analysis.ledger import Ledger
from attnviz.analysis.microscope import Microscope
from attnviz.figures.waterfall import (
    SOURCES,
    UNITS,
    ledger_table,
    ledger_waterfall,
    microscope_table,
    microscope_waterfall,
)
from tests.figures.synthetic import trace as make_trace

LONG = " ".join(["word"] * 30)


def account(count: int) -> Ledger:
    return Ledger(2, 7, 0.5, -1.25, 0.75, np.random.default_rng(1).normal(size=count))


@pytest.mark.parametrize("source", ["one two three .", LONG])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_ledger_is_drawn_whole(source: str, theme) -> None:
    trace = make_trace(source)
    entries = account(len(trace.source_pieces))
    figure = ledger_waterfall(trace, entries, "logit of <b>x</b> $y$", theme=theme)
    go.Figure(figure.to_dict())  # Plotly's own check of every property
    bars = figure.data[0]
    assert sum(bars.x[:-1]) == pytest.approx(entries.logit)
    assert bars.x[-1] == pytest.approx(entries.logit)
    assert len(bars.x) == 3 + min(SOURCES, len(trace.source_pieces)) + (len(trace.source_pieces) > SOURCES) + 1
    assert "<b>" not in figure.layout.yaxis.ticktext[-1]
    assert f"{entries.logit:.2f}" in figure.layout.meta["alt"]
    low, high = figure.layout.xaxis.range
    assert low <= np.cumsum(bars.x[:-1]).min()
    assert np.cumsum(bars.x[:-1]).max() <= high


def test_the_table_of_a_ledger_has_every_entry() -> None:
    trace = make_trace(LONG)
    entries = account(len(trace.source_pieces))
    table = ledger_table(trace, entries)
    assert table["adds"].iloc[:-1].sum() == pytest.approx(entries.logit)
    assert table["alpha"].iloc[3:-1].to_numpy(dtype=float) == pytest.approx(trace.alignment[2])
    assert table["alpha"].isna().sum() == 4


@pytest.mark.parametrize("size", [3, UNITS, 40])
def test_a_microscope_is_drawn_whole(size: int) -> None:
    rng = np.random.default_rng(2)
    query, key, score = rng.normal(size=(3, size)) * 2
    units = Microscope(query, key, np.tanh(query + key), score)
    figure = microscope_waterfall(units)
    go.Figure(figure.to_dict())
    assert figure.data[0].x[-1] == pytest.approx(units.energy)
    assert sum(figure.data[0].x[:-1]) == pytest.approx(units.energy)
    table = microscope_table(units)
    assert table["running sum"].iloc[-1] == pytest.approx(units.energy)
    assert list(table["contribution"].abs()) == sorted(table["contribution"].abs(), reverse=True)
    marked = sum("▮" in label for label in figure.layout.yaxis.ticktext)
    assert marked == int(table["saturated"].iloc[:UNITS].sum())
