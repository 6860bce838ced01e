"""Exports of a translation: TikZ compiled by LaTeX, HTML pages, images, tables, and refused files."""

import asyncio
import contextlib
import io
import json
import math
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import kaleido
import numpy as np
import pandas as pd
import pytest
from choreographer.channels import ChannelClosedError
from pdfminer.high_level import extract_text

from attnviz import (
    Attention,
    AttnvizError,
    ExcludePosition,
    Temperature,
    Trace,
    Translator,
    analysis,
    attention,
    export,
    figures,
)
from attnviz.analysis.gold import GoldLinks
from attnviz.analysis.grid import FACES, grid
from attnviz.analysis.labels import LONGEST, signed
from attnviz.browser_programs import PLOTLY
from attnviz.environment import BROWSER_PATH
from attnviz.errors import MissingFontWarning
from attnviz.export import FigureOptions, images, save
from attnviz.export.images import find_browser, for_print, image
from attnviz.export.saved_files import contents, heading
from attnviz.figures import Subject, step_figure
from attnviz.languages import LANGUAGES, set_language
from attnviz.model_folder import read_weights
from attnviz.palette import palette
from attnviz.trace import WhatIf, WhatIfs
from attnviz.trace.drawing import DetailLevel
from attnviz.ui.embedded_view import THEMES
from attnviz.ui.selection import SWITCHES
from tests.analysis.given import centred_attributions
from tests.browser.server import find_chromium
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.figures.payloads import close, plain
from tests.saved_pages import page_payload, saved_view
from tests.snapshots import plain as plain_message
from tests.snapshots import refusal
from tests.ui.shown_payloads import chart_names

HARD = "A_b # $5 100% {x} \\foo ~ ^ & -- ,, '' \" < | ` ?` !` \u5b57 \U0001f600 #1 \\\\ ^^M don't </script><!--"
WITHOUT_FONT = "\u2fe0"
"""A character that Unicode has not assigned."""


@pytest.fixture(scope="module")
def trace() -> Trace:
    return synthetic.trace()


