"""Symbols of the equations: each has a part of the architecture diagram in which it is drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from attnviz.analysis.diagram_texts import diagram_terms
from attnviz.analysis.energy_equations import symbols
from attnviz.analysis.step_equations import equation_templates
from tests.equation_symbols import symbols_of
from tests.figures import synthetic

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
    assert {
        "Wo",
        "bo",
        "Uo",
        "Vo",
        "Co",
        "b",
        "E",
        "z3",
        "s\u03033",
        "p",
    } <= symbols  # the parser finds them in the LaTeX
    assert {"additive": {"Wa", "Ua", "va"}, "general": {"P"}, "none": set()}[attention] <= symbols
    letters = {one for one in found if one[0].isalpha()}
    assert letters <= symbols | {"hj"}  # the diagram has no symbol that the equations lack


def test_symbols_are_split_into_letters_with_indices_and_separators() -> None:
    assert symbols(r"\tilde s_{⟦i⟧} , b") == [("s\u0303", "⟦i⟧"), (",", ""), ("b", "")]
    assert symbols("") == []
