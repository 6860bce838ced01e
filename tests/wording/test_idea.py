"""A step told without a formula: every stage a sentence, of the numbers of the step and of no sign of an equation."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from attnviz.analysis.measures import weight_order
from attnviz.languages import speak
from attnviz.trace import Search
from attnviz.wording.idea import idea_sentence, idea_stages, idea_titles
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import percent
from tests.figures import synthetic

SIGNS = re.compile(r"[αβτΣ₀₁₂₃=]|\b[cesz]_|softmax|logit|tanh|energy|énergie|query|requête", re.IGNORECASE)
"""What somebody who knows no formula cannot read."""


@pytest.mark.parametrize("code", ["en", "fr"])
@pytest.mark.parametrize("kind", ["additive", "dot", "none"])
def test_each_stage_has_a_sentence_without_a_sign_of_an_equation(kind: str, code: str) -> None:
    trace = synthetic.trace(attention=kind)
    speak(code)
    try:
        for step in range(len(trace.target_pieces)):
            told = idea_stages(trace, step)
            assert {stage.number: stage.title for stage in told} == idea_titles(trace)
            for text in [idea_sentence(trace, step, "-"), *(t for s in told for t in (s.title, s.sentence, s.outcome))]:
                assert text
                assert not SIGNS.search(text), text
            assert all(stage.sentence.endswith((".", "…")) for stage in told)
    finally:
        speak("en")


def test_the_words_tell_the_shares_of_the_step() -> None:
    trace, step = synthetic.trace(), 2
    fits, look, taken, kept, word = idea_stages(trace, step)
    first, second = weight_order(trace, step)[:2]
    share, less = (percent(float(trace.alignment[step, j])) for j in (first, second))
    name = quoted_name(trace.source_pieces[first])
    assert fits.outcome == f"{name} would help most"
    assert f"{name} gets {share}" in look.sentence
    assert less in look.sentence
    assert f"a list of {trace.contexts.shape[1]} numbers" in taken.sentence
    assert f"{share} {name}" in taken.sentence
    gate = float(trace.update_gates[step].mean())
    assert kept.outcome == f"{percent(gate)} kept, {percent(1 - gate)} new"
    assert word.outcome.endswith(percent(float(trace.probabilities[step])))


def test_what_was_given_or_ends_the_sentence_is_told_as_that() -> None:
    trace = synthetic.trace()
    assert idea_sentence(trace, 0, "-").startswith("The translator writes ")
    assert idea_sentence(trace, len(trace.target_pieces) - 1, "-").startswith("The translator ends the sentence")
    given = dataclasses.replace(trace, search=Search("forced"))
    assert idea_sentence(given, 0, "-").startswith("The translator was given ")
    other = dataclasses.replace(trace, target_ids=(trace.top_ids[0][3],) * len(trace.target_ids))
    assert "was likelier" in idea_stages(other, 0)[-1].sentence
    assert "Given was" in idea_stages(dataclasses.replace(other, search=Search("forced")), 0)[-1].sentence


def test_one_piece_gets_all_of_the_look() -> None:
    base = synthetic.trace()
    alone = dataclasses.replace(
        base, source_pieces=base.source_pieces[:1], energies=base.energies[:, :1],
        alignment=np.ones_like(base.alignment[:, :1]), annotations=base.annotations[:1],
    )  # fmt: skip
    assert "only one piece" in idea_stages(alone, 0)[1].sentence
    assert idea_stages(alone, 0)[2].outcome == "One piece makes 100\u00a0% of the mixture"
