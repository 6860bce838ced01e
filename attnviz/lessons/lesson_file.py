"""A lesson, its questions, and the reader of its YAML file; the documentation describes the fields in `commands.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, get_args

import yaml

from attnviz.errors import AttnvizError, user_error
from attnviz.figures.registry import FIGURES
from attnviz.installed_models import find_model, installed_models
from attnviz.languages import LANGUAGES, gettext, language
from attnviz.lessons.yaml_fields import LESSON_LIMITS, Fields, description, fail, line_of, quoted, root_of, text_of
from attnviz.reading import open_content

Level = Literal["idea", "numbers"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""Levels of the sentences beside the pictures: everyday words, or numbers and symbols."""

PredictedQuantity = Literal["attention", "probability", "energy"]
PREDICTED_QUANTITIES: tuple[PredictedQuantity, ...] = get_args(PredictedQuantity)
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
class SourceWordPrediction:
    """Predict the source word that the step's word attends to most."""

    kind: ClassVar[str] = "attends"


@dataclass(frozen=True)
class NextWordPrediction:
    """Predict the word that the step writes."""

    kind: ClassVar[str] = "next"
    choices: tuple[str, ...] = ()
    """Words to choose from; empty for the likeliest ones."""


@dataclass(frozen=True)
class NumberPrediction:
    """Estimate a number of the step."""

    quantity: PredictedQuantity
    tolerance: float
    """Largest difference that counts as right, in the unit of the question."""
    source: int | str | None = None
    """Source word of an attention or energy: the word, or its number from 1."""


@dataclass(frozen=True)
class ChoicePrediction:
    """Choose one of several texts."""

    kind: ClassVar[str] = "choice"
    choices: tuple[Text, ...]
    answer: int
    """Number of the right choice, from 1."""


Prediction = SourceWordPrediction | NextWordPrediction | NumberPrediction | ChoicePrediction


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
        if isinstance(self.prediction, NumberPrediction):
            return self.prediction.quantity
        return "" if self.prediction is None else self.prediction.kind

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


FORMAT_FIELD = "attnviz-lesson"
"""First field of a lesson file, with the version of the format."""
LESSON_VERSION = "1"

REQUIRED = {
    "attends": ("step",),
    "next": ("step",),
    "attention": ("step", "source", "tolerance"),
    "energy": ("step", "source", "tolerance"),
    "probability": ("step", "tolerance"),
    "choice": ("choices", "answer"),
}
"""Values of the field `predict`, each with the fields that it needs."""
OPTIONAL = {"next": ("choices",), "choice": ("step",), "": ("step",)}
"""Fields that a question may have besides, by the value of `predict`; "" where there is none."""
LESSON_FIELDS = (FORMAT_FIELD, "language", "title", "about", "minutes", "sentences")
SENTENCE_FIELDS = ("sentence", "model", "beam", "target", "questions")
COMMON_FIELDS = ("question", "predict", "note", "level", "show", "reveal", "layer", "head")
SPECIAL_FIELDS = ("step", "source", "tolerance", "choices", "answer")

_GIVES_AWAY = {HEATMAP: {"weight", "energy"}} | {figure.name: figure.gives_away for figure in FIGURES}
"""The pictures of a question, each with the numbers that it shows."""
_ASKS_FOR = {
    "attends": {"energy", "weight"},
    "energy": {"energy", "weight"},
    "attention": {"weight"},
    "next": {"word"},
    "probability": {"word"},
}
"""The numbers that give the answer away, by `Question.kind`."""


def gives_away(picture: str, kind: str) -> bool:
    """Return whether a picture shows the answer to a kind of question."""
    return not _GIVES_AWAY[picture].isdisjoint(_ASKS_FOR.get(kind, ()))


def folder_of_model(sentence: LessonSentence, default: Path | None = None) -> Path:
    """Return the folder of a sentence's model, or `default`; raise AttnvizError where the model is not installed."""
    if not sentence.model:
        return default or find_model()
    folder = installed_models().get(sentence.model)
    if folder is None:
        raise user_error(
            "The lesson needs the model {model}, which is not installed. Installed models: {names}. Fetch this "
            "model with: python -m attnviz models {model}",
            model=sentence.model,
            names=", ".join(installed_models()) or gettext("none"),
        )
    return folder


def read_lesson(path: Path) -> Lesson:
    """Return the lesson in a file; raise AttnvizError where it cannot be read, or its fields are not a lesson's."""
    data = open_content(path, limits=LESSON_LIMITS).data
    try:
        return parse_lesson(data)
    except AttnvizError as error:
        raise user_error("{path}: {error}", path=path, error=error) from error


def parse_lesson(content: bytes) -> Lesson:
    """Return the lesson in the bytes of a file; raise AttnvizError where its fields are not a lesson's."""
    root = root_of(content)
    keys = [key.value for key, _ in root.value] if isinstance(root, yaml.MappingNode) else []
    if FORMAT_FIELD not in keys:
        raise user_error(
            "This is not a lesson file: the field “{mark}: {version}” is missing.",
            mark=FORMAT_FIELD,
            version=LESSON_VERSION,
        )
    fields = Fields(root, LESSON_FIELDS)
    if fields.text(FORMAT_FIELD) != LESSON_VERSION:
        message = gettext(
            "this lesson uses version {found} of the lesson format, but this program reads version {version}.",
            found=quoted(fields.text(FORMAT_FIELD)),
            version=LESSON_VERSION,
        )
        fail(fields.line_of(FORMAT_FIELD), message)
    only = (fields.one_of("language", LANGUAGES),) if "language" in fields else None
    title = _text(fields.node("title"), "title", only)
    languages = tuple(title.versions)
    return Lesson(
        title,
        tuple(_sentence(item, languages) for item in fields.items("sentences")),
        _optional_text(fields, "about", languages),
        fields.whole("minutes", 1, 600),
    )


