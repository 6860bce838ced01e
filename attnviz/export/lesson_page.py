"""A lesson as one HTML page that opens offline: questions, predictions scored on the spot, and an answer sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from attnviz.analysis.numbers import NO_BREAK, decimal
from attnviz.analysis.recomputation import Weights
from attnviz.architectures import stage_numbered
from attnviz.export.offline_page import compressed, in_every_language, offline_page, packed_figures, variants
from attnviz.figures.heatmap import heatmap
from attnviz.figures.registry import StepFigure, step_figure
from attnviz.figures.spec import Part, Spec
from attnviz.languages import LANGUAGES, format_number, format_share, gettext, language, ngettext, set_language
from attnviz.lessons import AskedQuestion, Lesson, LessonSentence, asked_questions
from attnviz.lessons.lesson_file import HEATMAP, NextWordPrediction, NumberPrediction
from attnviz.palette import ThemeName
from attnviz.text import SPACE
from attnviz.trace.aligned import first_words


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
        "score": gettext("Right answers so far: {hits} of {n}"),
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
                gettext("Made with attnviz. This file opens without an internet connection."),
            ]
        ),
    }


def _duration(lesson: Lesson, count: int) -> str:
    """Return how many questions a lesson has, and how long it takes."""
    questions = ngettext("{count} question", "{count} questions", count)
    if lesson.minutes is None:
        return questions
    minutes = ngettext("{count} minute", "{count} minutes", lesson.minutes)
    return gettext("{questions}, about {minutes}", questions=questions, minutes=minutes)


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
    """Return the form of a number with its unit; the script fills `{n}`."""
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


Translate = Callable[[LessonSentence], tuple[Any, Weights | None]]
"""Returns the translation of a sentence, with the weights of its model for pictures that need them."""


def lesson_html(lesson: Lesson, translate: Translate) -> str:
    """Return the HTML page of a `lesson` whose sentences `translate` translates.

    The page opens in the current language, or in the first of the lesson. The answers, and the pictures that appear
    with them, are compressed, so that the text of the page does not tell them. Raise AttnvizError, with the line of the
    question, where a translation has no such step, word or picture.
    """
    first = language()
    if lesson.languages and first not in lesson.languages:
        set_language(lesson.languages[0])
    try:
        return _page(lesson, translate)
    finally:
        set_language(first)


def _page(lesson: Lesson, translate: Translate) -> str:
    models: dict[str, None] = {}
    items: list[_Item] = []
    for sentence in lesson.sentences:
        trace, weights = translate(sentence)
        models[trace.model] = None
        items += (_Item(asked) for asked in asked_questions(sentence, trace, weights))
    count = sum(item.asked.answer is not None for item in items)
    payload = {
        "language": language(),
        "names": {code: LANGUAGES[code] for code in lesson.languages},
        "words": in_every_language(
            lambda: (
                labels(tuple(models))
                | {
                    "title": str(lesson.title),
                    "about": "" if lesson.about is None else str(lesson.about),
                    "duration": _duration(lesson, count),
                }
            )
        ),
        "items": [item.payload() for item in items],
    }
    return offline_page(str(lesson.title), payload)


@dataclass(frozen=True)
class _Item:
    """A question of the page, with what appears with it and with its answer."""

    asked: AskedQuestion

    def payload(self) -> dict[str, Any]:
        """Return the question as JSON; what only the answer may show is compressed."""
        asked, prediction = self.asked, self.asked.question.prediction
        answer: dict[str, Any] = {
            "target": self._target(None if asked.word is None else asked.word + 1),
            "words": in_every_language(self._answer_words),
            "figures": self._figures(asked.question.reveal),
        }
        if asked.answer is not None:
            answer |= {"right": asked.answer.right, "value": asked.answer.value}
        return {
            "kind": "number" if isinstance(prediction, NumberPrediction) else asked.question.kind,
            "tolerance": prediction.tolerance if isinstance(prediction, NumberPrediction) else 0,
            "source": _words(asked.subject.trace, "source", None),
            "target": self._target(self._known_words()),
            "word": -1 if asked.word is None else asked.word,
            "words": in_every_language(self._question_words),
            "figures": self._figures(asked.question.show),
            "answer": compressed(answer),
        }

    def _known_words(self) -> int:
        """Return how many target words the page shows with the question: those that the decoder has written."""
        if self.asked.word is None:
            return 0 if self.asked.answer is not None else len(self.asked.subject.trace.words().target)
        return self.asked.word + (0 if isinstance(self.asked.question.prediction, NextWordPrediction) else 1)

    def _target(self, count: int | None) -> list[dict[str, Any]]:
        return _words(self.asked.subject.trace, "target", count)

    def _question_words(self) -> dict[str, Any]:
        question, answer = self.asked.question, self.asked.answer
        prediction = question.prediction
        return {
            "question": str(question.question),
            "options": [str(option) for option in answer.options] if answer else [],
            "hint": number_hint(prediction) if isinstance(prediction, NumberPrediction) else "",
            "unit": number_unit(prediction) if isinstance(prediction, NumberPrediction) else "",
            "pictures": self._picture_texts(question.show),
        }

    def _answer_words(self) -> dict[str, Any]:
        question = self.asked.question
        return {
            "note": "" if question.note is None else str(question.note),
            "right": right_answer(self.asked) if self.asked.answer else "",
            "pictures": self._picture_texts(question.reveal),
        }

    def _picture_texts(self, names: Sequence[str]) -> list[dict[str, str]]:
        """Return the title of each picture, and the sentence of its stage."""
        subject, simple = self.asked.subject, self.asked.question.level == "idea"
        texts = []
        for name in names:
            figure = None if name == HEATMAP else step_figure(subject, name)
            note = _stage_sentence(subject.trace, subject.step, figure, simple=simple) if figure else ""
            texts.append({"title": figure.title(subject) if figure else self._heatmap_title(), "note": note})
        return texts

    def _heatmap_title(self) -> str:
        return gettext("Alignment") if self.asked.subject.trace.attends else gettext("A single vector for all steps")

    def _figures(self, names: Sequence[str]) -> Part:
        return variants(lambda theme: [packed_figures({"0": self._figure(name, theme)}) for name in names])

    def _figure(self, name: str, theme: ThemeName) -> Spec:
        subject = self.asked.subject
        if name == HEATMAP:
            rows = subject.trace
            if rows.attends and self.asked.word is not None:
                rows = first_words(rows, self.asked.word + 1)
            end = self.asked.question.level != "idea"  # as on the page
            return heatmap(rows, step=self.asked.step, end=end, theme=theme)
        return step_figure(subject, name).draw(replace(subject, theme=theme))


def _words(trace: Any, side: str, count: int | None) -> list[dict[str, Any]]:
    """Return the first `count` words of one side, or all, without the end mark, and whether a space precedes each."""
    words = trace.words()
    texts, groups = getattr(words, side), getattr(words, f"{side}_groups")
    pieces = trace.source_surfaces if side == "source" else trace.typed_target
    return [
        {"text": text, "space": place > 0 and pieces[group[0]].startswith(SPACE)}
        for place, (text, group) in enumerate(zip(texts[:count], groups[:count], strict=True))
        if text != "</s>"
    ]


def _stage_sentence(trace: Any, step: int, figure: StepFigure, *, simple: bool = False) -> str:
    """Return the sentence of the stage that `figure` belongs to; empty where there is none."""
    stage = stage_numbered(trace, figure.stage)
    return stage.text(trace, step, simple=simple).sentence if stage else ""
