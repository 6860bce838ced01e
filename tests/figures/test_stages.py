"""Stages of a step: figures have the numbers of the trace, and the narration states the same numbers."""

import numpy as np
import pytest

from attnviz.figures.attention_figure import draw_energy, draw_softmax
from attnviz.figures.context import context_frame
from attnviz.figures.decoder_figure import draw_maxout, draw_state
from attnviz.figures.grammar import THINNED_ROWS
from attnviz.figures.subject import Subject
from attnviz.palette import LIGHT
from attnviz.trace import Trace
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


def test_rows_are_ordered_by_weight_and_thinned_when_too_many() -> None:
    trace = synthetic.trace(LONG)
    meta = draw_energy(Subject(trace, 1)).figure().layout.meta
    assert sorted(meta["order"]) == list(range(len(trace.source_pieces)))
    assert (np.diff(trace.alignment[1][meta["order"]]) <= 0).all()
    assert meta["thinned"]["rows"] == THINNED_ROWS
    assert context_frame(trace, thinned=True).layout["meta"]["rows"] == THINNED_ROWS + 1
    assert draw_energy(Subject(synthetic.trace(), 1)).figure().layout.meta["thinned"] is None


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
