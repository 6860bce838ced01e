"""Figure, tables and sentences of the comparison of two translations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import figures
from attnviz.analysis.comparison import Comparison, compare, comparison_caveat, comparison_sentences, no_heatmaps_reason
from attnviz.languages import set_language
from attnviz.palette import palette
from tests.analysis.test_comparison import SENTENCES as TEXTS
from tests.figures import synthetic

NAMES = ("one model", "another")


def pair(*, other: str = "The agreement was signed .", seed: int = 1, attention: str = "additive") -> Comparison:
    return compare(synthetic.trace(seed=0), synthetic.trace(other, seed=seed, attention=attention))


def test_panels_share_axes_and_log_probabilities_are_joined_by_lines() -> None:
    compared = pair(other="The new agreement was signed .")
    figure = figures.comparison(compared, NAMES).figure()
    panels = {trace.name: trace for trace in figure.data if trace.type == "heatmap"}
    np.testing.assert_array_equal(panels["first"].z, compared.first)
    np.testing.assert_array_equal(panels["other"].z, compared.other)
    np.testing.assert_array_equal(panels["difference"].z, compared.difference)
    layout = figure.layout
    assert [(one.zmin, one.zmax, one.showscale) for one in panels.values()][:2] == [(0, 1, True), (0, 1, False)]
    assert panels["first"].colorscale == panels["other"].colorscale
    assert panels["difference"].zmin == -panels["difference"].zmax
    assert np.nanmax(np.abs(compared.difference)) <= panels["difference"].zmax
    for axes in [*layout.meta["panels"].values(), *layout.meta["beside"]]:
        assert layout[axes["yaxis"].replace("y", "yaxis")].range == (len(compared.target.names) - 0.5, -0.5)
    names = [layout[panels[name].xaxis.replace("x", "xaxis")].ticktext for name in panels]
    assert names[0] == names[1] == names[2]
    assert "+ new" in names[0][1]
    assert names[0][0] == "The"
    compared, ink = pair(), palette("light")
    traces = {trace.name: trace for trace in figures.comparison(compared, NAMES).figure().data}
    np.testing.assert_array_equal(traces["log p, first"].x, compared.first_log_probabilities)
    np.testing.assert_array_equal(traces["log p, other"].x, compared.other_log_probabilities)
    gained = compared.other_log_probabilities > compared.first_log_probabilities
    assert traces["likelier"].line.color == ink.plus
    assert traces["less likely"].line.color == ink.minus
    assert list(dict.fromkeys(traces["likelier"].y)) == list(np.flatnonzero(gained))
    assert list(dict.fromkeys(traces["less likely"].y)) == list(np.flatnonzero(~gained))


@pytest.mark.parametrize("which", [0, 1])
def test_figure_without_attention_draws_log_probabilities_only(which: int) -> None:
    traces = [synthetic.trace(seed=0), synthetic.trace(seed=1)]
    traces[which] = synthetic.trace(seed=2, attention="none")
    compared = compare(*traces)
    spec = figures.comparison(compared, NAMES, step=0)
    figure = spec.figure()
    assert figure.layout.meta["panels"] == {}
    assert figure.layout.meta["beside"] == [{"xaxis": "x", "yaxis": "y"}]
    assert not [trace for trace in figure.data if trace.type == "heatmap"]
    assert "log p" in figure.layout.meta["alt"]
    assert len(spec.frame()) == np.isfinite(np.stack([compared.first, compared.other])).sum()
    attending = figures.compared_words_table(compare(synthetic.trace(seed=0), synthetic.trace(seed=1)))
    assert set(figures.compared_words_table(compared)) < set(attending)  # without the variation of the looks
    assert "synthetic" in no_heatmaps_reason("synthetic")


@given(source=TEXTS, target=TEXTS, seed=st.integers(0, 30))
def test_tables_have_every_number_of_the_figure(source: str, target: str, seed: int) -> None:
    one, two = synthetic.trace("The agreement was signed .", seed=seed), synthetic.trace(source, target, seed=seed + 1)
    compared = compare(one, two)
    table, words = figures.comparison(compared, NAMES).frame(), figures.compared_words_table(compared, NAMES)
    np.testing.assert_allclose(table[NAMES[0]].sum(), np.nansum(compared.first))
    np.testing.assert_allclose(table[NAMES[1]].sum(), np.nansum(compared.other))
    assert table["difference"].count() == np.isfinite(compared.difference).sum()
    assert list(words["target word"]) == list(compared.target.names)
    np.testing.assert_array_equal(words[f"log p, {NAMES[0]}"], compared.first_log_probabilities)
    assert len(figures.comparison(compared, ("one", "one")).frame().columns) == 5


@pytest.mark.parametrize("code", ["en", "fr"])
def test_comparison_sentences_contain_the_numbers(code: str) -> None:
    set_language(code)
    same = compare(synthetic.trace(), synthetic.trace())
    assert len(comparison_sentences(same, NAMES)) == 2
    other = pair(other="The new agreement was signed .", seed=3)
    shared, looks, likely = comparison_sentences(other, NAMES)
    assert ("6 of 7" if code == "en" else "6 mots anglais sur 7") in shared
    apart = compare(
        synthetic.trace(), synthetic.trace(target="Signé ."), face="difference", posteriors=(np.eye(7), np.eye(3, 7))
    )
    assert len(comparison_sentences(apart, NAMES)) == 2  # a difference of differences is no share of a look
    row = int(np.nanargmax(other.total_variation))
    assert other.target.names[row] in looks
    mark = "." if code == "en" else ","
    total = f"{np.nansum(other.first_log_probabilities):.2f}".replace("-", "−").replace(".", mark)
    assert total in likely
    assert comparison_caveat()
