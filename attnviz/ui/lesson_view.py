"""A lesson as blocks, in the app and in a file: its questions as one component, and their pictures as charts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from attnviz.analysis.labels import NO_BREAK, decimal
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.what_if_effects import spaced_words
from attnviz.architectures import stage_numbered
from attnviz.figures.heatmap import heatmap
from attnviz.figures.registry import step_figure
from attnviz.figures.spec import Spec
from attnviz.languages import format_number, format_share, gettext, gettexts, language, ngettext, set_language
from attnviz.lessons import AskedQuestion, Lesson, LessonSentence, asked_questions
from attnviz.lessons.lesson_file import HEATMAP, NextWordPrediction, NumberPrediction
from attnviz.trace.aligned import first_words
from attnviz.ui.blocks import box, component, hidden_box, steady_payload
from attnviz.ui.embedded_view import drawn_page, made_with_attnviz
from attnviz.ui.payloads import Payload

Translate = Callable[[LessonSentence], tuple[Any, Weights | None]]
"""Returns the translation of a sentence, with the weights of its model for pictures that need them."""
_WIDE = 640
"""Pixels of width above which a picture stands below its question."""
_META = ("narrowest", "widest", "columns", "panels", "beside", "stacked")
"""What a chart is told of a picture: in a lesson, a click on it chooses nothing."""


@dataclass(frozen=True)
class AnsweredLesson:
    """A lesson with the answers that its models give."""

    lesson: Lesson
    asked: tuple[AskedQuestion, ...]

    @property
    def identity(self) -> str:
        """Digest of the lesson and of its translations."""
        text = repr((self.lesson, [one.subject.trace.fingerprint for one in self.asked]))
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Questions whose answers are already shown."""
        return tuple(one.warning for one in self.asked if one.warning)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(dict.fromkeys(one.subject.trace.model for one in self.asked))


def answered(lesson: Lesson, translate: Translate) -> AnsweredLesson:
    """Return a lesson whose sentences `translate` translates.

    Raise AttnvizError, with the line of the question, where a translation has no such step, word or picture.
    """
    asked = [one for sentence in lesson.sentences for one in asked_questions(sentence, *translate(sentence))]
    return AnsweredLesson(lesson, tuple(asked))


@contextmanager
def language_of(lesson: Lesson | None) -> Iterator[None]:
    """Use the current language where there is no lesson, or it has that, else the first that it has."""
    before = language()
    if lesson and lesson.languages and before not in lesson.languages:
        set_language(lesson.languages[0])
    try:
        yield
    finally:
        set_language(before)


def lesson_html(given: AnsweredLesson) -> bytes:
    """Return the HTML page of a lesson, in all its languages; it opens in the current one, or in its first.

    The text of the page does not tell the answers.
    """
    with language_of(given.lesson):

        def footer() -> str:
            return f"{translated_by(given)} {made_with_attnviz()}"

        name, title = f"lesson-{given.identity}", str(given.lesson.title)
        draw = partial(lesson_view, given)
        languages = given.lesson.languages or (language(),)
        return drawn_page(title, name, draw, 0, footer, languages)


def translated_by(given: AnsweredLesson) -> str:
    """Return which models translated the sentences of a lesson."""
    return gettext("Translated by: {models}.", models=", ".join(given.models))


def lesson_view(given: AnsweredLesson) -> None:
    """Draw a lesson in the current language."""
    pictures = [
        {name: _picture(one, name) for name in (*one.question.reveal, *one.question.show)} for one in given.asked
    ]
    with box("room-lesson"):  # components/lesson/lesson.js finds the pictures in it
        data = {
            "identity": given.identity,
            "language": language(),
            "words": _labels(given),
            "items": list(map(_item_payload, given.asked, pictures)),
        }
        component("lesson", "lesson", data)
        with box("lesson_pictures"):
            for number, (one, specs) in enumerate(zip(given.asked, pictures, strict=True)):
                for name, shown in (("reveal", one.question.reveal), ("show", one.question.show)):
                    with hidden_box(f"lesson_{number}_{name}"):
                        for picture in shown:
                            payload = _picture_payload(one, picture, specs[picture])
                            component("chart", f"lesson_{number}_{picture}", payload)


def _labels(given: AnsweredLesson) -> dict[str, str]:
    """Return the texts of a lesson; the browser fills `{i}`, `{n}`, `{hits}` and `{right}`."""
    lesson = given.lesson
    return gettexts(
        {
            "how": "The button “Next” works once you have answered.",
            "start": "Start",
            "previous": "Back",
            "next": "Next",
            "finish": "See the score",
            "check": "Check the answer",
            "place": "{i} of {n}",
            "progress": "Progress",
            "score": "Right answers so far: {hits} of {n}",
            "options": "Answers to choose from",
            "not_a_number": "Type a number.",
            "right": "Right: {right}",
            "wrong": "Not quite. Right answer: {right}",
            "right_option": "right answer",
            "wrong_option": "your answer",
            "english": "English sentence",
            "french": "French translation",
            "summary": "Your score",
            "hits": "You answered {hits} of {n} questions right.",
            "unanswered": "no answer",
            "name": "Your name",
            "sheet": "Download the answer sheet (CSV)",
            "file": "answers",
            "column_name": "name",
            "column_question": "question",
            "column_answer": "answer",
            "column_right": "right answer",
            "column_score": "score",
            "again": "Start again",
        }
    ) | {
        "title": str(lesson.title),
        "about": "" if lesson.about is None else str(lesson.about),
        "duration": lesson_length(lesson),
    }


