"""Margins of the heatmap: bars of column sums and row entropies, aligned with columns and rows."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz.analysis.measures import coverage, entropy
from attnviz.figures import heatmap
from tests.figures.synthetic import trace as make_trace


def bars(figure: go.Figure) -> tuple[np.ndarray, np.ndarray]:
    found = {trace.name: trace for trace in figure.data if trace.type == "bar"}
    return np.array(found["coverage"].y), np.array(found["entropy"].x)


@pytest.mark.parametrize("end", [True, False])
def test_margins_of_pieces_are_coverage_and_entropy(end: bool) -> None:
    trace = make_trace()
    figure = heatmap(trace, by="steps", end=end, margins=True, step=1).figure()
    sums, bits = bars(figure)
    shown = slice(None) if end else slice(-1)
    assert sums == pytest.approx(coverage(trace.alignment)[shown])
    assert bits == pytest.approx(entropy(trace.alignment)[shown])
    assert figure.layout.yaxis2.range[0] >= sums.max()
    assert figure.layout.xaxis2.range[1] == pytest.approx(np.log2(len(trace.source_pieces)))


def test_margins_of_words_average_the_entropies_of_pieces() -> None:
    trace = make_trace("Extraordinary things happen .", "Des choses extraordinaires arrivent .")
    figure = heatmap(trace, by="words", end=True, margins=True).figure()
    sums, bits = bars(figure)
    words = trace.words()
    assert sums == pytest.approx(coverage(words.alignment))
    of_pieces = entropy(trace.alignment)
    assert bits == pytest.approx([of_pieces[list(group)].mean() for group in words.target_groups])
    several = next(i for i, group in enumerate(words.target_groups) if len(group) > 1)
    hover = next(found for found in figure.data if found.name == "entropy").customdata
    assert f"mean of its {len(words.target_groups[several])} pieces" in hover[several]
