"""Example sentences: each shows what its category promises, with the shipped model and a beam of five."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.analysis.findings import FindingKind, findings_of
from attnviz.trace.what_ifs import translator_arguments
from attnviz.ui.examples import DEFAULT_SENTENCE, EXAMPLES, example_kind_name, first_step, question
from tests.what_if_links import only

Translate = Callable[..., Trace]


@pytest.fixture
def translate(shipped_translator: Translator) -> Translate:
    return shipped_translator.translate


def most_attended_words(trace: Trace) -> dict[str, str]:
    """Return the most attended source word of each target word."""
    words = trace.words()
    return {word: words.source[j] for word, j in zip(words.target, words.alignment.argmax(axis=1), strict=True)}


def test_default_sentence_has_whole_words_that_change_order(translate: Translate, snapshot: SnapshotAssertion) -> None:
    for beam in (1, 5):
        trace = translate(DEFAULT_SENTENCE, beam=beam)
        words = trace.words()
        assert all(len(group) == 1 for group in words.source_groups)
        assert trace.translation == snapshot(name="translation")
        assert (most_attended_words(trace)["maison"], most_attended_words(trace)["verte"]) == ("house", "green")


@pytest.mark.parametrize("beam", [1, 5])
def test_intervention_suggested_by_the_question_changes_the_word_order(translate: Translate, beam: int) -> None:
    sentence = "He is an honest man."
    assert sentence in EXAMPLES["Changes of order"]
    trace = translate(sentence, beam=beam)
    assert first_step(trace) == 4
    (piece,) = trace.words().source_groups[trace.words().source.index("honest")]
    change = translator_arguments(trace, only(len(trace.source_ids), 4, piece), held=False)
    assert translate(sentence, beam=beam, interventions=change.interventions).translation == "C'est un honnête homme."


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


def test_mistake_examples_have_findings_or_a_question(translate: Translate) -> None:
    bank, debate, list_of_deeds = (translate(sentence, beam=5) for sentence in EXAMPLES["Mistakes, and why"])
    assert most_attended_words(bank)["banque"] == "bank"  # it attends to the right word, but picks the wrong meaning
    asked = question(bank)
    assert asked is not None
    assert asked.word == "banque"
    assert not findings_of(bank)  # the page shows only the question
    assert question(debate) is None
    assert [f.kind for f in findings_of(debate) if f.strong] == [FindingKind.OMITTED]
    assert FindingKind.REPEATED in {f.kind for f in findings_of(list_of_deeds) if f.strong}
    assert FindingKind.IMPROBABLE in {f.kind for f in findings_of(list_of_deeds)}


def test_examples_are_unique_and_every_category_has_a_name() -> None:
    sentences = [sentence for kind in EXAMPLES.values() for sentence in kind]
    assert len(set(sentences)) == len(sentences)
    assert max(len(sentence.split()) for sentence in sentences) <= 60
    assert [example_kind_name(kind) for kind in EXAMPLES] == list(EXAMPLES)


def test_model_without_attention_has_no_question(shipped_model: Path) -> None:
    translator = Translator.load(shipped_model.parent / "small-fixed", device="cpu")
    trace = translator.translate("He is an honest man.", target="C'est un homme honnête.")
    assert question(trace) is None
