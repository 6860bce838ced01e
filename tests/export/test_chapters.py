"""Export of a page of chapters as an HTML file: languages, themes, moments, tables and self-containment."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz.browser_programs import KATEX, PLOTLY
from attnviz.export.chapters import MOST_CHAPTER_ROWS, Chapter, ChapterPage, ChapterPicture, chapters_html
from attnviz.figures.spec import Spec
from attnviz.languages import LANGUAGES, gettext, language, set_language
from attnviz.palette import ThemeName, palette
from tests.export.test_exports import _Page
from tests.figures.payloads import in_variant, one_of, plain

HARD = "</script><b>&"


def bars(heights: list[float], theme: ThemeName) -> Spec:
    trace = {"type": "bar", "y": np.array(heights), "marker": {"color": palette(theme).bar}}
    layout = {"height": 200, "meta": {"narrowest": 200}}
    return Spec([trace], layout, f"{gettext('Step')}: {heights}", {"k": [1, 2], "height": heights})


def example_page(theme: ThemeName) -> ChapterPage:
    moving = tuple(bars([float(k), 1.0], theme) for k in range(3))
    steady = replace(bars([3.0, 2.0], theme), table={"j": [1, 2], "x": [0.123456, 2.0], "words": [HARD, "b"]})
    table = pd.DataFrame({"x": [1, 2]})
    chapters = (
        Chapter(gettext("Alignment"), (HARD,), (ChapterPicture("a", ("note",), (steady,)),)),
        Chapter(HARD, (), (ChapterPicture("b", ("0", "1", "2"), moving),), (("all", table),), "x^2"),
    )
    return ChapterPage(
        gettext("Step"),
        HARD,
        chapters,
        tuple(gettext("Step {i} of {n}", i=k, n=3) for k in range(3)),
        1,
        (("We", "This", "1"),),
    )


def payload_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_Page(text).texts["payload"])
    return found


def test_chapters_has_every_figure_in_each_language_theme_and_moment() -> None:
    page = _Page(text := chapters_html(example_page))
    assert page.requested == []
    assert PLOTLY.text in text
    assert KATEX.text in text
    assert HARD not in text
    assert "default-src 'none'" in text
    payload = payload_of(text)
    assert payload["opened"] == 1
    for code in LANGUAGES:
        for theme in ("light", "dark"):
            set_language(code)
            expected, drawn = example_page(theme), in_variant(payload["figures"], code, theme)
            for chapter, shown in zip(expected.chapters, drawn, strict=True):
                assert shown["equation"] == chapter.equation
                for picture, one in zip(chapter.pictures, shown["pictures"], strict=True):
                    at_each = [plain(one_of(one, moment)) for moment in range(len(one["values"]))]
                    assert at_each == [plain(figure.plotly) for figure in picture.figures]
            set_language("en")


def test_chapters_has_both_languages_and_keeps_the_current_one() -> None:
    set_language("fr")
    payload = payload_of(chapters_html(example_page))
    assert language() == "fr"
    assert payload["language"] == "fr"
    words = payload["words"]
    assert words["fr"]["moments"] != words["en"]["moments"]
    table = words["fr"]["chapters"][0]["pictures"][0]["table"]
    assert table["head"] == ["j", "x", "words"]
    assert table["rows"] == [["1", "0,1235", HARD], ["2", "2", "b"]]
    assert words["en"]["chapters"][0]["pictures"][0]["table"]["rows"][0][1] == "0.1235"
    assert words["en"]["chapters"][1]["pictures"][0]["table"]["rows"] == [["1", "2"], ["2", "1"]], "the last figure's"
    assert words["en"]["references"] == ["We. This. arXiv 1"]


def test_chapters_without_equations_omits_katex() -> None:
    text = chapters_html(lambda theme: ChapterPage("t", "s", example_page(theme).chapters[:1]))
    assert KATEX.text not in text
    assert payload_of(text)["words"]["en"]["moments"] == []


@given(st.integers(0, 3 * MOST_CHAPTER_ROWS))
def test_long_tables_are_cut_with_a_note(rows: int) -> None:
    table = pd.DataFrame({"x": np.arange(rows)})
    text = chapters_html(lambda _: ChapterPage("t", "s", (Chapter("c", (), (), (("all", table),)),)))
    (found,) = payload_of(text)["words"]["en"]["chapters"][0]["tables"]
    assert len(found["rows"]) == min(rows, MOST_CHAPTER_ROWS)
    assert re.findall(r"\d+", found["more"]) == ([str(rows - MOST_CHAPTER_ROWS)] if rows > MOST_CHAPTER_ROWS else [])


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_cut_table_counts_the_rows_left_out(code: str, snapshot: SnapshotAssertion) -> None:
    table = pd.DataFrame({"x": np.arange(MOST_CHAPTER_ROWS + 5)})
    text = chapters_html(lambda _: ChapterPage("t", "s", (Chapter("c", (), (), (("all", table),)),)))
    (found,) = payload_of(text)["words"][code]["chapters"][0]["tables"]
    assert found["more"] == snapshot


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_have_alt_text_in_the_language(theme: ThemeName) -> None:
    payload = payload_of(chapters_html(example_page))
    drawn = in_variant(payload["figures"], "fr", theme)[1]["pictures"][0]
    assert one_of(drawn, 0)["layout"]["meta"]["alt"].startswith("Étape")
