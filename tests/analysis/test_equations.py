"""Equations in LaTeX: the numbers of the step, no text that a visitor could inject, and symbols of the diagram."""

import dataclasses
import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.attention_forms import EQUATION_LINES
from attnviz.analysis.diagram import diagram_terms
from attnviz.analysis.labels import number, safe_text, vector
from attnviz.analysis.step_equations import equation_templates
from tests.analysis.given import equations
from tests.equation_symbols import symbols_of
from tests.figures import synthetic


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_numbers_keep_three_digits(value: float) -> None:
    text = number(value)
    mantissa, _, power = text.partition(r"\cdot 10^{")
    read = float(mantissa) * 10.0 ** int(power.rstrip("}") or 0) if power else float(mantissa)
    assert read == pytest.approx(value, rel=6e-3, abs=1e-45)


def test_equations_have_the_numbers_of_the_step() -> None:
    trace, step = synthetic.trace(), 2
    best = int(trace.alignment[step].argmax())
    energy, softmax, context, state, word = (equation.latex for equation in equations(trace, step))
    assert energy.endswith(number(float(trace.energies[step, best])) + r"\end{aligned}")
    assert vector(trace.queries[step]) in energy
    assert vector(trace.keys[best]) in energy
    assert softmax.endswith(number(float(trace.alignment[step, best])) + r"\end{aligned}")
    assert vector(trace.contexts[step]) in context
    assert number(float(trace.probabilities[step])) in word
    assert "s_{2}" in energy  # the query is the state before the step
    assert vector(trace.states[step]) in state
    unit = int(re.search(r"s_\{3,(\d+)\}", state)[1]) - 1  # is written out
    gate, proposal, before = (
        one[step, unit] for one in (trace.update_gates, trace.candidate_states, trace.previous_states)
    )
    assert (1 - gate) * proposal + gate * before == pytest.approx(trace.states[step, unit], abs=1e-5)
    assert rf"{number(1 - gate)}\,({number(proposal)})" in state
    assert rf"{number(gate)}\,({number(before)})" in state
    assert number(float(trace.states[step, unit])) in state


@given(st.text(max_size=30).filter(lambda piece: piece not in ("</s>", "<unk>", "▁")))
def test_only_plain_words_are_set_as_text(piece: str) -> None:
    text = safe_text(piece)
    if text is not None:
        assert not re.search(r"[\\{}$%#&_^~<>\s]", text.removeprefix(r"\text{").removesuffix("}"))


@given(st.text(alphabet="abé\\{}$%#&_^~ <>", min_size=1, max_size=12))
def test_a_piece_of_latex_never_enters_an_equation(piece: str) -> None:
    base = synthetic.trace()
    trace = dataclasses.replace(base, target_pieces=("▁" + piece, *base.target_pieces[1:]))
    clean, injected = equations(base, 0)[-1].latex, equations(trace, 0)[-1].latex
    named = re.compile(r"y_\{1\} &= \\text\{[^{}\\$]*\} \\\\\[2pt\] ")
    assert named.sub("", injected) == named.sub("", clean)


def test_note_names_the_readout_state(each_language, snapshot) -> None:
    base = synthetic.trace()
    current = dataclasses.replace(base, config=base.config | {"readout_state": "current"})
    assert "s_{2}" in equations(current, 1)[-1].latex
    assert "s_{1}" in equations(base, 1)[-1].latex
    assert equations(current, 1)[-1].note == snapshot


EXHIBITS = [lines for lines in EQUATION_LINES.values() if lines]


def test_changed_lines_are_marked_with_the_line_of_the_previous_exhibit() -> None:
    for below, above in itertools.pairwise(EXHIBITS):
        for (one, _), (now, before) in zip(below, above, strict=True):
            assert before in ("", one.partition(r", \quad")[0])
            # A new name on the left needs no mark.
            same = one.partition("=")[2] == now.partition("=")[2]
            assert bool(before) != (same or r"\operatorname{softmax}" in now), now
    assert [bool(before) for _, before in EXHIBITS[0]] == [True, False, False]  # from additive to dot product


ALWAYS = {"x", "h", "e", "α", "c", "s", "t", "y"}
"""The letters of the diagram that do not depend on the model."""


def drawn(terms: dict[str, Any], step: int) -> Iterator[str]:
    """Yield the symbols among the terms of 0-based `step`."""
    for term in terms.values():
        if isinstance(term, dict):
            yield from drawn(term, step)
        else:
            for letter, index in term:
                yield letter + index.replace("⟦i⟧", str(step + 1)).replace("⟦before⟧", str(step))


@pytest.mark.parametrize("readout", ["previous", "current"])
@pytest.mark.parametrize("attention", ["additive", "general", "none"])
def test_every_symbol_of_the_equations_has_a_place_in_the_diagram(attention: str, readout: str) -> None:
    trace = synthetic.trace(attention=attention)
    trace = dataclasses.replace(trace, config=dict(trace.config) | {"readout_state": readout})
    symbols, found = symbols_of(equation_templates(trace), 2), set(drawn(diagram_terms(trace), 2))
    assert {one for one in symbols if one[0] not in ALWAYS or "\u0303" in one} <= found
    found_in_latex = ["Wo", "bo", "Uo", "Vo", "Co", "b", "E", "z3", "s\u03033", "p"]
    assert {*found_in_latex} <= symbols
    assert {"additive": {"Wa", "Ua", "va"}, "general": {"P"}, "none": set()}[attention] <= symbols
    letters = {one for one in found if one[0].isalpha()}
    assert letters <= symbols | {"hj"}  # the diagram has no symbol that the equations lack
