"""`Trace`: its figures, words and likeliest pieces."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, Trace, Translator, export, figures
from tests.snapshots import plain


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.translate("A girl is riding a red \U0001f6b2 bicycle.", beam=3)


def test_notebook_representation_is_the_heatmap(trace: Trace, snapshot: SnapshotAssertion) -> None:
    assert trace.heatmap(by="steps", step=1) == figures.heatmap(trace, by="steps", step=1).figure()
    assert trace.step_figure(0) == trace.step_figure(0, "attention")
    last = len(trace.target_pieces) - 1
    assert trace.step_figure(-1, "candidates", theme="dark") == trace.step_figure(last, "candidates", theme="dark")
    with pytest.raises(AttnvizError):
        trace.step_figure(last + 1)
    with pytest.raises(AttnvizError) as error:
        trace.step_figure(0, "pie")
    assert plain(error.value) == snapshot
    assert f"Choose from: {', '.join(figures.step_figures(figures.Subject(trace, 0)))}." in str(error.value)
    assert trace._repr_html_() == export.heatmap_html(trace)


def test_top_pieces_of_a_step(trace: Trace, snapshot: SnapshotAssertion) -> None:
    candidates = trace.top(0, 5)
    assert len(candidates) == 5
    assert candidates[0] == (trace.top_pieces[0][0], pytest.approx(trace.top_probabilities[0, 0]))
    for bad in (0, -1, 101):
        with pytest.raises(AttnvizError, match="100") as error:
            trace.top(0, bad)
        assert str(error.value) == snapshot
    with pytest.raises(AttnvizError):
        trace.top(len(trace.target_pieces))
