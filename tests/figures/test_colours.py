"""Colours of figures and pages: WCAG 2.2 AA contrast, and pairs that colour blindness leaves distinct."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from attnviz import palette as inks
from attnviz.browser_modules import SHARES, page_style
from attnviz.figures.attention_figure import MOST_ROWS
from attnviz.figures.encoding import MISSING
from attnviz.figures.registry import step_figures
from attnviz.figures.spec import TRANSPARENT
from attnviz.figures.subject import Subject
from attnviz.trace.drawing import HeatmapChoices
from attnviz.ui.selection import OPTIONS
from tests.conftest import REPOSITORY
from tests.figures import synthetic

Colour = NDArray[np.float64]

TEXT, MARK = 4.5, 3.0
"""Contrast that WCAG AA asks of text (1.4.3) and of graphical marks that carry meaning (1.4.11)."""
APART = 20.0
"""CIE76 difference from which two hues of one picture count as told apart: some nine just noticeable ones."""

# Machado, Oliveira & Fernandes (2009), severity 1, on linear RGB.
SIGHT = {
    "full": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]])
WHITE = XYZ.sum(axis=1)

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


def rgb(colour: str) -> Colour:
    return np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])


def linear(colour: Colour) -> Colour:
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def contrast(one: Colour, other: Colour) -> float:
    light, dark = sorted((float(linear(colour) @ XYZ[1]) for colour in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def laid(top: str, below: str, opacity: float) -> Colour:
    return opacity * rgb(top) + (1 - opacity) * rgb(below)


def lab(colour: str, sight: str) -> Colour:
    x = XYZ @ np.clip(SIGHT[sight] @ linear(rgb(colour)), 0, 1) / WHITE
    f = np.where(x > (6 / 29) ** 3, np.cbrt(x), x / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one: str, other: str, sight: str) -> float:
    return float(np.linalg.norm(lab(one, sight) - lab(other, sight)))


@both_themes
def test_texts_have_enough_contrast_on_the_page_on_tints_and_on_weights(theme: inks.ThemeName) -> None:
    """The lines between pieces and around the selected piece are checked, too."""
    ink = inks.palette(theme)
    for name in ("ink", "quiet", "encoder", "decoder", "context", "plus", "minus"):
        assert contrast(rgb(getattr(ink, name)), rgb(ink.paper)) >= TEXT, name
    # Labels of the row that is marked, which lies under a band of the encoder's colour.
    assert contrast(rgb(ink.ink), laid(ink.encoder, ink.paper, inks.BAND)) >= TEXT
    assert {"player.css", "findings.css", "step_summary.css"} <= TINTS.keys()
    for name, tints in TINTS.items():
        for hue, percent in tints:
            ground = laid(getattr(ink, OWNERS[hue]), ink.paper, int(percent) / 100)
            assert contrast(rgb(ink.ink), ground) >= TEXT, (name, hue, percent)
            if name == "step_summary.css":  # its titles are secondary
                quiet = inks.QUIET * rgb(ink.ink) + (1 - inks.QUIET) * rgb(ink.paper)
                assert contrast(quiet, ground) >= TEXT, (name, hue, percent)
    for share in np.linspace(0, inks.MOST_SHADE, 9):
        ground = laid(ink.ink, ink.paper, share)
        assert contrast(rgb(ink.ink), ground) >= TEXT, share
        assert contrast(inks.JOINT * rgb(ink.ink) + (1 - inks.JOINT) * ground, ground) >= MARK, share


@both_themes
def test_widgets_have_the_colours_of_the_palette_and_enough_contrast(theme: inks.ThemeName) -> None:
    config = tomllib.loads((REPOSITORY / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"][theme]
    keys = [f"{key}Color" for key in ["background", "text", "border", "green", "violet", "orange", "blue", "red"]]
    pairs = dict(zip(keys, ["paper", "ink", "line", "encoder", "decoder", "context", "plus", "minus"], strict=True))
    assert {key: config[key] for key in pairs} == {key: getattr(inks.palette(theme), pairs[key]) for key in pairs}
    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        for words in ("textColor", "primaryColor", "linkColor"):
            assert contrast(rgb(config[words]), rgb(config[ground])) >= TEXT, (words, ground)
    # The style sheet's --quiet; the edges of boxes.
    style = (REPOSITORY / "attnviz" / "ui" / "components" / "field" / "field.css").read_text(encoding="utf-8")
    edge = re.search(r"border: 1px solid color-mix\(in srgb, var\(--ink\) (\d+)%", style)
    assert edge
    ink, paper = config["textColor"], config["backgroundColor"]
    assert contrast(laid(ink, paper, inks.QUIET), rgb(paper)) >= TEXT
    assert contrast(laid(ink, paper, int(edge[1]) / 100), rgb(paper)) >= MARK


TINTS = {
    path.name: found
    for path in sorted((REPOSITORY / "attnviz" / "ui").rglob("*.css"))
    if (
        found := re.findall(
            r"background: color-mix\(in srgb, var\(--(?:st-)?(\w+?)(?:-color)?\) (\d+)%, transparent\)",
            path.read_text(encoding="utf-8"),
        )
    )
}
"""The tinted grounds of the style sheets: of what hue, and how many percent of it."""
OWNERS = {"green": "encoder", "violet": "decoder", "orange": "context", "text": "ink", "red": "minus"} | {
    name: name for name in ("encoder", "decoder", "context", "ink")
}


_NAMES = "BAND CELL_FRAME_WIDTH MOST_SHADE PALE ROW_FRAME_WIDTH STRONGEST VEIL"
CONSTANTS = {"MISSING": MISSING, "MOST_ROWS": MOST_ROWS}
CONSTANTS |= {name: getattr(inks, name) for name in _NAMES.split()}
"""Drawing constants that Python and the browser share."""


def constants(module: str) -> dict[str, float]:
    """Return the numbers that a module defines by names in capitals."""
    return {
        name: json.loads(value)
        for name, value in re.findall(r"^(?:export )?const ([A-Z_]+) = (-?[\d.]+);$", module, re.MULTILINE)
    }


def test_javascript_constants_match_those_of_python() -> None:
    """No JavaScript module defines an opacity or a share of a colour of its own."""
    programs = sorted(
        {*(REPOSITORY / "attnviz").rglob("*.js")} - {*(REPOSITORY / "attnviz" / "browser_programs").glob("*.js")}
    )
    texts = {path.name: path.read_text(encoding="utf-8") for path in programs}
    assert constants(texts.pop("constants.js")) == CONSTANTS
    for name, text in texts.items():
        assert not re.search(r"[Oo]pacity\W+[\d.]*\.\d|#[0-9a-fA-F]{6}\b", text), name
        assert not constants(text).keys() & CONSTANTS.keys(), name
    used = {name for name in CONSTANTS if any(re.search(rf"\b{name}\b", text) for text in texts.values())}
    assert used == CONSTANTS.keys()
    sheets = "".join(path.read_text(encoding="utf-8") for path in (REPOSITORY / "attnviz").rglob("*.css"))
    for name, share in SHARES.items():
        assert f"--{name}-share: {100 * share:g}%;" in page_style()
        assert f"var(--{name}-share)" in sheets


def marks(figure: dict, paper: str) -> Iterator[tuple[str, Colour]]:
    """Yield the colour of every bar, point and written number of a figure, opacity included, with its trace's name."""
    for trace in figure["data"]:
        name, marker = str(trace.get("name", trace["type"])), trace.get("marker", {})
        if "color" in marker and trace.get("textposition") != "inside":  # else its text says which is which
            pairs = np.broadcast(np.atleast_1d(marker["color"]), np.atleast_1d(marker.get("opacity", 1)))
            for colour, opacity in pairs:  # a mark that is empty within has the colour of its line or hatching
                edge = marker.get("line", {}).get("color", marker.get("pattern", {}).get("fgcolor"))
                shown = edge if colour in (paper, TRANSPARENT) else str(colour)
                yield name, laid(shown, paper, float(opacity))
        for part in ("increasing", "decreasing", "totals"):
            if part in trace:
                yield name, rgb(trace[part]["marker"]["color"])
        if isinstance(trace.get("textfont", {}).get("color"), str):  # else by the colour of the cell or bar
            yield f"text of {name}", rgb(trace["textfont"]["color"])