def lesson_length(lesson: Lesson) -> str:
    """Return how many questions a lesson has, and how long it takes."""
    count = sum(one.prediction is not None for sentence in lesson.sentences for one in sentence.questions)
    questions = ngettext("{count} question", "{count} questions", count)
    if lesson.minutes is None:
        return questions
    minutes = ngettext("{count} minute", "{count} minutes", lesson.minutes)
    return gettext("{questions}, about {minutes}", questions=questions, minutes=minutes)


def _item_payload(asked: AskedQuestion, pictures: Mapping[str, Spec]) -> Payload:
    """Return a question with its `pictures` as JSON, and its answer: `LessonItem` in `lesson.d.ts`."""
    question, answer, trace, word = asked.question, asked.answer, asked.subject.trace, asked.word
    number = question.prediction if isinstance(question.prediction, NumberPrediction) else None
    # The target words that appear with the question are those that the decoder has written.
    known = 0 if answer is not None else len(trace.words().target)
    if word is not None:
        known = word + (0 if isinstance(question.prediction, NextWordPrediction) else 1)
    return {
        "kind": "number" if number else question.kind,
        "question": str(question.question),
        "options": [str(option) for option in answer.options] if answer else [],
        "hint": number_hint(number) if number else "",
        "unit": number_unit(number) if number else "",
        "tolerance": number.tolerance if number else 0,
        "source": _words(trace, "source", None),
        "target": _words(trace, "target", known),
        "word": -1 if word is None else word,
        "wide": any(spec.layout["meta"]["narrowest"] > _WIDE for spec in pictures.values()),
        "answer": {
            "target": _words(trace, "target", None if word is None else word + 1),
            "note": "" if question.note is None else str(question.note),
            "text": right_answer(asked) if answer else "",
            "right": answer.right if answer else (),
            "value": answer.value if answer else 0,
        },
    }


def _picture(asked: AskedQuestion, name: str) -> Spec:
    """Return a picture of a question: the heatmap, or a figure of its step."""
    subject = asked.subject
    if name != HEATMAP:
        return step_figure(subject, name).draw(subject)
    rows = subject.trace
    if rows.attends and asked.word is not None:
        rows = first_words(rows, asked.word + 1)
    return heatmap(rows, step=asked.step, end=asked.question.level != "idea")


def _picture_payload(asked: AskedQuestion, name: str, spec: Spec) -> Payload:
    """Return the payload of the chart of a picture, with its title and the sentence of its stage."""
    meta = {name: value for name, value in spec.layout["meta"].items() if name in _META}
    steady, subject = replace(spec, layout=spec.layout | {"meta": meta}), asked.subject
    if name == HEATMAP:
        title = gettext("Alignment" if subject.trace.attends else "A single vector for all steps")
        return steady_payload(steady, (title, ""))
    figure = step_figure(subject, name)
    stage = stage_numbered(subject.trace, figure.stage)
    simple = asked.question.level == "idea"
    sentence = stage.text(subject.trace, subject.step, simple=simple).sentence if stage else ""
    return steady_payload(steady, (figure.title(subject), sentence))


def number_hint(prediction: NumberPrediction) -> str:
    """Return in which unit a number is asked for, and how near is near enough."""
    tolerance = format_number(prediction.tolerance, "g")
    if prediction.quantity == "energy":
        return gettext(
            "Give a number, positive or negative. An answer within {tolerance} of the exact value is right.",
            tolerance=tolerance,
        )
    return gettext(
        "Answer in percent, from 0 to 100. An answer within {tolerance} points of the exact value is right.",
        tolerance=tolerance,
    )


def number_unit(prediction: NumberPrediction) -> str:
    """Return the form of a number with its unit; the browser fills `{n}`."""
    return "{n}" if prediction.quantity == "energy" else f"{{n}}{NO_BREAK}%"


def right_answer(asked: AskedQuestion) -> str:
    """Return the right answer in the current language."""
    question, answer = asked.question, asked.answer
    assert answer is not None
    if isinstance(question.prediction, NumberPrediction):
        if question.prediction.quantity == "energy":
            return decimal(answer.value)
        return format_share(answer.value / 100, 0 if question.prediction.tolerance >= 1 else 1)
    return " / ".join(str(answer.options[place]) for place in answer.right)


def _words(trace: Any, side: str, count: int | None) -> list[Payload]:
    """Return the first `count` words of one side, or all, without the end mark, and whether a space precedes each."""
    words = spaced_words(trace, source=side == "source")[:count]
    return [{"text": text, "space": space} for text, space in words]
