"""Find the answers to a lesson's questions in its translations, and warn where an earlier question shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.analysis.recomputation import Weights
from attnviz.errors import AttnvizError
from attnviz.figures.registry import step_figure
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.lessons.lesson_file import (
    HEATMAP,
    ChoicePrediction,
    LessonSentence,
    NextWordPrediction,
    NumberPrediction,
    Question,
    SourceWordPrediction,
    Text,
    gives_away,
)
from attnviz.lessons.yaml_fields import at_line, fail, nearest_name, quoted
from attnviz.text import SPACE, join_pieces
from attnviz.trace.parts import head_choices

_OPTIONS = 4
"""Number of words to choose from where a question about the next word names none."""


_WORDS = "words"
"""What is on show besides pictures: the words of the translation."""
_Heads = tuple[int | None, int | None]
"""Layer and head of a question, from 1."""


@dataclass(frozen=True)
class Answer:
    """The answer to a question, from the numbers of a translation."""

    options: tuple[str | Text, ...] = ()
    """The texts to choose from; none where a number is asked for."""
    right: tuple[int, ...] = ()
    """0-based options that are right."""
    value: float = 0.0
    """The number that is asked for: in percent, or an energy."""


@dataclass(frozen=True)
class AskedQuestion:
    """A question with the translation that it is about."""

    question: Question
    subject: Subject
    """The translation with the question's heads, and its step; step 0 where the question has none."""
    word: int | None
    """0-based target word of the step; None where the question is about the whole translation."""
    answer: Answer | None
    """None where nothing is predicted."""
    warning: str = ""
    """Says which earlier question already shows the answer; empty where none does."""

    @property
    def step(self) -> int | None:
        """0-based step; None where the question is about the whole translation."""
        return None if self.word is None else self.subject.step


def asked_questions(sentence: LessonSentence, trace: Any, weights: Weights | None) -> tuple[AskedQuestion, ...]:
    """Return the questions about a `sentence` with their answers in its translation `trace`.

    `weights` of the model are for pictures that need them. Raise AttnvizError, with the line of the question, where the
    translation has no such step, word or picture.
    """
    return tuple(_with_warnings([_asked(question, trace, weights) for question in sentence.questions]))


def _with_warnings(questions: Sequence[AskedQuestion]) -> Iterator[AskedQuestion]:
    """Yield the questions, each with a warning where its answer is already shown with an earlier one.

    With its answer, a question shows the words and the heatmap's rows up to its step, or all where it has no step.
    """
    on_show: dict[tuple[str, int, _Heads], int] = {}
    for asked in questions:
        warning = ""
        question, words = asked.question, asked.subject.trace.words().target
        heads = (question.layer, question.head)
        for (picture, word, other_heads), line in on_show.items():
            same = word == asked.word and (other_heads == heads or question.kind == "next")
            if same and question.kind not in ("", "choice") and _tells(picture, question.kind):
                message = gettext(
                    "line {line} already shows the answer to this question. Move the question above that line.",
                    line=line,
                )
                warning = warning or at_line(question.line, message)
        yield replace(asked, warning=warning)
        count = len(words) if asked.word is None else asked.word + 1
        for word in range(count):
            on_show.setdefault((_WORDS, word, heads), question.line)
            if HEATMAP in question.pictures:
                on_show.setdefault((HEATMAP, word, heads), question.line)
        for picture in question.pictures:
            if asked.word is not None:
                on_show.setdefault((picture, asked.word, heads), question.line)


def _tells(picture: str, kind: str) -> bool:
    """Return whether a picture, or the words of the translation, tell the answer of a kind of question."""
    return kind == "next" if picture == _WORDS else gives_away(picture, kind)


def _asked(question: Question, trace: Any, weights: Weights | None) -> AskedQuestion:
    trace = _with_heads(question, trace)
    step = None if question.step is None else _step(question, trace)
    subject = Subject(trace, step or 0, weights)
    for name in question.pictures:
        if name != HEATMAP:
            try:
                step_figure(subject, name)
            except AttnvizError as error:
                fail(question.line, str(error))
    word = None if step is None else trace.words().word_at(step)
    return AskedQuestion(
        question, subject, word, None if question.prediction is None else _answer(question, subject, word)
    )


