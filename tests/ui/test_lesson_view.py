"""A lesson as blocks in a saved page: its questions, pictures and languages, and its silence about the answers."""

from __future__ import annotations

from typing import Any

import pytest

from attnviz.browser_programs import PLOTLY
from attnviz.lessons import LessonSentence, parse_lesson
from attnviz.trace import Trace
from attnviz.ui.lesson_view import answered, lesson_html
from tests.export.test_exports import _Page
from tests.figures import synthetic
from tests.saved_pages import SavedView, flattened, saved_view

TRACE = synthetic.trace()
WORDS = TRACE.words()
WORD = 1
HARD = "</script><b>&"
FILE = f"""
attnviz-lesson: 1
title: {{en: English title, fr: Titre français}}
about: {{en: About, fr: À propos}}
sentences:
  - sentence: x
    questions:
      - question: {{en: "Which word?", fr: "Quel mot ?"}}
        predict: attends
        step: {WORDS.target_groups[WORD][0] + 1}
        note: {{en: "{HARD}", fr: "{HARD}"}}
      - question: {{en: "What next?", fr: "Et ensuite ?"}}
        predict: next
        step: {WORDS.target_groups[WORD + 1][0] + 1}
        choices: ["{WORDS.target[WORD + 1]}", zzz]
        show: [energy]
        reveal: [candidates]
      - question: {{en: Read this., fr: Lisez ceci.}}
"""


def translate(_: LessonSentence) -> tuple[Trace, None]:
    return TRACE, None


def page_of(file: str) -> str:
    return lesson_html(answered(parse_lesson(file.encode()), translate)).decode("utf-8")


@pytest.fixture(scope="module")
def page() -> str:
    return page_of(FILE)


def lesson_in(view: SavedView) -> dict[str, Any]:
    (found,) = view.mounted("lesson")
    return dict(found)


def charts_in(view: SavedView, key: str) -> list[dict[str, Any]]:
    """Return the payloads of the pictures in the box with this key."""
    (found,) = (block for block in flattened(view.blocks) if block["key"] == key)
    return [block["data"] for block in found["blocks"]]


def test_page_is_self_contained_and_tells_no_answer(page: str) -> None:
    assert _Page(page).requested == []
    assert "default-src 'none'" in page
    assert PLOTLY.text in page
    assert HARD not in page
    assert "Which word?" not in page


def test_items_have_what_is_asked_and_the_answer(page: str) -> None:
    view = saved_view(page)
    attends, following, text = lesson_in(view)["items"]
    assert [item["kind"] for item in (attends, following, text)] == ["attends", "next", ""]
    assert attends["options"] == [*WORDS.source[:-1], "</s>"]
    shown = [word["text"] for word in attends["target"]]
    assert shown == [word for word in WORDS.target[: WORD + 1] if word != "</s>"]
    assert [word["text"] for word in following["target"]] == shown, "the word to be predicted is not there"
    assert [len(charts_in(view, f"lesson_0_{name}")) for name in ("show", "reveal")] == [0, 1]
    assert [len(charts_in(view, f"lesson_1_{name}")) for name in ("show", "reveal")] == [1, 1]
    best = int(WORDS.alignment[WORD].argmax())
    french = lesson_in(saved_view(page, "fr"))["items"][0]["answer"]
    assert (french["right"], french["note"], french["text"]) == ([best], HARD, WORDS.source[best])
    assert following["answer"]["right"] == [0]
    assert text["answer"]["right"] == []
