"""Draw figures as PNG, SVG or PDF with an installed Chromium, through Kaleido; add a title to figures for a file."""

from __future__ import annotations

import asyncio
import contextlib
import html
import json
import logging
import math
import os
import re
import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.architectures import step_texts
from attnviz.deadlines import with_deadline
from attnviz.environment import BROWSER_PATH
from attnviz.errors import AttnvizError, MissingFontWarning
from attnviz.figures.spec import PRINT_WIDTH, Part, Spec, escape, figure_json, width
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Aligned

ImageFormat = Literal["png", "svg", "pdf"]

PNG_SCALE = 3
"""Scale of a PNG: sharp in print at its size on screen."""

TIMEOUT = 120.0
"""Seconds after which a browser that does not answer is given up."""

CLOSING_TIMEOUT = 5.0
"""Seconds after which a browser that was asked to close is ended."""

_GLYPHS = Path(__file__).parents[1] / "figures" / "glyphs.js"
_MOST_NAMED = 20
"""Largest number of characters without a font that the warning names."""

_OTHER_FORMATS = "Files that end in .html, .tex, .csv and .json need no browser."


def image(figure: go.Figure, image_format: ImageFormat) -> bytes:
    """Return `figure` as `drawn` does; warn (MissingFontWarning) where no font of this machine has a character."""
    content, missing = drawn(figure, image_format)
    if missing:
        warnings.warn(
            f"No font on this machine has these characters, and the picture has boxes in their place: {missing}. "
            "Install a font that has them, for instance one of the Noto fonts.",
            MissingFontWarning,
            stacklevel=2,
        )
    return content


def drawn(figure: go.Figure, image_format: ImageFormat) -> tuple[bytes, str]:
    """Return `figure`, which must have a width and a height, as a file, and a list of its characters without a font.

    Works offline: Plotly's script is the installed package's, and MathJax, which no label needs, is left out. Raise
    AttnvizError, saying what to do, where no browser is found, or it fails.
    """
    import kaleido

    size = {
        "width": figure.layout.width,
        "height": figure.layout.height,
        "scale": PNG_SCALE if image_format == "png" else 1,
    }
    browser = find_browser()
    # It logs, with a traceback, a message of the browser that is cut by its end. What fails is reported below.
    logging.getLogger("choreographer").setLevel(logging.CRITICAL)
    try:
        # Kaleido 1.5 waits forever for a browser that has died while starting.
        drawing = _drawn(kaleido.Kaleido(path=browser, mathjax=False), figure, {"format": image_format, **size})
        content, missing = with_deadline(TIMEOUT, lambda: asyncio.run(drawing))
    except Exception as error:  # report every failure of the browser in one sentence
        raise AttnvizError(
            f"The browser {browser} could not draw the figure ({type(error).__name__}). Name another browser in "
            f"the environment variable {BROWSER_PATH}. {_OTHER_FORMATS}"
        ) from error
    return content, " ".join(missing[:_MOST_NAMED]) + (" …" if len(missing) > _MOST_NAMED else "")


async def _drawn(renderer: Any, figure: go.Figure, options: dict[str, Any]) -> tuple[bytes, str]:
    """Return `figure` as drawn by `renderer`, and its characters without a font.

    `renderer` is a `kaleido.Kaleido`, which opens a browser for it and closes it.
    """
    await renderer.open()
    try:
        return bytes(await renderer.calc_fig(figure, opts=options)), await _missing_characters(renderer, figure)
    finally:
        await close(renderer)


async def close(renderer: Any) -> None:
    """Close the browser of a `kaleido.Kaleido`; what it drew is there, so that failing to close it loses nothing.

    Choreographer 1.4 waits forever where the browser's answer to being closed arrives together with its end: it takes
    the end for the beginning of another message. Cancelled, it ends the browser and cleans up. Where the end arrives
    first, it closes the channel itself and raises ChannelClosedError here.
    """
    with contextlib.suppress(Exception):
        await asyncio.wait_for(renderer.close(), CLOSING_TIMEOUT)


