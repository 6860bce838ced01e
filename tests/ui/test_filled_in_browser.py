"""What the browser fills itself: Deno makes the same figures, equations and percentages as Python."""

import json

import numpy as np
import pytest

from attnviz import Temperature, Trace, languages
from attnviz.environment import ATTNVIZ_SCORERS
from attnviz.figures.encoding import to_json
from attnviz.figures.subject import Subject
from attnviz.figures.waterfall_figure import draw_energy_decomposition
from attnviz.languages import set_language
from attnviz.palette import ThemeName
from attnviz.ui.embedding import in_theme
from attnviz.ui.payloads import PayloadRequest
from attnviz.ui.step.stage_panels import cells_payload, equation_payloads
from tests.analysis.given import equations
from tests.conftest import REPOSITORY
from tests.deno_program import made_by
from tests.figures import synthetic
from tests.figures.payloads import close, unpacked

COSINE = "tests.own_scorers:Cosine"
"""A user's own kind, whose products have a weight other than 1."""
SHARED = REPOSITORY / "attnviz" / "ui" / "components" / "numbers.js"
CHART = REPOSITORY / "attnviz" / "ui" / "components" / "chart"

FILL = f"""
import {{ decomposition, fillFigure, unpacked }} from "{(CHART / "energy.js").as_uri()}";
import {{ filled }} from "{(CHART / "template.js").as_uri()}";
import {{ setLanguage }} from "{SHARED.as_uri()}";
const made = (figure, cell, data) => (fillFigure(figure, cell, data, ""), figure);
const all = ([{{ fits, language, operands, template }}, cells]) => {{
  setLanguage(language);
  const data = unpacked(operands);
  const both = () => fits.map(({{ values }}) => filled(JSON.parse(template), JSON.parse(values)));
  return cells.flatMap((at) => both().map((one) => made(one, decomposition(data, ...at), data)));
}};
"""
"""Fills the figures of these cells, wide and narrow."""


@pytest.mark.parametrize(
    ("attention", "spoken", "theme"), [("additive", "en", "light"), ("general", "fr", "dark"), (COSINE, "en", "dark")]
)
def test_browser_fills_the_same_figure_as_python_for_each_cell(attention, spoken, theme, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(ATTNVIZ_SCORERS, COSINE)
    trace = synthetic.trace(attention=attention)
    weights = {"decoder.attention.score": np.linspace(-0.7, 1.1, trace.queries.shape[1])}
    cells = [(0, 0), (1, 2), (len(trace.target_pieces) - 1, len(trace.source_pieces) - 1)]
    set_language(spoken)
    request = PayloadRequest({"trace": trace}, {})
    vars(request)["weights"] = weights  # of no installed model
    with in_theme(theme):
        given = [cells_payload(request), cells]
    filled = made_by(FILL, "JSON.stringify(all(given))", given, tmp_path)
    subjects = [Subject(trace, step, weights, source) for step, source in cells]
    drawn = [draw_energy_decomposition(one, operands=wide) for one in subjects for wide in (True, False)]
    assert not close(filled[0], filled[2])
    for one, expected in zip(filled, drawn, strict=True):
        other = json.loads(to_json(expected.plotly(theme)))
        for figure in (one, other):
            del figure["layout"]["meta"]["alt"]  # the browser sets the alternative text outside the figure
        assert close(unpacked(one), unpacked(other))


PROGRAM = REPOSITORY / "attnviz" / "ui" / "components" / "equation" / "texts.js"


@pytest.mark.parametrize(("attention", "theme"), [("general", "light"), ("none", "light"), ("changed", "dark")])
def test_browser_fills_the_same_equations_as_python(attention: str, theme: ThemeName, translator, tmp_path) -> None:
    if attention == "changed":
        trace: Trace = translator.translate("The man reads.", interventions=[Temperature(2.0, 1)], beam=1)
    else:
        trace = synthetic.trace(attention=attention)
    steps = range(len(trace.target_pieces))
    cells = [(step, source) for step in steps for source in range(len(trace.source_pieces))]
    program = f"""import {{ equationAt }} from "{PROGRAM.as_uri()}";
const all = (records, at) => records.map((one) => Object.values(equationAt(one, ...at)));"""
    with in_theme(theme):
        records = [*equation_payloads(trace, steps).values()]
    found = made_by(program, "JSON.stringify(given[1].map((at) => all(given[0], at)))", [records, cells], tmp_path)
    for (step, source), filled in zip(cells, found, strict=True):
        written = equations(trace, step, source, theme=theme)
        assert filled == [[equation.latex, equation.note] for equation in written]
        assert "⟦" not in json.dumps(filled, ensure_ascii=False)


def test_browser_formats_percentages_as_the_server_does(tmp_path) -> None:
    shares = (0.0, 1e-9, 0.0004, 0.0042, 0.53, 0.994, 0.996, 0.9996, 1 - 1e-9, 1.0)
    asked = [(code, share, places) for code in ("en", "fr", "de", "tr") for share in shares for places in (0, 1)]
    program = f"""import {{ percent, setLanguage }} from "{SHARED.as_uri()}";
const written = ([code, share, places]) => (setLanguage(code), percent(share, places));"""
    made = made_by(program, "JSON.stringify(given.map(written))", asked, tmp_path)
    for (_, share, places), text in zip(asked, made, strict=True):
        is_rounded_off = share not in (0, 1) and round(100 * share, places) in (0, 100)
        assert text.startswith(("<", ">")) == is_rounded_off, (share, places, text)
    assert made == [languages.format_share_in(*one) for one in asked]
