"""Marks of gold links on the heatmap: positions, legend, faces and contrast."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz import AttnvizError, Trace
from attnviz.analysis.gold import GoldLinks, link_errors
from attnviz.analysis.grid import FACES
from attnviz.figures.heatmap import heatmap
from attnviz.palette import MARKER, MARKER_EDGE
from attnviz.trace.drawing import Face
from tests.conftest import SENTENCES
from tests.figures.test_colours import MARK, contrast, rgb


@pytest.fixture(scope="module")
def trace(translator) -> Trace:
    return translator.translate(SENTENCES[0], target=SENTENCES[1])


def marked_cells(figure: go.Figure, name: str) -> set[tuple[int, int]]:
    found = [one for one in figure.data if one.name == name]
    return {(row, column) for one in found for row, column in zip(one.y, one.x, strict=True)}


def test_gold_links_are_marked_and_false_links_are_crossed(trace) -> None:
    gold = GoldLinks(frozenset({(0, 1), (2, 3)}), frozenset({(1, 1)}))
    figure = heatmap(trace, gold=gold).figure()
    assert marked_cells(figure, "sure") == marked_cells(figure, "sure core") == {(1, 0), (3, 2)}
    assert marked_cells(figure, "possible") == {(1, 1)}
    assert marked_cells(figure, "false") == {(i, j) for j, i in link_errors(trace.words(), gold).false}
    (legend,) = figure.layout.annotations
    missed = len(link_errors(trace.words(), gold).missed)
    assert missed
    assert f"sure link ({missed} missed)" in legend.text
    assert all(name in legend.text for name in ("◉\u00a0sure link", "○\u00a0possible link", "×\u00a0false link"))
    assert "2 sure links and 1 possible link" in figure.layout.meta["alt"]
    assert figure.data[0].text[1][0].endswith("sure link")
    assert all(one.hoverinfo == "skip" for one in figure.data[1:])  # a click reaches the cell below


def test_gold_links_are_given_as_text_or_pairs_too(trace) -> None:
    gold = GoldLinks(frozenset({(0, 1), (2, 3)}), frozenset({(1, 1)}))
    expected = trace.heatmap(gold=gold)
    assert trace.heatmap(gold="0-1 2-3 1?1") == expected
    pairs = [(0, 1), (2, 3)]
    assert marked_cells(trace.heatmap(gold=pairs), "sure") == {(1, 0), (3, 2)}
    assert marked_cells(trace.heatmap(gold=np.array(pairs).tolist()), "sure") == {(1, 0), (3, 2)}
    assert not marked_cells(trace.heatmap(gold=""), "sure")
    faulty: list[Any] = ["0-99", "a-b", [(0, -1)], [(0, 99)], [0, 1], 3, GoldLinks(frozenset({(0, 99)}))]
    for given in faulty:
        with pytest.raises(AttnvizError):
            trace.heatmap(gold=given)


@pytest.mark.parametrize("face", FACES)
def test_false_links_are_those_of_the_shown_face(trace, face: Face) -> None:
    posterior = np.roll(trace.alignment.astype(np.float64), 1, axis=1)
    words = trace.words()
    shares = words.alignment if face == "before" else words.merged(posterior)
    gold = GoldLinks(frozenset({(0, 0)}))
    figure = heatmap(trace, face=face, posterior=posterior, margins=True, gold=gold).figure()
    assert marked_cells(figure, "false") == {(i, j) for j, i in link_errors(words, gold, shares).false}
    plain = heatmap(trace, by="words", face=face, posterior=posterior, margins=True).figure()
    assert len(plain.data) < len(figure.data)
    assert figure.layout.height > plain.layout.height
    assert not plain.layout.annotations


def test_marks_have_enough_contrast_on_any_cell() -> None:
    """On every brightness between black and white."""
    for cell in np.linspace(0, 1, 500):
        assert max(contrast(rgb(mark), np.full(3, cell)) for mark in (MARKER, MARKER_EDGE)) >= MARK
