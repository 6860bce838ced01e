"""The equation that the browser fills is the one that Python writes, at every step and for every source piece."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from deno import find_deno_bin

from attnviz import Trace, Translator
from attnviz.palette import ThemeName
from attnviz.trace.interventions import Temperature
from attnviz.ui.components.equation.equation import equation_records
from attnviz.wording.equations import equations
from tests.conftest import REPOSITORY
from tests.figures import synthetic

PROGRAM = REPOSITORY / "attnviz" / "ui" / "components" / "equation" / "texts.js"


def in_the_browser(trace: Trace, theme: ThemeName, folder: Path) -> dict[str, list[list[str]]]:
    """Return LaTeX and sentence of every stage by step and source piece, as the page's own program fills them."""
    script, steps = folder / "fill.js", range(len(trace.target_pieces))
    records = equation_records(trace, steps, theme)
    script.write_text(
        PROGRAM.read_text(encoding="utf-8")
        + "\nconst [records, cells] = JSON.parse(await new Response(Deno.stdin.readable).text());\n"
        + "const all = (at) => records.map((one) => Object.values(equationAt(one, ...at)));\n"
        + "console.log(JSON.stringify(Object.fromEntries(cells.map((at) => [at.join(), all(at)]))));\n",
        encoding="utf-8",
    )
    cells = [(step, source) for step in steps for source in range(len(trace.source_pieces))]
    command = [find_deno_bin(), "run", "--no-remote", "--no-npm", "--no-lock", script]
    given = json.dumps([list(records.values()), cells])
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def check(trace: Trace, theme: ThemeName, folder: Path) -> None:
    for place, filled in in_the_browser(trace, theme, folder).items():
        step, source = map(int, place.split(","))
        written = equations(trace, step, source, theme=theme)
        assert filled == [[equation.latex, equation.note] for equation in written]
        assert "⟦" not in json.dumps(filled, ensure_ascii=False)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("attention", ["additive", "dot", "none"])
def test_the_browser_writes_what_python_writes(attention: str, theme: ThemeName, tmp_path: Path) -> None:
    check(synthetic.trace(attention=attention), theme, tmp_path)


def test_a_step_changed_by_hand_has_its_own_sum(translator: Translator, tmp_path: Path) -> None:
    check(translator.translate("The man reads.", interventions=[Temperature(2.0, 1)]), "light", tmp_path)


def test_a_step_that_was_not_sent_has_none() -> None:
    records = equation_records(synthetic.trace(), [2], "light")
    assert {tuple(record["steps"]) for record in records.values()} == {(2,)}
    assert all(len(texts) == 1 for record in records.values() for texts in record["ofStep"].values())
