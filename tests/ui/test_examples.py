"""Each example shows what its name says, with the model that comes with the program and a beam of five."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.analysis.findings import Kind, findings_of
from attnviz.evaluation.sentences import FIGURE_3, TABLE_3
from attnviz.trace.changes import AttendOnly, resolved
from attnviz.ui.components.view_state.view_state import view_payload
from attnviz.ui.page_state.address import set_page_address
from attnviz.ui.page_state.view import MAIN, View
from attnviz.ui.toolbar.examples import (
    DEFAULT_SENTENCE,
    EXAMPLES,
    FORMER_DEFAULT_SENTENCE,
    default_sentence,
    kind_name,
    remark,
)

Translate = Callable[..., Trace]


@pytest.fixture(scope="module")
def translate(shipped_model: Path) -> Translate:
    return Translator.load(shipped_model, device="cpu").translate


def looked_at(trace: Trace) -> dict[str, str]:
    """Return the source word that each target word looked at most."""
    words = trace.words()
    return {word: words.source[j] for word, j in zip(words.target, words.alignment.argmax(axis=1), strict=True)}


def shows_posterior(trace: Trace) -> int:
    looks = trace.words().alignment.argmax(axis=1)
    return int((np.diff(looks) < 0).sum())


def test_the_page_opens_on_whole_words_that_change_places(translate: Translate, snapshot: SnapshotAssertion) -> None:
    for beam in (1, 5):
        trace = translate(DEFAULT_SENTENCE, beam=beam)
        words = trace.words()
        assert all(len(group) == 1 for group in words.source_groups)
        assert trace.translation == snapshot(name="translation")
        assert (looked_at(trace)["maison"], looked_at(trace)["verte"]) == ("house", "green")


def test_the_order_changes(translate: Translate) -> None:
    for sentence in EXAMPLES["Changes of order"]:
        assert shows_posterior(translate(sentence, beam=5)) >= 1


@pytest.mark.parametrize("beam", [1, 5])
def test_a_look_changed_by_hand_changes_the_order(translate: Translate, beam: int, snapshot: SnapshotAssertion) -> None:
    sentence = "He is an honest man."
    assert sentence in EXAMPLES["Changes of order"]
    trace = translate(sentence, beam=beam)
    asked = remark(trace)
    assert asked == snapshot
    (piece,) = trace.words().source_groups[trace.words().source.index("honest")]
    made = resolved(trace, AttendOnly(4, piece), held=False)
    assert translate(sentence, beam=beam, interventions=made.interventions).translation == "C'est un honnête homme."


def test_one_word_becomes_several(translate: Translate) -> None:
    for sentence in EXAMPLES["One word, several"]:
        trace = translate(sentence, beam=5)
        words = trace.words()
        looks = words.alignment.argmax(axis=1).tolist()
        assert max(looks.count(j) for j, word in enumerate(words.source) if word[0].isalpha()) >= 2
        assert not [finding for finding in findings_of(trace) if finding.strong]
    please = looked_at(translate("Where is the nearest station, please?", beam=5))
    assert [word for word, source in please.items() if source == "please"] == ["s'", "il", "vous", "plaît"]


def test_names_and_numbers_are_kept(translate: Translate) -> None:
    for sentence in EXAMPLES["Names and numbers"]:
        alike = [finding for finding in findings_of(translate(sentence, beam=5)) if finding.kind is Kind.IDENTICAL]
        assert len(alike) >= 4


def test_each_mistake_has_a_reason_to_be_seen(translate: Translate) -> None:
    bank, line, shopping = (translate(sentence, beam=5) for sentence in EXAMPLES["Mistakes, and why"])
    assert looked_at(bank)["banque"] == "bank"  # the right word, the wrong one of its meanings
    assert "banque" in remark(bank)
    assert not findings_of(bank)  # the page says no more than the remark
    assert not remark(line)
    assert [f.kind for f in findings_of(line) if f.strong] == [Kind.OMITTED]
    assert Kind.REPEATED in {f.kind for f in findings_of(shopping) if f.strong}
    assert sum(f.kind is Kind.IMPROBABLE for f in findings_of(shopping)) >= 2


def test_the_paper_s_own_sentences_are_there() -> None:
    assert EXAMPLES["From the paper, Fig. 3"] == FIGURE_3
    assert EXAMPLES["Long"] == TABLE_3
    assert all(len(sentence.split()) >= 28 for sentence in TABLE_3)


def test_no_example_stands_in_two_places_and_each_kind_has_a_name() -> None:
    sentences = [sentence for kind in EXAMPLES.values() for sentence in kind]
    assert len(set(sentences)) == len(sentences)
    assert max(len(sentence.split()) for sentence in sentences) <= 60
    assert [kind_name(kind) for kind in EXAMPLES] == list(EXAMPLES)


@pytest.mark.parametrize(
    ("linked", "sentence"),
    [
        ({}, DEFAULT_SENTENCE),
        ({"lang": "fr"}, DEFAULT_SENTENCE),
        ({"step": "5"}, FORMER_DEFAULT_SENTENCE),
        ({"lang": "fr", "source": "2"}, FORMER_DEFAULT_SENTENCE),
    ],
)
def test_an_old_link_without_a_sentence_opens_what_it_opened(linked: dict[str, str], sentence: str) -> None:
    assert default_sentence(linked) == sentence


def test_the_browser_is_told_the_sentence_that_a_link_to_a_step_needs(translate: Translate) -> None:
    view, session = View(MAIN, translate(DEFAULT_SENTENCE)), {}
    set_page_address(session, "entry", {"sentence": None})
    assert view_payload(session, view)["sentence"] == {"sentence": DEFAULT_SENTENCE}
    set_page_address(session, "entry", {"sentence": "A dog."})
    assert view_payload(session, view)["sentence"] is None
    assert default_sentence({"step": "4"}) == FORMER_DEFAULT_SENTENCE  # were it not for the sentence
