"""Reading of lesson files: what is written is read back, and a damaged file gives a sentence."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError
from attnviz.figures.registry import FIGURES
from attnviz.lessons import Lesson, LessonSentence, Question, parse_lesson, shipped_lessons
from attnviz.lessons.lesson_file import (
    FORMAT_FIELD,
    HEATMAP,
    LEVELS,
    PREDICTED_QUANTITIES,
    ChoicePrediction,
    NextWordPrediction,
    NumberPrediction,
    Prediction,
    SourceWordPrediction,
    Text,
    gives_away,
)
from tests.snapshots import plain

SIGNS = "abcdefgh éÀœß漢:#-'\"!?.,%&*[]{}|>@`\\~=<\u00a0\u2019«» 0123456789"
WORD = (
    st.text(SIGNS, min_size=1, max_size=12)
    .map(lambda text: " ".join(text.split(" ")).strip(" "))
    .map(lambda text: "x" if not text.strip() else " ".join(part for part in text.split(" ") if part))
)


def texts(languages: tuple[str, ...]) -> st.SearchStrategy[Text]:
    return st.builds(Text, st.fixed_dictionaries(dict.fromkeys(languages, WORD)))


def predictions(languages: tuple[str, ...]) -> st.SearchStrategy[Prediction | None]:
    place = st.one_of(st.integers(1, 4000), WORD)
    some = st.lists(texts(languages), min_size=2, max_size=4, unique_by=lambda text: tuple(text.versions.values()))
    different = some.filter(lambda found: all(len({t.versions[c] for t in found}) == len(found) for c in languages))
    return st.one_of(
        st.none(),
        st.just(SourceWordPrediction()),
        st.builds(
            NextWordPrediction, st.one_of(st.just(()), st.lists(WORD, min_size=2, max_size=4, unique=True).map(tuple))
        ),
        st.builds(NumberPrediction, st.sampled_from(PREDICTED_QUANTITIES), st.floats(0.001, 100).map(float), place).map(
            lambda number: (
                NumberPrediction(number.quantity, number.tolerance) if number.quantity == "probability" else number
            )
        ),
        st.builds(ChoicePrediction, different.map(tuple), st.just(1)),
    )


@st.composite
def questions(draw: st.DrawFn, languages: tuple[str, ...]) -> Question:
    prediction = draw(predictions(languages))
    kind = Question(Text({"": "x"}), prediction).kind
    needs_step = kind not in ("", "choice")
    step = draw(st.one_of(st.integers(1, 4000), WORD) if needs_step or draw(st.booleans()) else st.none())
    names = [HEATMAP] if step is None else [HEATMAP, *(figure.name for figure in FIGURES)]
    layer = draw(st.one_of(st.none(), st.integers(1, 9)))
    return Question(
        draw(texts(languages)),
        prediction,
        draw(st.one_of(st.none(), texts(languages))),
        step,
        draw(st.sampled_from(LEVELS)),
        tuple(draw(st.lists(st.sampled_from([name for name in names if not gives_away(name, kind)]), max_size=2))),
        tuple(draw(st.lists(st.sampled_from(names), max_size=2))),
        layer,
        None if layer is None else draw(st.one_of(st.none(), st.integers(1, 9))),
    )


@st.composite
def lessons(draw: st.DrawFn) -> Lesson:
    languages = draw(st.sampled_from([("",), ("en",), ("en", "fr")]))
    sentence = st.builds(
        LessonSentence,
        WORD,
        st.lists(questions(languages), min_size=1, max_size=2).map(tuple),
        st.one_of(st.just(""), WORD),
        st.just(1),
        st.one_of(st.none(), WORD),
    )
    return Lesson(
        draw(texts(languages)),
        tuple(draw(st.lists(sentence, min_size=1, max_size=2))),
        draw(st.one_of(st.none(), texts(languages))),
        draw(st.one_of(st.none(), st.integers(1, 600))),
    )


def written(lesson: Lesson) -> bytes:
    """Return the file of a lesson."""

    def text(one: Text | None) -> Any:
        return None if one is None else one.versions.get("") or dict(one.versions)

    def question(one: Question) -> dict[str, Any]:
        fields = {
            "question": text(one.question),
            "predict": one.kind or None,
            "note": text(one.note),
            "step": one.step,
            "level": one.level,
            "layer": one.layer,
            "head": one.head,
        }
        if isinstance(one.prediction, NumberPrediction):
            fields |= {"tolerance": one.prediction.tolerance, "source": one.prediction.source}
        if isinstance(one.prediction, ChoicePrediction):
            fields |= {"choices": [text(choice) for choice in one.prediction.choices], "answer": one.prediction.answer}
        if isinstance(one.prediction, NextWordPrediction):
            fields["choices"] = list(one.prediction.choices) or None
        return without_none(fields) | {"show": list(one.show), "reveal": list(one.reveal)}

    def without_none(fields: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in fields.items() if value is not None}

    sentences = [
        without_none(
            {
                "sentence": one.sentence,
                "model": one.model or None,
                "target": one.target,
                "questions": [question(each) for each in one.questions],
            }
        )
        for one in lesson.sentences
    ]
    fields = {
        FORMAT_FIELD: 1,
        "title": text(lesson.title),
        "about": text(lesson.about),
        "minutes": lesson.minutes,
        "sentences": sentences,
    }
    return yaml.safe_dump(without_none(fields), allow_unicode=True, sort_keys=False).encode("utf-8")


@given(lessons())
def test_written_lesson_is_read_back(lesson: Lesson) -> None:
    assert parse_lesson(written(lesson)) == lesson


@given(st.sampled_from(sorted(shipped_lessons())), st.data())
def test_damaged_lesson_is_read_or_refused_with_a_sentence(name: str, data: st.DataObject) -> None:
    content = shipped_lessons()[name].read_bytes()
    lines = content.split(b"\n")
    line, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    place = data.draw(st.integers(0, len(content) - 1))
    damaged = data.draw(
        st.sampled_from(
            [
                content[:place],
                content[:place] + data.draw(st.binary(min_size=1, max_size=3)) + content[place + 1 :],
                content[:place] + data.draw(st.sampled_from(":-#'\"[]{}&*!|>%@`\t")).encode() + content[place:],
                b"\n".join(lines[:line] + lines[line + 1 :]),
                b"\n".join([*lines[:line], lines[other], *lines[line:]]),
                b"\n".join([*lines[:line], b"  " + lines[line], *lines[line + 1 :]]),
            ]
        )
    )
    message = ""
    try:
        parse_lesson(damaged)
    except AttnvizError as error:
        message = str(error)
    # Two messages about bytes end with a command, or with a line of the file.
    assert message.endswith((".", "?")) or not message or "FILE" in message


QUESTION = "attnviz-lesson: 1\ntitle: T\nsentences:\n  - sentence: A house.\n    questions:\n      - question: Q\n"
PREDICTED = f"{QUESTION}        step: maison\n"
FAULTS = {
    "empty": "",
    "not a lesson": "title: T\n",
    "a list": "- 1\n",
    "text": "some text",
    "version": "attnviz-lesson: 2\ntitle: T\nsentences: []\n",
    "not YAML": "attnviz-lesson: 1\ntitle: [T\n",
    "colon": "attnviz-lesson: 1\ntitle: T: U\n",
    "forbidden character": "attnviz-lesson: 1\ntitle: T\u0007\n",
    "misspelt": "attnviz-lesson: 1\ntitel: T\nsentences: []\n",
    "unknown": "attnviz-lesson: 1\nzzz: T\nsentences: []\n",
    "twice": "attnviz-lesson: 1\ntitle: T\ntitle: U\n",
    "missing": "attnviz-lesson: 1\ntitle: T\n",
    "no sentences": "attnviz-lesson: 1\ntitle: T\nsentences: []\n",
    "not a list": "attnviz-lesson: 1\ntitle: T\nsentences: A house.\n",
    "not fields": "attnviz-lesson: 1\ntitle: T\nsentences: [A house.]\n",
    "no title": "attnviz-lesson: 1\ntitle:\nsentences: []\n",
    "list as title": "attnviz-lesson: 1\ntitle: [T]\nsentences: []\n",
    "minutes": QUESTION.replace("title: T", "title: T\nminutes: soon"),
    "beam and target": QUESTION.replace("    questions", "    beam: 5\n    target: Une maison.\n    questions"),
    "beam": QUESTION.replace("    questions", "    beam: 0\n    questions"),
    "language": QUESTION.replace("title: T", "title: {en: T, xx: U}"),
    "languages": QUESTION.replace("title: T", "title: {en: T, fr: U}"),
    "no language": QUESTION.replace("title: T", "title: {}"),
    "prediction": f"{PREDICTED}        predict: atends\n",
    "level": f"{PREDICTED}        level: easy\n",
    "picture": f"{PREDICTED}        reveal: [heat map]\n",
    "gives away": f"{PREDICTED}        predict: attends\n        show: [heatmap]\n",
    "no step": f"{QUESTION}        predict: attends\n",
    "no step of a picture": f"{QUESTION}        reveal: [softmax]\n",
    "tolerance": f"{PREDICTED}        predict: attention\n        source: house\n        tolerance: -1\n",
    "no source": f"{PREDICTED}        predict: attention\n        tolerance: 1\n",
    "foreign field": f"{PREDICTED}        predict: attends\n        tolerance: 1\n",
    "nothing predicted": f"{PREDICTED}        answer: 1\n",
    "one choice": f"{QUESTION}        predict: choice\n        choices: [a]\n        answer: 1\n",
    "same choices": f"{QUESTION}        predict: choice\n        choices: [a, a]\n        answer: 1\n",
    "answer": f"{QUESTION}        predict: choice\n        choices: [a, b]\n        answer: 3\n",
    "head": f"{PREDICTED}        head: 1\n",
    "step": f"{QUESTION}        step: 0\n",
    "deep": "[" * 5000,
}


@pytest.mark.parametrize("name", FAULTS)
def test_faulty_lesson_gets_a_sentence(name: str, each_language: str, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(AttnvizError) as refused:
        parse_lesson(FAULTS[name].encode("utf-8"))
    assert plain(refused.value) == snapshot


def test_texts_are_read_as_they_are_written() -> None:
    """YAML reads some words as truth values, dates or numbers; a line break is a space; a no-break space stays."""
    fields = "        predict: choice\n        choices: [yes, no, 2026-01-01, 1.50]\n        answer: 1\n"
    (sentence,) = parse_lesson(f"{QUESTION}{fields}        note: a\n          b\u00a0?\n".encode()).sentences
    (question,) = sentence.questions
    assert isinstance(question.prediction, ChoicePrediction)
    assert [str(text) for text in question.prediction.choices] == ["yes", "no", "2026-01-01", "1.50"]
    assert str(question.note) == "a b\u00a0?"


def repeated(sentences: str, questions: str) -> bytes:
    lesson = f"attnviz-lesson: 1\ntitle: T\nsentences: {sentences}\n"
    return lesson.replace("QUESTIONS", questions).encode()


SENTENCE = "{sentence: &s I am here., target: *s, questions: QUESTIONS}"
REPEATING = {
    "a question": repeated(f"[{SENTENCE}]", "[&q {question: Q}" + ", *q" * 300 + "]"),
    "a sentence": repeated(f"[&t {SENTENCE}" + ", *t" * 300 + "]", "[{question: Q}]"),
    "a list": repeated(f"[{SENTENCE}, {{sentence: A, questions: *l}}]", "&l [{question: Q}]"),
    "merged fields": repeated(f"[&t {SENTENCE}, {{<<: *t}}]", "[{question: Q}]"),
    "lists of lists": b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nattnviz-lesson: [*c, *c]\n",
    "itself": b"&a [*a]",
    "nothing": repeated(f"[{SENTENCE}]", "*unknown"),
    "a long text": repeated(f"[{SENTENCE}]", f"[{{question: &q {'Q' * 50_000}}}" + ", {question: *q}" * 6 + "]"),
    "no text": repeated(f"[{SENTENCE}]", "[" + "{question: Q}, " * 7_000 + "]"),
}


@pytest.mark.parametrize("name", REPEATING)
def test_aliases_never_multiply_a_lesson(name: str, snapshot: SnapshotAssertion) -> None:
    assert len(REPEATING[name]) < 200_000
    with pytest.raises(AttnvizError) as refused:
        parse_lesson(REPEATING[name])
    assert str(refused.value) == snapshot


def test_alias_of_a_text_is_read() -> None:
    (sentence,) = parse_lesson(repeated(f"[{SENTENCE}]", "[{question: Q}]")).sentences
    assert sentence.target == sentence.sentence == "I am here."
