"""Figures and sentences of attributions, perturbation tests, shuffled weights and minimal changes."""

import re

import numpy as np
import pytest

from attnviz import analysis, figures
from attnviz.analysis.attribution_methods import (
    UNSIGNED_METHODS,
    attribution_method_texts,
    attributions_caveat,
    overall_agreement_sentence,
    step_agreement_sentence,
)
from attnviz.analysis.labels import decimal
from attnviz.analysis.perturbation_tests import (
    PerturbationTests,
    best_sentence,
    perturbation_tests_caveat,
    perturbation_tests_sentence,
    shuffled_sentence,
)
from attnviz.analysis.step_evaluation import minimal_change_sentence
from attnviz.languages import format_share
from attnviz.palette import heatmap_scale
from tests.analysis.given import KINDS
from tests.figures.conftest import STEP, Lab
from tests.snapshots import without_numbers


@pytest.fixture(scope="module", params=[KINDS[0], KINDS[3]], ids="-".join)
def lab(request, make_network, tokenizer) -> Lab:
    return Lab(make_network, tokenizer, request.param)


def test_panels_of_methods_and_perturbation_tests_have_their_numbers(lab) -> None:
    figure, words = figures.attributions(lab.trace, lab.attribution_methods, step=STEP).figure(), lab.trace.words()
    assert [panel.name for panel in figure.data] == [
        attribution_method_texts()[name].name for name in analysis.ATTRIBUTION_METHODS
    ]
    unsigned = {attribution_method_texts()[name].name for name in UNSIGNED_METHODS}
    assert {(panel.zmin, panel.zmax) for panel in figure.data if panel.name not in unsigned} == {(-1, 1)}
    greys = [(panel.zmin, panel.zmax, panel.colorscale) for panel in figure.data if panel.name in unsigned]
    assert greys == [(0, 1, tuple(map(tuple, heatmap_scale(root=True))))] * len(unsigned)
    for axis in ("xaxis", "yaxis"):
        names = [panel[axis].replace(axis[0], axis) for panel in figure.data]
        assert len({figure.layout[name].range for name in names}) == 1
    for panel, name in zip(figure.data, analysis.ATTRIBUTION_METHODS, strict=True):
        np.testing.assert_array_equal(panel.z, words.merged(lab.attribution_methods.shares(name)))
        np.testing.assert_array_equal(panel.customdata, words.merged(lab.attribution_methods.matrices[name]))
    meta = figure.layout.meta
    assert len(figure.layout.shapes) == len(analysis.ATTRIBUTION_METHODS)
    assert {shape.y0 + 0.5 for shape in figure.layout.shapes} == {meta["rows"][STEP]}
    assert list(meta["panels"]) == list(analysis.ATTRIBUTION_METHODS)
    cut = figures.attributions(lab.trace, lab.attribution_methods, by="steps", end=False).data[0]
    np.testing.assert_allclose(cut["customdata"], lab.trace.alignment[:-1, :-1])
    with pytest.raises(ValueError, match="at least 1"):
        figures.attributions(lab.trace, lab.attribution_methods, across=0)
    drawn = figures.perturbation_tests_figure(lab.trace, lab.perturbation_tests, lab.spelling, lab.best)
    figure = drawn.figure()
    bars = {trace.name: trace for trace in figure.data}
    tests = lab.perturbation_tests
    heights = np.reshape(bars["weights"].y, (6, -1))
    np.testing.assert_allclose(heights[[0, 4]] / heights[0].sum(), [tests.real.weights, tests.adversary.weights])
    word = tests.real.piece_id
    shown = (tests.real, tests.uniform, tests.without_strongest, tests.adversary, lab.best)
    np.testing.assert_allclose(bars["probability"].x, [test.probabilities[word] for test in shown])
    permuted = [trial.probabilities[word] for trial in tests.permuted]
    np.testing.assert_allclose(bars["permutations"].x, permuted)
    np.testing.assert_allclose(bars["median"].x, [np.median(permuted)])
    notes = " ".join(note.text for note in figure.layout.annotations)
    for test in shown:
        assert format_share(float(test.probabilities[word])) in notes
    narrow = figures.perturbation_tests_figure(lab.trace, tests, lab.spelling, lab.best, width=358).figure()
    broken = [[";<br>" in note.text for note in one.layout.annotations] for one in (figure, narrow)]
    assert [sum(one) for one in broken] == [0, 1], "half a phone is narrower than the outcome of the permutations"
    outcome = next(note for note in narrow.layout.annotations if ";<br>" in note.text)
    top = outcome.y - 2 * 1.3 * outcome.font.size / 47  # in rows of 47 pixels
    assert 1.46 < top < outcome.y < 2.14, "two lines stand between the marks of two rows"
    table = drawn.frame()
    assert len(table) == 5 + 20
    assert table["writes"].iloc[0] == lab.spelling(lab.perturbation_tests.real.piece_id)
    assert table["total variation"].iloc[3] <= 0.01


