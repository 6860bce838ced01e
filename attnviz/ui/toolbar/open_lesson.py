"""Show an open lesson, uploaded or named by the link, in place of the whole page *Translate*.

`attnviz.export.lesson_page` makes the page with its questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attnviz import AttnvizError
from attnviz.export.lesson_page import lesson_html
from attnviz.languages import gettext, language
from attnviz.lessons import Lesson, LessonSentence, parse_lesson, read_lesson, shipped_lessons
from attnviz.lessons.lesson_file import folder_of_model
from attnviz.lru_cache import LRUCache
from attnviz.trace import Trace
from attnviz.ui.components.component import component
from attnviz.ui.language import language_address
from attnviz.ui.page_state.linked import Parameters, Session, linked_entry, set_page_address
from attnviz.ui.payloads import HtmlPage, PayloadRequest, shown_address
from attnviz.ui.requests import request_button
from attnviz.ui.resources import translate, weights_of
from attnviz.ui.waiting import TURNS

LESSON = "lesson"
"""Session state key of the open lesson, and address parameter with the name of one that comes with the program."""

_PAGES: LRUCache[HtmlPage] = LRUCache(16 << 20, size=len)
"""LRU cache of pages for all visitors; one takes about 1.4 MB."""


def lesson_frame(at: str, title: str) -> None:
    """Draw the frame with the page at the address `at`, in the current language, and give it the `title`."""
    component("lesson_frame", key="lesson_frame", data={"at": at, "title": title, "language": language()})


@dataclass(frozen=True)
class OpenLesson:
    """A lesson that is open in place of the sentence."""

    lesson: Lesson
    name: str = ""
    """Name of a lesson that comes with the program; empty for an uploaded one."""


def open_lesson(session: Session, content: bytes) -> None:
    """Open the lesson in the bytes of a file; raise AttnvizError where it is not valid."""
    session[LESSON] = OpenLesson(parse_lesson(content))


def current_lesson(session: Session, linked: Mapping[str, str]) -> OpenLesson | None:
    """Return the open lesson, at first that of the link; None where there is none."""
    shipped = shipped_lessons()
    lesson: OpenLesson | None = linked_entry(
        session, linked, LESSON, None, offered=shipped, parse=lambda name: OpenLesson(read_lesson(shipped[name]), name)
    )
    return lesson


def close_lesson(session: Session) -> None:
    """Close the lesson and return to translating."""
    session[LESSON] = None


def draw_lesson(opened: OpenLesson) -> None:
    """Draw the lesson and a button that leaves it."""
    session, lesson = st.session_state, opened.lesson
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_head"):
        st.text(gettext("This is a lesson. The button “Next” works once you have answered."))
        request_button(gettext("Leave the lesson"), partial(close_lesson, session), key="leave_lesson")
    try:
        with st.spinner(gettext("Translating…")):
            _page(lesson)
    except AttnvizError as error:
        with st.container(key="problem"):
            st.text(str(error))
    else:
        lesson_frame(shown_address(LESSON, {LESSON: lesson}, lang=""), str(lesson.title))
    parameters: Parameters = {LESSON: opened.name or None}
    set_page_address(session, f"lesson {opened.name}", parameters | language_address())


def lesson_page(request: PayloadRequest) -> HtmlPage:
    """Return the page of the lesson, in all its languages."""
    return _page(request.shown[LESSON])


def _page(lesson: Lesson) -> HtmlPage:
    """Return the page of a lesson in all its languages; raise AttnvizError where it does not fit its translations."""
    traces = {id(sentence): _translation(sentence) for sentence in lesson.sentences}
    key = (repr(lesson), *(trace.fingerprint for trace in traces.values()))
    with TURNS.released():
        return _PAGES.get(
            key, lambda: HtmlPage(lesson_html(lesson, lambda one: (traces[id(one)], weights_of(traces[id(one)]))))
        )


def _translation(sentence: LessonSentence) -> Trace:
    return translate(str(folder_of_model(sentence)), "auto", sentence.sentence, sentence.beam, sentence.target)
