"""Equations in the browser: it fills the same LaTeX as Python, at every step and for every source piece."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attnviz import Trace, Translator
from attnviz.palette import ThemeName
from attnviz.trace.interventions import Temperature
from attnviz.ui.components.equation import equation_payloads
from tests.analysis.filled_equations import equations
from tests.conftest import REPOSITORY
from tests.deno_program import made_by
from tests.figures import synthetic

PROGRAM = REPOSITORY / "attnviz" / "ui" / "components" / "equation" / "texts.js"


def equations_from_deno(trace: Trace, theme: ThemeName, folder: Path) -> dict[str, list[list[str]]]:
    """Return LaTeX and note of every stage by step and source piece, as the browser code fills them in Deno."""
    steps = range(len(trace.target_pieces))
    records = equation_payloads(trace, steps, theme)
    cells = [(step, source) for step in steps for source in range(len(trace.source_pieces))]
    program = (
        f'import {{ equationAt }} from "{PROGRAM.as_uri()}";'
        "\nconst all = (records, at) => records.map((one) => Object.values(equationAt(one, ...at)));"
    )
    answer = "JSON.stringify(Object.fromEntries(given[1].map((at) => [at.join(), all(given[0], at)])))"
    return dict(made_by(program, answer, [list(records.values()), cells], folder))


def check_browser_equations(trace: Trace, theme: ThemeName, folder: Path) -> None:
    for place, filled in equations_from_deno(trace, theme, folder).items():
        step, source = map(int, place.split(","))
        written = equations(trace, step, source, theme=theme)
        assert filled == [[equation.latex, equation.note] for equation in written]
        assert "⟦" not in json.dumps(filled, ensure_ascii=False)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("attention", ["additive", "general", "none"])
def test_browser_fills_the_same_equations_as_python(attention: str, theme: ThemeName, tmp_path: Path) -> None:
    check_browser_equations(synthetic.trace(attention=attention), theme, tmp_path)


def test_browser_equations_match_python_at_a_step_with_an_intervention(translator: Translator, tmp_path: Path) -> None:
    check_browser_equations(
        translator.translate("The man reads.", interventions=[Temperature(2.0, 1)], beam=1), "light", tmp_path
    )


def test_payload_contains_only_the_requested_steps() -> None:
    records = equation_payloads(synthetic.trace(), [2], "light")
    assert {tuple(record["steps"]) for record in records.values()} == {(2,)}
    assert all(len(texts) == 1 for record in records.values() for texts in record["ofStep"].values())