def test_shuffled_minimal_change_and_attribution_tables_have_every_number(lab) -> None:
    drawn = figures.shuffled_figure(lab.trace, lab.shuffled)
    points = drawn.figure().data[0]
    np.testing.assert_array_equal(points.x, lab.trace.alignment.max(axis=1).astype(float))
    assert [one[0] for one in points.customdata] == list(range(len(lab.trace.target_pieces)))
    assert [symbol == "circle" for symbol in points.marker.symbol] == (lab.shuffled.kept > 0.5).tolist()
    np.testing.assert_array_equal(drawn.frame()["change when shuffled"], points.y)
    drawn = figures.minimal_change_figure(lab.trace, lab.minimal_change, lab.spelling)
    bars, written = drawn.figure().data
    finite = np.isfinite(lab.minimal_change.distances)
    np.testing.assert_array_equal(np.array(bars.x)[finite], lab.minimal_change.distances[finite])
    assert [("∞" in text) for text in written.text] == (~finite).tolist()
    table = drawn.frame()
    np.testing.assert_array_equal(table["|α′ − α|"], lab.minimal_change.distances)
    assert (table["new piece"] != "").tolist() == finite.tolist()
    table = figures.attributions(lab.trace, lab.attribution_methods).frame()
    assert len(table.columns) == 3 + len(analysis.ATTRIBUTION_METHODS)
    erased = table.columns[3 + analysis.ATTRIBUTION_METHODS.index("erased")]
    np.testing.assert_array_equal(table[erased], lab.attribution_methods.matrices["erased"].ravel())
    np.testing.assert_array_equal(table.loc[STEP + 1, erased], lab.attribution_methods.matrices["erased"][STEP])
    assert list(table.loc[STEP + 1, "source piece"]) == list(lab.trace.source_pieces)
    found = analysis.agreement(lab.attribution_methods, STEP)
    pairs = figures.agreement_table(found)
    assert len(pairs) == 15
    np.testing.assert_array_equal(pairs["Kendall’s τ"].iloc[:5], found.tau[0, 1:])
    assert pairs["other attribution"].iloc[-1] == attribution_method_texts()[analysis.ATTRIBUTION_METHODS[-1]].name


def test_sentences_contain_the_numbers(each_language, lab, snapshot) -> None:
    steps, piece = range(len(lab.trace.target_pieces)), lab.trace.target_ids[STEP]
    real = lab.perturbation_tests.real
    shuffled = shuffled_sentence(lab.shuffled)
    assert re.findall(r"\d+", shuffled)[:2] == [str(len(steps)), str((lab.shuffled.kept > 0.5).sum())]
    minimal_changes = [minimal_change_sentence(lab.minimal_change, step, lab.spelling) for step in steps]
    for sentence, distance in zip(minimal_changes, lab.minimal_change.distances, strict=True):
        assert (decimal(distance) in sentence) == np.isfinite(distance)
    assert best_sentence(real, real, piece, lab.trace, lab.spelling) == ""
    unchanged = PerturbationTests(STEP, real, real, (real,), real, real)
    sentences = {
        "agreement": overall_agreement_sentence(analysis.agreement(lab.attribution_methods), len(steps)),
        "agreement at the step": step_agreement_sentence(lab.trace, lab.attribution_methods, STEP),
        "perturbation-tests": perturbation_tests_sentence(lab.perturbation_tests, lab.spelling),
        "tests that change nothing": perturbation_tests_sentence(unchanged, lab.spelling),
        "best": best_sentence(lab.best, real, piece, lab.trace, lab.spelling),
        "permuted": shuffled,
        "minimal change": minimal_changes[STEP],
        "caveat of trials": perturbation_tests_caveat(),
        "caveat of answers": attributions_caveat(),
    }
    assert {name: without_numbers(sentence) for name, sentence in sentences.items()} == snapshot
