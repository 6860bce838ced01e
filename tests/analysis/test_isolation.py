"""Right-to-left words: isolated in sentences, labels and tables, and unchanged in data files."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Attention, attention, export, figures, read_attention
from attnviz.analysis.findings import finding_sentence, findings_of, summarise, summary_sentence
from attnviz.analysis.labels import quote, quoted_name, shorten
from attnviz.architectures import narrate
from attnviz.export.html_table import heatmap_html
from attnviz.figures.heatmap import heatmap
from attnviz.text import isolated, without_isolates
from tests.strategies import texts

HEBREW = "הבית הירוק גדול"
ARABIC = "كَتَبَ الطالبُ ٣"


def _bare(text: str) -> str:
    """Return the right-to-left letters of a text that are outside isolates."""
    outside = re.sub("\u2068[^\u2068\u2069]*\u2069", "", without_quote_escapes(text))
    return "".join(one for one in outside if unicodedata.bidirectional(one) in ("R", "AL", "AN"))


def without_quote_escapes(text: str) -> str:
    return text.replace("&quot;", '"')


@pytest.fixture(params=[(HEBREW, "la maison verte"), ("the green house", ARABIC), (HEBREW, ARABIC)])
def record(request: pytest.FixtureRequest) -> Attention:
    source, target = request.param
    return attention(source, target, [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])


def test_sentences_and_tables_isolate_right_to_left_words(record: Attention) -> None:
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
    page = heatmap_html(record)
    assert _bare(re.sub("<caption.*?</caption>", "", page)) == ""


def test_data_files_have_words_without_isolates(record: Attention, tmp_path: Path) -> None:
    for ending in ("csv", "json", "tex", "pharaoh"):
        export.save(record, tmp_path / f"a.{ending}")
        assert "\u2068" not in (tmp_path / f"a.{ending}").read_text(encoding="utf-8-sig")
    (found,) = read_attention(tmp_path / "a.csv")
    assert found.words().source == record.words().source
    rows = list(csv.reader(io.StringIO((tmp_path / "a.csv").read_text(encoding="utf-8-sig"))))
    assert len(rows) == 4


def test_labels_are_isolated_once() -> None:
    assert quote(shorten(HEBREW, 5)).count("\u2068") == 1
    assert quoted_name(f"\u2581{HEBREW}").count("\u2068") == 1
    assert figures.heatmap(attention(HEBREW, "a", np.full((1, 3), 1 / 3)))


@given(texts)
def test_isolation_adds_only_isolate_characters(text: str) -> None:
    once = isolated(without_isolates(text))
    assert isolated(once) == once
    assert without_isolates(once) == without_isolates(text)
    assert (once == without_isolates(text)) == (_bare(without_isolates(text)) == "")


@given(st.text(st.characters(max_codepoint=0x24F)))
def test_left_to_right_text_is_unchanged(text: str) -> None:
    assert isolated(text) == text
