"""Buttons that make files of pictures in the visitor's browser."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from attnviz.languages import say
from attnviz.ui.components.loader import component


@dataclass(frozen=True)
class PictureFile:
    """A picture to be saved: as PNG and SVG, and its numbers as CSV."""

    title: str
    """What it is called in the list."""
    file: str
    """The name of its files, without an ending."""
    figure: go.Figure
    """As it is on paper, its title included."""
    numbers: pd.DataFrame


def picture_file_buttons(offered: Iterable[PictureFile], key: str) -> None:
    """Offer each picture as PNG and SVG, made in the visitor's browser, and as CSV."""
    pictures = [
        {"title": one.title, "file": one.file, "figure": one.figure.to_json(), "table": one.numbers.to_csv()}
        for one in offered
    ]
    words = {"failed": say("This file could not be made here. Try it again; if it fails again, reload the page.")}
    component("picture_files")(key=key, data={"pictures": pictures, "words": words})
