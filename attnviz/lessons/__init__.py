"""Lessons: sentences with questions that students answer before they see what the model did.

A lesson is a YAML file (`read_lesson`). The program comes with some (`shipped_lessons`).
"""

from __future__ import annotations

import functools
from pathlib import Path

from attnviz.lessons.answers import Answer, AskedQuestion, asked_questions
from attnviz.lessons.lesson_file import Lesson, LessonSentence, Question, parse_lesson, read_lesson

__all__ = [
    "Answer",
    "AskedQuestion",
    "Lesson",
    "LessonSentence",
    "Question",
    "asked_questions",
    "parse_lesson",
    "read_lesson",
    "shipped_lesson",
    "shipped_lessons",
]


def shipped_lessons() -> dict[str, Path]:
    """Return the files of the lessons that come with the program, by name."""
    return {path.stem: path for path in sorted(Path(__file__).parent.glob("*.yaml"))}


@functools.cache
def shipped_lesson(name: str) -> Lesson:
    """Return the lesson of this name that comes with the program."""
    return read_lesson(shipped_lessons()[name])