async def _missing_characters(renderer: Any, figure: go.Figure) -> str:
    """Return the characters of `figure` that no font of the browser's machine has."""
    text = "".join(sorted({*json.dumps(json.loads(figure_json(figure)), ensure_ascii=False)}))
    if text.isascii():
        return ""
    script = re.sub("^export ", "", _GLYPHS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    tab = await renderer.create_tab("")
    answer = await tab.send_command(
        "Runtime.evaluate", {"expression": f"{script}\nmissingCharacters({json.dumps(text)})", "returnByValue": True}
    )
    return str(answer["result"]["result"]["value"])


def find_browser() -> str:
    """Return the path of a Chrome or Chromium on this machine; raise AttnvizError where there is none."""
    from choreographer.browsers import Chromium

    browser_name = os.environ.get(BROWSER_PATH)
    if browser_name:
        path = shutil.which(browser_name)
        if not path:
            raise AttnvizError(
                f"The environment variable {BROWSER_PATH} names {browser_name}, which is not a program. "
                f"{_OTHER_FORMATS}"
            )
        return path
    path = Chromium.find_browser(skip_local=False)
    if not path:
        raise AttnvizError(
            "To draw PNG, SVG and PDF, attnviz needs Chrome or Chromium, which was not found. Install one of "
            f"them, or name it in the environment variable {BROWSER_PATH}. {_OTHER_FORMATS}"
        )
    return path


_HEADINGS, _SENTENCE = (17, 15, 13), 13
"""Font sizes in pixels; the heading takes the largest in which it fits."""
_SIDE, _TOP = 16, 26
"""Pixels left and right of the title, and above it."""
_TITLE_HEIGHT = 84
"""Pixels of the title's three lines, including those above."""
_EDGE = 10
"""Pixels added to the right and bottom margins."""
_NARROWEST, _WIDEST_FOR_HEADING = 520, 720
"""Pixels of the narrowest exported figure, for its title, and to which a long heading widens it at most."""


def translation_sheet(spec: Spec, trace: Aligned, heading: str, *, theme: ThemeName = "light") -> go.Figure:
    """Return a figure prepared for a file (`for_print`), with a title: `heading` and both sentences.

    Each sentence is on a line of its own, shortened where it is too long.
    """
    sentences = trace.source_text, trace.translation
    return titled_sheet(spec, heading, step_texts(trace).made_by(trace), sentences, theme=theme)


def titled_sheet(
    spec: Spec, heading: str, made_by: str, sentences: tuple[str, str] | tuple[()] = (), *, theme: ThemeName = "light"
) -> go.Figure:
    """Return a figure prepared for a file, with a title: `heading`, the origin of its numbers, and `sentences`.

    These are source and target, or empty.
    """
    ink = palette(theme)
    print_figure = for_print(spec, theme)
    heading_width = width(heading, _HEADINGS[-1], bold=True) + 2 * _SIDE
    narrowest = max(_NARROWEST, min(round(heading_width), _WIDEST_FOR_HEADING))
    extra_width = max(narrowest - print_figure.layout.width, 0)  # empty space on the right
    space = print_figure.layout.width + extra_width - 2 * _SIDE
    origin = "  " + gettext("attnviz, {made_by}", made_by=made_by)
    size = next((size for size in _HEADINGS if width(heading, size, bold=True) <= space), _HEADINGS[-1])
    heading_text = shortened_to_fit(heading, space, size, bold=True)
    lines = [f'<span style="font-size:{size}px"><b>{escape(heading_text)}</b></span>']
    if width(heading_text, size, bold=True) + width(origin, _SENTENCE) <= space:
        lines[0] += f'<span style="color:{ink.quiet}">{escape(origin)}</span>'
    for sentence, colour in zip(sentences, (ink.encoder, ink.decoder), strict=False):
        line = shortened_to_fit(" ".join(sentence.split()), space, _SENTENCE)
        lines.append(f'<span style="color:{colour}">{escape(line)}</span>')
    title = {
        "text": "<br>".join(lines),
        "font": {"size": _SENTENCE, "color": ink.ink},
        "xref": "container",
        "x": 0,
        "xanchor": "left",
        "yref": "container",
        "y": 1,
        "yanchor": "top",
        "pad": {"l": _SIDE, "t": _TOP},
    }
    margin = print_figure.layout.margin
    return print_figure.update_layout(
        title=title,
        height=print_figure.layout.height + _TITLE_HEIGHT + _EDGE,
        width=print_figure.layout.width + extra_width,
        margin={"t": margin.t + _TITLE_HEIGHT, "r": margin.r + extra_width + _EDGE, "b": margin.b + _EDGE},
    )


def shortened_to_fit(text: str, space: float, size: int, *, bold: bool = False) -> str:
    """Return `text`, shortened at a word with an ellipsis to at most `space` pixels."""
    if width(text, size, bold=bold) <= space:
        return text
    shortened = text
    while shortened and width(shortened + " …", size, bold=bold) > space:
        words = shortened.rsplit(" ", 1)
        # Cut long words, and scripts without spaces, between letters.
        shortened = words[0] if len(words) == 2 and len(words[1]) < 30 else shortened[:-1]
    return shortened.rstrip() + " …"


MOST = 200
"""Rows or columns up to which each cell is a rectangle; strips of more units than pixels stay bitmaps."""
_MARKUP = re.compile(r"<[^<>]*>")


def for_print(spec: Spec, theme: ThemeName = "light") -> go.Figure:
    """Return the figure on the background of the theme, with a fixed width, for a file.

    Cells of heatmaps are vector rectangles. The width is PRINT_WIDTH, at least `layout.meta["narrowest"]` and at most
    `layout.meta["widest"]`, where a figure has it. On the page a figure is as wide as its container and transparent.
    """
    spec = with_label_room(spec)
    meta = spec.layout["meta"]
    # The browser that draws the file measures the labels, in its own font, and widens margins that are too narrow. The
    # viewer of an SVG may have another font: the margins, on which labels end, hold the widest.
    layout = {name: axis | {"automargin": True} for name, axis in spec.layout.items() if name[1:].startswith("axis")}
    layout |= {
        "paper_bgcolor": "sheet",
        "width": max(meta["narrowest"], min(PRINT_WIDTH, meta.get("widest", PRINT_WIDTH))),
    }
    return replace(spec, data=with_vector_cells(spec), layout=spec.layout | layout).figure(theme)


def with_label_room(spec: Spec) -> Spec:
    """Return a figure with room for labels in any font, on the left and below; its bars are not shorter for that."""
    layout, margin = spec.layout, spec.layout["margin"]
    axes = {name: axis for name, axis in layout.items() if name[1:].startswith("axis") and "side" not in axis}
    left, below = (
        max(0, max((_label_room(name, axis) for name, axis in axes.items() if name[0] == letter), default=0) - given)
        for letter, given in (("y", margin["l"]), ("x", margin["b"]))
    )
    widths = {name: layout["meta"][name] + left for name in ("narrowest", "widest") if name in layout["meta"]}
    room = {
        "margin": margin | {"l": margin["l"] + left, "b": margin["b"] + below},
        "height": layout["height"] + below,
        "meta": layout["meta"] | widths,
    }
    return replace(spec, layout=layout | room)


def _label_room(name: str, axis: Part) -> int:
    """Return the pixels that the labels of an axis need at the edge of the figure, that of x axes below."""
    is_row_axis = name.startswith("y")
    if axis.get("showticklabels") is False or (is_row_axis and axis.get("anchor", "x") not in ("x", "free")):
        return 0
    texts, size = axis.get("ticktext", ()), axis["tickfont"]["size"]
    bold = any("<b>" in text for text in texts)
    longest = max((width(html.unescape(_MARKUP.sub("", text)), size, bold=bold) for text in texts), default=0)
    share = 1 if is_row_axis else abs(math.sin(math.radians(axis.get("tickangle", 0))))
    return 18 + int(axis.get("ticklabelstandoff", 0)) + int(share * longest)


def with_vector_cells(spec: Spec) -> list[Part]:
    """Return the traces of a figure whose heatmaps are bars, one for each cell, without hover texts.

    An outline in the colour of the gap, or without gaps in the cell's own colour, covers the seam between neighbouring
    cells, where viewers would show a hairline.
    """
    return [
        _bars(trace, _gap_colour(trace, spec.layout))
        if trace["type"] == "heatmap" and max(np.shape(trace["z"])) <= MOST
        else trace
        for trace in spec.data
        if trace.get("opacity") != 0  # it only reacts to the pointer
    ]


def _gap_colour(trace: Part, layout: Part) -> str:
    """Return the background of a heatmap: that of all panels, or else a shape below this panel."""
    axes = [trace.get("xaxis", "x"), trace.get("yaxis", "y")]
    backgrounds = [
        shape["fillcolor"]
        for shape in layout.get("shapes", ())
        if {"layer", "fillcolor"} <= shape.keys()
        and [shape.get(f"{axis}ref", axis).split()[0] for axis in "xy"] == axes
    ]
    common = layout["plot_bgcolor"]
    return str(common if common != "rgba(0,0,0,0)" else [*backgrounds, "sheet"][0])


def _bars(trace: Part, gap: str) -> Part:
    numbers = np.asarray(trace["z"], dtype=float)
    (left, wide), (top, high) = (
        _edges(trace, axis, count) for axis, count in zip("xy", numbers.shape[::-1], strict=True)
    )
    known = np.isfinite(numbers)
    rows, columns = np.nonzero(known)
    colours: Part = {"color": numbers[known], "cmin": trace["zmin"], "cmax": trace["zmax"]}
    colours["colorscale"] = trace["colorscale"]
    outline: Part = {"width": 1, "color": gap} if trace.get("xgap") else colours | {"width": 0.4}
    bar: Part = {name: trace[name] for name in ("name", "xaxis", "yaxis", "textfont") if name in trace}
    if "texttemplate" in trace:  # the numbers in the cells
        bar |= {"text": np.array(trace["text"])[known], "textangle": 0, "insidetextanchor": "middle"}
    return bar | {
        "type": "bar",
        "x": (left + wide / 2)[columns],
        "width": wide[columns],
        "offset": -wide[columns] / 2,
        "base": top[rows],
        "y": high[rows],
        "marker": colours
        | {"line": outline, "showscale": trace.get("showscale", True), "colorbar": trace.get("colorbar")},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _edges(trace: Part, axis: str, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the starts and the lengths of the cells on an axis, given by centres, edges, or a start and a distance."""
    start, step = trace.get(f"{axis}0", 0), trace.get(f"d{axis}", 1)
    centres = np.asarray(trace[axis], dtype=float) if axis in trace else start + step * np.arange(count)
    edges = centres
    if len(centres) == count:
        steps = np.diff(centres) if count > 1 else np.ones(1)
        between = (centres[1:] + centres[:-1]) / 2
        edges = np.concatenate([centres[:1] - steps[:1] / 2, between, centres[-1:] + steps[-1:] / 2])
    return edges[:-1], np.diff(edges)
