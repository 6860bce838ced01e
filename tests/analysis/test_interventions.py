"""Texts about a step with an intervention: they state the change, and use its numbers."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.analysis.labels import quoted_name
from attnviz.analysis.numbers import number, percent
from attnviz.analysis.recomputation import softmax
from attnviz.analysis.stages import step_sentence, was_forced
from attnviz.architectures import narrate
from attnviz.text import EOS
from attnviz.trace.interventions import (
    AttentionIntervention,
    ExcludePosition,
    ForceWords,
    Intervention,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
    forced_words,
)
from attnviz.trace.what_ifs import translator_arguments
from tests.analysis.filled_equations import equations
from tests.conftest import SENTENCES
from tests.snapshots import without_numbers

STEP = 1
EACH_LANGUAGE = pytest.mark.usefixtures("each_language")


def _changed(translator: Translator, one: AttentionIntervention) -> Trace:
    return translator.translate(SENTENCES[0], interventions=[one], beam=1)


def _alternating(count: int) -> tuple[float, ...]:
    return tuple(float(j % 2) for j in range(count))


@pytest.fixture(params=["temperature", "endless", "weights", "energies", "exclusion"])
def changed(request: pytest.FixtureRequest, translator: Translator) -> Trace:
    """Return a translation with the attention of STEP changed."""
    count = len(translator.translate(SENTENCES[0], beam=1).source_pieces)
    odd = np.array(_alternating(count))
    one: AttentionIntervention
    one = {
        "temperature": Temperature(0.05, STEP),
        "endless": Temperature(math.inf, STEP),
        "weights": ReplaceWeights(tuple(odd / odd.sum()), STEP),
        "energies": ReplaceEnergies(tuple(9 * odd), STEP),
        "exclusion": ExcludePosition(0, STEP),
    }[request.param]
    return _changed(translator, one)


def test_softmax_sentence_states_the_intervention_and_its_effect(
    changed: Trace, each_language: str, snapshot: SnapshotAssertion
) -> None:
    alpha, energies = changed.alignment[STEP], changed.energies[STEP].astype(np.float64)
    best = int(alpha.argmax())
    sentence = narrate(changed, STEP)[1].sentence
    shares = [percent(float(alpha[best])), percent(float(softmax(energies)[best]))]
    assert quoted_name(changed.source_pieces[best]) in sentence
    for share in sorted(shares, key=len, reverse=True):
        assert share in sentence
    done, _, rest = sentence.partition(". ")
    assert [done, without_numbers(rest)] == snapshot
    assert each_language == "en" or not re.search(r"\d\.\d", sentence)
    untouched = dataclasses.replace(changed, interventions=())
    assert narrate(changed, STEP)[1] != narrate(untouched, STEP)[1]
    assert narrate(changed, STEP + 1)[1] == narrate(untouched, STEP + 1)[1]


@EACH_LANGUAGE
def test_energy_stage_names_the_piece_with_the_largest_energy(
    translator: Translator, snapshot: SnapshotAssertion
) -> None:
    trace = _changed(translator, Temperature(0.05, STEP))
    outcome = narrate(trace, STEP)[0].outcome
    assert outcome.startswith(quoted_name(trace.source_pieces[int(trace.energies[STEP].argmax())]))
    assert without_numbers(outcome) == snapshot


def test_softmax_equation_holds_after_an_intervention(changed: Trace) -> None:
    trace = changed
    equation = equations(trace, STEP)[1]
    assert r"\tilde{e}" in equation.latex
    assert equation.note != equations(dataclasses.replace(trace, interventions=()), STEP)[1].note
    terms = re.findall(r"\\exp\((-?\d+(?:\.\d+)?|-\\infty)\)", equation.latex)
    powers = np.exp([-np.inf if term == r"-\infty" else float(term) for term in terms])
    # Above the line is the piece of the largest weight; the terms below it compare as the largest weights do.
    assert powers[0] == powers[1]
    largest = np.sort(trace.alignment[STEP])[::-1][: len(powers) - 1]
    np.testing.assert_allclose(powers[1:] / powers[1], largest / largest[0], rtol=0.02, atol=1e-6)
    assert number(float(trace.alignment[STEP].max())) in equation.latex
    assert r"\tilde" not in equations(trace, STEP + 1)[1].latex


@EACH_LANGUAGE
def test_several_interventions_are_described_in_order(translator: Translator, snapshot: SnapshotAssertion) -> None:
    trace = translator.translate(SENTENCES[0], interventions=[Temperature(2), ExcludePosition(0)], beam=1)
    assert narrate(trace, 0)[1].sentence.partition(". ")[0] == snapshot
    assert equations(trace, 0)[1].note == snapshot(name="note of the equation")


@EACH_LANGUAGE
def test_forced_word_is_described_as_given(translator: Translator, snapshot: SnapshotAssertion) -> None:
    free = translator.translate(SENTENCES[0], beam=1)
    other = next(int(piece) for piece in free.top_ids[0][1:] if piece > EOS)
    trace = translator.translate(SENTENCES[0], interventions=[ForceWords((other,), 0)], beam=1)
    assert without_numbers(step_sentence(trace, 0)) == snapshot(name="given")
    assert without_numbers(narrate(trace, 0)[-1].sentence) == snapshot(name="given, last stage")
    assert without_numbers(step_sentence(trace, 1)) == snapshot(name="written")


@pytest.mark.parametrize("beam", [1, 5])
def test_only_the_words_that_were_forced_are_described_as_forced(translator: Translator, beam: int) -> None:
    free = translator.translate(SENTENCES[0], beam=beam)
    assert len(free.target_ids) > STEP + 1

    def after(change: Intervention) -> Trace:
        interventions, _ = translator_arguments(free, change, held=False)
        return translator.translate(SENTENCES[0], beam=beam, interventions=interventions)

    weights_changed = after(Temperature(2.0, STEP))
    assert forced_words(weights_changed.interventions), "the words before the changed step are kept"
    assert not any(was_forced(weights_changed, step) for step in range(len(weights_changed.target_ids)))
    other = next(int(piece) for piece in free.top_ids[STEP][1:] if piece > EOS)
    word_changed = after(ForceWords((other,), STEP))
    forced = [step for step in range(len(word_changed.target_ids)) if was_forced(word_changed, step)]
    assert forced == [STEP]
    assert len(word_changed.target_ids) > STEP + 1
    interventions, _ = translator_arguments(word_changed, Temperature(2.0, STEP + 1), held=False)
    twice_changed = translator.translate(SENTENCES[0], beam=beam, interventions=interventions)
    assert twice_changed.target_ids[STEP] == other
    forced = [step for step in range(len(twice_changed.target_ids)) if was_forced(twice_changed, step)]
    assert forced == [STEP], "a later change does not make a forced word one that the search chose"
    assert was_forced(Trace.from_json(twice_changed.to_json()), STEP)
