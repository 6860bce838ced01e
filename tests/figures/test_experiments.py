"""Figures, tables and texts of the pages *How it learns*, *Why attention?* and *To the transformer*."""

import numpy as np
import pytest

from attnviz.analysis.judgement import largest_difference, matching_positions, pair_attention, with_words_swapped
from attnviz.analysis.labels import percent
from attnviz.analysis.learning import LINK_MEASURES, ROW_MEASURES
from attnviz.analysis.why_attention import (
    JudgedTranslation,
    PrefixTranslations,
    gradient_quartiles,
    gradient_share_sentences,
    growth_sentence,
    judgement_note,
    length_sentence,
)
from attnviz.figures.judgement_figure import aggregated_table, attend_figure, bag_figure, compared_figure, verdict_table
from attnviz.figures.learning_curves import (
    attention_curves,
    baselines_table,
    learning_heatmap,
    quality_curves,
    update_positions,
)
from attnviz.figures.why_attention_figure import bleu_by_length, forced_words_figure, gradient_norms, sentence_growth
from attnviz.trace import Judgement
from attnviz.trace.snapshots import Sentence, Snapshots
from tests.figures.conftest import ENGLISH, FRENCH, THREE

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
    assert spec.alt.startswith("After 100 training updates: ")
    table = spec.frame()
    np.testing.assert_array_equal(table.to_numpy(), words.alignment)
    assert table.columns[1] == "2 green"
    assert not any("<b>" in text for row in drawn.text for text in row)


def test_quality_curves_and_tables_have_every_number() -> None:
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
    found = run()
    table = quality_curves([found, run(0.5, 1)], MOMENTS).frame()
    assert len(table) == 2 * len(MOMENTS)
    for name, column in (("aer", "alignment error rate"), ("content", "content words")):
        assert table[column].head(4).tolist() == [value for _, value in found.curves[name]]
    assert len(attention_curves(found, MOMENTS).frame()) == len(MOMENTS)
    assert baselines_table(found).loc["content words", "uniform"] == 0.07


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


ROWS = [
    {"words": "1-10", "pairs": "1200", "model": "a", "bleu": "30", "bleu_low": "28", "bleu_high": "33"},
    {"words": "1-10", "pairs": "1200", "model": "<b>", "bleu": "20", "bleu_low": "19", "bleu_high": "21"},
    {"words": ">50", "pairs": "3", "model": "a", "bleu": "12", "bleu_low": "", "bleu_high": ""},
    {"words": ">50", "pairs": "3", "model": "<b>", "bleu": "2", "bleu_low": None, "bleu_high": None},
]


def _judged(text: str, shares: list[float]) -> JudgedTranslation:
    return JudgedTranslation(text, (text, " mot"), np.log([0.5, 0.05]), ("the", " cat", " sleeps"), np.array(shares))


GROWN = PrefixTranslations(
    ("the cat sleeps", "the cat sleeps now"),
    ("f", "d", "a"),
    THREE,
    "judge",
    (
        (_judged("un", [0, 1, 0.25]), _judged("deux", [0, 0.25, 0.25])),
        (_judged("trois", [0, 1, 1]), _judged("quatre", [0, 1, 0.25])),
        (_judged("cinq", [0, 1, 1]), _judged("six", [0, 1, 1])),
    ),
)


def test_lines_and_signal_panels_have_the_numbers_of_their_models(forced_models) -> None:
    words = forced_models.words
    spec = forced_words_figure(words)
    figure, table = spec.figure(), spec.frame()
    for line, logs, model in zip(figure.data, words.log_probabilities, words.models, strict=True):
        np.testing.assert_allclose(line.y, np.maximum(logs / np.log(10), -6))
        np.testing.assert_allclose(table[f"p, {model}"], np.exp(logs))
    assert list(figure.layout.xaxis.ticktext)[-1] == "&lt;/s&gt;"
    assert len({line.line.dash for line in figure.data}) == 3
    figure = gradient_norms(forced_models.traces, forced_models.signals).figure()
    lines = [trace for trace in figure.data if "markers" in trace.mode]
    assert len(lines) == 6
    for place, one in enumerate(forced_models.signals):
        found = gradient_quartiles(one)
        for line, values in zip(lines[2 * place : 2 * place + 2], (found.start, found.contexts), strict=True):
            np.testing.assert_allclose(line.y, np.log10(values[1]))
            assert line.xaxis == f"x{place + 1 if place else ''}"
    titles = ["One fixed vector", "General attention", "Additive attention"]
    assert [note.text for note in figure.layout.annotations[1:]] == titles
    with pytest.raises(ValueError, match="a panel needs"):
        gradient_norms(forced_models.traces[:2], forced_models.signals)
    trace, one = forced_models.traces[0], forced_models.signals[0]
    table = gradient_norms(forced_models.traces, forced_models.signals).frame()
    assert len(table) == one.whole.size
    row = table.loc[2].set_index("j").loc[3]
    assert row["whole, none"] == one.whole[1, 2]
    assert row["steps between"] == 3
    assert row["source piece"] == trace.source_pieces[2]


