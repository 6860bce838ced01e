"""Answers to the questions of a lesson: computed from the numbers of the translation, or refused with a sentence."""

from typing import Any

import numpy as np
import pytest

from attnviz import Translator
from attnviz.lessons import AskedQuestion, LessonSentence, Question, asked_questions
from attnviz.lessons.lesson_file import (
    HEATMAP,
    NextWordPrediction,
    NumberPrediction,
    Prediction,
    SourceWordPrediction,
    Text,
)
from tests.conftest import SHIPPED_MODEL
from tests.snapshots import refusal

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
