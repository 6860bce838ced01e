"""Stages of a step: figures have the numbers of the trace, and the narration states the same numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from attnviz.analysis.labels import quoted_name
from attnviz.analysis.measures import weight_order
from attnviz.analysis.numbers import percent
from attnviz.architectures import narrate
from attnviz.figures.attention_figure import draw_energy, draw_softmax
from attnviz.figures.context import context_frame
from attnviz.figures.decoder_figure import draw_maxout, draw_state
from attnviz.figures.grammar import THINNED_ROWS, row_names
from attnviz.figures.subject import Subject
from attnviz.palette import LIGHT
from attnviz.trace import Search, Trace
from tests.figures import synthetic

KINDS = ("additive", "general", "none")
LONG = " ".join(f"mot{k}" for k in range(70))


WEIGHTS = {"none": np.zeros(0)}
"""Stand-in for the weights, which known maxout pairs replace."""


def pairs_like(trace: Trace, step: int) -> np.ndarray:
    """Return maxout pairs whose larger values are the readouts of the trace."""
    larger = trace.readouts[step]
    both = np.stack([larger, larger - 1], axis=1)
    both[::2] = both[::2, ::-1]
    return both.ravel()


def test_the_bars_are_the_energies_and_the_weights() -> None:
    trace = synthetic.trace()
    bars = draw_energy(Subject(trace, 2)).figure().data[0]
    np.testing.assert_array_equal(bars.x, trace.energies[2])
    assert list(bars.marker.color) == [LIGHT.minus if energy < 0 else LIGHT.plus for energy in trace.energies[2]]
    before, after = draw_softmax(Subject(trace, 2)).figure().data[:2]
    np.testing.assert_array_equal(before.x, trace.energies[2])
    np.testing.assert_array_equal(after.x, trace.alignment[2])
    written = draw_softmax(Subject(trace, 2)).figure().data[2]
    assert [text.strip() for text in written.text] == [f"{weight:.2f}" for weight in trace.alignment[2]]


def test_the_energy_axis_is_the_same_at_every_step() -> None:
    trace = synthetic.trace()
    ranges = {
        tuple(draw_energy(Subject(trace, i)).figure().layout.xaxis.range) for i in range(len(trace.target_pieces))
    }
    assert len(ranges) == 1
    low, high = ranges.pop()
    assert low <= trace.energies.min()
    assert high >= trace.energies.max()


def test_rows_are_ordered_by_weight_and_thinned_when_too_many() -> None:
    trace = synthetic.trace(LONG)
    meta = draw_energy(Subject(trace, 1)).figure().layout.meta
    assert sorted(meta["order"]) == list(range(len(trace.source_pieces)))
    assert (np.diff(trace.alignment[1][meta["order"]]) <= 0).all()
    assert meta["thinned"]["rows"] == THINNED_ROWS
    assert context_frame(trace, thinned=True).layout["meta"]["rows"] == THINNED_ROWS + 1
    assert draw_energy(Subject(synthetic.trace(), 1)).figure().layout.meta["thinned"] is None


def test_equal_pieces_get_distinct_names() -> None:
    names = row_names(synthetic.trace("a dog saw a <b> dog"))
    assert names[:5] == ["a₁", "dog₂", "saw", "a₄", "&lt;b&gt;"]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", KINDS)
def test_kept_and_new_parts_add_up_to_the_state(kind: str) -> None:
    trace = synthetic.trace(attention=kind)
    rows = draw_state(Subject(trace, 2)).frame().to_numpy().T
    assert len(rows) == 7
    np.testing.assert_allclose(rows[4] + rows[5], rows[6], atol=1e-6)
    np.testing.assert_array_equal(rows[2], trace.states[1])
    np.testing.assert_array_equal(rows[6], trace.states[2])


def test_state_strips_are_sorted_by_the_update_gate() -> None:
    trace = synthetic.trace()
    gates, states = draw_state(Subject(trace, 2)).figure().data
    assert (np.diff(gates.z[1]) >= 0).all()
    units = [int(unit) - 1 for unit in states.x]
    np.testing.assert_array_equal(states.z[-1], trace.states[2][units])
    np.testing.assert_array_equal(gates.z[0], trace.reset_gates[2][units])


def test_winners_and_losers_of_the_maxout_make_up_the_pairs() -> None:
    trace = synthetic.trace()
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


def test_narration_contains_the_numbers_of_the_step() -> None:
    trace, step = synthetic.trace(), 2
    energy, softmax, context, state, word = narrate(trace, step)
    first, second = weight_order(trace, step)[:2]
    name = quoted_name(trace.source_pieces[first])
    assert energy.outcome == f"{name} fits best, e = {trace.energies[step, first]:.2f}".replace("-", "−")
    assert softmax.outcome.startswith(f"{name} gets {round(100 * float(trace.alignment[step, first]))}\u00a0%")
    ratio = float(trace.alignment[step, first] / trace.alignment[step, second])
    assert (f"{ratio:.0f} times" if ratio >= 9.95 else f"{ratio:.1f} times") in softmax.sentence
    assert "c₃" in context.sentence
    kept = float(trace.update_gates[step].mean())
    assert state.outcome.startswith(f"{100 * kept:.0f}\u00a0% of the state kept")
    moved = int(np.abs(trace.states[step] - trace.previous_states[step]).argmax())
    assert f"Unit {moved + 1} of the state" in state.sentence
    assert "changed most" in state.sentence
    assert word.outcome == f"“a”, {percent(float(trace.probabilities[step]))}"


def test_narration_explains_a_word_that_was_not_the_likeliest() -> None:
    base = synthetic.trace()
    chosen = dataclasses.replace(base, target_ids=(base.top_ids[0][3],) * len(base.target_ids))
    assert "The search chose" in narrate(chosen, 0)[-1].sentence
    given = dataclasses.replace(chosen, search=Search("forced"))
    assert "You forced" in narrate(given, 0)[-1].sentence
    assert "the model preferred" in narrate(given, 0)[-1].sentence


def test_narration_of_a_single_source_piece() -> None:
    base = synthetic.trace()
    alone = dataclasses.replace(
        base,
        source_pieces=base.source_pieces[:1],
        source_surfaces=base.source_surfaces[:1],
        energies=base.energies[:, :1],
        alignment=np.ones_like(base.alignment[:, :1]),
        annotations=base.annotations[:1],
    )
    assert "only one piece" in narrate(alone, 0)[1].sentence
    assert narrate(alone, 0)[2].outcome == "1 piece gets 100\u00a0% of the weight"