def axis_texts(figure: dict) -> Iterator[tuple[str, Colour]]:
    """Yield the colours of a figure's tick labels, of spans within them, and of titles and annotations."""
    for key, axis in figure["layout"].items():
        if key.startswith(("xaxis", "yaxis")):
            yield f"{key} ticks", rgb(axis["tickfont"]["color"])
            if "font" in axis.get("title", {}):
                yield f"{key} title", rgb(axis["title"]["font"]["color"])
            written = [*map(str, axis.get("ticktext", ())), axis.get("title", {}).get("text", "")]
            for text in written:
                yield from ((f"{key} {text}", rgb(colour)) for colour in re.findall(r"color:(#\w{6})", text))
    for note in figure["layout"].get("annotations", ()):
        yield note["text"], rgb(note["font"]["color"])


def test_server_and_browser_have_the_same_colour_scales_and_default() -> None:
    assert get_args(inks.Colours) == OPTIONS["colours"] == inks.COLOURS
    assert HeatmapChoices().colours == OPTIONS["colours"][0] == inks.DEFAULT_COLOURS
    page = (REPOSITORY / "attnviz" / "ui" / "page.css").read_text(encoding="utf-8")
    rules = re.findall(r":is\(([^)]*)\) \.if-(?:dark|bright)", page)
    assert len(rules) == 2
    for rule in rules:
        dark_on_white = [
            name for name in inks.COLOURS if inks.letter_colour(inks.heatmap_scale(name)[-1][1]) == "#ffffff"
        ]
        assert re.findall(r'\[data-colours="(\w+)"\]', rule) == dark_on_white


