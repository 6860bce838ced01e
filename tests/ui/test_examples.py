"""Example sentences: each shows what its category promises, with the shipped model and a beam of five."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.ui.examples import EXAMPLES, first_step, question

Translate = Callable[..., Trace]


@pytest.fixture
def translate(shipped_translator: Translator) -> Translate:
    return shipped_translator.translate


def most_attended_words(trace: Trace) -> dict[str, str]:
    """Return the most attended source word of each target word."""
    words = trace.words()
    return {word: words.source[j] for word, j in zip(words.target, words.alignment.argmax(axis=1), strict=True)}


def test_questions_open_at_words_of_their_translation(translate: Translate, snapshot: SnapshotAssertion) -> None:
    asked = {sentence: question(translate(sentence, beam=5)) for kind in EXAMPLES.values() for sentence in kind}
    found = {sentence: one for sentence, one in asked.items() if one is not None}
    assert len(found) == 7
    attended = {}
    for sentence, one in found.items():
        trace, words = translate(sentence, beam=5), most_attended_words(translate(sentence, beam=5))
        assert trace.words().target[first_step_word(trace)] == one.word
        attended[sentence] = {one.word: words[one.word], one.other: words[one.other]}
    assert attended == snapshot(name="attended words")


def first_step_word(trace: Trace) -> int:
    """Return the index of the target word that the first step shown writes."""
    return next(i for i, group in enumerate(trace.words().target_groups) if first_step(trace) in group)
