"""A lesson: sentences, and questions that students answer before they see what the model did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from attnviz.languages import language

Level = Literal["idea", "numbers"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""Levels of the sentences beside the pictures: everyday words, or numbers and symbols."""

Quantity = Literal["attention", "probability", "energy"]
QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)
"""Numbers that students can estimate; the first two are asked for in percent."""

HEATMAP = "heatmap"
"""Name of the picture of the whole translation; the others are figures of a step."""


@dataclass(frozen=True)
class Text:
    """A text in one language, or in several."""

    versions: Mapping[str, str]
    """The text by language code; a text in one language has the code ""."""

    def __str__(self) -> str:
        """Return the text in the current language, or the only one there is."""
        return self.versions.get(language()) or next(iter(self.versions.values()))


@dataclass(frozen=True)
class Attends:
    """Predict the source word that the step's word attends to most."""


@dataclass(frozen=True)
class Next:
    """Predict the word that the step writes."""

    choices: tuple[str, ...] = ()
    """Words to choose from; empty for the likeliest ones."""


@dataclass(frozen=True)
class Number:
    """Estimate a number of the step."""

    quantity: Quantity
    tolerance: float
    """Largest difference that counts as right, in the unit of the question."""
    source: int | str | None = None
    """Source word of an attention or energy: the word, or its number from 1."""


@dataclass(frozen=True)
class Choice:
    """Choose one of several texts."""

    choices: tuple[Text, ...]
    answer: int
    """Number of the right choice, from 1."""


Prediction = Attends | Next | Number | Choice


@dataclass(frozen=True)
class Question:
    """A question about a translation, and what appears with it and with its answer."""

    question: Text
    prediction: Prediction | None = None
    """What students predict; None for a text that asks nothing."""
    note: Text | None = None
    """Explanation that appears with the answer."""
    step: int | str | None = None
    """The step: its number from 1, or a target word, which occurs once; None for the whole translation."""
    level: Level = "idea"
    show: tuple[str, ...] = ()
    """Pictures that appear with the question."""
    reveal: tuple[str, ...] = (HEATMAP,)
    """Pictures that appear with the answer."""
    layer: int | None = None
    """Layer of a transformer whose attention is meant, from 1; None for the mean of all."""
    head: int | None = None
    """Head of that layer, from 1; None for the mean of all."""
    line: int = field(default=0, compare=False)
    """Line of the file, for messages; 0 where it was not read from a file."""

    @property
    def kind(self) -> str:
        """What is predicted: "attends", "next", "choice" or a quantity; empty where nothing is."""
        if isinstance(self.prediction, Number):
            return self.prediction.quantity
        return "" if self.prediction is None else type(self.prediction).__name__.lower()

    @property
    def pictures(self) -> tuple[str, ...]:
        """All pictures."""
        return (*self.show, *self.reveal)


@dataclass(frozen=True)
class LessonSentence:
    """A sentence, how it is translated, and the questions about its translation."""

    sentence: str
    questions: tuple[Question, ...]
    model: str = ""
    """Name of an installed model; empty for the default model."""
    beam: int = 1
    target: str | None = None
    """Translation that the decoder must write."""


@dataclass(frozen=True)
class Lesson:
    """A lesson."""

    title: Text
    sentences: tuple[LessonSentence, ...]
    about: Text | None = None
    """Introduction."""
    minutes: int | None = None
    """Duration."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of its texts; empty for texts in a single language, whichever it is."""
        return tuple(code for code in self.title.versions if code)
