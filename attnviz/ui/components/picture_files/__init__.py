"""Mount buttons that save figures: as PNG, SVG and CSV, made in the browser, and as PDF.

The server makes the PDF. Where it has no browser for that, and for drawings of the page, the visitor prints it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass

import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.errors import AttnvizError, user_error
from attnviz.export.images import drawn, find_browser
from attnviz.figures.spec import figure_json
from attnviz.languages import gettext, gettexts
from attnviz.text import without_isolates
from attnviz.ui.components.component import component
from attnviz.ui.payloads import Payload
from attnviz.ui.view import Keyed


@dataclass(frozen=True)
class PageDrawing:
    """A drawing in the browser's page that is saved as a file."""

    box: str
    """CSS selector of its container."""
    narrowest: int
    """Width that the title needs, in pixels."""
    colours: dict[str, str]
    """Light-theme colours, by the names of their CSS variables."""
    title: list[tuple[str, str, int, int]]
    """Lines of the title, each with colour, size in pixels and weight."""
    alt: str


@dataclass(frozen=True)
class PictureFile:
    """A figure that is saved as PNG, SVG and PDF, and its numbers as CSV."""

    title: str
    """Its name in the list."""
    file: str
    """Name of its files, without an ending."""
    draw: Callable[[], tuple[go.Figure | PageDrawing, pd.DataFrame]]
    """Returns the figure as printed, with its title, or a drawing that the browser copies from the page and prints,
    and the numbers."""


def followed_picture_files(view: Keyed, at: str, key: str) -> None:
    """Offer figures as PNG and SVG, made in the visitor's browser, as PDF, and as CSV.

    They are those of the current selection in `view`; `picture_files` is at the address `at`.
    """
    payload = {"at": at, "container": view.key("room"), "words": _words()}
    component("picture_files", key, payload)


def picture_files(files: Iterable[PictureFile], parameters: Mapping[str, str], caption: str = "") -> Payload | bytes:
    """Return the payload of the files, or the PDF of the file that the parameter `pdf` of its address names.

    Args:
        files: The figures.
        parameters: The parameters of the address.
        caption: Says which figures they are of.

    Raises:
        AttnvizError: There is no such file, the server is drawing another PDF, or it cannot draw this one.
    """
    if "pdf" in parameters:
        return _pdf(next((item.draw()[0] for item in files if item.file == parameters["pdf"]), None))
    has_browser = _has_browser()
    return {"pictures": [_file_payload(item, has_browser) for item in files], "of": caption or _words()["of"]}


_DRAWING = threading.Lock()
"""Held while a PDF is drawn: each takes a browser of its own."""


def _pdf(figure: go.Figure | PageDrawing | None) -> bytes:
    """Return a figure as PDF; raise AttnvizError where there is no figure, or the server cannot draw it now."""
    if not isinstance(figure, go.Figure):
        raise user_error("There is no picture to save.")
    if not _DRAWING.acquire(blocking=False):
        raise user_error("The server is drawing another PDF. Try again in a few seconds.")
    try:
        content, missing = drawn(figure, "pdf")
    finally:
        _DRAWING.release()
    if missing:
        raise user_error(
            "The server has no font with these characters: {characters}. Save SVG instead.", characters=missing
        )
    return content


def _has_browser() -> bool:
    try:
        return bool(find_browser())
    except AttnvizError:
        return False


def _file_payload(item: PictureFile, has_browser: bool) -> Payload:
    figure, numbers = item.draw()
    payload = {"title": item.title, "file": item.file, "table": without_isolates(numbers.to_csv())}
    if isinstance(figure, PageDrawing):
        return payload | {"figure": "", "drawing": asdict(figure), "pdf": False}
    return payload | {"figure": figure_json(figure), "pdf": has_browser}


def _words() -> dict[str, str]:
    return gettexts(
        {
            "of": "These are the pictures that the page shows.",
            "none": "There is no picture to save.",
            "drawing": "Drawing…",
            "failed": "Your browser could not make this file. Try again; if it fails again, reload the page.",
        }
    ) | {
        "boxes": gettext(
            "Your computer has no font with these characters: {characters}. In the picture, boxes replace these "
            "characters.",
            characters="{characters}",
        )
    }
