"""A lesson in the app: opened by a link or a file, in place of the sentence, until it is left."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz.lessons import shipped_lessons
from tests.commands.test_lesson import LESSON
from tests.conftest import SHIPPED_MODEL
from tests.ui.opening import open_page, upload
from tests.ui.shown_payloads import fetched, mounted, plain_texts


@pytest.fixture(autouse=True)
def _models(monkeypatch: pytest.MonkeyPatch, shipped_model: Path) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(SHIPPED_MODEL.parent))


def is_locked(app: AppTest) -> bool:
    """Return whether the page has nothing but the lesson to use."""
    return [button.key for button in app.button] == ["leave_lesson"] and not list(mounted(app, "chart"))


@pytest.mark.parametrize("name", shipped_lessons())
def test_link_opens_a_shipped_lesson_until_it_is_left(name: str) -> None:
    app = open_page(lesson=name)
    assert is_locked(app)
    (frame,) = mounted(app, "lesson_frame")
    assert b'id="payload"' in fetched(frame["at"])
    again = app.run()
    assert [frame["at"] for frame in mounted(again, "lesson_frame")] == [frame["at"]], "the frame keeps its answers"
    app.button(key="leave_lesson").click().run()
    assert not app.exception
    assert not is_locked(app)
    assert list(mounted(app, "chart"))


def test_file_opens_as_a_lesson() -> None:
    app = upload(open_page(), "lesson.yaml", LESSON.encode())
    assert is_locked(app)
    (frame,) = mounted(app, "lesson_frame")
    assert frame["title"] == "A lesson"


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
