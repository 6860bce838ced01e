"""Suspected errors: which words are likely wrong, at which step, and what would change them."""

import dataclasses

import numpy as np
import pytest

from attnviz.analysis.findings import Finding, FindingKind, other_hypotheses
from attnviz.analysis.suspected_errors import (
    LITTLE_WORD_PROBABILITY,
    MOST_UNSURE,
    least_sure_step,
    passing_step,
    suspected_errors_of,
)
from attnviz.analysis.what_if_effects import foils_of
from attnviz.text import EOS
from attnviz.trace import Hypothesis
from attnviz.trace.interventions import ExcludePosition, ForceWords
from attnviz.trace.what_ifs import translator_arguments
from attnviz.ui.examples import EXAMPLES
from tests.figures.synthetic import trace as make_trace

RIGHT = [sentence for kind in list(EXAMPLES)[:4] for sentence in EXAMPLES[kind]]
"""Examples that the model translates without a mistake."""
BANK, GREETINGS, DEEDS = EXAMPLES["Mistakes, and why"]


def test_right_translations_have_no_suspected_errors(shipped_translator) -> None:
    for beam in (1, 5):
        for trace in shipped_translator.translate_together(RIGHT, beam=beam):
            assert suspected_errors_of(trace) == [], trace.source_text


def test_unread_words_are_marked_at_the_step_that_ended_the_sentence(shipped_translator) -> None:
    trace = shipped_translator.translate(GREETINGS, beam=5)
    (suspect,) = [suspect for suspect in suspected_errors_of(trace) if suspect.strong]
    assert suspect.finding.kind is FindingKind.OMITTED
    assert trace.target_ids[suspect.step] == EOS
    words = trace.words()
    assert suspect.source in words.source_groups[suspect.finding.source or 0]


def test_runner_up_ends_a_repetition(shipped_translator) -> None:
    trace = shipped_translator.translate(DEEDS, beam=5)
    (suspect,) = suspected_errors_of(trace)
    assert (suspect.finding.kind, trace.words().target[suspect.finding.target or 0]) == (FindingKind.REPEATED, "pleuré")
    other = foils_of(trace, suspect.step)[0]
    for change in (ForceWords((other[0],), suspect.step), ExcludePosition(suspect.source or 0, suspect.step)):
        interventions, target = translator_arguments(trace, change, held=False)
        changed = shipped_translator.translate(DEEDS, beam=5, target=target, interventions=interventions)
        assert changed.translation.count("pleuré") < trace.translation.count("pleuré")


def test_a_judged_word_is_marked_without_a_finding(shipped_translator) -> None:
    trace = shipped_translator.translate(BANK, beam=5)
    assert suspected_errors_of(trace) == []
    target = trace.words().target.index("banque")
    (suspect,) = suspected_errors_of(trace, [target])
    assert suspect.strong
    assert (suspect.finding.target, suspect.source) == (target, trace.source_pieces.index("▁bank"))
    assert suspect.finding.value == pytest.approx(float(trace.probabilities[suspect.step]))


def test_unsure_words_are_few_and_have_the_product_of_their_pieces(shipped_translator) -> None:
    trace = shipped_translator.translate("The squirrel nibbled on a walnut.", beam=5)
    groups = trace.words().target_groups
    products = [float(np.prod(trace.probabilities[list(group)])) for group in groups]
    unsure = [suspect for suspect in suspected_errors_of(trace) if not suspect.strong]
    targets = [suspect.finding.target or 0 for suspect in unsure]
    assert 0 < len(unsure) <= MOST_UNSURE
    assert targets == sorted(targets)
    for suspect, target in zip(unsure, targets, strict=True):
        assert suspect.finding.value == pytest.approx(products[target])
        assert products[target] < LITTLE_WORD_PROBABILITY
        assert suspect.step == min(groups[target], key=trace.probabilities.__getitem__)


def test_least_sure_step_wrote_the_least_likely_content_word(shipped_translator) -> None:
    trace = shipped_translator.translate("The green house at the end of the street is very old.", beam=1)
    step = least_sure_step(trace)
    content = ["maison", "verte", "fin", "rue", "vieille"]
    steps = {trace.words().target[k]: group[0] for k, group in enumerate(trace.words().target_groups)}
    assert step == min((steps[word] for word in content), key=trace.probabilities.__getitem__)
    no_content = shipped_translator.translate("It is.", target="Il est.")
    assert least_sure_step(no_content) == int(no_content.probabilities.argmin())


def test_passing_step_is_where_the_attention_jumps() -> None:
    trace = make_trace("one two three four five six", "un deux six six six six")
    weights = np.zeros_like(trace.alignment)
    for step, piece in enumerate((0, 1, 5, 5, 0, 5, 6)):  # one exception: step 4 goes back
        weights[step, piece] = 1
    trace = dataclasses.replace(trace, alignment=weights)
    assert passing_step(trace, Finding(FindingKind.OMITTED, 0.0, source=2, last=4, strong=True)) == 2


def test_other_hypotheses_have_other_words_in_the_same_place() -> None:
    texts = ["le chat noir dort.", "le chien noir dort.", "le chat noir mange.", "un gros chat dort.", "le noir dort."]
    trace = make_trace("the cat", "le chat noir dort .")
    hypotheses = [Hypothesis(text, -float(k)) for k, text in enumerate(texts)]
    found = [(one.words, one.differs_elsewhere) for one in other_hypotheses(trace.words(), hypotheses, 1)]
    assert found == [("chien", False), ("", False)]
    assert [one.words for one in other_hypotheses(trace.words(), hypotheses, 3)] == ["mange"]
    assert other_hypotheses(trace.words(), hypotheses[:1], 1) == []
