"""How large the cells of the heatmap and its letters are: near square, and never too narrow or low for their labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.analysis.grid import Grid
from attnviz.wording.labels import shorten

NARROWEST_COLUMN, LOWEST_ROW = 12, 16
"""Pixels; in a narrower column or a lower row there is no room for a readable label, so the figure scrolls instead."""
HIGHEST_ROW, ROWS = 44, 340
"""Pixels of the highest row, and of all rows together while none is at its lowest: with both sentences above it, a
heatmap of fifteen words is to be in a window of 900 pixels."""
ASPECT = 1.5
"""The most that a cell is wider than high: wider, a short sentence would be drawn as bars."""
LARGEST_SIDE = 4000
"""Pixels; past this a browser's canvas gives up, so cells shrink and only every so many are labelled."""
LEGEND = 190
"""Pixels of the colour bar, for which there must be room below however few columns."""

_EM = 0.54
"""Width of a letter, in font sizes, on the average."""


@dataclass(frozen=True)
class Cells:
    """The sizes of one heatmap, in pixels, and the slant of its column labels."""

    row: float
    """Height of a row."""
    left: int
    top: int
    right: int
    """Margins, for the labels."""
    angle: int
    """Degrees by which the column labels are turned: 0, -50 or -90."""
    narrowest: int
    """Width of the whole figure below which it should scroll."""
    widest: int
    """Width of the whole figure above which cells would be wider than ASPECT allows."""


def cell_sizes(cells: Grid) -> Cells:
    """Return the sizes in which `cells`, (rows, columns), are drawn."""
    rows, columns = cells.alpha.shape
    row = float(np.clip(ROWS / rows, min(LOWEST_ROW, LARGEST_SIDE / rows), HIGHEST_ROW))
    size = font_size(columns)
    across = max(len(label) for label in map(shorten, cells.target)) * font_size(rows) * _EM
    down = max(len(label) for label in map(shorten, cells.source)) * size * _EM
    level = columns * (down + 8) < min(420, columns * ASPECT * row)
    angle = 0 if level else -90 if columns > 20 else -50
    height = {0: 1.6 * size, -50: down * 0.77 + size, -90: down + 6}[angle]
    left, right = int(across) + 16, 26 if angle == -50 else 12
    column = max(NARROWEST_COLUMN, int(down) + 6) if level else NARROWEST_COLUMN
    narrowest = min(column * columns, LARGEST_SIDE)
    widest = max(round(ASPECT * row * columns), narrowest, LEGEND + 20)
    return Cells(row, left, int(height) + 10, right, angle, left + right + narrowest, left + right + widest)


def font_size(count: int) -> int:
    """Return the pixels of the letters beside one of `count` rows or columns."""
    return 14 if count <= 16 else 13 if count <= 26 else 12 if count <= 40 else 11