def _sentence(node: yaml.Node, languages: tuple[str, ...]) -> LessonSentence:
    fields = Fields(node, SENTENCE_FIELDS)
    if "beam" in fields and "target" in fields:
        fail(
            fields.line_of("beam"),
            gettext(
                "the translation given in “target” needs no search, so there is no beam. Delete the field “beam” or "
                "“target”."
            ),
        )
    return LessonSentence(
        fields.text("sentence"),
        tuple(_question(item, languages) for item in fields.items("questions")),
        fields.text("model") if "model" in fields else "",
        fields.whole("beam", 1, 100) or 1,
        fields.text("target") if "target" in fields else None,
    )


def _question(node: yaml.Node, languages: tuple[str, ...]) -> Question:
    fields = Fields(node, (*COMMON_FIELDS, *SPECIAL_FIELDS))
    kind = fields.one_of("predict", REQUIRED) if "predict" in fields else ""
    _check_fields(kind, fields)
    show = fields.choices("show", _GIVES_AWAY)
    layer, head = fields.whole("layer", 1, 1000), fields.whole("head", 1, 1000)
    if head is not None and layer is None:
        fail(fields.line_of("head"), gettext("a head belongs to a layer. Add the field “layer”."))
    step = _word_or_number(fields, "step")
    step_pictures = {*show, *fields.choices("reveal", _GIVES_AWAY)} - {HEATMAP}
    if step is None and step_pictures:
        message = gettext("the picture {name} shows a step. Add the field “step”.", name=quoted(min(step_pictures)))
        fail(fields.line, message)
    return Question(
        question=_text(fields.node("question"), "question", languages),
        prediction=_prediction(kind, fields, languages),
        note=_optional_text(fields, "note", languages),
        step=step,
        level=next(level for level in LEVELS if level == fields.one_of("level", LEVELS, LEVELS[0])),
        show=show,
        reveal=fields.choices("reveal", _GIVES_AWAY) if "reveal" in fields else (HEATMAP,),
        layer=layer,
        head=head,
        line=fields.line,
    )


def _check_fields(kind: str, fields: Fields) -> None:
    """Raise AttnvizError for a field that the prediction lacks or does not use, or that gives the answer away."""
    required = REQUIRED.get(kind, ())
    for name in required:
        fields.node(name)
    for name in SPECIAL_FIELDS:
        if name in fields and name not in (*required, *OPTIONAL.get(kind, ())):
            message = gettext(
                "a question with {predict} has no field {name}. Delete this field.",
                predict=quoted(f"predict: {kind}") if kind else gettext("nothing to predict"),
                name=quoted(name),
            )
            fail(fields.line_of(name), message)
    for name in fields.choices("show", _GIVES_AWAY):
        if gives_away(name, kind):
            message = gettext(
                "the picture {name} gives the answer away. Move it from “show” to “reveal”.", name=quoted(name)
            )
            fail(fields.line_of("show"), message)


def _prediction(kind: str, fields: Fields, languages: tuple[str, ...]) -> Prediction | None:
    if kind == "attends":
        return SourceWordPrediction()
    if kind == "next":
        choices = fields.texts("choices")
        _check_choices(fields, choices)
        return NextWordPrediction(choices)
    if kind == "choice":
        texts = tuple(_text(item, "choices", languages) for item in fields.items("choices"))
        for code in languages:
            _check_choices(fields, tuple(text.versions[code] for text in texts))
        answer = fields.whole("answer", 1, len(texts))
        assert answer is not None  # the field is required
        return ChoicePrediction(texts, answer)
    quantity = next((name for name in PREDICTED_QUANTITIES if name == kind), None)
    if quantity is None:
        return None
    return NumberPrediction(quantity, fields.positive("tolerance"), _word_or_number(fields, "source"))


def _check_choices(fields: Fields, choices: tuple[str, ...]) -> None:
    """Raise AttnvizError unless there are no choices, or at least two that all differ."""
    if len(choices) == 1 or len(set(choices)) < len(choices):
        fail(fields.line_of("choices"), gettext("“choices” must be a list of at least two different texts."))


def _word_or_number(fields: Fields, name: str) -> int | str | None:
    """Return a number from 1, or a word; a number in quotation marks is a word."""
    if name not in fields:
        return None
    node, text = fields.node(name), fields.text(name)
    return int(text) if node.tag == "tag:yaml.org,2002:int" and fields.whole(name, 1, 4000) else text


def _optional_text(fields: Fields, name: str, languages: tuple[str, ...]) -> Text | None:
    return _text(fields.node(name), name, languages) if name in fields else None


def _text(node: yaml.Node, name: str, languages: tuple[str, ...] | None) -> Text:
    """Return a text in the `languages` of the lesson; without any, that of its title, in whatever it has."""
    if not isinstance(node, yaml.MappingNode):
        text = Text({languages[0] if languages and len(languages) == 1 else "": text_of(node, name)})
    else:
        fields = Fields(node, LANGUAGES)
        text = Text({code: fields.text(code) for code in LANGUAGES if code in fields})
        if not text.versions:
            fail(
                line_of(node),
                gettext("{name} must be a text; found {found}.", name=quoted(name), found=description(node)),
            )
    if languages is not None and tuple(text.versions) != languages:
        wanted, given = (
            ", ".join(codes) if any(codes) else gettext("one language, without a language code")
            for codes in (languages, tuple(text.versions))
        )
        message = gettext(
            "{name} must have the languages of the lesson. Languages of the lesson: {wanted}. Languages of this "
            "field: {given}.",
            name=quoted(name),
            wanted=wanted,
            given=given,
        )
        fail(line_of(node), message)
    return text
