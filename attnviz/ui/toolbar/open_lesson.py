"""The menu of lessons, and the open lesson, which is drawn in place of the whole page *Translate*.

A lesson comes with the program, and links name it; or it is a visitor's file, which the browser keeps for a reload.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from attnviz import AttnvizError
from attnviz.languages import gettext, language
from attnviz.lessons import Lesson, LessonSentence, parse_lesson, shipped_lesson, shipped_lessons
from attnviz.lessons.lesson_file import folder_of_model
from attnviz.trace import Trace
from attnviz.ui.blocks import box, caption, component, message, view_blocks
from attnviz.ui.controls import close_popover, on_request, popover, request_button, uploader
from attnviz.ui.embedding import page_session
from attnviz.ui.inputs import language_address, linked_entry, set_page_address
from attnviz.ui.lesson_view import (
    AnsweredLesson,
    answered,
    language_of,
    lesson_html,
    lesson_length,
    lesson_view,
    translated_by,
)
from attnviz.ui.payloads import PayloadRequest, makes_payload, shown_address
from attnviz.ui.resources import translate, weights_of
from attnviz.ui.selection import LESSON, LESSONS, OWN_LESSON
from attnviz.ui.toolbar.downloads import copy_link, file_link
from attnviz.ui.waiting import TURNS

_TEMPLATES = Path(__file__).parents[2] / "examples"
_MENU = "lessons"


@dataclass(frozen=True)
class OpenLesson:
    """A lesson that is open in place of the sentence."""

    name: str
    """Its name in links: that of a lesson that comes with the program, or `OWN_LESSON`."""
    lesson: Lesson | None = None
    """None where the file is not valid, or the browser has not sent it yet."""
    content: str = ""
    """The visitor's file."""
    problem: str = ""
    """Says why the file is no lesson."""


def open_lesson(name: str, content: bytes) -> None:
    """Open the lesson in the bytes of a visitor's file; where it is not valid, the page says so in its place."""
    session = page_session()
    try:
        session[LESSON] = OpenLesson(OWN_LESSON, parse_lesson(content), content.decode("utf-8", "replace"))
    except AttnvizError as error:
        problem = f"{gettext('{name} was not opened.', name=name)} {error}"
        session[LESSON] = OpenLesson(OWN_LESSON, problem=problem)


def _open_shipped(name: str) -> None:
    page_session()[LESSON] = OpenLesson(name, shipped_lesson(name))
    close_popover(_MENU)


def _reopen(content: Any) -> None:
    """Open the file that the browser has kept; it may send anything."""
    session = page_session()
    if isinstance(content, str):
        open_lesson(gettext("The lesson"), content.encode("utf-8", "replace"))
    else:
        problem = gettext("This browser has no lesson file any more. Open the file again.")
        session[LESSON] = OpenLesson(OWN_LESSON, problem=problem)


def current_lesson() -> OpenLesson | None:
    """Return the open lesson, at first that of the link; None where there is none."""

    def linked_lesson(name: str) -> OpenLesson:
        return OpenLesson(name, None if name == OWN_LESSON else shipped_lesson(name))

    lesson: OpenLesson | None = linked_entry(LESSON, None, offered=LESSONS, parse=linked_lesson)
    return lesson


def lessons_menu() -> None:
    """Draw the menu: the lessons that come with the program, with their links and files, and a visitor's own."""
    with view_blocks("lessons_view"), popover(gettext("Lessons"), key=_MENU), box("lesson_list"):
        for name in shipped_lessons():
            lesson = shipped_lesson(name)
            with box(f"lesson_{name}", gap="xsmall"):
                with language_of(lesson):
                    request_button(str(lesson.title), partial(_open_shipped, name), key=f"open_{name}")
                    caption(f"{lesson_length(lesson)}. {lesson.about or ''}")
                with box(f"share_{name}", row=True):
                    _share(name, lesson)
        with box("own_lesson", gap="xsmall"):
            _own_lesson()


def _own_lesson() -> None:
    """Draw the uploader of a visitor's lesson, and a template to begin with."""
    uploader(gettext("Your lesson (YAML file)"), open_lesson, key=_MENU, megabytes=1)
    caption(
        gettext(
            "A lesson is a text file with sentences and questions. The right answers come from the translator. The "
            "template is a small lesson that explains itself: open it in a text editor, change it, and open it here."
        )
    )
    file_link(None, gettext("Template"), shown_address("lesson-template", {}), "lesson.yaml", "lesson_template")


def _share(name: str, lesson: Lesson) -> None:
    """Draw the link of a lesson that comes with the program, and the page for students of any."""
    if name != OWN_LESSON:
        copy_link(f"link_{name}", f"./?{urlencode({LESSON: name, 'lang': language()})}")
    given, file = (lesson, "lesson") if name == OWN_LESSON else (name, name)
    at = shown_address("lesson-page", {LESSON: given})
    file_link(None, gettext("Save as a page for students"), at, f"{file}.html", f"save_{name}")


def draw_lesson(opened: OpenLesson) -> None:
    """Draw the lesson, in one of its languages, or why there is none, with a button that leaves it."""
    set_page_address(f"lesson {opened.name}", language_address() | {LESSON: opened.name})
    if opened.lesson is None and not opened.problem:
        component("lesson_file", "lesson_file", {"content": None}, height=1)
        on_request(LESSON, _reopen)
        return
    given, problem = None, opened.problem
    if opened.lesson:
        try:
            with st.spinner(gettext("Translating…")):
                given = _answered(opened.lesson)
        except AttnvizError as error:
            problem = str(error)
    with language_of(given.lesson if given else None), view_blocks("lesson_view"), box("lesson_page"):
        with box("lesson_head", row=True):
            label = gettext("Leave the lesson")
            request_button(label, lambda: page_session().update({LESSON: None}), key="leave_lesson")
            if given:
                _share(opened.name, given.lesson)
        if given is None:
            message(problem, "problem")
            with box("own_lesson", gap="xsmall"):
                _own_lesson()
            return
        if opened.name == OWN_LESSON:
            component("lesson_file", "lesson_file", {"content": opened.content})
            for warning in given.warnings:
                message(warning, "notice")
        lesson_view(given)
        caption(translated_by(given))


@makes_payload("lesson-page")
def lesson_page(request: PayloadRequest) -> bytes:
    """Return the page for students of a lesson, that of a visitor or the name of one that comes with the program."""
    given = request.shown[LESSON]
    lesson = shipped_lesson(given) if isinstance(given, str) else given
    return lesson_html(_answered(lesson))


@makes_payload("lesson-template")
def lesson_template(request: PayloadRequest) -> bytes:  # noqa: ARG001
    """Return the file of a small lesson with comments, in the current language."""
    return (_TEMPLATES / f"lesson-{language()}.yaml").read_bytes()


def _answered(lesson: Lesson) -> AnsweredLesson:
    """Return a lesson with its answers; raise AttnvizError where it does not fit its translations."""
    traces = {id(sentence): _translation(sentence) for sentence in lesson.sentences}
    with TURNS.released():
        return answered(lesson, lambda one: (traces[id(one)], weights_of(traces[id(one)])))


def _translation(sentence: LessonSentence) -> Trace:
    return translate(folder_of_model(sentence).name, "auto", sentence.sentence, sentence.beam, sentence.target)
