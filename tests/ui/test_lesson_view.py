"""A lesson as blocks in a saved page: its questions, pictures and languages, and its silence about the answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attnviz.browser_programs import PLOTLY
from attnviz.figures.heatmap import heatmap
from attnviz.languages import LANGUAGES, language, set_language
from attnviz.lessons import LessonSentence, parse_lesson
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.trace.aligned import first_words
from attnviz.ui.lesson_view import answered, lesson_html
from tests.export.test_exports import _Page
from tests.figures import synthetic
from tests.figures.payloads import figure_at
from tests.saved_pages import SavedView, flattened, page_payload, saved_view

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
    return lesson_html(answered(parse_lesson(file.encode()), translate))


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


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_heatmap_ends_at_the_step_and_chooses_nothing(page: str, code: str, theme: ThemeName) -> None:
    (payload,) = charts_in(saved_view(page, code, theme), "lesson_0_reveal")
    drawn = figure_at(payload, "every")
    set_language(code)
    expected = heatmap(first_words(TRACE, WORD + 1), step=WORDS.target_groups[WORD][0], theme=theme, end=False)
    assert drawn["layout"]["yaxis"]["ticktext"] == list(expected.layout["yaxis"]["ticktext"])
    assert drawn["layout"]["meta"]["alt"] == expected.alt
    assert not {"steps", "rows", "sources", "weights"} & set(drawn["layout"]["meta"])
    assert json.dumps(drawn["layout"]["shapes"]) == json.dumps(expected.layout["shapes"])


def test_page_opens_in_the_language_of_the_lesson() -> None:
    set_language("fr")
    found = page_payload(page_of(FILE))
    assert (found["language"], list(found["names"])) == ("fr", ["en", "fr"])
    set_language("en")
    alone = page_of(
        "attnviz-lesson: 1\nlanguage: fr\ntitle: T\nsentences: [{sentence: x, questions: [{question: Q}]}]\n"
    )
    assert (page_payload(alone)["language"], list(page_payload(alone)["names"])) == ("fr", ["fr"])
    assert lesson_in(saved_view(alone, "fr"))["words"]["next"] == "Suivant"
    assert language() == "en"


def test_text_in_an_unnamed_language_has_the_buttons_of_the_page() -> None:
    set_language("fr")
    text = page_of("attnviz-lesson: 1\ntitle: Titel\nsentences: [{sentence: x, questions: [{question: Was}]}]\n")
    assert list(page_payload(text)["names"]) == ["fr"]
    assert lesson_in(saved_view(text, "fr"))["words"]["title"] == "Titel"