def test_gradient_share_sentence_contains_the_known_shares(each_language, snapshot) -> None:
    lead, baseline = gradient_share_sentences(("none", "general", "additive"), ((0.12, 0.08), None, (0.22, 0.08)))
    assert [lead, baseline] == snapshot
    assert all(percent(share) in lead for share in (0.12, 0.22))
    assert percent(0.08) in baseline
    assert gradient_share_sentences(("general",), (None,)) == ("", "")


def test_growth_figure_table_and_sentences_have_the_words_left_out(each_language, snapshot) -> None:
    spec = sentence_growth(GROWN)
    figure, table = spec.figure(), spec.frame()
    assert [list(line.y) for line in figure.data] == [[50, 100], [0, 50], [0, 0]]
    assert list(figure.data[0].x) == list(table.index) == [3, 4]
    assert figure.layout.meta["steps"] == [0, 1]
    assert list(table["d"]) == ["trois", "quatre"]
    assert list(table.iloc[:, 3]) == ["sleeps", "cat sleeps"]
    assert growth_sentence(GROWN) == snapshot(name="whole sentence")
    assert judgement_note(GROWN.translations[0][1], 32.4) == snapshot(name="note with a score")
    assert "chrF" not in judgement_note(GROWN.translations[0][1], None)


def test_each_model_has_one_line_and_the_sentence_is_marked() -> None:
    marked_length, plain = bleu_by_length(ROWS, marked_length=7).layout, bleu_by_length(ROWS)
    assert (marked_length["shapes"][0]["x0"], marked_length["shapes"][0]["x1"]) == (-0.5, 0.5)
    assert marked_length["annotations"][0]["text"] == "your sentence: 7 words"
    assert "shapes" not in plain.layout
    table = plain.frame().set_index("model", append=True)
    assert table.loc[("1-10", "a"), "BLEU"] == 30
    assert np.isnan(table.loc[(">50", "a"), "low"])
    assert "11.5" in length_sentence(7, "1-10", {"none": 11.5})
    figure = bleu_by_length(ROWS).figure()
    first, second = figure.data
    assert (list(first.x), list(first.y)) == (["1-10", ">50"], [30, 12])
    assert second.name == "&lt;b&gt;"
    assert (list(first.error_y.array), list(first.error_y.arrayminus)) == ([3, 0], [2, 0])
    assert first.line.dash != second.line.dash
    assert first.marker.symbol != second.marker.symbol
    assert list(figure.layout.xaxis.ticktext) == ["1-10<br>1,200", "&gt;50<br>3"]


@pytest.fixture(scope="module")
def judgement(detector) -> Judgement:
    return detector.judge(ENGLISH, FRENCH)


def test_attention_and_comparison_of_a_judgement_are_drawn(judgement) -> None:
    for attention, weights in (
        (pair_attention(judgement), judgement.target_alignment),
        (pair_attention(judgement, "source"), judgement.source_alignment),
    ):
        assert attention.alignment is weights
        figure = attend_figure(attention).figure()
        np.testing.assert_array_equal(figure.data[0].z, weights)
        assert figure.layout.yaxis.range[0] == len(weights) - 0.5
    for step in range(len(judgement.target_pieces)):
        drawn = compared_figure(judgement, step)
        figure = drawn.figure()
        np.testing.assert_allclose(figure.data[0].z[2], judgement.target_comparisons[step])
        assert list(drawn.frame()["b"]) == list(judgement.target_projected[step])


def test_swapping_words_leaves_the_bag_of_vectors_unchanged(detector, judgement) -> None:
    other = detector.judge(with_words_swapped(ENGLISH, 1, 4), FRENCH)
    places = matching_positions(judgement, other)
    assert places is not None
    assert places != sorted(places)
    assert largest_difference(judgement, other, places) < 1e-4
    drawn = bag_figure(judgement, other)
    figure = drawn.figure()
    before, after = (np.asarray(trace.z) for trace in figure.data)
    np.testing.assert_allclose(before[places], after[:-1], atol=1e-4)
    np.testing.assert_allclose(before[-1], after[-1], atol=1e-4)
    assert len(drawn.frame()) == 2 * (len(judgement.source_pieces) + 1)


def test_bag_of_vectors_and_tables_have_the_sums_and_the_verdict(judgement) -> None:
    drawn = bag_figure(judgement)
    figure = drawn.figure()
    (strips,) = figure.data
    np.testing.assert_allclose(strips.z[:-1], judgement.source_comparisons)
    np.testing.assert_allclose(strips.z[-1], judgement.source_comparisons.sum(axis=0), atol=1e-4)
    assert figure.layout.annotations[0].text == f"{judgement.source_comparisons.shape[1]} units"
    assert len(drawn.frame()) == len(judgement.source_pieces) + 1
    sums, verdict = aggregated_table(judgement), verdict_table(judgement)
    np.testing.assert_allclose(sums["v₁"], judgement.source_comparisons.sum(axis=0), atol=1e-4)
    np.testing.assert_allclose(sums["v₂"], judgement.target_comparisons.sum(axis=0), atol=1e-4)
    np.testing.assert_array_equal(sums["h"], judgement.hidden)
    odds = np.exp(verdict["o"] - verdict["o"].max())
    np.testing.assert_allclose(verdict["p"], odds / odds.sum(), atol=1e-6)
    assert verdict.loc["translation", "p"] == pytest.approx(judgement.probability)
