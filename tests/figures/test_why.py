"""Figures and text of the page *Why attention?*: values, contrast and sentences."""

import numpy as np
import pytest

from attnviz import Trace, Translator
from attnviz.analysis.numbers import percent
from attnviz.analysis.why_attention import (
    JudgedTranslation,
    PrefixTranslations,
    forced_word_probabilities,
    gradient_quartiles,
    gradient_share_sentences,
    growth_sentence,
    judgement_note,
    length_sentence,
)
from attnviz.figures.sentence_length_figure import bleu_by_length, sentence_growth
from attnviz.figures.three_models_figure import forced_words_figure, gradient_norms
from attnviz.text import Tokenizer
from attnviz.trace.parts import GradientNorms
from tests.conftest import SENTENCES, ModelFactory

EACH_LANGUAGE = pytest.mark.usefixtures("each_language")
KINDS = ("none", "general", "additive")


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
    KINDS,
    "judge",
    (
        (_judged("un", [0, 1, 0.25]), _judged("deux", [0, 0.25, 0.25])),
        (_judged("trois", [0, 1, 1]), _judged("quatre", [0, 1, 0.25])),
        (_judged("cinq", [0, 1, 1]), _judged("six", [0, 1, 1])),
    ),
)


class ForcedModels:
    """Three models forced through one translation, with their signals."""

    def __init__(self, make_network: ModelFactory, tokenizer: Tokenizer) -> None:
        translators = [Translator(make_network(kind), tokenizer, name=kind) for kind in KINDS]
        self.traces: list[Trace] = [one.translate(SENTENCES[2], target=SENTENCES[3]) for one in translators]
        self.signals: list[GradientNorms] = [
            one.gradient_norms(trace) for one, trace in zip(translators, self.traces, strict=True)
        ]
        self.words = forced_word_probabilities(self.traces)


@pytest.fixture(scope="module")
def forced_models(make_network, tokenizer) -> ForcedModels:
    return ForcedModels(make_network, tokenizer)


def test_lines_are_the_probabilities_of_forced_words(forced_models) -> None:
    spec = forced_words_figure(forced_models.words)
    figure, table = spec.figure(), spec.frame()
    for line, logs, model in zip(
        figure.data, forced_models.words.log_probabilities, forced_models.words.models, strict=True
    ):
        np.testing.assert_allclose(line.y, np.maximum(logs / np.log(10), -6))
        np.testing.assert_allclose(table[f"p, {model}"], np.exp(logs))
    assert list(figure.layout.xaxis.ticktext)[-1] == "&lt;/s&gt;"
    assert len({line.line.dash for line in figure.data}) == 3


def test_signal_panels_draw_the_medians_of_both_paths(forced_models) -> None:
    figure = gradient_norms(forced_models.traces, forced_models.signals).figure()
    lines = [trace for trace in figure.data if "markers" in trace.mode]
    assert len(lines) == 6
    for place, one in enumerate(forced_models.signals):
        found = gradient_quartiles(one)
        for line, values in zip(lines[2 * place : 2 * place + 2], (found.start, found.contexts), strict=True):
            np.testing.assert_allclose(line.y, np.log10(values[1]))
            assert line.xaxis == f"x{place + 1 if place else ''}"
    assert [note.text for note in figure.layout.annotations[1:]] == [
        "One fixed vector",
        "General attention",
        "Additive attention",
    ]
    with pytest.raises(ValueError, match="a panel needs"):
        gradient_norms(forced_models.traces[:2], forced_models.signals)


def test_the_table_of_signals_has_every_pair(forced_models) -> None:
    trace, one = forced_models.traces[0], forced_models.signals[0]
    table = gradient_norms(forced_models.traces, forced_models.signals).frame()
    assert len(table) == one.whole.size
    row = table.loc[2].set_index("j").loc[3]
    assert row["whole, none"] == one.whole[1, 2]
    assert row["steps between"] == 3
    assert row["source piece"] == trace.source_pieces[2]


@EACH_LANGUAGE
def test_gradient_share_sentence_contains_the_known_shares(snapshot) -> None:
    lead, baseline = gradient_share_sentences(("none", "general", "additive"), ((0.12, 0.08), None, (0.22, 0.08)))
    assert [lead, baseline] == snapshot
    assert all(percent(share) in lead for share in (0.12, 0.22))
    assert percent(0.08) in baseline
    assert gradient_share_sentences(("general",), (None,)) == ("", "")


@EACH_LANGUAGE
def test_growth_figure_table_and_sentences_have_the_words_left_out(snapshot) -> None:
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


def test_the_sentence_length_is_marked_in_the_figure() -> None:
    marked_length, plain = bleu_by_length(ROWS, marked_length=7).layout, bleu_by_length(ROWS)
    assert (marked_length["shapes"][0]["x0"], marked_length["shapes"][0]["x1"]) == (-0.5, 0.5)
    assert marked_length["annotations"][0]["text"] == "your sentence: 7 words"
    assert "shapes" not in plain.layout
    table = plain.frame().set_index("model", append=True)
    assert table.loc[("1-10", "a"), "BLEU"] == 30
    assert np.isnan(table.loc[(">50", "a"), "low"])
    assert "11.5" in length_sentence(7, "1-10", {"none": 11.5})


def test_each_model_has_one_line() -> None:
    figure = bleu_by_length(ROWS).figure()
    first, second = figure.data
    assert (list(first.x), list(first.y)) == (["1-10", ">50"], [30, 12])
    assert second.name == "&lt;b&gt;"
    assert (list(first.error_y.array), list(first.error_y.arrayminus)) == ([3, 0], [2, 0])
    assert first.line.dash != second.line.dash
    assert first.marker.symbol != second.marker.symbol
    assert list(figure.layout.xaxis.ticktext) == ["1-10<br>1,200", "&gt;50<br>3"]