def _with_heads(question: Question, trace: Any) -> Any:
    """Return the translation with the attention of the layer and head of the question."""
    if question.layer is None:
        return trace
    if not head_choices(trace):
        fail(
            question.line,
            gettext("the model {model} has no layers with heads. Delete “layer” and “head”.", model=trace.model),
        )
    try:
        return trace.select_heads(question.layer - 1, None if question.head is None else question.head - 1)
    except AttnvizError as error:
        fail(question.line, str(error))


def _step(question: Question, trace: Any) -> int:
    """Return the 0-based step of a question about a step."""
    words, step = trace.words(), question.step
    if isinstance(step, int):
        if step > len(trace.target_pieces):
            message = gettext(
                "there is no step {step}: the translation “{text}” has steps 1 to {count}.",
                step=step,
                text=trace.translation,
                count=len(trace.target_pieces),
            )
            fail(question.line, message)
        return step - 1
    first: int = words.target_groups[_word(question, step or "", words.target, trace.translation)][0]
    return first


def _word(question: Question, word: int | str, words: tuple[str, ...], text: str) -> int:
    """Return the 0-based place of a word among the `words` of `text`, in which it must occur once."""
    if isinstance(word, int):
        if word > len(words):
            message = gettext(
                "there is no word {number}: “{text}” has {count} words.", number=word, text=text, count=len(words)
            )
            fail(question.line, message)
        return word - 1
    if word not in words:
        message = gettext(
            "there is no word {word} in “{text}”. {nearest}",
            word=quoted(word),
            text=text,
            nearest=nearest_name(word, words),
        )
        fail(question.line, message)
    if words.count(word) > 1:
        message = gettext(
            "the word {word} occurs {count} times in “{text}”. Give the position of the word instead.",
            word=quoted(word),
            count=words.count(word),
            text=text,
        )
        fail(question.line, message)
    return words.index(word)


def _answer(question: Question, subject: Subject, word: int | None) -> Answer:
    prediction, trace = question.prediction, subject.trace
    if isinstance(prediction, ChoicePrediction):
        return Answer(prediction.choices, (prediction.answer - 1,))
    assert word is not None  # the reader requires a step
    if isinstance(prediction, NextWordPrediction):
        return _next_word(question, prediction, subject, word)
    assert isinstance(prediction, SourceWordPrediction | NumberPrediction)
    if isinstance(prediction, NumberPrediction) and prediction.quantity == "probability":
        return Answer(value=100 * float(trace.probabilities[subject.step]))
    if not trace.attends:
        fail(question.line, gettext("the model {model} has no attention. Ask something else.", model=trace.model))
    if isinstance(prediction, SourceWordPrediction):
        row = trace.words().alignment[word]
        return Answer(trace.words().source, tuple(np.flatnonzero(row >= row.max() - 1e-6).tolist()))
    source = _word(question, prediction.source or "", trace.words().source, trace.source_text)
    if prediction.quantity == "attention":
        return Answer(value=100 * float(trace.words().alignment[word, source]))
    pieces = trace.words().source_groups[source]
    if not trace.recurrent:
        message = gettext(
            "the model {model} has no single energy at a step: each head has its own energies. Ask for the attention "
            "instead.",
            model=trace.model,
        )
        fail(question.line, message)
    if len(pieces) > 1:
        message = gettext(
            "an energy belongs to one piece, but {word} has {count} pieces in {model}. Ask for the attention instead.",
            word=quoted(trace.words().source[source]),
            count=len(pieces),
            model=trace.model,
        )
        fail(question.line, message)
    return Answer(value=float(trace.energies[subject.step, pieces[0]]))


def _next_word(question: Question, prediction: NextWordPrediction, subject: Subject, word: int) -> Answer:
    """Return the words to choose from, in alphabetical order where the question names none."""
    trace = subject.trace
    written = trace.words().target[word]
    options = prediction.choices
    if not options:
        pieces = [piece for piece in trace.top_pieces[subject.step] if piece.startswith(SPACE)]
        others = [text for text in map(join_pieces, zip(pieces, strict=True)) if text and text != written]
        options = tuple(sorted((written, *others[: _OPTIONS - 1]), key=str.casefold))
    if written not in options:
        message = gettext(
            "the model writes {word} here, which is not among the choices. Add this word to the choices.",
            word=quoted(written),
        )
        fail(question.line, message)
    return Answer(options, (options.index(written),))
