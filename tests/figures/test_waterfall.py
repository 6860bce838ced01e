"""Waterfall figures and tables of logit attribution and energy decomposition."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz.analysis.energy_equations import EnergyDecomposition
from attnviz.analysis.logit_attribution import LogitAttribution
from attnviz.figures.energy_decomposition_figure import (
    SATURATION_MARK,
    SHOWN_ENERGY_UNITS,
    energy_decomposition_figure,
    energy_decomposition_table,
)
from attnviz.figures.logit_attribution_figure import (
    SOURCES,
    logit_attribution_rows,
    logit_attribution_table,
    logit_attribution_waterfall,
)
from tests.figures.synthetic import trace as make_trace

LONG = " ".join(["word"] * 30)


def random_attribution(count: int) -> LogitAttribution:
    return LogitAttribution(2, 7, 0.5, -1.25, 0.75, np.random.default_rng(1).normal(size=count))


def random_decomposition(size: int, bounded: bool = True) -> EnergyDecomposition:
    query, key, score = np.random.default_rng(2).normal(size=(3, size)) * 2
    if bounded:
        return EnergyDecomposition(query, key, np.tanh(query + key), score, names=("(Wₐ s)ₖ", "(Uₐ h)ₖ"))
    return EnergyDecomposition(query, key, query * key, np.ones(size), bounded=False)


@pytest.mark.parametrize("scaled", [False, True])
def test_hover_of_a_product_multiplies_by_its_weight(scaled: bool) -> None:
    """A user's own scorer may weight products: only a transformer divides them by √n."""
    given = random_decomposition(9, bounded=False)
    score = np.full(9, 1 / 3) if scaled else np.array([5.0] * 8 + [2.5])
    figure = energy_decomposition_figure(dataclasses.replace(given, score=score, scaled=scaled))
    hover, unit = trace_named(figure, "sum").customdata[0], dataclasses.replace(given, score=score).order[0]
    named = [float(found.replace("−", "-")) for found in re.findall(r"[−-]?\d+(?:\.\d+)?", hover)]
    query, key = given.query[unit], given.key[unit]
    numbers = [query, key, 9] if scaled else [query, key, query * key, score[unit]]
    assert named == pytest.approx([unit + 1, *numbers, query * key * score[unit]], abs=6e-4)
    assert ("√" in hover) == ("√" in figure.layout.xaxis.title.text) == scaled
    assert ("v" in figure.layout.xaxis.title.text) != scaled


def trace_named(figure: go.Figure, name: str):
    return next(trace for trace in figure.data if trace.name == name)


@pytest.mark.parametrize("source", ["one two three .", LONG])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_logit_attribution_bars_add_up_to_the_logit(source: str, theme) -> None:
    trace = make_trace(source)
    entries = random_attribution(len(trace.source_pieces))
    figure = logit_attribution_waterfall(trace, entries, "logit of <b>x</b> $y$", theme=theme)
    go.Figure(figure.to_dict())  # Plotly's own check of every property
    bars = trace_named(figure, "sum")
    assert sum(bars.x[:-1]) == pytest.approx(entries.logit)
    assert bars.x[-1] == pytest.approx(entries.logit)
    assert len(bars.x) == 3 + min(SOURCES, len(trace.source_pieces)) + (len(trace.source_pieces) > SOURCES) + 1
    assert "<b>x" not in figure.layout.yaxis.ticktext[-1]
    assert f"{entries.logit:.2f}" in figure.layout.meta["alt"]
    low, high = figure.layout.xaxis.range
    assert low <= np.cumsum(bars.x[:-1]).min()
    assert np.cumsum(bars.x[:-1]).max() <= high


def test_attention_is_drawn_beside_the_contributions() -> None:
    trace = make_trace(LONG)
    figure = logit_attribution_waterfall(trace, random_attribution(len(trace.source_pieces)))
    alpha = trace_named(figure, "alpha")
    assert sum(alpha.x) == pytest.approx(1, abs=1e-5)
    assert list(alpha.y) == list(range(3, 3 + SOURCES + 1))


def test_metadata_map_source_pieces_to_rows() -> None:
    trace = make_trace(LONG)
    entries = random_attribution(len(trace.source_pieces))
    figure = logit_attribution_waterfall(trace, entries)
    rows = figure.layout.meta["entries"]
    assert sorted(row for row in rows if row is not None) == list(range(3, 3 + SOURCES))
    for j, row in enumerate(rows):
        if row is not None:
            assert trace_named(figure, "sum").x[row] == entries.source[j]


def test_the_chosen_piece_always_has_a_row() -> None:
    trace = make_trace(LONG)
    entries = random_attribution(len(trace.source_pieces))
    least = int(np.abs(entries.source).argmin())
    assert least not in logit_attribution_rows([entries])
    rows = logit_attribution_rows([entries], least)
    assert len(rows) == SOURCES
    assert list(rows) == sorted({*rows, least})
    figure = logit_attribution_waterfall(trace, entries, rows=rows)
    assert trace_named(figure, "sum").x[figure.layout.meta["entries"][least]] == entries.source[least]
    assert trace_named(figure, "sum").x[-1] == pytest.approx(entries.logit)


