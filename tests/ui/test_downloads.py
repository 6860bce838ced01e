"""Downloads and uploads of the page: file names, saved figures, and reopened traces."""

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz import AttnvizError, Trace
from attnviz.export.saved_files import file_name
from attnviz.figures.heatmap import heatmap
from attnviz.ui import payloads
from attnviz.ui.payloads import PayloadRequest
from attnviz.ui.step import logit_attribution_panel
from attnviz.ui.toolbar import downloads
from attnviz.ui.toolbar.downloads import OfferedFigure, diagram_file, picture_file, pictures
from attnviz.ui.view import MAIN, View
from tests.conftest import SENTENCES
from tests.snapshots import refusal
from tests.ui.opening import open_page, upload
from tests.ui.shown_payloads import panel_texts, steps_of


@pytest.fixture(scope="module")
def trace(translator) -> Trace:
    return translator.translate(SENTENCES[0], beam=1)


def test_step_figures_have_unique_names_and_titles(trace, monkeypatch, snapshot) -> None:
    monkeypatch.setattr(payloads, "weights_of", lambda _: None)
    monkeypatch.setattr(logit_attribution_panel, "tokenizer_of", lambda _: None)
    offered = list(pictures(PayloadRequest({"view": View(MAIN, trace)}, {"step": "3"})))
    names = [picture.name for picture in offered]
    assert names[0] == "heatmap"
    assert "step-3-energy-decomposition" in names  # it needs no model
    assert "step-3-logit-attribution" not in names
    assert {"step-3-energy", "step-3-softmax", "step-3-context", "step-3-state", "step-3-candidates"} <= set(names)
    assert len(set(names)) == len({picture.title for picture in offered}) == len(offered)
    assert file_name(trace, f"{names[2]}.png") == "attnviz-a-girl-is-riding-step-3-softmax.png"
    headings = [picture.heading for picture in offered]
    assert headings[0] == snapshot
    assert all(f"step 3 of {len(trace.target_pieces)}, " in heading for heading in headings[1:])
    energies = next(picture.draw().frame() for picture in offered if picture.name == "step-3-energy")
    np.testing.assert_allclose(energies["energy"], trace.energies[2])


def test_server_makes_one_pdf_at_a_time_and_refuses_what_it_cannot_draw(trace, monkeypatch, snapshot) -> None:
    offered = OfferedFigure("Heatmap", "heatmap", lambda: heatmap(trace))
    files = [picture_file(trace, offered), diagram_file(View(MAIN, trace), 0, "machine")]
    asked, missing = {"pdf": file_name(trace, "heatmap")}, ""

    def refused(wanted: dict[str, str]) -> str:
        return refusal(lambda: downloads.picture_files(files, wanted))

    def draw(figure: go.Figure, image_format: str) -> tuple[bytes, str]:
        assert (figure.layout.width > 0, image_format) == (True, "pdf")
        assert refused(asked) == snapshot(name="meanwhile")
        return b"%PDF", missing

    monkeypatch.setattr(downloads, "drawn", draw)
    assert downloads.picture_files(files, asked) == b"%PDF"
    missing = "\u2fe0"
    assert refused(asked) == snapshot(name="without a font")
    for other in ("machine", "unknown"):  # the browser's own drawing, and no picture
        assert refused({"pdf": other})

    def find_none() -> str:
        raise AttnvizError("none")

    for find, has_pdf in ((lambda: "chromium", True), (find_none, False)):
        monkeypatch.setattr(downloads, "find_browser", find)
        payload = downloads.picture_files(files, {})
        assert isinstance(payload, dict)
        assert [picture["pdf"] for picture in payload["pictures"]] == [has_pdf, False]


def test_trace_opens_without_a_model(trace, tmp_path, monkeypatch, snapshot) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    app = open_page()
    assert panel_texts(app, "messages") == snapshot(name="no model")
    upload(app, "broken.json", b"{}")
    problem = panel_texts(app, "file_problem")
    assert problem == snapshot(name="broken")
    upload(app, "girl.json", trace.to_json().encode())
    assert panel_texts(app, "messages") == snapshot(name="opened")
    upload(app, "broken.json", b"{}")
    assert panel_texts(app, "file_problem") == problem
    assert steps_of(app) == len(trace.target_pieces), "the file stays open"
