"""Figure and table of a beam search tree: positions of hypotheses, labels, links and hover text."""

import itertools
from collections import defaultdict

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.figures.beam_tree_figure import beam_tree, rows_and_kinds
from attnviz.figures.spec import width
from attnviz.text import piece_name
from attnviz.trace import BeamTree
from tests.conftest import SENTENCES
from tests.figures.synthetic import small
from tests.strategies import FEW


@pytest.fixture(scope="module")
def trees(translator) -> list[BeamTree]:
    return [translator.beam_tree(SENTENCES[k], beam=beam) for k, beam in enumerate((1, 2, 5, 12))]


@settings(max_examples=FEW)
@given(text=st.sampled_from(SENTENCES), beam=st.integers(1, 12), penalty=st.sampled_from([0.0, 1.0]))
def test_every_hypothesis_has_its_own_cell(translator, text: str, beam: int, penalty: float) -> None:
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


def test_labels_stay_in_their_columns_without_overlap(trees) -> None:
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
