"""What is said of a step whose attention was changed by hand is what was done, and its numbers are those used."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from attnviz import Trace, Translator
from attnviz.analysis.recomputation import softmax
from attnviz.languages import set_language
from attnviz.text import EOS
from attnviz.trace.interventions import (
    AttentionIntervention,
    ExcludePosition,
    ForceWord,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
)
from attnviz.wording.equations import equations
from attnviz.wording.labels import quoted_name
from attnviz.wording.latex import number
from attnviz.wording.numbers import percent
from attnviz.wording.stages import narrate, step_sentence
from tests.conftest import SENTENCES

STEP = 1


def _changed(translator: Translator, one: AttentionIntervention) -> Trace:
    return translator.translate(SENTENCES[0], interventions=[one])


def _alternating(count: int) -> tuple[float, ...]:
    return tuple(float(j % 2) for j in range(count))


@pytest.fixture(params=["temperature", "endless", "weights", "energies", "exclusion"])
def changed(request: pytest.FixtureRequest, translator: Translator) -> tuple[Trace, str]:
    """Return a translation with the attention of STEP changed, and what is to be said of it."""
    count = len(translator.translate(SENTENCES[0]).source_pieces)
    odd = np.array(_alternating(count))
    one: AttentionIntervention
    one, said = {
        "temperature": (Temperature(0.05, STEP), "the energies were divided by 0.05"),
        "endless": (Temperature(math.inf, STEP), "the energies were made alike (τ = ∞)"),
        "weights": (ReplaceWeights(tuple(odd / odd.sum()), STEP), "the weights were replaced"),
        "energies": (ReplaceEnergies(tuple(9 * odd), STEP), "the energies were replaced"),
        "exclusion": (ExcludePosition(0, STEP), "{first} was left out"),
    }[request.param]
    trace = _changed(translator, one)
    return trace, said.format(first=quoted_name(trace.source_pieces[0]))


def test_the_softmax_says_what_was_done_and_what_came_of_it(changed: tuple[Trace, str]) -> None:
    trace, said = changed
    alpha, energies = trace.alignment[STEP], trace.energies[STEP].astype(np.float64)
    best = int(alpha.argmax())
    sentence = narrate(trace, STEP)[1].sentence
    assert sentence.startswith(f"Changed by hand: {said}.")
    assert f"{quoted_name(trace.source_pieces[best])} has {percent(float(alpha[best]))}" in sentence
    assert f"it would have {percent(float(softmax(energies)[best]))}" in sentence
    assert "Changed by hand" not in narrate(trace, STEP + 1)[1].sentence


def test_who_fits_best_is_told_by_the_energies(changed: tuple[Trace, str]) -> None:
    trace, _ = changed
    best = quoted_name(trace.source_pieces[int(trace.energies[STEP].argmax())])
    assert narrate(trace, STEP)[0].outcome.startswith(f"{best} fits best")


def test_the_equation_of_the_softmax_holds(changed: tuple[Trace, str]) -> None:
    trace, _ = changed
    equation = equations(trace, STEP)[1]
    assert r"\tilde{e}" in equation.latex
    assert "changed to by hand" in equation.note
    terms = re.findall(r"e\^\{(-?\d+(?:\.\d+)?|-\\infty)\}", equation.latex)
    powers = np.exp([-np.inf if term == r"-\infty" else float(term) for term in terms])
    # Above the line is the piece of the largest weight; the terms below it compare as the largest weights do.
    assert powers[0] == powers[1]
    largest = np.sort(trace.alignment[STEP])[::-1][: len(powers) - 1]
    np.testing.assert_allclose(powers[1:] / powers[1], largest / largest[0], rtol=0.02, atol=1e-6)
    assert number(float(trace.alignment[STEP].max())) in equation.latex
    assert r"\tilde" not in equations(trace, STEP + 1)[1].latex


def test_several_are_told_in_their_order(translator: Translator) -> None:
    trace = translator.translate(SENTENCES[0], interventions=[Temperature(2), ExcludePosition(0)])
    name = quoted_name(trace.source_pieces[0])
    assert f"the energies were divided by 2, {name} was left out." in narrate(trace, 0)[1].sentence


def test_it_is_told_in_french(changed: tuple[Trace, str]) -> None:
    set_language("fr")
    try:
        sentence = narrate(changed[0], STEP)[1].sentence
    finally:
        set_language("en")
    assert sentence.startswith("Modifié à la main")
    assert not re.search(r"\d\.\d", sentence)


def test_a_forced_word_was_given_and_not_the_search_s_choice(translator: Translator) -> None:
    free = translator.translate(SENTENCES[0])
    other = next(int(piece) for piece in free.top_ids[0][1:] if piece > EOS)
    trace = translator.translate(SENTENCES[0], interventions=[ForceWord(other, 0)])
    assert "the decoder was given" in step_sentence(trace, 0, "")
    assert "Given was" in narrate(trace, 0)[-1].sentence
    assert "the decoder wrote" in step_sentence(trace, 1, "")
