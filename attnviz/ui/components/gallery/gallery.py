"""Small heatmaps in groups: light to draw, however many, and one of them can be chosen."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.thumbnail import thumbnail
from attnviz.languages import language
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import Keyed


def gallery(
    view: Keyed, groups: Sequence[dict[str, Any]], chosen: str = "", request: str = "", name: str = "gallery"
) -> None:
    """Draw the `groups`, which `group` returns; the one that is called `chosen` is marked, and the browser makes a
    `request` of the code of another that a visitor chooses."""
    record = {"language": language(), "groups": list(groups), "chosen": chosen, "request": request}
    component("gallery")(key=view.key(name), data=record)


def group(name: str, told: str, cells: Sequence[dict[str, Any]], across: int = 4) -> dict[str, Any]:
    """Return a group of `cells`, so many `across`, under its name and what is to be known of it."""
    return {"name": name, "told": told, "across": across, "cells": list(cells)}


def cell(
    code: str,
    weights: NDArray[np.floating],
    name: str,
    note: str,
    label: str,
    words: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> dict[str, Any]:
    """Return a small heatmap of `weights`, (rows, columns), in [0, 1], shaded by their roots; its `name` and a `note`
    stand below it, the `label` is for those who do not see it. The `words` of rows and columns are said of the cell
    that is pointed at."""
    shades = np.round(255 * np.sqrt(np.clip(thumbnail(weights), 0, 1))).astype(np.uint8)
    return {
        "code": code,
        "name": name,
        "note": note,
        "label": label,
        "columns": shades.shape[1],
        "rows_of": list(words[0]),
        "columns_of": list(words[1]),
        "bytes": base64.b64encode(shades.tobytes()).decode("ascii"),
    }
