"""Answers to the questions of lessons: computed from the translation, in the lessons that come with the program too."""

import math
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from attnviz import Translator
from attnviz.lessons import (
    AskedQuestion,
    Lesson,
    LessonSentence,
    Question,
    asked_questions,
    parse_lesson,
    read_lesson,
    shipped_lessons,
)
from attnviz.lessons.lesson_file import (
    COMMON_FIELDS,
    HEATMAP,
    LESSON_FIELDS,
    REQUIRED,
    SENTENCE_FIELDS,
    SPECIAL_FIELDS,
    ChoicePrediction,
    NextWordPrediction,
    NumberPrediction,
    Prediction,
    SourceWordPrediction,
    Text,
)
from tests.conftest import REPOSITORY, SHIPPED_MODEL
from tests.snapshots import refusal

SURVIVORS = ("voisin", "verte", "guerre", "Paris", "hôtel")


@cache
def played(name: str) -> tuple[Lesson, tuple[AskedQuestion, ...]]:
    lesson = read_lesson(shipped_lessons()[name])
    asked: list[AskedQuestion] = []
    for sentence in lesson.sentences:
        translator: Any = Translator.load(SHIPPED_MODEL.parent / sentence.model, device="cpu")
        trace = translator.translate(sentence.sentence, beam=sentence.beam, target=sentence.target)
        asked += asked_questions(sentence, trace, None)
    return lesson, tuple(asked)


def answer(asked: AskedQuestion) -> str:
    """Return the right answer in English: an option, or a number."""
    if not asked.answer.right:
        return f"{asked.answer.value:.0f}"
    (place,) = asked.answer.right
    option = asked.answer.options[place]
    return option.versions["en"] if isinstance(option, Text) else option


def words_of(asked: AskedQuestion) -> tuple[str, ...]:
    words: tuple[str, ...] = asked.subject.trace.words().target
    return words


@pytest.mark.parametrize("name", shipped_lessons())
def test_lesson_is_bilingual_and_predicts_everything(name, shipped_model) -> None:
    lesson, asked = played(name)
    assert lesson.languages == ("en", "fr")
    assert all(one.answer is not None and one.question.note is not None for one in asked)
    french = " ".join(text.versions["fr"] for text in _texts(lesson))
    assert re.findall(r".{8}(?:[^\u00a0][:»%]|[^\u202f][;?!]|«[^\u00a0])", french) == []
    versions = [version for text in _texts(lesson) for version in text.versions.values()]
    sentences = [part for version in versions for part in re.split(r"(?<=[.?!])\s+", version)]
    assert [sentence for sentence in sentences if len(sentence.split()) > 24] == []


def _texts(lesson: Lesson) -> list[Text]:
    texts = [lesson.title, lesson.about]
    for sentence in lesson.sentences:
        for question in sentence.questions:
            texts += [question.question, question.note]
            if isinstance(question.prediction, ChoicePrediction):
                texts += question.prediction.choices
    return [text for text in texts if text is not None]


