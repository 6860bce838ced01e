"""The ladder of the equations: every line that is another than on the rung below is marked, with what it was there."""

from __future__ import annotations

import itertools
import re

from attnviz.wording.transformer_page import LINES, exhibit_equation

LADDER = [lines for lines in LINES.values() if lines]


def letters(line: str) -> str:
    """Return a line without what it is called on its left: names may change, sums may not without a mark."""
    return line.partition("=")[2]


def test_the_line_below_is_the_one_that_stood_there() -> None:
    for below, above in itertools.pairwise(LADDER):
        assert [line.before for line in above if line.before] == [
            one.now.partition(r", \quad")[0] for one, line in zip(below, above, strict=True) if line.before
        ]


def test_what_differs_from_the_rung_below_is_marked() -> None:
    for below, above in itertools.pairwise(LADDER):
        for one, line in zip(below, above, strict=True):
            softmax = r"\operatorname{softmax}" in line.now
            changed = not softmax and letters(one.now) != letters(line.now)
            assert bool(line.before) == changed, line.now
    assert [bool(line.before) for line in LADDER[0]] == [True, False, False]  # from additive to dot product


def test_the_equation_has_a_mark_for_each_changed_line() -> None:
    for rung, lines in LINES.items():
        if lines:
            latex = exhibit_equation(rung, "light").latex
            changed = [line for line in lines if line.before]
            assert latex.count(r"\blacktriangleright") == len(changed)
            assert len(re.findall(r"\\text\{changed\}", latex)) == len(changed)
            assert all(line.before in latex for line in changed)
