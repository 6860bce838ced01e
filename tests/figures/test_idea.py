"""The pictures without formulas draw the numbers of the record, and tell no number that only an equation explains."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz.figures.idea import IDEA_FIGURES
from attnviz.figures.subject import Subject
from attnviz.palette import ThemeName
from attnviz.wording.numbers import percent
from tests.figures import synthetic


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", list(IDEA_FIGURES))
def test_each_is_a_figure_with_a_text_alternative(name: str, theme: ThemeName) -> None:
    figure = IDEA_FIGURES[name].draw(Subject(synthetic.trace(), 1), theme=theme)
    go.Figure(json.loads(figure.to_json()))  # checks every property
    assert "2" in figure.layout.meta["alt"]
    assert figure.layout.meta["narrowest"] <= 260


def test_the_bars_are_as_long_as_the_energies_whose_numbers_are_not_told() -> None:
    trace = synthetic.trace()
    figure = IDEA_FIGURES["energy"].draw(Subject(trace, 1))
    (bars,) = figure.data
    np.testing.assert_array_equal(bars.x, trace.energies[1])
    assert not figure.layout.xaxis.showticklabels
    assert "%{x" not in bars.hovertemplate


def test_the_bars_of_the_look_are_the_weights_and_can_be_pulled() -> None:
    trace = synthetic.trace()
    figure = IDEA_FIGURES["softmax"].draw(Subject(trace, 1))
    bars, told = figure.data
    np.testing.assert_array_equal(bars.x, trace.alignment[1])
    for share, text in zip(trace.alignment[1].tolist(), told.text, strict=True):
        assert text.strip() == (percent(share) if share >= 0.005 else "")
    meta = figure.layout.meta["weights"]
    assert meta["trace"] == 0
    assert len(meta["pieces"]) == len(trace.source_pieces)


def test_what_is_kept_is_the_mean_of_the_update_gate() -> None:
    trace = synthetic.trace()
    kept, new = IDEA_FIGURES["state"].draw(Subject(trace, 2)).data
    assert kept.x[0] == pytest.approx(float(trace.update_gates[2].mean()))
    assert kept.x[0] + new.x[0] == pytest.approx(1)
