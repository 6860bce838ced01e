"""Figure of BLEU by sentence length."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest

from attnviz.figures.sentence_length_figure import bleu_by_length

ROWS = [
    {"words": "1-10", "pairs": "1200", "model": "a", "bleu": "30", "bleu_low": "28", "bleu_high": "33"},
    {"words": "1-10", "pairs": "1200", "model": "<b>", "bleu": "20", "bleu_low": "19", "bleu_high": "21"},
    {"words": ">50", "pairs": "3", "model": "a", "bleu": "12", "bleu_low": "", "bleu_high": ""},
    {"words": ">50", "pairs": "3", "model": "<b>", "bleu": "2", "bleu_low": None, "bleu_high": None},
]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_model_has_one_line(theme) -> None:
    figure = go.Figure(bleu_by_length(ROWS, theme).plotly)  # Plotly's own check of every property
    first, second = figure.data
    assert (list(first.x), list(first.y)) == (["1-10", ">50"], [30, 12])
    assert second.name == "&lt;b&gt;"
    assert (list(first.error_y.array), list(first.error_y.arrayminus)) == ([3, 0], [2, 0])
    assert first.line.dash != second.line.dash
    assert first.marker.symbol != second.marker.symbol
    assert list(figure.layout.xaxis.ticktext) == ["1-10<br>1,200", "&gt;50<br>3"]
