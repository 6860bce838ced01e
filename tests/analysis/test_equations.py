"""Equations in LaTeX: they have the numbers of the step, and no text that a visitor could inject."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.numbers import number, safe_text, vector
from tests.analysis.filled_equations import equations
from tests.figures import synthetic


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_numbers_keep_three_digits(value: float) -> None:
    text = number(value)
    mantissa, _, power = text.partition(r"\cdot 10^{")
    read = float(mantissa) * 10.0 ** int(power.rstrip("}") or 0) if power else float(mantissa)
    assert read == pytest.approx(value, rel=6e-3, abs=1e-45)


def test_infinities_and_vectors_are_written_out() -> None:
    assert number(float("-inf")) == r"-\infty"
    assert vector([1.0, 2.0, 3.0]).count("&") == 2
    assert r"1.00 & 2.00 & \ldots & 9.00" in vector(np.arange(1, 10, dtype=np.float32))
    assert r"{bmatrix}1.23\cdot 10^{-4} & \ldots & 9.00\end" in vector([1.23e-4, 2, 3, 4, 9]), "cut short"


@pytest.mark.parametrize("kind", ["additive", "general", "none"])
def test_no_line_holds_two_vectors(kind: str) -> None:
    """Such a line would be wider than a phone; a browser test measures the equations of the small models."""
    for equation in equations(synthetic.trace(attention=kind), 1):
        for line in equation.latex.split(r"\\[2pt]"):
            assert line.count(r"\begin{bmatrix}") <= 1, line


@pytest.mark.parametrize(
    ("kind", "stages"), [("additive", [1, 2, 3, 4, 5]), ("general", [1, 2, 3, 4, 5]), ("none", [3, 4, 5])]
)
def test_each_kind_of_attention_has_its_stages(kind: str, stages: list[int]) -> None:
    trace = synthetic.trace(attention=kind)
    for step in range(len(trace.target_pieces)):
        assert [equation.stage for equation in equations(trace, step)] == stages


def test_equations_have_the_numbers_of_the_step() -> None:
    trace = synthetic.trace()
    step = 2
    best = int(trace.alignment[step].argmax())
    energy, softmax, context, state, word = (equation.latex for equation in equations(trace, step))
    assert energy.endswith(number(float(trace.energies[step, best])) + r"\end{aligned}")
    assert vector(trace.queries[step]) in energy
    assert vector(trace.keys[best]) in energy
    assert softmax.endswith(number(float(trace.alignment[step, best])) + r"\end{aligned}")
    assert vector(trace.contexts[step]) in context
    assert vector(trace.states[step]) in state
    assert number(float(trace.probabilities[step])) in word
    assert "s_{2}" in energy  # the query is the state before the step


def test_energy_and_softmax_are_those_of_the_chosen_piece() -> None:
    trace = synthetic.trace()
    for source in range(len(trace.source_pieces)):
        energy, softmax = (equation.latex for equation in equations(trace, 2, source)[:2])
        assert rf"e_{{3,{source + 1}}} &=" in energy
        assert energy.endswith(number(float(trace.energies[2, source])) + r"\end{aligned}")
        assert vector(trace.keys[source]) in energy
        assert softmax.endswith(number(float(trace.alignment[2, source])) + r"\end{aligned}")


def test_the_written_out_unit_of_the_state_is_right() -> None:
    trace = synthetic.trace()
    state = next(equation for equation in equations(trace, 1) if equation.stage == 4).latex
    unit = int(re.search(r"s_\{2,(\d+)\}", state)[1]) - 1
    gate, proposal = trace.update_gates[1, unit], trace.candidate_states[1, unit]
    mixed = (1 - gate) * proposal + gate * trace.previous_states[1, unit]
    assert mixed == pytest.approx(trace.states[1, unit], abs=1e-5)
    assert number(float(trace.states[1, unit])) in state


@pytest.mark.parametrize(
    ("piece", "text"),
    [("▁", "(a space)"), ("</s>", "</s>"), ("<unk>", "<unk>"), ("▁!", "!"), (".", "."), ("▁bi", "bi")],
)
def test_every_common_piece_is_named_in_the_equation(piece: str, text: str) -> None:
    base = synthetic.trace()
    trace = dataclasses.replace(base, target_pieces=(piece, *base.target_pieces[1:]))
    assert rf"y_{{1}} &= \text{{{text}}} \\" in equations(trace, 0)[-1].latex


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


@pytest.mark.parametrize("step", [-1, 99])
def test_missing_step_raises_an_index_error(step: int) -> None:
    with pytest.raises(IndexError, match="no step"):
        equations(synthetic.trace(), step)


@pytest.mark.usefixtures("each_language")
def test_note_names_the_readout_state(snapshot: SnapshotAssertion) -> None:
    base = synthetic.trace()
    current = dataclasses.replace(base, config=base.config | {"readout_state": "current"})
    assert "s_{2}" in equations(current, 1)[-1].latex
    assert "s_{1}" in equations(base, 1)[-1].latex
    assert equations(current, 1)[-1].note == snapshot
