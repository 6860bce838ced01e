"""Figures of the stages of a step, also at the level *Idea*: they draw the numbers of the trace."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz import Trace
from attnviz.analysis.diagram import context_units
from attnviz.analysis.labels import decimal, percent, times
from attnviz.analysis.measures import word_weights_of_heads
from attnviz.analysis.stages import energy_and_ratio
from attnviz.figures.attention_figure import (
    THINNED_ROWS,
    context_frame,
    draw_context,
    draw_context_units,
    draw_energy,
    draw_softmax,
)
from attnviz.figures.decoder_figure import draw_maxout, draw_state
from attnviz.figures.registry import step_figure
from attnviz.figures.subject import Subject
from attnviz.palette import LIGHT
from attnviz.trace import TransformerTrace
from tests.figures import synthetic

LONG = " ".join(f"mot{k}" for k in range(70))


WEIGHTS = {"none": np.zeros(0)}
"""Stand-in for the weights, which known maxout pairs replace."""


def pairs_like(trace: Trace, step: int) -> np.ndarray:
    """Return maxout pairs whose larger values are the readouts of the trace."""
    larger = trace.readouts[step]
    both = np.stack([larger, larger - 1], axis=1)
    both[::2] = both[::2, ::-1]
    return both.ravel()


def test_bars_are_energies_and_weights_in_the_order_of_weights() -> None:
    trace = synthetic.trace()
    bars = draw_energy(Subject(trace, 2)).figure().data[0]
    np.testing.assert_array_equal(bars.x, trace.energies[2])
    assert list(bars.marker.color) == [LIGHT.minus if energy < 0 else LIGHT.plus for energy in trace.energies[2]]
    before, after = draw_softmax(Subject(trace, 2)).figure().data[:2]
    np.testing.assert_array_equal(before.x, trace.energies[2])
    np.testing.assert_array_equal(after.x, trace.alignment[2])
    written = draw_softmax(Subject(trace, 2)).figure().data[2]
    assert [text.strip() for text in written.text] == [f"{weight:.2f}" for weight in trace.alignment[2]]
    trace = synthetic.trace(LONG)
    meta = draw_energy(Subject(trace, 1)).figure().layout.meta
    assert sorted(meta["order"]) == list(range(len(trace.source_pieces)))
    assert (np.diff(trace.alignment[1][meta["order"]]) <= 0).all()
    assert meta["thinned"]["rows"] == THINNED_ROWS
    assert context_frame(trace, thinned=True).layout["meta"]["rows"] == THINNED_ROWS + 1
    assert draw_energy(Subject(synthetic.trace(), 1)).figure().layout.meta["thinned"] is None


def test_each_row_of_a_very_long_source_keeps_its_name_in_the_order_of_weights() -> None:
    """The browser names row j by label j, and draws as few as fit."""
    trace = synthetic.trace(" ".join(f"w{k}" for k in range(400)))
    for spec in (draw_energy(Subject(trace, 1)), draw_softmax(Subject(trace, 1)), context_frame(trace)):
        assert len(spec.figure().layout.yaxis.ticktext) == len(trace.source_pieces)


def test_strips_have_a_pixel_for_each_unit() -> None:
    """Plotly draws a heatmap with gaps in the pixels of the screen."""
    for draw in (draw_state, draw_context):
        drawn = [trace for trace in draw(Subject(synthetic.trace(), 1)).figure().data if trace.type == "heatmap"]
        assert drawn
        assert [trace for trace in drawn if trace.xgap or trace.ygap] == []


@pytest.mark.parametrize("kind", ["additive", "general", "none"])
def test_state_and_maxout_have_the_numbers_of_the_step(kind: str) -> None:
    trace = synthetic.trace(attention=kind)
    rows = draw_state(Subject(trace, 2)).frame().to_numpy().T
    assert len(rows) == 7
    np.testing.assert_allclose(rows[4] + rows[5], rows[6], atol=1e-6)
    np.testing.assert_array_equal(rows[2], trace.states[1])
    np.testing.assert_array_equal(rows[6], trace.states[2])
    gates, states = draw_state(Subject(trace, 2)).figure().data
    assert (np.diff(gates.z[1]) >= 0).all()
    units = [int(unit) - 1 for unit in states.x]
    np.testing.assert_array_equal(states.z[-1], trace.states[2][units])
    np.testing.assert_array_equal(gates.z[0], trace.reset_gates[2][units])
    pairs = pairs_like(trace, 1)
    spec = draw_maxout(Subject(trace, 1, WEIGHTS, known_maxout_pairs=pairs))
    won, lost, kept = spec.figure().data
    np.testing.assert_allclose(np.nanmax(won.z, axis=0), trace.readouts[1], rtol=1e-6)
    np.testing.assert_array_equal(kept.z[0], trace.readouts[1])
    both = np.where(np.isnan(won.z), lost.z, won.z)
    np.testing.assert_allclose(both.T.ravel(), pairs, rtol=1e-6)
    assert lost.opacity < 1
    assert won.opacity is None
    table = spec.frame()
    np.testing.assert_allclose(table[["first", "second"]].max(axis=1), table["larger"], rtol=1e-6)
    (bar,) = simple(trace, 2, "state").data
    kept = float(trace.update_gates[2].mean())
    np.testing.assert_allclose(bar.x, [kept, 1 - kept])
    np.testing.assert_allclose(bar.base, [0, kept])


def simple(trace: Trace | TransformerTrace, step: int, name: str) -> go.Figure:
    """Return the figure of this name as the level *Idea* draws it."""
    subject = Subject(trace, step, level="idea")
    return step_figure(subject, name).draw(subject).figure()


def test_energies_and_weights_of_an_idea_have_their_ratio_and_mixture() -> None:
    trace = synthetic.trace()
    for step in range(len(trace.target_pieces)):
        energies, _, weights, shares, _ = simple(trace, step, "attention").data
        first, second = np.argsort(-trace.alignment[step], kind="stable")[:2]
        sentence = energy_and_ratio(trace, step)
        difference = float(np.round(energies.y[first], 2)) - float(np.round(energies.y[second], 2))
        ratio = weights.y[first] / weights.y[second]
        assert np.exp(difference) == pytest.approx(ratio, rel=0.02)
        if ratio > 1.06:
            assert decimal(difference) in sentence
            assert times(float(np.exp(difference))) in sentence
        assert shares.text[first] == percent(float(weights.y[first]))
    figure = simple(trace, 1, "attention")
    meta = figure.layout.meta
    assert figure.data[meta["weights"]["trace"]].y is figure.data[2].y
    assert len(meta["weights"]["pieces"]) == len(trace.source_pieces)
    mixed = trace.alignment[1] @ np.asarray(meta["mixture"]["values"])
    np.testing.assert_allclose(mixed, figure.data[meta["mixture"]["trace"]].z[-1], atol=1e-5)


def test_rows_are_heads_and_bars_the_norms_of_added_vectors(heads) -> None:
    step, opened = 2, heads.displayed
    figure = simple(heads, step, "context")
    (image,) = figure.data
    np.testing.assert_allclose(image.z, word_weights_of_heads(heads, step).reshape(8, -1), atol=1e-6)
    frame = figure.layout.shapes[-1]
    assert frame.y0 == opened.layer * 4 + opened.head - 0.5
    (bars,) = simple(heads, 2, "stream").data
    np.testing.assert_allclose(
        bars.x[1:], np.linalg.norm(np.diff(heads.decoder_streams[:, 2], axis=0), axis=1), atol=1e-5
    )
    assert bars.x[0] == pytest.approx(float(np.linalg.norm(heads.decoder_streams[0, 2])))


LONG_SENTENCE = "The European agreement on economic questions was signed in August ."
SOURCES = pytest.mark.parametrize("source", [LONG_SENTENCE, "No ."])


def trace_and_figure(source: str, step: int) -> tuple[Any, Any]:
    trace = synthetic.trace(source)
    return trace, trace.step_figure(step, "units")


@SOURCES
def test_bars_are_stacked_up_to_the_context_and_weights_to_one(source) -> None:
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
    trace, figure = trace_and_figure(source, 1)
    chip = figure.data[3]
    np.testing.assert_allclose(chip.x, context_units(trace, 1).weights)
    np.testing.assert_allclose(np.asarray(chip.base)[1:], np.cumsum(chip.x)[:-1])
    assert chip.base[-1] + chip.x[-1] == pytest.approx(1, abs=1e-5)


def test_the_table_has_terms_sum_and_mean() -> None:
    trace = synthetic.trace(LONG_SENTENCE)
    found, table = context_units(trace, 2), draw_context_units(Subject(trace, 2)).frame()
    numbers = table.to_numpy()
    np.testing.assert_allclose(numbers[2:, :-2].sum(axis=1), numbers[2:, -2], atol=1e-5)
    np.testing.assert_allclose(numbers[2:, -1], found.mean)
    np.testing.assert_allclose(numbers[0, : len(found.weights)], found.weights)
    assert [int(unit) - 1 for unit in table.index[2:]] == found.units.tolist()