def test_a_logit_attribution_and_its_contrast_have_the_same_rows() -> None:
    trace = make_trace(LONG)
    entries = random_attribution(len(trace.source_pieces))
    contrast = LogitAttribution(2, 7, 0.0, 0.0, 0.0, np.where(np.arange(len(entries.source)) == 4, 9.0, 0.1))
    rows = logit_attribution_rows([entries, contrast])
    assert 4 in rows
    drawn = [logit_attribution_waterfall(trace, one, rows=rows).layout.meta["entries"] for one in (entries, contrast)]
    assert drawn[0] == drawn[1]


def test_pieces_that_add_nothing_share_a_row() -> None:
    trace = make_trace()
    entries = LogitAttribution(0, 7, 0.5, -1.25, 0.75, np.array([0.0] * (len(trace.source_pieces) - 1) + [2.0]))
    labels = logit_attribution_waterfall(trace, entries).layout.yaxis.ticktext
    assert len(labels) == 3 + 2 + 1
    assert f"{len(trace.source_pieces) - 1} more" in labels[4]


def test_the_sentence_is_one_row_without_attention() -> None:
    trace = make_trace(attention="none")
    entries = LogitAttribution(0, 7, 0.5, -1.25, 0.75, np.array([0.0] * (len(trace.source_pieces) - 1) + [2.0]))
    labels = logit_attribution_waterfall(trace, entries).layout.yaxis.ticktext
    assert len(labels) == 3 + 1 + 1
    assert "c, the sentence" in labels[3]


def test_the_state_entry_is_labelled_by_the_readout_state() -> None:
    trace = make_trace()
    trace = dataclasses.replace(trace, config=trace.config | {"readout_state": "current"})
    entries = random_attribution(len(trace.source_pieces))
    assert "through sᵢ" in logit_attribution_waterfall(trace, entries).layout.yaxis.ticktext[1]
    assert logit_attribution_table(trace, entries)["entry"].iloc[1] == "through s_i"


def test_the_table_of_a_logit_attribution_has_every_entry() -> None:
    trace = make_trace(LONG)
    entries = random_attribution(len(trace.source_pieces))
    table = logit_attribution_table(trace, entries)
    assert table["adds"].iloc[:-1].sum() == pytest.approx(entries.logit)
    assert table["alpha"].iloc[3:-1].to_numpy(dtype=float) == pytest.approx(trace.alignment[2])
    assert table["alpha"].isna().sum() == 4


@pytest.mark.parametrize("size", [1, 3, SHOWN_ENERGY_UNITS, 40])
@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("operands", [True, False])
def test_energy_decomposition_bars_add_up_to_the_energy(size: int, bounded: bool, operands: bool) -> None:
    units = random_decomposition(size, bounded)
    figure = energy_decomposition_figure(units, operands=operands)
    go.Figure(figure.to_dict())
    bars = trace_named(figure, "sum")
    assert bars.x[-1] == pytest.approx(units.energy)
    assert sum(bars.x[:-1]) == pytest.approx(units.energy)
    low, high = figure.layout.xaxis.range
    assert low <= min(0, np.cumsum(bars.x[:-1]).min())
    assert max(0, np.cumsum(bars.x[:-1]).max()) <= high
    table = energy_decomposition_table(units)
    assert table["running sum"].iloc[-1] == pytest.approx(units.energy)
    assert list(table["contribution"].abs()) == sorted(table["contribution"].abs(), reverse=True)
    marked = sum(SATURATION_MARK in label for label in figure.layout.yaxis.ticktext)
    assert marked == int(table["saturated"].iloc[:SHOWN_ENERGY_UNITS].sum())
    if not bounded:
        assert not table["saturated"].any()


@pytest.mark.parametrize("size", [1, 3, 40])
def test_strip_shows_all_units_sorted_below_their_running_sum(size: int) -> None:
    units = random_decomposition(size)
    figure = energy_decomposition_figure(units)
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
    figure = energy_decomposition_figure(random_decomposition(40))
    query, key, together, activation, score = (
        np.array(trace_named(figure, name).x) for name in ("query", "key", "together", "activation", "score")
    )
    assert query + key == pytest.approx(together)
    assert np.tanh(together) == pytest.approx(activation)
    assert score * activation == pytest.approx(np.array(trace_named(figure, "sum").x[:SHOWN_ENERGY_UNITS]))
    product = energy_decomposition_figure(random_decomposition(40, bounded=False))
    assert np.array(trace_named(product, "query").x) * np.array(trace_named(product, "key").x) == pytest.approx(
        np.array(trace_named(product, "sum").x[:SHOWN_ENERGY_UNITS])
    )