def _compiled(source: str, folder: Path, engine: str = "pdflatex") -> str:
    for program in (engine, "pdftotext"):
        if not shutil.which(program):
            pytest.skip(f"there is no {program} on this machine")
    (folder / "figure.tex").write_text(source, encoding="utf-8")
    how = {"cwd": folder, "capture_output": True, "text": True, "errors": "replace"}
    done = subprocess.run([engine, "-halt-on-error", "-interaction=nonstopmode", "figure.tex"], **how, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing character" not in done.stdout
    return subprocess.run(["pdftotext", "-raw", "figure.pdf", "-"], **how, check=True).stdout


@pytest.mark.nightly
@pytest.mark.parametrize("engine", ["pdflatex", "xelatex", "lualatex"])
def test_latex_sets_letters_of_other_scripts_or_their_numbers(engine, tmp_path) -> None:
    words = ["русский", "a字b", f"x{WITHOUT_FONT}", "a\x1bb"]
    text = _compiled(export.heatmap_tikz(attention(["Œuvre"], words, [[1.0]] * 4)), tmp_path, engine)
    assert "U+2FE0" in text
    assert "ESC" in text
    assert ("русский" in text) == (engine != "pdflatex")
    assert ("U+0440" in text) == (engine == "pdflatex")


@pytest.mark.nightly
def test_latex_compiles_the_snippet_in_a_document(trace, tmp_path) -> None:
    snippet = export.heatmap_tikz(trace, colours="cividis", end=False, standalone=False)
    needed = "\n".join(line[2:] for line in snippet.partition("% Alignment")[0].splitlines()[1:])
    document = f"\\documentclass{{article}}\n{needed}\n\\begin{{document}}\n{snippet}\\end{{document}}\n"
    assert "signé" in _compiled(document, tmp_path)


def test_tikz_csv_json_and_pharaoh_files_have_the_values(trace, tmp_path) -> None:
    cell = re.compile(r"^\\cell\{(\d+)\}\{(\d+)\}\{([\d.]+)\}\{([0-9A-F]{6})\}$", re.MULTILINE)
    found = cell.findall(export.heatmap_tikz(trace, end=True))
    alpha = trace.alignment
    assert len(found) == alpha.size
    for column, row, weight, colour in found:
        exact = float(alpha[int(row), int(column)])
        assert float(weight) == pytest.approx(exact, abs=6e-5)
        assert colour == f"{round(255 * exact):02X}" * 3
    save(trace, tmp_path / "x.csv")
    read = pd.read_csv(io.BytesIO((tmp_path / "x.csv").read_bytes()), index_col=0, encoding="utf-8-sig")
    np.testing.assert_allclose(read, trace.alignment[:-1, :-1], rtol=1e-6)
    save(trace, tmp_path / "y.CSV", FigureOptions(picture="candidates", step=0))
    assert "probability" in (tmp_path / "y.CSV").read_text(encoding="utf-8-sig").splitlines()[0]
    save(trace, tmp_path / "x.json")
    assert Trace.load(tmp_path / "x.json").fingerprint == trace.fingerprint
    save(trace, tmp_path / "x.pharaoh")
    links = [tuple(map(int, link.split("-"))) for link in (tmp_path / "x.pharaoh").read_text().split()]
    words = trace.words()
    best = words.alignment[:-1].argmax(axis=1)
    assert links == sorted((int(j), i) for i, j in enumerate(best) if words.source[j] != "</s>")


@pytest.mark.parametrize("attention", ["additive", "none"])
def test_page_has_every_figure_in_each_language_and_theme(attention, snapshot) -> None:
    trace = synthetic.trace(HARD, attention=attention)
    text = export.page_html(trace, step=2, margins=True, level="everything")
    assert PLOTLY.text in text
    assert "<title>attnviz: A_b # $5 100%" in text
    assert page_payload(text)["footers"] == snapshot
    shown = chart_names(trace)
    for code, theme in product(LANGUAGES, THEMES):
        set_language(code)
        view = saved_view(text, code, theme)
        (state,) = view.mounted("view_state")
        assert (state["firstStep"], state["steps"], state["hasTour"]) == (2, len(trace.target_pieces), False)
        assert view.values_of("face") == ["before"]  # the others need the weights
        heatmap = figures.heatmap(trace, end=True, margins=attention == "additive", longest=LONGEST)
        assert close(plain(view.heatmap()), plain(heatmap.plotly(theme)))
        for name, step in product(shown, range(len(trace.target_pieces))):
            drawn = step_figure(subject := Subject(trace, step), name).draw(subject)
            assert close(plain(view.figure(name, step)), plain(drawn.plotly(theme))), name
        assert palette(theme).paper in text.split("</style>")[0]


@pytest.mark.parametrize("level", get_args(DetailLevel))
def test_a_page_has_the_payloads_that_it_draws_and_no_other(trace, level) -> None:
    view = saved_view(export.page_html(trace, level=level))
    options = {name: view.values_of(name) for name in ("by", *SWITCHES)}
    steps = range(len(trace.target_pieces))
    drawn = {
        at.format_map({"face": "before", "step": step, **dict(zip(options, chosen, strict=True))})
        for at, step, chosen in product(view.addresses(), steps, product(*options.values()))
    }
    assert set(view.payloads) == drawn
    assert None not in view.payloads.values()
    assert not any("sent" in chart for chart in view.mounted("chart")), "it would be there twice"


def test_page_with_weights_has_logit_attributions(translator, model_folder) -> None:
    trace, weights = translator.translate(SENTENCES[0], target=SENTENCES[1]), read_weights(model_folder)
    view = saved_view(export.page_html(trace, weights=weights, level="everything"))
    captions = view.payload("logit-attribution")["captions"]
    for i in range(len(trace.target_pieces)):
        drawn = view.figure("logit-attribution", i)
        (attribution,) = centred_attributions(trace, weights, [(i, trace.target_ids[i])])
        total = next(one for one in drawn["data"] if one["type"] == "waterfall")["x"][-1]
        assert total == pytest.approx(attribution.logit, abs=1e-6)
        assert signed(attribution.logit) in " ".join(captions[str(i)])
        assert view.payload("verification", step=i)["holds"]


@pytest.fixture
def what_ifs(translator) -> WhatIfs:
    """Return a translation, a what-if whose attention skips a piece at each step, and one of uniform attention."""
    first = translator.translate("A dog.", target="Un chien.")
    changes = (ExcludePosition(1), Temperature(math.inf))
    traces = tuple(translator.translate("A dog.", target="Un chien.", interventions=[one]) for one in changes)
    return WhatIfs(first, tuple(WhatIf(0, one) for one in changes), traces)


def test_page_has_a_view_for_each_what_if(what_ifs) -> None:
    text = export.page_html(what_ifs.traces[0], what_ifs=what_ifs, end=False, step=-1, gold="0-0")
    assert (page_payload(text)["what_ifs"], page_payload(text)["current"]) == ([0, 1, 2], 1)
    for number in range(3):
        view, trace = saved_view(text, "fr", "dark", number), what_ifs.trace(number)
        (cards,) = view.mounted("what_ifs")
        assert (cards["current"], len(cards["cards"])) == (number, 3)
        assert not any(card["remove"] for card in cards["cards"]), "a page keeps its what-ifs"
        (state,) = view.mounted("view_state")
        assert state["identity"] == trace.fingerprint
        assert state["firstStep"] == len(trace.target_pieces) - 1
        cells, *marks = plain(view.heatmap())["data"]
        marked = "sure" in [mark["name"] for mark in marks]
        assert marked == (number == 1), "only the words of the given trace have these links"
        alpha = trace.words().alignment if marked else trace.alignment
        np.testing.assert_allclose(cells["z"], alpha[:-1, :-1], atol=2e-5)


@pytest.mark.nightly
def test_a_long_page_fits_in_eight_megabytes(shipped_model) -> None:
    source = "The agreement on the European Economic Area was signed in August 1992 by all member states."
    trace = Translator.load(shipped_model, device="cpu").translate(source, beam=1)
    text = export.page_html(trace, margins=True, weights=read_weights(shipped_model), level="everything")
    assert len(text.encode()) < 8_000_000


def test_heatmap_html_has_every_token_and_weight() -> None:
    tokens = HARD.split()
    record = attention(tokens, tokens, np.tri(len(tokens)) / np.arange(1, len(tokens) + 1)[:, None])
    table = ElementTree.fromstring(export.heatmap_html(record, end=True))  # noqa: S314  of our own
    assert [heading.text for heading in table.iter("th")] == tokens * 2
    tips = [cell.get("title", "") for cell in table.iterfind("tbody/tr/td")]
    assert [tip.partition(": ")[0] for tip in tips] == [f"{row} ← {name}" for row, name in product(tokens, tokens)]
    np.testing.assert_allclose([float(tip.split()[-1]) for tip in tips], record.alignment.ravel(), atol=6e-5)


BEGINNINGS = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<svg", "pdf": b"%PDF"}


@pytest.fixture
def browser(monkeypatch) -> str:
    path = find_chromium()
    if path is None:
        pytest.skip("there is no Chromium on this machine; name one in CHROMIUM")
    monkeypatch.setenv(BROWSER_PATH, path)
    return path


CONTROLS = {"\x1b": "␛", "\t": "␉", "\x7f": "␡", "\x9b": "\ufffd", "\ufffe": "\ufffd", "\u2028": "\ufffd"}
"""Characters that XML cannot hold or a page does not show, and how they are drawn."""


@pytest.fixture(scope="module")
def unprintable() -> Attention:
    """Return attention between tokens with each of these characters."""
    words = [f"a{control}b" for control in CONTROLS]
    return attention(words, words, np.eye(len(words)))


def test_control_characters_are_symbols_in_text_files(unprintable) -> None:
    for ending in ("csv", "html", "tex"):
        text = contents(unprintable, ending, FigureOptions()).decode("utf-8-sig")
        assert not set(CONTROLS) - {"\t"} & set(text)
    assert all(f"a{symbol}b" in contents(unprintable, "csv", FigureOptions()).decode() for symbol in CONTROLS.values())
    assert Attention.from_json(unprintable.to_json()).source_pieces == unprintable.source_pieces


@pytest.mark.browser
def test_images_are_saved_in_every_format(trace, tmp_path, browser) -> None:
    options = {
        "png": FigureOptions(picture="softmax", step=1, theme="dark"),
        "svg": FigureOptions(margins=True),
        "pdf": FigureOptions(title=False),
    }
    for ending, beginning in BEGINNINGS.items():
        save(trace, path := tmp_path / f"x.{ending}", options[ending])
        assert path.read_bytes().startswith(beginning)
    drawn = (tmp_path / "x.svg").read_text(encoding="utf-8")
    for text in ("H, bits", heading(trace, options["svg"]), trace.source_text):
        assert text in drawn
    words = heading(trace, options["pdf"]).split()
    assert words[0] in drawn
    assert words[0] not in extract_text(tmp_path / "x.pdf")
    assert int.from_bytes((tmp_path / "x.png").read_bytes()[16:20], "big") == 3 * 760


@pytest.mark.browser
@pytest.mark.parametrize("answers", [False, True], ids=["silent", "closed twice"])
def test_image_is_saved_when_the_browser_cannot_be_closed(answers, trace, tmp_path, browser, monkeypatch) -> None:
    close = kaleido.Kaleido.close

    async def fail(renderer: kaleido.Kaleido) -> None:
        try:
            if not answers:
                await asyncio.Event().wait()
        finally:  # the browser is closed; this may hang as well, which is what `close` in images is for
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(close(renderer), 5)
        raise ChannelClosedError

    monkeypatch.setattr(kaleido.Kaleido, "close", fail)
    monkeypatch.setattr(images, "CLOSING_TIMEOUT", 0.1)
    save(trace, tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_bytes().startswith(BEGINNINGS["svg"])


def test_image_export_is_refused_without_a_browser_that_answers(trace, tmp_path, monkeypatch, snapshot) -> None:
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexec sleep 20\n", encoding="utf-8")
    silent.chmod(0o755)
    monkeypatch.setenv(BROWSER_PATH, str(silent))
    monkeypatch.setattr(images, "TIMEOUT", 1.0)
    with pytest.raises(AttnvizError, match="TimeoutError") as error:
        image(for_print(figures.heatmap(trace)), "png")
    assert plain_message(error.value, tmp_path) == snapshot
    figure = for_print(figures.heatmap(trace))
    monkeypatch.setenv(BROWSER_PATH, "/nowhere/chromium")
    assert refusal(lambda: image(figure, "png")) == snapshot(name="no program there")
    monkeypatch.delenv(BROWSER_PATH)
    monkeypatch.setattr("choreographer.browsers.Chromium.find_browser", lambda **_: None)
    assert refusal(find_browser) == snapshot(name="none installed")


@pytest.mark.parametrize("ending", [pytest.param("png", marks=pytest.mark.nightly), "pdf"])
def test_image_export_names_characters_without_a_font(ending, trace) -> None:
    figure = for_print(figures.heatmap(trace))
    figure.update_layout(title={"text": f"été {WITHOUT_FONT} é"})
    with pytest.warns(MissingFontWarning, match=f": {WITHOUT_FONT}[.] "):
        image(figure, ending)


UNSAVEABLE = {
    "unknown ending": ("x.gif", FigureOptions()),
    "no ending": ("x", FigureOptions()),
    "no such step": ("x.csv", FigureOptions(step=99)),
    "no step": ("x.csv", FigureOptions(picture="candidates")),
    "no such picture": ("x.csv", FigureOptions(picture="pie", step=0)),
    "TikZ of a step": ("x.tex", FigureOptions(picture="candidates", step=0)),
    "TikZ with margins": ("x.tex", FigureOptions(margins=True)),
    "JSON with margins": ("x.json", FigureOptions(margins=True)),
    "a step with margins": ("x.svg", FigureOptions(picture="candidates", step=0, margins=True)),
    "no such folder": ("nowhere/x.csv", FigureOptions()),
    "CSV with links": ("x.csv", FigureOptions(gold=GoldLinks(frozenset({(0, 0)})))),
    "a step with links": ("x.html", FigureOptions(gold=GoldLinks(frozenset({(0, 0)})), picture="softmax", step=0)),
}


@pytest.mark.parametrize(("name", "options"), UNSAVEABLE.values(), ids=UNSAVEABLE.keys())
def test_invalid_exports_are_refused(trace, tmp_path, name, options, snapshot) -> None:
    assert refusal(lambda: save(trace, tmp_path / name, options), tmp_path) == snapshot
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def translated(translator) -> Trace:
    return translator.translate(SENTENCES[0], target=SENTENCES[1])


@pytest.fixture(scope="module")
def weights(model_folder) -> dict[str, np.ndarray]:
    return dict(analysis.load_weights(model_folder))


@pytest.mark.parametrize("face", FACES)
def test_csv_tikz_and_page_contain_the_face(translated, weights, face) -> None:
    shown = grid(translated, end=False, face=face, posterior=analysis.posterior(translated, weights)).shown
    options = FigureOptions(face=face)
    table = pd.read_csv(io.BytesIO(contents(translated, "csv", options, weights)), index_col=0)
    np.testing.assert_allclose(table.to_numpy(), shown, atol=1e-6)
    tikz = contents(translated, "tex", options, weights).decode()
    cells = [float(number) for number in re.findall(r"\\cell\{\d+\}\{\d+\}\{(-?[\d.]+)\}", tikz)]
    np.testing.assert_allclose(cells, shown.ravel(), atol=6e-5)
    page = saved_view(contents(translated, "html", options, weights).decode())
    assert page.values_of("face") == [face, *(other for other in FACES if other != face)]
    drawn = page.heatmap(face=face)["data"][0]
    shown = grid(translated, face=face, posterior=analysis.posterior(translated, weights)).shown  # with </s>
    np.testing.assert_allclose(drawn["z"].reshape(shown.shape), shown, atol=2e-5)
    assert ("α′ = " in json.dumps(plain(drawn["text"]), ensure_ascii=False)) == (face != "before")
    options = FigureOptions(face=face, gold="0-0 1?1")
    page = saved_view(contents(translated, "html", options, weights).decode(), "fr")
    assert {"sure", "possible"} <= {one["name"] for one in page.heatmap(face=face)["data"][1:]}
    assert "taux d’erreur d’alignement" in page.payload("gold_links", face=face)["summary"]