def test_attention_lesson_says_what_the_models_do(shipped_model) -> None:
    _, asked = played("attention")
    vector, lost, none, three, verte, share, article, mixture, last, crossing = asked
    assert answer(vector).startswith("256, ")
    assert vector.subject.trace.contexts.shape[1] == 256
    assert words_of(vector) == ("Deux", "chiens", "jouent", "dans", "la", "neige", ".", "</s>")
    assert answer(lost) == "green"
    assert {"maison", "rue", "très"} <= set(words_of(lost))
    assert not {"vert", "verte", "fin", "bout"} & set(words_of(lost))
    assert "la rue en ville" in lost.subject.trace.translation
    assert len(none.subject.trace.source_text.split()) == 44
    assert (answer(none), [word for word in SURVIVORS if word in words_of(none)]) == ("None", [])
    assert answer(three) == "Three"
    assert [word for word in SURVIVORS if word in words_of(three)] == ["verte", "Paris", "hôtel"]
    assert words_of(three)[-3:] == ("hôtel", ".", "</s>")
    fixed, additive = none.subject.trace.config, three.subject.trace.config
    assert {name for name in fixed if fixed[name] != additive.get(name)} == {"attention"}
    assert answer(verte) == "green"
    assert answer(article) == "end"
    energies = share.subject.trace.energies[share.subject.step]
    at, green = (share.subject.trace.source_pieces.index(piece) for piece in ("▁at", "▁green"))
    assert [round(float(energies[at] - energies[green]), 2), round(math.exp(1.52), 1)] == [1.52, 4.6]
    assert int(np.argsort(-energies)[1]) == green
    trace = mixture.subject.trace
    weights = np.round(trace.words().alignment[mixture.word], 2)
    assert [float(weights[4]), float(weights[5])] == pytest.approx([0.18, 0.69])
    assert np.allclose(trace.contexts[4], trace.alignment[4] @ trace.annotations, atol=1e-4)
    assert answer(last) == "vieille"
    assert last.subject.trace.words().source[int(last.subject.trace.words().alignment[last.word].argmax())] == "old"
    assert words_of(last)[-3:] == ("vieille", ".", "</s>")
    words = crossing.subject.trace.words()
    linked = [words.source[int(row.argmax())] for row in words.alignment]
    assert linked[:5] == ["The", "little", "cat", "black", "sleeps"]
    assert linked[6:10] == ["the", "big", "chair", "red"]
    assert answer(crossing) == "“black” and “red”"


def test_transformer_lesson_says_what_the_model_does(shipped_model) -> None:
    _, asked = played("transformer")
    order, heads, first, other, share, value, stream, old = asked
    trace = order.subject.trace
    assert "code of its position" in answer(order)
    assert (answer(heads), trace.cross_alignment.shape[:2]) == ("12", (3, 4))
    alone = [trace.select_heads(*one).words().alignment.max(axis=1).mean() for one in np.ndindex(3, 4)]
    assert trace.words().alignment.max(axis=1).mean() < min(alone), "the mean is paler than any head"
    assert answer(first) == "The"
    assert float(first.subject.trace.words().alignment[0].max()) > 0.95
    assert answer(other) == "house"
    assert trace.cross_queries.shape[-1] == trace.cross_values.shape[-1] == 64
    query, key = trace.cross_queries[1, 1, share.subject.step], trace.cross_keys[1, 1, 5]
    assert float(query @ key) / 8 == pytest.approx(float(trace.cross_energies[1, 1, share.subject.step, 5]), abs=1e-3)
    assert answer(value).startswith("64 numbers, ")
    assert "added" in answer(stream)
    assert answer(old) == "vieux"
    assert "2,000 updates" in (SHIPPED_MODEL.parent / "small-transformer" / "README.md").read_text(encoding="utf-8")


def test_lesson_of_the_documentation_fits_its_translation(shipped_translator) -> None:
    """All its fields are in the tables of the page, and the tables have all fields there are."""
    page = (REPOSITORY / ".docs" / "pages" / "commands.md").read_text(encoding="utf-8")
    found = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    lesson = parse_lesson(found[1].encode())
    for sentence in lesson.sentences:
        trace: Any = shipped_translator.translate(sentence.sentence, beam=1)
        first, second = asked_questions(sentence, trace, None)
        assert answer(first) == "green"
        assert 0 < second.answer.value <= 100
    fields = {*LESSON_FIELDS, *SENTENCE_FIELDS, *COMMON_FIELDS, *SPECIAL_FIELDS, *REQUIRED}
    section = page[page.index("## lesson") : page.index("## models")]
    assert {field for field in fields if f"`{field}`" not in section} == set()


SENTENCE = "The green house at the end of the street is very old."
SMALL = SHIPPED_MODEL.parent


@pytest.fixture(scope="module")
def trace(shipped_translator) -> Any:
    return shipped_translator.translate(SENTENCE, beam=1)


