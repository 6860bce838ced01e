"""Reading of lesson files: what is written is read back, and a damaged file gives a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import AttnvizError
from attnviz.lessons import parse_lesson, shipped_lessons
from attnviz.lessons.lesson_file import (
    ChoicePrediction,
)
from tests.snapshots import refusal

WHOLE = """
attnviz-lesson: 1
title: {en: 'The "house": #1', fr: "La maison\u00a0!"}
about: {en: What it is about, fr: De quoi il s'agit}
minutes: 5
sentences:
  - sentence: A green house.
    model: small-additive
    target: Une maison verte.
    questions:
      - question: {en: Where, fr: Où}
        predict: attends
        note: {en: N, fr: M}
        step: maison
        level: numbers
        show: [candidates]
        reveal: [heatmap, softmax]
        layer: 1
        head: 2
      - {question: {en: Q, fr: Q}, predict: next, choices: [maison, porte], step: 2}
      - {question: {en: Q, fr: Q}, predict: attention, tolerance: 5, source: 3, step: 2}
      - {question: {en: Q, fr: Q}, predict: probability, tolerance: 0.5, step: verte}
      - {question: {en: Q, fr: Q}, predict: choice, choices: [{en: a, fr: b}, {en: c, fr: d}], answer: 2}
  - sentence: A house.
    beam: 5
    questions: [{question: {en: Q, fr: R}}]
"""


def test_every_field_of_a_lesson_is_read(snapshot) -> None:
    assert repr(parse_lesson(WHOLE.encode())).split("Question(") == snapshot


@given(st.sampled_from(sorted(shipped_lessons())), st.data())
def test_damaged_lesson_is_read_or_refused_with_a_sentence(name, data) -> None:
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
def test_faulty_lesson_gets_a_sentence(name, each_language, snapshot) -> None:
    assert refusal(lambda: parse_lesson(FAULTS[name].encode("utf-8"))) == snapshot


def test_texts_and_aliases_are_read_as_they_are_written() -> None:
    """YAML reads some words as truth values, dates or numbers; a line break is a space; a no-break space stays."""
    fields = "        predict: choice\n        choices: [yes, no, 2026-01-01, 1.50]\n        answer: 1\n"
    (sentence,) = parse_lesson(f"{QUESTION}{fields}        note: a\n          b\u00a0?\n".encode()).sentences
    (question,) = sentence.questions
    assert isinstance(question.prediction, ChoicePrediction)
    assert [str(text) for text in question.prediction.choices] == ["yes", "no", "2026-01-01", "1.50"]
    assert str(question.note) == "a b\u00a0?"
    (sentence,) = parse_lesson(repeated(f"[{SENTENCE}]", "[{question: Q}]")).sentences
    assert sentence.target == sentence.sentence == "I am here."


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
def test_aliases_never_multiply_a_lesson(name, snapshot) -> None:
    assert len(REPEATING[name]) < 200_000
    assert refusal(lambda: parse_lesson(REPEATING[name])) == snapshot
