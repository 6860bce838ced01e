"""Labels and numbers: shortened, escaped for Plotly, right-to-left words isolated in texts but not in data files."""

import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Attention, attention
from attnviz.analysis.alignment_summary import summarise, summary_sentence
from attnviz.analysis.findings import finding_sentence, findings_of
from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import duration
from attnviz.architectures import narrate
from attnviz.export.html_page import heatmap_html
from attnviz.figures.heatmap import heatmap
from attnviz.figures.spec import escape
from attnviz.text import piece_name, with_symbols, without_isolates


@given(st.text())
def test_literal_escapes_markup_and_round_trips(text: str) -> None:
    escaped = escape(text)
    assert not re.search(r"[<>$\n]", escaped)
    assert html.unescape(escaped) == with_symbols(text.replace("\n", " "))


@given(st.text(), st.integers(2, 40))
def test_shortening_keeps_the_beginning(text: str, longest: int) -> None:
    short, text = shorten(text, longest), with_symbols(text.replace("\n", " "))
    assert len(without_isolates(short)) <= longest
    short = without_isolates(short)
    assert short == without_isolates(text) or (short.endswith("…") and without_isolates(text).startswith(short[:-1]))


@pytest.mark.parametrize(
    ("piece", "name"),
    [("▁bi", "bi"), ("cycle", "·cycle"), ("</s>", "</s>"), ("<unk>", "<unk>"), ("▁", "␣"), (".", "."), ("d’", "·d’")],
)
def test_piece_name_shows_whether_the_piece_opens_a_word(piece: str, name: str) -> None:
    assert piece_name(piece) == name


HEBREW, ARABIC = "הבית הירוק גדול", "كَتَبَ الطالبُ ٣"


def _bare(text: str) -> str:
    """Return the right-to-left letters of a text that are outside isolates."""
    outside = re.sub("\u2068[^\u2068\u2069]*\u2069", "", text.replace("&quot;", '"'))
    return "".join(one for one in outside if unicodedata.bidirectional(one) in ("R", "AL", "AN"))


@pytest.fixture(params=[(HEBREW, "la maison verte"), ("the green house", ARABIC), (HEBREW, ARABIC)])
def record(request) -> Attention:
    return attention(*request.param, [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])


def test_sentences_and_tables_isolate_right_to_left_words(record) -> None:
    texts_shown = [heatmap(record).alt, heatmap(record, by="steps").alt, summary_sentence(summarise(record))]
    texts_shown += [finding_sentence(record, finding) for finding in findings_of(record)]
    for step in range(3):
        stage = narrate(record, step)[0]
        texts_shown += [stage.sentence, stage.outcome]
        texts_shown.append(str(record.step_figure(step).layout.meta["alt"]))
    table = heatmap(record).frame()
    texts_shown += [*table.index, *table.columns]
    assert [one for one in texts_shown if _bare(one)] == []
    assert "\u2068" in "".join(texts_shown)
    assert _bare(re.sub("<caption.*?</caption>", "", heatmap_html(record))) == ""


def test_durations_have_two_units_at_most() -> None:
    assert [duration(seconds) for seconds in (12, 300, 3600 * 4 + 300)] == ["12 s", "5 min", "4 h 05 min"]
