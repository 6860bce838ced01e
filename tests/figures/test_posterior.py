"""Figure, table, sentences and equation of posterior attention (prior, likelihood, posterior)."""

import dataclasses

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz import Trace
from attnviz.analysis.labels import quote
from attnviz.analysis.numbers import percent
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
from attnviz.figures.subject import Subject
from attnviz.text import Tokenizer
from tests.analysis.given import KINDS, forced_trace
from tests.conftest import ModelFactory
from tests.figures import synthetic
from tests.snapshots import refusal

EACH_LANGUAGE = pytest.mark.usefixtures("each_language")


def with_likelihood(trace: Trace, likelihood: np.ndarray) -> PosteriorAttention:
    """Return posterior attention for given likelihoods, (Ty, Tx); the heatmap's posterior uses their square roots."""
    prior = trace.alignment.astype(float)
    joint, flat = prior * likelihood, prior * np.sqrt(likelihood)
    return PosteriorAttention(
        prior, likelihood, joint / joint.sum(axis=1, keepdims=True), flat / flat.sum(axis=1, keepdims=True)
    )


def subject_of(kind: tuple[str, str], make_network: ModelFactory, tokenizer: Tokenizer) -> Subject:
    trace, weights = forced_trace(make_network, tokenizer, kind)
    return Subject(trace, 1, weights)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_and_table_have_the_numbers(make_network, tokenizer, kind) -> None:
    subject = subject_of(kind, make_network, tokenizer)
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
    """Return the figure of the first step."""
    return draw_posterior(Subject(trace, 0, known_posterior=found)).figure()


@EACH_LANGUAGE
def test_posterior_sentence_matches_the_columns(snapshot) -> None:
    trace = synthetic.trace()
    count = len(trace.source_pieces)
    row = np.full(count, 0.1 / (count - 2))
    row[:2] = 0.6, 0.3
    alignment = np.tile(row, (len(trace.target_pieces), 1)).astype(np.float32)
    trace = dataclasses.replace(trace, alignment=alignment)
    first, second = (quote(trace.source_pieces[j].lstrip("▁")) for j in (0, 1))
    rest = np.full(count, 0.001)

    def sentence_for(*likely: float) -> str:
        return posterior_sentence(
            trace, with_likelihood(trace, np.tile(np.r_[likely, rest[2:]], (len(alignment), 1))), 0
        )

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
    of_new_state = dataclasses.replace(trace, config={**trace.config, "readout_state": "current"})
    assert posterior_equation(of_new_state).note.startswith(posterior_equation(trace).note + " "), (
        "it says what the new state adds"
    )
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
