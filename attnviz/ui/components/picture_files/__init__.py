"""Mount buttons that save figures as PNG, SVG and CSV files, made in the browser."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.figures.build import figure_json
from attnviz.languages import gettext
from attnviz.text import without_isolates
from attnviz.ui.components.component import component
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
    """A figure that is saved as PNG and SVG, and its numbers as CSV."""

    title: str
    """Its name in the list."""
    file: str
    """Name of its files, without an ending."""
    figure: go.Figure | PageDrawing
    """The figure as printed, with its title, or a drawing that the browser copies from the page."""
    numbers: pd.DataFrame


def followed_picture_files(view: Keyed, at: str, key: str) -> None:
    """Offer figures as PNG and SVG, made in the visitor's browser, and as CSV.

    They are those of the current selection in `view`; `picture_files_payload` is at the address `at`.
    """
    payload = {"at": at, "container": view.key("room"), "words": _words()}
    component("picture_files")(key=key, data=payload)


def picture_files_payload(files: Iterable[PictureFile], caption: str = "") -> dict[str, Any]:
    """Return the payload of the files; `caption` says which figures they are of."""
    return {"pictures": _file_payloads(files), "of": caption or _words()["of"]}


def _file_payloads(files: Iterable[PictureFile]) -> list[dict[str, Any]]:
    return [
        {"title": item.title, "file": item.file, "table": without_isolates(item.numbers.to_csv())}
        | _figure_payload(item.figure)
        for item in files
    ]


def _words() -> dict[str, str]:
    return {
        "of": gettext("These are the pictures that the page shows."),
        "none": gettext("There is no picture to save."),
        "drawing": gettext("Drawing…"),
        "boxes": gettext(
            "Your computer has no font with these characters: {characters}. In the picture, boxes replace these "
            "characters.",
            characters="{characters}",
        ),
        "failed": gettext("Your browser could not make this file. Try again; if it fails again, reload the page."),
    }


def _figure_payload(figure: go.Figure | PageDrawing) -> dict[str, Any]:
    if isinstance(figure, PageDrawing):
        return {"figure": "", "drawing": asdict(figure)}
    return {"figure": figure_json(figure)}
