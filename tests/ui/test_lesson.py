"""A lesson in the app: opened by the menu, a link or a file, in place of the sentence, until it is left."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz.lessons import parse_lesson, shipped_lessons
from attnviz.ui.page_state.selection import OWN_LESSON
from tests.commands.test_lesson import LESSON
from tests.conftest import SHIPPED_MODEL
from tests.ui.fields import ask, press
from tests.ui.opening import open_page, upload
from tests.ui.shown_payloads import fetched, mounted, plain_texts


@pytest.fixture(autouse=True)
def _models(monkeypatch: pytest.MonkeyPatch, shipped_model: Path) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(SHIPPED_MODEL.parent))


def is_locked(app: AppTest) -> bool:
    """Return whether the page has nothing but the lesson to use."""
    keys = [given["key"] for given in mounted(app, "button")]
    sentences = [given for given in mounted(app, "field") if given["label"] == "English sentence"]
    return keys == ["leave_lesson"] and not sentences


@pytest.mark.parametrize("name", shipped_lessons())
def test_link_opens_a_shipped_lesson_until_it_is_left(name: str) -> None:
    app = open_page(lesson=name)
    assert is_locked(app)
    (lesson,) = mounted(app, "lesson")
    assert lesson["items"]
    assert mounted(app.run(), "lesson")[0]["identity"] == lesson["identity"], "the browser finds the answers again"
    (link,) = mounted(app, "copy_link")
    assert link["address"] == f"?lesson={name}&lang=en"
    (page,) = mounted(app, "file_link")
    assert b"default-src 'none'" in fetched(page["at"])
    press(app, "leave_lesson")
    assert not app.exception
    assert not is_locked(app)


def test_menu_offers_each_lesson_and_a_template_that_works(each_language: str) -> None:
    app = open_page(lang=each_language)
    files = {given["file"]: given["at"] for given in mounted(app, "file_link")}
    assert {f"{name}.html" for name in shipped_lessons()} <= set(files)
    template = fetched(files["lesson.yaml"])
    assert parse_lesson(template).languages == (each_language,)
    opened = upload(app, "lesson.yaml", template)
    (lesson,) = mounted(opened, "lesson")
    assert len(lesson["items"]) == 4
    press(opened, "leave_lesson")
    press(opened, "open_attention")
    assert len(mounted(opened, "lesson")[0]["items"]) == 10


def test_browser_sends_the_file_after_a_reload() -> None:
    app = upload(open_page(), "lesson.yaml", LESSON.encode())
    (kept,) = mounted(app, "lesson_file")
    again = open_page(lesson=OWN_LESSON)
    assert mounted(again, "lesson_file") == [{"content": None}]
    assert not mounted(again, "lesson")
    ask(again, "lesson", kept["content"])
    again.run()
    assert mounted(again, "lesson") == mounted(app, "lesson")
    lost = open_page(lesson=OWN_LESSON)
    ask(lost, "lesson", None)
    lost.run()
    assert is_locked(lost)
    assert any("file again" in text for text in plain_texts(lost))


def test_question_whose_answer_is_shown_gets_a_warning() -> None:
    question = LESSON[LESSON.index("      - question") :]
    app = upload(open_page(), "lesson.yaml", (LESSON + question).encode())
    (lesson,) = mounted(app, "lesson")
    assert len(lesson["items"]) == 2
    assert [text for text in plain_texts(app) if text.startswith("Line 10: line 7")]


def test_language_of_the_lesson_rules_its_buttons() -> None:
    app = upload(open_page(lang="fr"), "lesson.yaml", LESSON.replace("title", "language: en\ntitle").encode())
    (lesson,) = mounted(app, "lesson")
    assert (lesson["language"], lesson["words"]["next"]) == ("en", "Next")
    assert [given["label"] for given in mounted(app, "button")] == ["Leave the lesson"]


@pytest.mark.parametrize(
    ("old", "new"),
    [("title", "titel"), ("step: 1", "step: 999"), ("    questions", "    model: absent\n    questions")],
    ids=["field", "step", "model"],
)
def test_faulty_lesson_gets_a_sentence(old: str, new: str, each_language: str, snapshot: SnapshotAssertion) -> None:
    app = upload(open_page(lang=each_language), "lesson.yaml", LESSON.replace(old, new).encode())
    texts = plain_texts(app)
    assert [text for text in texts if any(word in text.lower() for word in ("lesson", "leçon", "999"))] == snapshot


def test_link_with_an_unknown_lesson_says_so() -> None:
    app = open_page(lesson="absent")
    assert not is_locked(app)
    assert "absent" in str(list(mounted(app, "link_messages")))
