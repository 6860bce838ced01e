"""Example sentences: each shows what its category promises, with the shipped model and a beam of five."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.analysis.findings import FindingKind, findings_of
from attnviz.evaluation.example_sentences import FIGURE_3, TABLE_3
from attnviz.trace.what_ifs import translator_arguments
from attnviz.ui.components.view_state import view_payload
from attnviz.ui.examples import DEFAULT_SENTENCE, EXAMPLES, example_kind_name, first_step, question
from attnviz.ui.page_state.linked import set_page_address
from attnviz.ui.page_state.selection import linked_selection
from attnviz.ui.view import MAIN, View
from tests.what_if_links import only

Translate = Callable[..., Trace]


@pytest.fixture(scope="module")
def translate(shipped_model: Path) -> Translate:
    return Translator.load(shipped_model, device="cpu").translate


def most_attended_words(trace: Trace) -> dict[str, str]:
    """Return the most attended source word of each target word."""
    words = trace.words()
    return {word: words.source[j] for word, j in zip(words.target, words.alignment.argmax(axis=1), strict=True)}


def backward_moves(trace: Trace) -> int:
    most_attended = trace.words().alignment.argmax(axis=1)
    return int((np.diff(most_attended) < 0).sum())


def test_default_sentence_has_whole_words_that_change_order(translate: Translate, snapshot: SnapshotAssertion) -> None:
    for beam in (1, 5):
        trace = translate(DEFAULT_SENTENCE, beam=beam)
        words = trace.words()
        assert all(len(group) == 1 for group in words.source_groups)
        assert trace.translation == snapshot(name="translation")
        assert (most_attended_words(trace)["maison"], most_attended_words(trace)["verte"]) == ("house", "green")


def test_order_examples_change_the_word_order(translate: Translate) -> None:
    for sentence in EXAMPLES["Changes of order"]:
        assert backward_moves(translate(sentence, beam=5)) >= 1


@pytest.mark.parametrize("beam", [1, 5])
def test_intervention_suggested_by_the_question_changes_the_word_order(translate: Translate, beam: int) -> None:
    sentence = "He is an honest man."
    assert sentence in EXAMPLES["Changes of order"]
    trace = translate(sentence, beam=beam)
    assert first_step(trace) == 4
    (piece,) = trace.words().source_groups[trace.words().source.index("honest")]
    change = translator_arguments(trace, only(len(trace.source_ids), 4, piece), held=False)
    assert translate(sentence, beam=beam, interventions=change.interventions).translation == "C'est un honnête homme."


def test_one_to_many_examples_translate_one_word_by_several(translate: Translate) -> None:
    for sentence in EXAMPLES["One word, several"]:
        trace = translate(sentence, beam=5)
        words = trace.words()
        most_attended = words.alignment.argmax(axis=1).tolist()
        assert max(most_attended.count(j) for j, word in enumerate(words.source) if word[0].isalpha()) >= 2
        assert not [finding for finding in findings_of(trace) if finding.strong]
    please = most_attended_words(translate("Where is the nearest station, please?", beam=5))
    assert [word for word, source in please.items() if source == "please"] == ["s'", "il", "vous", "plaît"]


def test_name_and_number_examples_have_identical_words(translate: Translate) -> None:
    for sentence in EXAMPLES["Names and numbers"]:
        alike = [
            finding for finding in findings_of(translate(sentence, beam=5)) if finding.kind is FindingKind.IDENTICAL
        ]
        assert len(alike) >= 4


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
    assert {sentence: one.text for sentence, one in found.items()} == snapshot(name="questions")


def first_step_word(trace: Trace) -> int:
    """Return the index of the target word that the first step shown writes."""
    return next(i for i, group in enumerate(trace.words().target_groups) if first_step(trace) in group)


def test_translation_without_a_question_opens_at_step_one(translate: Translate) -> None:
    trace = translate("The green house at the end of the street is old.", beam=5)
    assert question(trace) is None
    assert first_step(trace) == 0
    view = View(MAIN, translate(DEFAULT_SENTENCE), first_step=2)
    assert view_payload({}, view)["firstStep"] == linked_selection(view, {}).step == 2
    assert linked_selection(view, {"step": "1"}).step == 0


def test_model_without_attention_has_no_question(shipped_model: Path) -> None:
    translator = Translator.load(shipped_model.parent / "small-fixed", device="cpu")
    trace = translator.translate("He is an honest man.", target="C'est un homme honnête.")
    assert question(trace) is None


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


def test_paper_examples_are_the_sentences_of_the_paper() -> None:
    assert EXAMPLES["From Bahdanau et al., Fig. 3"] == FIGURE_3
    assert EXAMPLES["Long"] == TABLE_3
    assert all(len(sentence.split()) >= 28 for sentence in TABLE_3)


def test_examples_are_unique_and_every_category_has_a_name() -> None:
    sentences = [sentence for kind in EXAMPLES.values() for sentence in kind]
    assert len(set(sentences)) == len(sentences)
    assert max(len(sentence.split()) for sentence in sentences) <= 60
    assert [example_kind_name(kind) for kind in EXAMPLES] == list(EXAMPLES)


def test_view_payload_has_the_sentence_that_a_step_link_needs(translate: Translate) -> None:
    view, session = View(MAIN, translate(DEFAULT_SENTENCE)), {}
    set_page_address(session, "entry", {"sentence": None})
    assert view_payload(session, view)["sentence"] == {"sentence": DEFAULT_SENTENCE}
    set_page_address(session, "entry", {"sentence": "A dog."})
    assert view_payload(session, view)["sentence"] is None
