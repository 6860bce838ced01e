"""Figures and tables of a training run: heatmaps of its snapshots, learning curves and baselines."""

import numpy as np
import pytest

from attnviz.analysis.learning import LINK_MEASURES, ROW_MEASURES
from attnviz.figures.learning_curves import (
    attention_curves,
    baselines_table,
    learning_heatmap,
    quality_curves,
    update_positions,
)
from attnviz.trace.snapshots import Sentence, Snapshots

MOMENTS = (0, 10, 100, 2000)
SENTENCE = Sentence(
    "a green <b>house", "une maison $x$", ("▁a", "▁gre", "en", "▁<b>", "</s>"), ("▁une", "▁mai", "son", "</s>")
)


def run(guidance: float = 0.0, seed: int = 0) -> Snapshots:
    draw = np.random.default_rng(seed)
    curves = {
        name: tuple(zip(MOMENTS, draw.uniform(0, 0.6, len(MOMENTS)).tolist(), strict=True))
        for name in (*LINK_MEASURES, *ROW_MEASURES, "loss", "bleu", "aer")
    } | {"training": ((50, 8.0), (100, 6.5), (2000, 2.0))}
    return Snapshots(
        "run",
        guidance,
        MOMENTS,
        (SENTENCE,),
        (draw.dirichlet(np.ones(5), (4, 4)).astype(np.float32),),
        (("",), ("x",), ("y",), ("z",)),
        curves,
        {name: {"alike": 0.07, "diagonal": 0.3, "links": 1.0} for name in (*LINK_MEASURES, *ROW_MEASURES)},
        {"aer": 9},
    )


def test_heatmap_and_table_have_the_weights_of_the_snapshot() -> None:
    found = run()
    words = SENTENCE.words(found.alignments[0][2])
    spec = learning_heatmap(found, 0, 2)
    drawn = spec.figure().data[0]
    np.testing.assert_allclose(np.array(drawn.z), words.alignment, rtol=1e-6)
    assert "after 100 training updates" in spec.alt
    table = spec.frame()
    np.testing.assert_array_equal(table.to_numpy(), words.alignment)
    assert table.columns[1] == "2 green"
    assert not any("<b>" in text for row in drawn.text for text in row)


def test_quality_curves_have_a_marker_for_each_moment() -> None:
    runs = [run(), run(0.5, 1)]
    figure = quality_curves(runs, MOMENTS, update=100).figure()
    solid = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert len(solid) == 6
    for trace, (of, name) in zip(solid, [(r, n) for n in ("loss", "bleu", "aer") for r in runs], strict=True):
        assert list(trace.y) == [value for _, value in of.curves[name]]
        np.testing.assert_allclose(trace.x, update_positions(MOMENTS))
    spans = np.array(figure.layout.meta["spans"])
    np.testing.assert_allclose(spans.mean(axis=1), update_positions(MOMENTS))
    assert (spans[:, 1] > spans[:, 0]).all()
    assert figure.layout.shapes[0].x0 == pytest.approx(float(update_positions(100)))
    assert [trace.name for trace in solid if trace.showlegend] == ["Not guided", "Guided, weight 0.5"]


def test_learnt_figure_labels_its_lines_without_overlap() -> None:
    found = run()
    figure = attention_curves(found, MOMENTS, runs=[run(0.5, 1)]).figure()
    for axis, names in (("y", LINK_MEASURES), ("y2", ROW_MEASURES)):
        lines = [trace for trace in figure.data if trace.yaxis == axis and trace.mode != "text"]
        (labels,) = [trace for trace in figure.data if trace.yaxis == axis and trace.mode == "text"]
        assert len(lines) == len(labels.text) == len(names) + 1
        for line, name in zip(lines, names, strict=False):
            assert list(line.y) == [value for _, value in found.curves[name]]
        heights = np.sort(labels.y)
        top = figure.layout["yaxis" if axis == "y" else "yaxis2"].range[1]
        assert (np.diff(heights) >= 0.12 * top / 1.03).all()


def test_tables_have_every_number() -> None:
    found = run()
    table = quality_curves([found, run(0.5, 1)], MOMENTS).frame()
    assert len(table) == 2 * len(MOMENTS)
    for name, column in (("aer", "alignment error rate"), ("content", "content words")):
        assert table[column].head(4).tolist() == [value for _, value in found.curves[name]]
    assert len(attention_curves(found, MOMENTS).frame()) == len(MOMENTS)
    assert baselines_table(found).loc["content words", "uniform"] == 0.07
