"""Files: TikZ that a real LaTeX compiles, a page that holds all it needs, images, tables, and what cannot be saved."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plotly.offline import get_plotlyjs

from attnviz import AttnvizError, Trace, figures
from attnviz.figures import Look, save
from attnviz.figures import image as images
from attnviz.figures.build import for_print
from attnviz.figures.image import BROWSER_VARIABLE, find_browser, image
from attnviz.figures.palette import palette
from attnviz.figures.registry import STEP_FIGURES, step_figures
from attnviz.figures.tikz import escape
from tests.browser.server import find_chromium
from tests.figures import synthetic

HARD = "A_b # $5 100% {x} \\foo ~ ^ & -- ,, '' \" < | ` ?` !` \u5b57 \U0001f600 #1 \\\\ ^^M don't </script><!--"
ACCENTS = "L'élève a reçu « ça » naïf ÿ Œuvre Ňž ș où €12 …"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return synthetic.trace()


@pytest.fixture(scope="module")
def hard() -> Trace:
    return synthetic.trace(HARD, ACCENTS)


def _compiled(source: str, folder: Path) -> str:
    """Compile `source` with pdfLaTeX; return the text of the PDF, or nothing where no pdftotext is here."""
    if not shutil.which("pdflatex"):
        pytest.skip("there is no pdflatex on this machine")
    (folder / "figure.tex").write_text(source, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "figure.tex"],
        cwd=folder, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing character" not in done.stdout
    if not shutil.which("pdftotext"):
        return ""
    return subprocess.run(
        ["pdftotext", "-raw", "figure.pdf", "-"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_latex_sets_what_was_written(hard: Trace, tmp_path: Path) -> None:
    text = _compiled(figures.heatmap_tikz(hard, by="words", root=True, step=1), tmp_path)
    if text:
        for word in ("reçu", "naïf", "Œuvre", "Ňž", "où", "€12"):
            assert word in text, word


@pytest.mark.slow
def test_latex_takes_it_into_a_document(trace: Trace, tmp_path: Path) -> None:
    snippet = figures.heatmap_tikz(trace, colours="cividis", end=False, standalone=False)
    needed = "\n".join(line[2:] for line in snippet.splitlines() if line.startswith(("% \\", "% %")))
    _compiled(f"\\documentclass{{article}}\n{needed}\n\\begin{{document}}\n{snippet}\\end{{document}}\n", tmp_path)


def test_tikz_has_every_weight_and_its_colour(trace: Trace) -> None:
    cell = re.compile(r"^\\cell\{(\d+)\}\{(\d+)\}\{([\d.]+)\}\{([0-9A-F]{6})\}$", re.MULTILINE)
    found = cell.findall(figures.heatmap_tikz(trace))
    alpha = trace.words().alignment
    assert len(found) == alpha.size
    for column, row, weight, colour in found:
        exact = float(alpha[int(row), int(column)])
        assert float(weight) == pytest.approx(exact, abs=6e-5)
        assert colour == f"{round(255 * exact):02X}" * 3


def test_escape() -> None:
    assert escape("50 % of a_b & {c} #1 $2") == r"50 \% of a\_b \& \{c\} \#1 \$2"
    assert escape("\\^~") == r"\textbackslash{}\textasciicircum{}\textasciitilde{}"
    assert escape("e\u0301t\u00e9\n--") == "été {-}{-}"
    assert escape("\u5b57\U0001f600") == r"\codepoint{5B57}\codepoint{1F600}"


class _Page(HTMLParser):
    """Collects a page's elements, with what they ask for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.texts: dict[str, str] = {}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.asked += [str(named[name]) for name in ("src", "href") if name in named]
        self._open = str(named.get("id") or tag)

    def handle_data(self, data: str) -> None:
        self.texts[self._open] = self.texts.get(self._open, "") + data


@pytest.mark.parametrize("attention", ["additive", "none"])
def test_a_lecture_holds_all_that_it_shows(attention: str) -> None:
    trace = synthetic.trace(HARD, attention=attention)
    page = _Page(text := figures.lecture_html(trace, step=2))
    assert page.asked == []
    assert get_plotlyjs() in text
    record = json.loads(page.texts["record"])
    assert record["step"] == 3
    assert len(record["steps"]) == len(trace.target_pieces)
    shown = {"attention", "candidates"} if attention == "additive" else {"candidates"}
    for theme in ("light", "dark"):
        drawn = record["figures"][theme]
        assert set(drawn["pictures"]) == shown
        for name, pictures in drawn["pictures"].items():
            expected = STEP_FIGURES[name].draw(trace, 1, theme=theme)
            assert pictures[1] == json.loads(expected.to_json())
        assert drawn["heatmap"] == json.loads(figures.heatmap(trace, theme=theme).to_json())
        assert palette(theme).paper in text.split("</style>")[0]


