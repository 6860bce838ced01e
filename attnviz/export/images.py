"""Draw figures as PNG, SVG or PDF with an installed Chromium, through Kaleido; add a title to figures for a file."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import shutil
import warnings
from pathlib import Path
from typing import Any, Literal

import plotly.graph_objects as go

from attnviz.analysis.labels import shorten
from attnviz.architectures import step_texts
from attnviz.deadlines import with_deadline
from attnviz.environment import BROWSER_PATH
from attnviz.errors import AttnvizError, MissingFontWarning
from attnviz.export.printing import for_print
from attnviz.figures.spec import Spec, escape, figure_json, width
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
    return _titled(spec, heading, step_texts(trace).made_by(trace), (trace.source_text, trace.translation), theme=theme)


def titled_sheet(spec: Spec, heading: str, name: str, sentences: tuple[str, str] | tuple[()] = ()) -> go.Figure:
    """Return a figure prepared for a file, with a title: `heading`, the model's `name`, and `sentences`.

    The figure is in the light theme. `sentences` are source and target, or empty.
    """
    return _titled(spec, heading, gettext("model {model}", model=shorten(name, 24)), sentences, theme="light")


def _titled(
    spec: Spec, heading: str, made_by: str, sentences: tuple[str, str] | tuple[()], *, theme: ThemeName
) -> go.Figure:
    """Return a figure as `titled_sheet` does; `made_by` names the origin of its numbers."""
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
