"""Sizes of the heatmap's cells and labels: nearly square, and never too small for a label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.analysis.grid import Grid
from attnviz.wording.labels import shorten

NARROWEST_COLUMN, LOWEST_ROW = 12, 16
"""Pixels; smaller cells have no room for a label, so the figure scrolls instead."""
HIGHEST_ROW, ROWS = 44, 340
"""Pixels of the highest row, and of all rows together unless they have their smallest height.

With both sentences above, a heatmap of fifteen words fits a window of 900 pixels.
"""
ASPECT = 1.5
"""Largest ratio of width to height of a cell; wider cells would look like bars."""
LARGEST_SIDE = 4000
"""Pixels; larger canvases fail in browsers, so cells shrink and only some are labelled."""
LEGEND = 190
"""Pixels of the colour bar, for which there must be room below."""

_EM = 0.54
"""Average width of a letter, in font sizes."""


@dataclass(frozen=True)
class Cells:
    """Sizes of a heatmap in pixels, and the angle of its column labels."""

    row: float
    """Height of a row."""
    left: int
    top: int
    right: int
    """Margins for the labels."""
    angle: int
    """Angle of the column labels in degrees: 0, -50 or -90."""
    narrowest: int
    """Width of the figure below which it should scroll."""
    widest: int
    """Width of the figure above which cells exceed ASPECT."""


def cell_sizes(cells: Grid) -> Cells:
    """Return the sizes in which the grid `cells`, (rows, columns), is drawn."""
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
    """Return the font size of the labels of `count` rows or columns, in pixels."""
    return 14 if count <= 16 else 13 if count <= 26 else 12 if count <= 40 else 11
