"""A lesson as an HTML page: self-contained, bilingual, and silent about the answers."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from attnviz.browser_programs import PLOTLY
from attnviz.export.lesson_page import lesson_html
from attnviz.figures.heatmap import heatmap
from attnviz.languages import LANGUAGES, language, set_language
from attnviz.lessons import Lesson, LessonSentence, parse_lesson
from attnviz.lessons.lesson_file import Text
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.trace.aligned import first_words
from tests.export.test_exports import _Page
from tests.figures import synthetic
from tests.figures.payloads import draws, in_variant

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


@pytest.fixture(scope="module")
def page() -> str:
    return lesson_html(parse_lesson(FILE.encode()), translate)


def payload_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_Page(text).texts["payload"])
    return found


def answer_of(item: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(item["answer"])))
    return found


def test_page_is_self_contained(page: str) -> None:
    assert _Page(page).requested == []
    assert "default-src 'none'" in page
    assert PLOTLY.text in page
    assert HARD not in page


def test_items_have_what_is_asked_and_nothing_of_the_answer(page: str) -> None:
    attends, following, text = payload_of(page)["items"]
    assert [item["kind"] for item in (attends, following, text)] == ["attends", "next", ""]
    assert tuple(attends["words"]["en"]["options"]) == WORDS.source
    shown = [word["text"] for word in attends["target"]]
    assert shown == [word for word in WORDS.target[: WORD + 1] if word != "</s>"]
    assert [word["text"] for word in following["target"]] == shown, "the word to be predicted is not there"
    assert in_variant(attends["figures"], "en", "light") == []
    assert len(in_variant(following["figures"], "en", "light")) == 1
    best = int(WORDS.alignment[WORD].argmax())
    assert answer_of(attends)["right"] == [best]
    assert answer_of(attends)["words"]["fr"] | {"pictures": []} == {
        "note": HARD,
        "right": WORDS.source[best],
        "pictures": [],
    }
    assert answer_of(following)["right"] == [0]
    assert "right" not in answer_of(text)


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_heatmap_ends_at_the_step(page: str, code: str, theme: ThemeName) -> None:
    answer = answer_of(payload_of(page)["items"][0])
    (drawn,) = in_variant(answer["figures"], code, theme)
    set_language(code)
    expected = heatmap(first_words(TRACE, WORD + 1), step=WORDS.target_groups[WORD][0], theme=theme)
    assert draws(drawn, 0, expected)
    assert len(expected.layout["yaxis"]["ticktext"]) == WORD + 1


def test_page_opens_in_the_language_of_the_lesson() -> None:
    lesson = parse_lesson(FILE.encode())
    set_language("fr")
    payload = payload_of(lesson_html(lesson, translate))
    assert (payload["language"], list(payload["names"])) == ("fr", ["en", "fr"])
    assert payload["words"]["fr"]["title"] == "Titre français"
    alone = Lesson(Text({"fr": "Titre"}), ())
    set_language("en")
    assert payload_of(lesson_html(alone, translate))["language"] == "fr"
    assert language() == "en"


def test_text_in_one_language_has_no_switch() -> None:
    file = "attnviz-lesson: 1\ntitle: Titel\nsentences: [{sentence: x, questions: [{question: Was}]}]\n"
    set_language("fr")
    payload = payload_of(lesson_html(parse_lesson(file.encode()), translate))
    assert payload["names"] == {}
    assert {payload["words"][code]["title"] for code in LANGUAGES} == {"Titel"}
