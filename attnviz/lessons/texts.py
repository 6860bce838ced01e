"""Texts of a lesson's page besides those of the lesson: controls, verdicts, score and answer sheet."""

from __future__ import annotations

from attnviz.languages import format_number, format_share, gettext, ngettext
from attnviz.lessons.answers import Asked
from attnviz.lessons.lesson import Lesson, Number
from attnviz.wording.numbers import NO_BREAK, decimal


def labels(models: tuple[str, ...]) -> dict[str, str]:
    """Return the texts of the page; the script fills `{i}`, `{n}`, `{hits}` and `{right}`."""
    return {
        "start": gettext("Start"),
        "previous": gettext("Back"),
        "next": gettext("Next"),
        "finish": gettext("See the score"),
        "check": gettext("Check the answer"),
        "place": gettext("{i} of {n}"),
        "progress": gettext("Progress"),
        "score": gettext("Right so far: {hits} of {n}"),
        "options": gettext("Answers to choose from"),
        "not_a_number": gettext("Type a number."),
        "right": gettext("Right: {right}"),
        "wrong": gettext("Not quite. Right answer: {right}"),
        "right_option": gettext("right answer"),
        "wrong_option": gettext("your answer"),
        "english": gettext("English sentence"),
        "french": gettext("French translation"),
        "summary": gettext("Your score"),
        "hits": gettext("You answered {hits} of {n} questions right."),
        "unanswered": gettext("no answer"),
        "name": gettext("Your name"),
        "sheet": gettext("Download the answer sheet (CSV)"),
        "file": gettext("answers"),
        "column_name": gettext("name"),
        "column_question": gettext("question"),
        "column_answer": gettext("answer"),
        "column_right": gettext("right answer"),
        "column_score": gettext("score"),
        "again": gettext("Start again"),
        "footer": " ".join(
            [
                gettext("Translated by: {models}.", models=", ".join(models)),
                gettext("Made with attnviz; this file opens without an internet connection."),
            ]
        ),
    }


def duration(lesson: Lesson, count: int) -> str:
    """Return how many questions a lesson has, and how long it takes."""
    questions = ngettext("{count} question", "{count} questions", count)
    if lesson.minutes is None:
        return questions
    minutes = ngettext("{count} minute", "{count} minutes", lesson.minutes)
    return gettext("{questions}, about {minutes}", questions=questions, minutes=minutes)


def number_hint(prediction: Number) -> str:
    """Return in which unit a number is asked for, and how near is near enough."""
    tolerance = format_number(prediction.tolerance, "g")
    if prediction.quantity == "energy":
        return gettext("A number, which may be negative. An answer within {tolerance} is right.", tolerance=tolerance)
    return gettext("In percent, from 0 to 100. An answer within {tolerance} points is right.", tolerance=tolerance)


def number_unit(prediction: Number) -> str:
    """Return the form of a number with its unit; the script fills `{n}`."""
    return "{n}" if prediction.quantity == "energy" else f"{{n}}{NO_BREAK}%"


def right_answer(asked: Asked) -> str:
    """Return the right answer in the current language."""
    question, answer = asked.question, asked.answer
    assert answer is not None
    if isinstance(question.prediction, Number):
        if question.prediction.quantity == "energy":
            return decimal(answer.value)
        return format_share(answer.value / 100, 0 if question.prediction.tolerance >= 1 else 1)
    return " / ".join(str(answer.options[place]) for place in answer.right)
