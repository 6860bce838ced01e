"""Equations of the exhibits: each line that changed since the previous exhibit is marked, with its former text."""

from __future__ import annotations

import itertools
import re

from attnviz.analysis.transformer_exhibits import EQUATION_LINES, exhibit_equation

EXHIBITS = [lines for lines in EQUATION_LINES.values() if lines]


def right_hand_side(line: str) -> str:
    """Return the right-hand side of an equation: a new name on the left needs no mark."""
    return line.partition("=")[2]


def test_former_line_is_the_line_of_the_previous_exhibit() -> None:
    for below, above in itertools.pairwise(EXHIBITS):
        assert [line.before for line in above if line.before] == [
            one.now.partition(r", \quad")[0] for one, line in zip(below, above, strict=True) if line.before
        ]


def test_lines_that_changed_since_the_previous_exhibit_are_marked() -> None:
    for below, above in itertools.pairwise(EXHIBITS):
        for one, line in zip(below, above, strict=True):
            softmax = r"\operatorname{softmax}" in line.now
            changed = not softmax and right_hand_side(one.now) != right_hand_side(line.now)
            assert bool(line.before) == changed, line.now
    assert [bool(line.before) for line in EXHIBITS[0]] == [True, False, False]  # from additive to dot product


def test_the_equation_has_a_mark_for_each_changed_line() -> None:
    for exhibit, lines in EQUATION_LINES.items():
        if lines:
            latex = exhibit_equation(exhibit, "light").latex
            changed = [line for line in lines if line.before]
            assert latex.count(r"\blacktriangleright") == len(changed)
            assert len(re.findall(r"\\text\{changed\}", latex)) == len(changed)
            assert all(line.before in latex for line in changed)
