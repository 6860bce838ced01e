"""Waterfall figures of logits and energies; figure, table, sentences and equation of posterior attention."""

import dataclasses
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz import Trace
from attnviz.analysis.energy_equations import EnergyDecomposition
from attnviz.analysis.labels import NO_BREAK, percent, quote
from attnviz.analysis.logit_attribution import LogitAttribution
from attnviz.analysis.posterior import (
    PosteriorAttention,
    posterior_equation,
    posterior_sentence,
    posterior_texts_of_cells,
    posterior_texts_of_source,
    posterior_texts_of_step,
)
from attnviz.export.saved_files import FigureOptions, contents
from attnviz.figures.attention_figure import draw_posterior
from attnviz.figures.registry import POSTERIOR, step_figure
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.figures.waterfall_figure import (
    SATURATION_MARK,
    SHOWN_ENERGY_UNITS,
    SOURCES,
    draw_energy_decomposition,
    draw_logit_attribution,
)
from attnviz.languages import set_language
from attnviz.palette import palette
from tests.analysis.given import KINDS, forced_trace
from tests.figures import synthetic
from tests.snapshots import refusal

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
    subject = Subject(synthetic.trace(), 0)
    vars(subject)["energy_decomposition"] = units
    return draw_energy_decomposition(subject, operands=operands)


def trace_named(figure: go.Figure, name: str) -> Any:
    return next(trace for trace in figure.data if trace.name == name)


@pytest.mark.parametrize("source", ["one two three .", LONG])
def test_logit_attribution_bars_add_up_to_the_logit(source: str) -> None:
    trace = synthetic.trace(source)
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


@pytest.mark.parametrize("source", ["The agreement was signed .", LONG])
def test_without_attention_the_sentence_has_one_row(source: str) -> None:
    trace = synthetic.trace(source, attention="none")
    figure = draw_attribution(
        trace, LogitAttribution(1, 7, 0.5, -1.0, 0.25, 1.5 * np.eye(len(trace.source_pieces))[-1])
    )
    assert list(figure.data[0].x) == [0.5, -1.0, 0.25, 1.5, 1.25]
    assert not [one for one in figure.data if one.name == "alpha"]
    assert "xaxis2" not in figure.to_dict()["layout"]


def test_the_chosen_piece_has_a_row_and_the_table_every_entry() -> None:
    trace = synthetic.trace(LONG)
    entries = random_attribution(len(trace.source_pieces))
    least, largest = int(np.abs(entries.source).argmin()), int(np.abs(entries.source).argmax())
    assert draw_attribution(trace, entries, source=largest).layout.meta["entries"][least] is None
    figure = draw_attribution(trace, entries, source=least)
    rows = [row for row in figure.layout.meta["entries"] if row is not None]
    assert rows == list(range(3, 3 + SOURCES))
    assert trace_named(figure, "sum").x[figure.layout.meta["entries"][least]] == entries.source[least]
    assert trace_named(figure, "sum").x[-1] == pytest.approx(entries.logit)
    table = draw_logit_attribution(subject_of(trace, entries)).frame()
    assert table["adds"].iloc[:-1].sum() == pytest.approx(entries.logit)
    assert table["alpha"].iloc[3:-1].to_numpy(dtype=float) == pytest.approx(trace.alignment[2])
    assert table["alpha"].isna().sum() == 4


@pytest.mark.parametrize(("rest", "name"), [(1, "1 autre"), (3, "3 autres")])
def test_the_row_of_the_other_pieces_has_their_number_in_french(rest: int, name: str) -> None:
    set_language("fr")
    trace = synthetic.trace(" ".join(["word"] * (SOURCES + rest - 1)))
    count = len(trace.source_pieces)
    assert count == SOURCES + rest
    figure = draw_attribution(trace, random_attribution(count))
    assert f">{name}<" in figure.layout.yaxis.ticktext[-2]
    assert trace_named(figure, "sum").customdata[-2].startswith(f"{name}{NO_BREAK}:")


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


