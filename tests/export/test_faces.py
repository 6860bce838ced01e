"""Exports of the heatmap's faces: tables, TikZ, pages and headings."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from attnviz import Trace, analysis
from attnviz.analysis.grid import FACES, grid
from attnviz.export import FigureOptions
from attnviz.export.saved_files import contents
from tests.conftest import SENTENCES
from tests.figures.payloads import plain
from tests.saved_pages import saved_view


@pytest.fixture(scope="module")
def trace(translator) -> Trace:
    return translator.translate(SENTENCES[0], target=SENTENCES[1])


@pytest.fixture(scope="module")
def weights(model_folder) -> dict[str, np.ndarray]:
    return dict(analysis.load_weights(model_folder))


@pytest.mark.parametrize("face", FACES)
def test_csv_tikz_and_page_contain_the_face(trace, weights, face) -> None:
    shown = grid(trace, end=False, face=face, posterior=analysis.posterior(trace, weights)).shown
    options = FigureOptions(face=face)
    table = pd.read_csv(io.BytesIO(contents(trace, "csv", options, weights)), index_col=0)
    np.testing.assert_allclose(table.to_numpy(), shown, atol=1e-6)
    tikz = contents(trace, "tex", options, weights).decode()
    cells = [float(number) for number in re.findall(r"\\cell\{\d+\}\{\d+\}\{(-?[\d.]+)\}", tikz)]
    np.testing.assert_allclose(cells, shown.ravel(), atol=6e-5)
    page = saved_view(contents(trace, "html", options, weights).decode())
    assert page.values_of("face") == [face, *(other for other in FACES if other != face)]
    drawn = page.heatmap(face=face)["data"][0]
    np.testing.assert_allclose(drawn["z"].reshape(shown.shape), shown, atol=2e-5)
    assert ("α′ = " in json.dumps(plain(drawn["text"]), ensure_ascii=False)) == (face != "before")
    options = FigureOptions(face=face, gold="0-0 1?1")
    page = saved_view(contents(trace, "html", options, weights).decode(), "fr")
    assert {"sure", "possible"} <= {one["name"] for one in page.heatmap(face=face)["data"][1:]}
    assert "taux d’erreur d’alignement" in page.payload("gold_links", face=face)["summary"]
