"""The energy decomposition that the browser fills for a cell is the figure that Python draws of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz.analysis.energy_decomposition import energy_decomposition
from attnviz.figures.energy_decomposition import energy_decomposition_figure
from attnviz.languages import set_language
from attnviz.palette import ThemeName
from attnviz.ui.components.energy_decomposition.energy_decomposition import energy_decomposition_payload
from tests.conftest import REPOSITORY
from tests.deno_program import made_by
from tests.figures import synthetic
from tests.figures.test_template import close, unpacked

UNITS = REPOSITORY / "attnviz" / "ui" / "components" / "energy_decomposition" / "units.js"


def in_the_browser(record: dict[str, Any], cells: list[tuple[int, int]], folder: Path) -> list[dict[str, Any]]:
    """Return the page's own figures of these cells, wide and narrow."""
    page = f"globalThis.document = {{ documentElement: {{ lang: {json.dumps(record['language'])} }} }};\n"
    filled = """
const made = (figure, cell, data) => (redraw(figure, cell, data), figure);
const all = ([record, cells]) => {
  const data = operands(record);
  return cells.flatMap((at) => [data.wide, data.narrow].map((one) => made(JSON.parse(one), units(data, ...at), data)));
};
"""
    program = f'import {{ operands, redraw, units }} from "{UNITS.as_uri()}";\n{page}{filled}'
    return list(made_by(program, "JSON.stringify(all(given))", [record, cells], folder))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("spoken", ["en", "fr"])
@pytest.mark.parametrize("attention", ["additive", "general"])
def test_of_each_cell(attention: str, spoken: str, theme: ThemeName, tmp_path: Path) -> None:
    trace = synthetic.trace(attention=attention)
    score = np.linspace(-0.7, 1.1, trace.queries.shape[1])
    cells = [(0, 0), (1, 2), (len(trace.target_pieces) - 1, len(trace.source_pieces) - 1)]
    drawn = []
    set_language(spoken)
    made = in_the_browser(energy_decomposition_payload(trace, score, theme), cells, tmp_path)
    for cell in cells:
        units = energy_decomposition(trace, {"decoder.attention.score": score}, *cell)
        drawn += [energy_decomposition_figure(units, operands=wide, theme=theme) for wide in (True, False)]
    assert not close(made[0], made[2])
    for one, expected in zip(made, drawn, strict=True):
        other = json.loads(expected.to_json())
        for figure in (one, other):
            del figure["layout"]["meta"]["alt"]  # the browser says it beside the figure
        assert close(unpacked(one), unpacked(other))