@pytest.mark.parametrize("frame", [inks.ROW_FRAME, inks.CELL_FRAME])
def test_frames_have_enough_contrast_on_every_cell(frame: str) -> None:
    """A frame lies between two cells, so it must contrast with the darkest and the brightest colour."""
    ends = [colour for scale in inks.SCALES.values() for _, colour in (scale.stops[0], scale.stops[-1])]
    grounds = [*ends, inks.LIGHT.paper, inks.DARK.paper]
    for ground in grounds:
        assert contrast(rgb(frame), rgb(ground)) >= MARK, ground


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("ink", [inks.LIGHT, inks.DARK], ids=["light", "dark"])
def test_colours_of_one_figure_are_distinguishable(ink: inks.Palette, sight: str) -> None:
    """Pairs of colours that appear in one figure.

    Plus and minus in bars and strips; encoder, decoder and context in equations and labels; the sum of a waterfall
    below its parts; attention beside the logit attributions.
    """
    pairs = [
        (ink.plus, ink.minus),
        (ink.encoder, ink.decoder),
        (ink.encoder, ink.context),
        (ink.decoder, ink.context),
        (ink.ink, ink.plus),
        (ink.ink, ink.minus),
        (ink.bar, ink.plus),
        (ink.decoder, ink.quiet),
        (inks.ROW_FRAME, inks.CELL_FRAME),
    ]
    for one, other in pairs:
        assert difference(one, other, sight) >= APART, (one, other)


def test_no_information_is_given_by_colour_alone() -> None:
    """Signs stand on their side of zero and are written; the chosen word and a sum are bold; saturation has a mark."""
    subject = Subject(synthetic.trace(), 2)
    drawn = {name: figure.draw(subject) for name, figure in step_figures(subject).items()}
    written = next(trace for trace in drawn["energy"].data if trace.get("mode") == "text")
    for value, text in zip(synthetic.trace().energies[2], written["text"], strict=True):
        assert ("−" in text) == (value < 0)
    labels = {name: drawn[name].layout["yaxis"]["ticktext"] for name in ("candidates", "energy-decomposition")}
    assert sum("<b>" in label for label in labels["candidates"]) == 1
    assert "<b>" in labels["energy-decomposition"][-1]
    units = subject.energy_decomposition
    flat = int((np.abs(units.activation) >= 0.99).sum())
    assert sum("▮" in label for label in labels["energy-decomposition"]) == flat