def test_a_bare_heatmap_is_a_table_of_all_weights(hard: Trace) -> None:
    text = figures.heatmap_html(hard)
    assert "<script" not in text
    assert "</script" not in text
    tips = re.findall(r'<td title="[^"]*: ([\d.]+)"', text)
    np.testing.assert_allclose([float(tip) for tip in tips], hard.words().alignment.ravel(), atol=6e-5)


def test_every_picture_of_a_step_can_be_drawn_tabulated_and_printed(trace: Trace) -> None:
    none = synthetic.trace(attention="none")
    assert set(step_figures(trace)) == set(STEP_FIGURES)
    assert "energy" not in step_figures(none)
    for one in (trace, none):
        for name, picture in step_figures(one).items():
            for theme in ("light", "dark"):
                figure = picture.draw(one, 1, theme=theme)
                assert figure.layout.meta["alt"], name
                printed = for_print(figure)
                assert printed.layout.width >= figure.layout.meta["narrowest"]
                assert printed.layout.height > 0
                assert figure.layout.width is None, "the page's figure is left as it was"
            assert len(picture.table(one, 1)) > 0
            assert re.fullmatch(r"[a-z]+", name), "it is part of a file's name"


BEGINNINGS = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<svg", "pdf": b"%PDF"}


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> str:
    path = find_chromium()
    if path is None:
        pytest.skip("there is no Chromium on this machine; name one in CHROMIUM")
    monkeypatch.setenv(BROWSER_VARIABLE, path)
    return path


@pytest.mark.browser
@pytest.mark.slow
def test_images(trace: Trace, tmp_path: Path, browser: str) -> None:
    for ending, beginning in BEGINNINGS.items():
        path = tmp_path / f"x.{ending}"
        save(trace, path, Look(picture="softmax", step=1, theme="dark") if ending == "png" else None)
        assert path.read_bytes().startswith(beginning)
    assert "agreement" in (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert int.from_bytes((tmp_path / "x.png").read_bytes()[16:20], "big") == 3 * 760


def test_no_browser_is_a_sentence_that_says_what_to_do(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = for_print(figures.heatmap(trace))
    monkeypatch.setenv(BROWSER_VARIABLE, "/nowhere/chromium")
    with pytest.raises(AttnvizError, match=r"BROWSER_PATH names /nowhere/chromium, which is no program\."):
        image(figure, "png")
    monkeypatch.delenv(BROWSER_VARIABLE)
    monkeypatch.setattr("choreographer.browsers.Chromium.find_browser", lambda **_: None)
    with pytest.raises(AttnvizError, match=r"none is found here\. Install one, or name it .*BROWSER_PATH\. Files that"):
        find_browser()


def test_no_kaleido_is_a_sentence(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "kaleido", None)
    with pytest.raises(AttnvizError, match="pip install kaleido"):
        images.image(for_print(figures.heatmap(trace)), "svg")


def test_tables_and_texts(trace: Trace, tmp_path: Path) -> None:
    save(trace, tmp_path / "x.csv")
    read = pd.read_csv(io.BytesIO((tmp_path / "x.csv").read_bytes()), index_col=0, encoding="utf-8-sig")
    np.testing.assert_allclose(read, trace.words().alignment, rtol=1e-6)
    save(trace, tmp_path / "y.CSV", Look(picture="candidates", step=0))
    assert "probability" in (tmp_path / "y.CSV").read_text(encoding="utf-8-sig").splitlines()[0]
    save(trace, tmp_path / "x.json")
    assert Trace.load(tmp_path / "x.json").fingerprint == trace.fingerprint
    save(trace, tmp_path / "x.pharaoh")
    links = [tuple(map(int, link.split("-"))) for link in (tmp_path / "x.pharaoh").read_text().split()]
    words = trace.words()
    best = words.alignment[:-1].argmax(axis=1)
    assert links == sorted((int(j), i) for i, j in enumerate(best) if words.source[j] != "</s>")


@pytest.mark.parametrize(
    ("name", "look", "said"),
    [
        ("x.gif", Look(), r"must end in one of \.png"),
        ("x", Look(), r"must end in one of \.png"),
        ("x.csv", Look(step=99), "no step 100: .* steps 1 to 7"),
        ("x.csv", Look(picture="candidates"), "is of one step: say which"),
        ("x.csv", Look(picture="pie", step=0), "no picture 'pie'"),
        ("x.tex", Look(picture="candidates", step=0), "of the whole translation"),
        ("nowhere/x.csv", Look(), "cannot be written: No such file"),
    ],
)
def test_what_cannot_be_saved(trace: Trace, tmp_path: Path, name: str, look: Look, said: str) -> None:
    with pytest.raises(AttnvizError, match=said):
        save(trace, tmp_path / name, look)
    assert list(tmp_path.iterdir()) == []
