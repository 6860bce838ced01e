"""The equation that the browser fills is the one that Python writes, at every step and for every source piece."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attnviz import Trace, Translator
from attnviz.palette import ThemeName
from attnviz.trace.interventions import Temperature
from attnviz.ui.components.equation.equation import equation_payloads
from attnviz.wording.equations import equations
from tests.conftest import REPOSITORY
from tests.deno_program import made_by
from tests.figures import synthetic

PROGRAM = REPOSITORY / "attnviz" / "ui" / "components" / "equation" / "texts.js"


def in_the_browser(trace: Trace, theme: ThemeName, folder: Path) -> dict[str, list[list[str]]]:
    """Return LaTeX and sentence of every stage by step and source piece, as the page's own program fills them."""
    steps = range(len(trace.target_pieces))
    records = equation_payloads(trace, steps, theme)
    cells = [(step, source) for step in steps for source in range(len(trace.source_pieces))]
    program = (
        f'import {{ equationAt }} from "{PROGRAM.as_uri()}";'
        "\nconst all = (records, at) => records.map((one) => Object.values(equationAt(one, ...at)));"
    )
    answer = "JSON.stringify(Object.fromEntries(given[1].map((at) => [at.join(), all(given[0], at)])))"
    return dict(made_by(program, answer, [list(records.values()), cells], folder))


def check(trace: Trace, theme: ThemeName, folder: Path) -> None:
    for place, filled in in_the_browser(trace, theme, folder).items():
        step, source = map(int, place.split(","))
        written = equations(trace, step, source, theme=theme)
        assert filled == [[equation.latex, equation.note] for equation in written]
        assert "⟦" not in json.dumps(filled, ensure_ascii=False)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("attention", ["additive", "general", "none"])
def test_the_browser_writes_what_python_writes(attention: str, theme: ThemeName, tmp_path: Path) -> None:
    check(synthetic.trace(attention=attention), theme, tmp_path)


def test_a_step_changed_by_hand_has_its_own_sum(translator: Translator, tmp_path: Path) -> None:
    check(translator.translate("The man reads.", interventions=[Temperature(2.0, 1)]), "light", tmp_path)


def test_a_step_that_was_not_sent_has_none() -> None:
    records = equation_payloads(synthetic.trace(), [2], "light")
    assert {tuple(record["steps"]) for record in records.values()} == {(2,)}
    assert all(len(texts) == 1 for record in records.values() for texts in record["ofStep"].values())
