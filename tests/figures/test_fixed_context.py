"""Figures of a model without attention: one context vector of the whole sentence for every step."""

from functools import partial

import numpy as np
import pytest

from attnviz import export, figures
from attnviz.export.saved_files import FigureOptions, save, table
from attnviz.figures.subject import Subject
from attnviz.trace import Trace
from tests.figures import synthetic
from tests.snapshots import refusal

LONG = " ".join(f"mot{k}" for k in range(80))


@pytest.fixture(params=["The agreement was signed .", LONG])
def trace(request) -> Trace:
    return synthetic.trace(request.param, "L' environnement marin .", attention="none")


def test_the_strip_is_the_context_of_every_step(trace) -> None:
    figure = figures.heatmap(trace).figure()
    strip = next(one for one in figure.data if one.name == "context")
    for step in range(len(trace.target_pieces)):
        np.testing.assert_array_equal(np.ravel(strip.z), trace.contexts[step])
    np.testing.assert_array_equal(table(trace, FigureOptions()).to_numpy().ravel(), trace.contexts[0])


def test_exports_use_the_fixed_context_figure(trace, tmp_path, snapshot) -> None:
    for ending in ("csv", "html", "json"):
        save(trace, tmp_path / f"x.{ending}")
    of_attention = {"picture": "energy-decomposition", "step": 0}
    refused = (("tex", {}), ("pharaoh", {}), ("csv", {"margins": True}), ("csv", of_attention))
    saves = [partial(save, trace, tmp_path / f"x.{ending}", FigureOptions(**options)) for ending, options in refused]
    assert [*map(refusal, saves)] == snapshot
    assert export.heatmap_html(trace).split("<p>")[-1] == snapshot(name="in HTML")
    assert trace.heatmap() == figures.heatmap(trace).figure()


def test_the_logit_attribution_has_one_row_for_the_sentence(trace) -> None:
    from attnviz.analysis.logit_attribution import LogitAttribution
    from attnviz.figures.logit_attribution_figure import draw_logit_attribution

    entries = np.zeros(len(trace.source_pieces))
    entries[-1] = 1.5
    account = LogitAttribution(step=1, piece_id=4, bias=0.5, state=-1.0, previous_word=0.25, source=entries)
    mean = LogitAttribution(step=1, piece_id=None, bias=0, state=0, previous_word=0, source=0 * entries)
    known = {(1, 4): account, (1, None): mean}
    figure = draw_logit_attribution(Subject(trace, 1, word=4, foil=4, known_logit_attributions=known)).figure()
    assert list(figure.data[0].x) == [0.5, -1.0, 0.25, 1.5, 1.25]
    assert not [one for one in figure.data if one.name == "alpha"]
    assert "xaxis2" not in figure.to_dict()["layout"]
