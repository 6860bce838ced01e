"""Buttons that make files of pictures in the visitor's browser."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from attnviz.languages import gettext
from attnviz.text import without_isolates
from attnviz.ui.components.loader import component


@dataclass(frozen=True)
class PageDrawing:
    """A drawing that the browser has made on the page, of which it makes the file."""

    box: str
    """The selector of what it is in."""
    narrowest: int
    """Pixels that the title needs."""
    colours: dict[str, str]
    """Those of paper, by the names that style sheets know them by."""
    title: list[tuple[str, str, int, int]]
    """Its lines, with colour, size in pixels and weight."""
    alt: str


@dataclass(frozen=True)
class PictureFile:
    """A picture to be saved: as PNG and SVG, and its numbers as CSV."""

    title: str
    """What it is called in the list."""
    file: str
    """The name of its files, without an ending."""
    figure: go.Figure | PageDrawing
    """As it is on paper, its title included; or what the browser copies from the page."""
    numbers: pd.DataFrame


def picture_file_buttons(offered: Iterable[PictureFile], key: str) -> None:
    """Offer each picture as PNG and SVG, made in the visitor's browser, and as CSV."""
    pictures = [
        {"title": one.title, "file": one.file, "table": without_isolates(one.numbers.to_csv())} | _drawn(one.figure)
        for one in offered
    ]
    words = {"failed": gettext("This file could not be made here. Try it again; if it fails again, reload the page.")}
    component("picture_files")(key=key, data={"pictures": pictures, "words": words})


def _drawn(figure: go.Figure | PageDrawing) -> dict[str, Any]:
    if isinstance(figure, PageDrawing):
        return {"figure": "", "drawing": asdict(figure)}
    return {"figure": figure.to_json()}