@pytest.fixture(scope="module")
def transformed() -> Any:
    return Translator.load(SMALL / "small-transformer", device="cpu").translate(SENTENCE, beam=1)


def question(prediction: Prediction | None, step: int | str | None = "verte", **fields: Any) -> Question:
    return Question(Text({"": "?"}), prediction, step=step, line=7, **fields)


def asked(trace: Any, *questions: Question) -> tuple[AskedQuestion, ...]:
    return asked_questions(LessonSentence(SENTENCE, questions), trace, None)


def test_answers_are_the_numbers_of_the_trace_also_of_its_heads(trace, transformed) -> None:
    words = trace.words()
    for word, text in enumerate(words.target):
        if words.target.count(text) > 1:
            continue
        (found,) = asked(trace, question(SourceWordPrediction(), text))
        assert found.answer.options == words.source
        assert found.answer.right == (int(words.alignment[word].argmax()),)
        assert found.word == word
    energy, share, probability = asked(
        trace,
        question(NumberPrediction("energy", 1, "green"), reveal=()),
        question(NumberPrediction("attention", 1, 2), reveal=()),
        question(NumberPrediction("probability", 1)),
    )
    assert energy.answer.value == pytest.approx(float(trace.energies[2, 1]))
    weights = np.exp(trace.energies[2] - trace.energies[2].max())
    assert share.answer.value == pytest.approx(100 * float(weights[1] / weights.sum()), abs=1e-3)
    assert probability.answer.value == pytest.approx(100 * float(np.exp(trace.log_probabilities[2])), abs=1e-3)
    for layer in range(1, 4):
        for head in range(1, 5):
            (found,) = asked(transformed, question(SourceWordPrediction(), 1, layer=layer, head=head))
            row = transformed.cross_alignment[layer - 1, head - 1, 0]
            assert found.answer.right == (int(row.argmax()),)


FAULTS = {
    "word": (question(SourceWordPrediction(), "vert"),),
    "word twice": (question(SourceWordPrediction(), "la"),),
    "step": (question(SourceWordPrediction(), 99),),
    "source": (question(NumberPrediction("attention", 1, "gren")),),
    "source twice": (question(NumberPrediction("attention", 1, "the")),),
    "source number": (question(NumberPrediction("attention", 1, 99)),),
    "choices": (question(NextWordPrediction(("rouge", "bleue"))),),
    "heads": (question(SourceWordPrediction(), layer=1),),
    "picture": (question(None, reveal=("stream",)),),
}


@pytest.mark.parametrize("name", FAULTS)
def test_question_that_does_not_fit_gets_a_sentence(name, trace, each_language, snapshot) -> None:
    assert refusal(lambda: asked(trace, *FAULTS[name])) == snapshot


ON_SHOW = {
    "row": (question(None, reveal=(HEATMAP,)), question(SourceWordPrediction())),
    "whole": (question(None, None), question(NextWordPrediction())),
    "bars": (question(None, 3, reveal=("softmax",)), question(SourceWordPrediction(), reveal=())),
}


@pytest.mark.parametrize("name", ON_SHOW)
def test_question_whose_answer_is_shown_gets_a_warning(name, trace, each_language, snapshot) -> None:
    first, second = asked(trace, *ON_SHOW[name])
    assert first.warning == ""
    assert second.warning == snapshot


@pytest.mark.parametrize(
    ("model", "faulty"),
    [
        ("small-fixed", question(SourceWordPrediction(), 1)),
        ("small-transformer", question(SourceWordPrediction(), 1, layer=9)),
        ("small-transformer", question(NumberPrediction("energy", 1, "green"), 1)),
    ],
    ids=["no attention", "no such layer", "no energy"],
)
def test_model_that_cannot_answer(model, faulty, snapshot) -> None:
    trace = Translator.load(SMALL / model, device="cpu").translate(SENTENCE, beam=1)
    assert refusal(lambda: asked(trace, faulty)) == snapshot
