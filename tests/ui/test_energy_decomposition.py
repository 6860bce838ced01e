"""Energy decomposition in the browser: it fills the figure of a cell exactly as Python draws it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz.environment import ATTNVIZ_SCORERS
from attnviz.figures.encoding import to_json
from attnviz.figures.energy_decomposition_figure import draw_energy_decomposition
from attnviz.figures.subject import Subject
from attnviz.languages import set_language
from attnviz.palette import ThemeName
from attnviz.ui.components.energy_decomposition import energy_decomposition_payload
from tests.conftest import REPOSITORY
from tests.deno_program import made_by
from tests.figures import synthetic
from tests.figures.payloads import close, unpacked

COSINE = "tests.own_scorers:Cosine"
"""A user's own kind, whose products have a weight other than 1."""
SHARED = REPOSITORY / "attnviz" / "ui" / "components" / "shared.js"
UNITS = REPOSITORY / "attnviz" / "ui" / "components" / "energy_decomposition" / "decomposition.js"


def figures_from_deno(record: dict[str, Any], cells: list[tuple[int, int]], folder: Path) -> list[dict[str, Any]]:
    """Return the figures that the browser code fills for these cells in Deno, wide and narrow."""
    page = f'import {{ setLanguage }} from "{SHARED.as_uri()}";\nsetLanguage({json.dumps(record["language"])});\n'
    filled = """
const made = (figure, cell, data) => (fillFigure(figure, cell, data), figure);
const all = ([record, cells]) => {
  const data = operands(record);
  const both = [data.wide, data.narrow];
  return cells.flatMap((at) => both.map((one) => made(JSON.parse(one), decomposition(data, ...at), data)));
};
"""
    program = f'import {{ operands, fillFigure, decomposition }} from "{UNITS.as_uri()}";\n{page}{filled}'
    return list(made_by(program, "JSON.stringify(all(given))", [record, cells], folder))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("spoken", ["en", "fr"])
@pytest.mark.parametrize("attention", ["additive", "general", COSINE])
def test_browser_fills_the_same_figure_as_python_for_each_cell(
    attention: str, spoken: str, theme: ThemeName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ATTNVIZ_SCORERS, COSINE)
    trace = synthetic.trace(attention=attention)
    score = np.linspace(-0.7, 1.1, trace.queries.shape[1])
    weights = {"decoder.attention.score": score}
    cells = [(0, 0), (1, 2), (len(trace.target_pieces) - 1, len(trace.source_pieces) - 1)]
    expected_figures = []
    set_language(spoken)
    filled = figures_from_deno(energy_decomposition_payload(trace, weights, theme), cells, tmp_path)
    for step, source in cells:
        subject = Subject(trace, step, weights, source, theme=theme)
        expected_figures += [draw_energy_decomposition(subject, operands=wide) for wide in (True, False)]
    assert not close(filled[0], filled[2])
    for one, expected in zip(filled, expected_figures, strict=True):
        other = json.loads(to_json(expected.plotly))
        for figure in (one, other):
            del figure["layout"]["meta"]["alt"]  # the browser sets the alternative text outside the figure
        assert close(unpacked(one), unpacked(other))