def with_likelihood(trace: Trace, likelihood: np.ndarray) -> PosteriorAttention:
    """Return posterior attention for given likelihoods, (Ty, Tx); the heatmap's posterior uses their square roots."""
    prior = trace.alignment.astype(float)
    joint, flat = prior * likelihood, prior * np.sqrt(likelihood)
    return PosteriorAttention(
        prior, likelihood, joint / joint.sum(axis=1, keepdims=True), flat / flat.sum(axis=1, keepdims=True)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_columns_and_table_have_the_numbers(make_network, tokenizer, kind) -> None:
    trace, weights = forced_trace(make_network, tokenizer, kind)
    subject = Subject(trace, 1, weights)
    figure = step_figure(subject, "posterior").draw(subject).figure()
    prior, prior_numbers, likelihood, _, posterior, mark, posterior_numbers = figure.data
    found = subject.posterior_attention
    for bars, name in ((prior, "prior"), (likelihood, "likelihood"), (posterior, "posterior")):
        np.testing.assert_array_equal(bars.x, getattr(found, name)[1])
    shown = np.isfinite(mark.x)
    np.testing.assert_array_equal(mark.x[shown], found.heatmap_posterior[1][shown])
    assert np.all(found.heatmap_posterior[1][~shown] < 0.02)
    assert [text.strip() for text in prior_numbers.text] == [f"{weight:.2f}" for weight in found.prior[1]]
    assert [text.strip() for text in posterior_numbers.text] == [f"{share:.2f}" for share in found.posterior[1]]
    assert max(found.likelihood[1]) <= figure.layout.xaxis2.tickvals[1] <= 1
    assert figure.layout.meta["narrowest"] <= 330
    assert figure.layout.meta["order"] == sorted(range(len(prior.x)), key=lambda j: -found.prior[1, j])
    table = draw_posterior(subject).frame()
    np.testing.assert_array_equal(table["posterior p(j | y)"], found.posterior[1])
    np.testing.assert_allclose(table["product"], found.prior[1] * found.likelihood[1])
    assert len(table) == len(subject.trace.source_pieces)


def draw(trace: Trace, found: PosteriorAttention) -> go.Figure:
    return draw_posterior(Subject(trace, 0, known_posterior=found)).figure()


def test_posterior_sentence_matches_the_columns(each_language, snapshot) -> None:
    trace = synthetic.trace()
    count = len(trace.source_pieces)
    row = np.full(count, 0.1 / (count - 2))
    row[:2] = 0.6, 0.3
    alignment = np.tile(row, (len(trace.target_pieces), 1)).astype(np.float32)
    trace = dataclasses.replace(trace, alignment=alignment)
    first, second = (quote(trace.source_pieces[j].lstrip("▁")) for j in (0, 1))
    rest = np.full(count, 0.001)

    def sentence_for(*likely: float) -> str:
        return posterior_sentence(trace, with_likelihood(trace, np.tile([*likely, *rest[2:]], (len(alignment), 1))), 0)

    other = sentence_for(0.02, 0.9)
    for text in (first, percent(0.6), second, percent(0.3), percent(0.96)):
        assert text in other
    assert other == snapshot(name="another piece")
    same = sentence_for(0.9, 0.02)
    for text in (second, percent(0.02), first, percent(0.6), percent(0.99)):
        assert text in same
    assert same == snapshot(name="the same piece")
    rest = np.full(count, 0.5)
    assert sentence_for(0.5, 0.5) == snapshot(name="little change")


def test_numbers_of_the_equation_multiply_out() -> None:
    trace = synthetic.trace()
    equation, ink = posterior_equation(trace), palette("light")
    assert equation.stage == 6
    assert rf"\textcolor{{{ink.decoder}}}{{y_" in equation.latex
    assert rf"\textcolor{{{ink.encoder}}}{{h_" in equation.latex
    of_new_state = dataclasses.replace(trace, config={**trace.config, "readout_state": "current"})
    assert posterior_equation(of_new_state).note.startswith(equation.note + " "), "it says what the new state adds"
    found = with_likelihood(trace, np.random.default_rng(2).uniform(0.1, 1, size=trace.alignment.shape))
    for i, j in ((0, 0), (2, 3)):
        cells = {name: row[j] for name, row in posterior_texts_of_cells(found, i).items()}
        template = posterior_equation(trace)
        texts = posterior_texts_of_step(found, i) | posterior_texts_of_source(j) | cells
        assert template.places <= set(texts)
        assert texts["products"].count(" + ") == 2, "two products and dots"
        prior, likelihood, posterior = (float(cells[name]) for name in ("prior", "likelihood", "posterior"))
        evidence = found.prior[i] @ found.likelihood[i]
        assert prior * likelihood / evidence == pytest.approx(posterior, rel=0.02, abs=1e-3)
        filled = template.filled(texts)
        assert f"p({j + 1} " in filled.latex
        assert rf"\frac{{{cells['prior']} \cdot {cells['likelihood']}}}" in filled.latex
        assert "⟦" not in filled.latex + filled.note
        assert f"α′ = {cells['heatmap_posterior']}" in filled.note


def test_figure_is_refused_without_attention_or_weights(make_network, tokenizer, snapshot) -> None:
    picture = POSTERIOR
    assert picture.missing(Subject(synthetic.trace(attention="none"), 0)) == snapshot(name="no attention")
    without_weights = picture.missing(Subject(synthetic.trace(), 0))
    assert without_weights == snapshot(name="no weights")
    trace, weights = forced_trace(make_network, tokenizer, KINDS[0])
    assert not picture.missing(Subject(trace, 0, weights))
    table = contents(trace, "csv", FigureOptions(picture="posterior", step=1), weights).decode("utf-8-sig")
    assert table.splitlines()[0].split(",")[-2:] == ["posterior p(j | y)", "α′ of the heatmap"]
    drawn = trace.step_figure(1, "posterior", weights=weights, theme="dark")
    np.testing.assert_array_equal(drawn.data[4].x, Subject(trace, 1, weights).posterior_attention.posterior[1])
    missing = picture.missing(Subject(trace, 1))
    for draw in (
        lambda: contents(trace, "csv", FigureOptions(picture="posterior", step=1)),
        lambda: trace.step_figure(1, "posterior"),
    ):
        assert refusal(draw) == missing
