"""Figure and table of a beam search tree: positions of hypotheses, labels, links and hover text."""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import Translator
from attnviz.analysis.beam_sentences import fate_sentence
from attnviz.figures.beam_tree_figure import beam_tree, rows_and_kinds
from attnviz.figures.spec import width
from attnviz.text import piece_name
from attnviz.trace import BeamTree
from tests.conftest import SENTENCES
from tests.figures.trees import small
from tests.strategies import FEW

PARTS = ("winner", "finished", "dropped", "twig")


@pytest.fixture(scope="module")
def trees(translator: Translator) -> list[BeamTree]:
    return [translator.beam_tree(SENTENCES[k], beam=beam) for k, beam in enumerate((1, 2, 5, 12))]


@settings(max_examples=FEW)
@given(text=st.sampled_from(SENTENCES), beam=st.integers(1, 12), penalty=st.sampled_from([0.0, 1.0]))
def test_every_hypothesis_has_its_own_cell(translator: Translator, text: str, beam: int, penalty: float) -> None:
    tree = translator.beam_tree(text, beam=beam, length_penalty=penalty)
    rows, kinds = rows_and_kinds(tree)
    height = int(rows.max()) + 1
    cells = [(int(row), node.step) for row, node in zip(rows, tree.nodes, strict=True)]
    assert len(set(cells)) == len(cells)
    assert set(rows.tolist()) == set(range(height)), "no row is empty"
    on_top = {index for index, row in enumerate(rows) if row == 0}
    assert on_top == set(tree.path(tree.winner)) == {i for i, kind in enumerate(kinds) if kind == "winner"}
    for index in tree.finished:
        assert (int(rows[index]), tree.nodes[index].step + 1) not in cells, "the score is drawn in the next cell"
        assert all(kinds[one] in ("winner", "finished") for one in tree.path(index))
    for kind, node in zip(kinds, tree.nodes, strict=True):
        assert (kind == "twig") == (node.fate in ("outside", "late"))
    assert height <= 5 * beam + 2


def _labels(figure: go.Figure) -> dict[int, tuple[float, int, str, float]]:
    """Return position, text and font size of the label of each node."""
    found = {}
    for trace in figure.data:
        if trace.mode == "text":
            for node, x, y, text in zip(trace.customdata, trace.x, trace.y, trace.text, strict=True):
                found[node] = (x, y, text, trace.textfont.size)
    return found


def test_labels_stay_in_their_columns_without_overlap(trees: list[BeamTree]) -> None:
    for tree in trees:
        figure = beam_tree(tree).figure()
        labels, spans = _labels(figure), figure.layout.meta["spans"]
        assert sorted(labels) == list(range(len(tree.nodes)))
        rows = defaultdict(list)
        for index, (x, y, _, size) in labels.items():
            node = tree.nodes[index]
            half = 0.8 * width(piece_name(node.piece)[:14], size) / 2
            left, right = spans[node.step]
            assert left <= x - half, node
            assert x + half <= right, node
            rows[y].append((x - half, x + half))
        for row in rows.values():
            row.sort()
            assert all(one[1] < other[0] for one, other in itertools.pairwise(row))
        assert all(one[1] <= other[0] + 1e-6 for one, other in itertools.pairwise(spans))
        assert figure.layout.meta["narrowest"] == figure.layout.meta["widest"]
        assert (
            figure.layout.xaxis.range[1] + figure.layout.margin.l + figure.layout.margin.r
            == (figure.layout.meta["narrowest"])
        )


def test_links_lead_from_parent_to_continuation(trees: list[BeamTree]) -> None:
    for tree in trees:
        figure = beam_tree(tree).figure()
        labels, joined = _labels(figure), set()
        for trace in figure.data:
            if trace.mode != "lines" or not len(trace.x):
                continue
            x, y = np.array(trace.x, dtype=float), np.array(trace.y, dtype=float)
            ends = np.flatnonzero(np.isnan(x))
            for first, last in zip([0, *(ends[:-1] + 1)], ends - 1, strict=True):
                assert (np.diff(x[first : last + 1]) > -1e-9).all(), "links run from left to right"
                joined.add((round(y[first]), round(x[last]), round(y[last])))
        assert len(joined) == len(tree.nodes)
        for index, node in enumerate(tree.nodes):
            x, y, _, _ = labels[index]
            above = 0 if node.parent is None else labels[node.parent][1]
            assert any(row == above and end == y and place < x for row, place, end in joined)


def test_figure_has_hover_text_scores_and_click_metadata() -> None:
    tree = small()
    figure = beam_tree(tree, shown=(8, 3)).figure()
    hover = {
        node: text
        for one in figure.data
        if one.mode == "text"
        for node, text in zip(one.customdata, one.hovertext, strict=True)
    }
    assert "log p(chat) = \u22120.500  (p = 0.607)" in hover[3]
    assert "le chat" in hover[3]
    for node in (2, 10):
        assert fate_sentence(tree, node) in hover[node]
    scores = [note.text for note in figure.layout.annotations]
    assert "<b>1.  \u22120.750</b>" in scores
    assert "2.  \u22121.000" in scores
    meta = figure.layout.meta["tree"]
    assert (meta["parents"][0], meta["parents"][10], meta["shown"], meta["end"]) == (-1, 7, [8, 3], 3)
    assert [i for i, inner in enumerate(meta["inner"]) if inner] == [0, 3, 5, 7, 8]


def test_markup_in_pieces_is_escaped() -> None:
    tree = small()
    odd = dataclasses.replace(tree.nodes[3], piece="\u2581<b>$x$</b>")
    figure = beam_tree(dataclasses.replace(tree, nodes=(*tree.nodes[:3], odd, *tree.nodes[4:]))).figure()
    texts = [text for one in figure.data if one.mode == "text" for text in (*one.text, *one.hovertext)]
    drawn = [text for text in texts if "x" in text and "&#36;" in text]
    assert drawn
    assert all("<b>$" not in text and "$x$" not in text for text in texts)


def test_the_table_has_every_hypothesis() -> None:
    tree = small()
    table = beam_tree(tree).frame()
    assert len(table) == len(tree.nodes)
    row = table.loc[11]
    assert (row["step"], row["continues"], row["so far"], row["outcome"]) == (4, 8, "le chat noir", "won")
    assert row["score"] == pytest.approx(-0.75)
    assert table.loc[5, "outcome"] == "finished, beaten"
    assert table.loc[5, "dropped at step"] == 4
    assert table.loc[2, "dropped at step"] == 2
    assert table["score"].notna().sum() == 2
    np.testing.assert_allclose(table["log p so far"], [node.total for node in tree.nodes])
    assert table["continues"].isna().sum() == 3
    assert ",".join(table.columns).count(",") == 9
