"""Mount many small heatmaps in groups, one of which can be chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from attnviz.figures.heads_figure import thumbnail
from attnviz.languages import language
from attnviz.ui.components.component import component, packed
from attnviz.ui.payloads import Payload
from attnviz.ui.view import Keyed


def gallery(view: Keyed, groups: Sequence[Payload], chosen: str = "", request: str = "") -> None:
    """Draw the `groups`, which `group` returns, with the cell `chosen` marked.

    When a visitor chooses another, the browser sends a `request` with its code.
    """
    payload = {"language": language(), "groups": list(groups), "chosen": chosen, "request": request}
    component("gallery", view.key("gallery"), payload)


def group(name: str, caption: str, cells: Sequence[Payload], across: int = 4) -> Payload:
    """Return a group of `cells`, `across` in a row, with its name and `caption`."""
    return {"name": name, "caption": caption, "across": across, "cells": list(cells)}


def cell(
    code: str,
    weights: NDArray[np.floating],
    name: str,
    note: str,
    label: str,
    words: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> Payload:
    """Return a small heatmap of `weights`, (rows, columns), in [0, 1], shaded by their square roots.

    `name` and `note` are below it, and `label` is its text alternative. The `words` of rows and columns name the cell
    under the pointer.
    """
    shades = np.round(255 * np.sqrt(np.clip(thumbnail(weights), 0, 1)))
    return {
        "code": code,
        "name": name,
        "note": note,
        "label": label,
        "columns": shades.shape[1],
        "rows_of": list(words[0]),
        "columns_of": list(words[1]),
        "bytes": packed(shades, "u1"),
    }
