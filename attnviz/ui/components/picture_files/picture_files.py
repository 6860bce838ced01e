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
from attnviz.ui.page_state.view import View


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
    record = {"pictures": _listed(offered), "at": "", "room": "", "words": _words()}
    component("picture_files")(key=key, data=record)


def followed_picture_files(view: View, at: str, key: str) -> None:
    """Offer the pictures of what is on show in `view`, which lie at the address `at`: see `picture_files_record`."""
    record = {"pictures": [], "at": at, "room": view.key("room"), "words": _words()}
    component("picture_files")(key=key, data=record)


def picture_files_record(offered: Iterable[PictureFile], of: str = "") -> dict[str, Any]:
    """Return what the browser offers; `of` says of which pictures it is."""
    return {"pictures": _listed(offered), "of": of or _words()["of"]}


def _listed(offered: Iterable[PictureFile]) -> list[dict[str, Any]]:
    return [
        {"title": one.title, "file": one.file, "table": without_isolates(one.numbers.to_csv())} | _drawn(one.figure)
        for one in offered
    ]


def _words() -> dict[str, str]:
    return {
        "of": gettext("The pictures as they are on show."),
        "none": gettext("There is no picture to take away."),
        "drawing": gettext("Drawing…"),
        "failed": gettext("This file could not be made here. Try it again; if it fails again, reload the page."),
    }


def _drawn(figure: go.Figure | PageDrawing) -> dict[str, Any]:
    if isinstance(figure, PageDrawing):
        return {"figure": "", "drawing": asdict(figure)}
    return {"figure": figure.to_json()}
