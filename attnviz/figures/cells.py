"""Compute the sizes of a heatmap in pixels: nearly square cells, never too small for a label, and margins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.analysis.grid import Grid
from attnviz.wording.labels import shorten

NARROWEST_COLUMN, LOWEST_ROW = 12, 16
"""Pixels; smaller cells have no room for a label, so the figure scrolls instead."""
HIGHEST_ROW, ROWS_HEIGHT = 44, 340
"""Pixels of the highest row, and of all rows together unless they have their smallest height.

With both sentences above, a heatmap of fifteen words fits a window of 900 pixels.
"""
ASPECT = 1.5
"""Largest ratio of width to height of a cell; wider cells would look like bars."""
LARGEST_SIDE = 4000
"""Pixels of all rows or columns; larger canvases fail in browsers, so cells shrink and only some are labelled."""
COLOUR_BAR_LENGTH = 190
"""Pixels of the colour bar, for which the figure must be wide enough."""

_EM = 0.54
"""Average width of a letter, in font sizes."""


@dataclass(frozen=True)
class HeatmapSizes:
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


def cell_sizes(cells: Grid) -> HeatmapSizes:
    """Return the sizes of a heatmap of `cells`, (rows, columns)."""
    rows, columns = cells.alpha.shape
    row = float(np.clip(ROWS_HEIGHT / rows, min(LOWEST_ROW, LARGEST_SIDE / rows), HIGHEST_ROW))
    size = font_size(columns)
    row_label_width = max(len(label) for label in map(shorten, cells.target)) * font_size(rows) * _EM
    column_label_width = max(len(label) for label in map(shorten, cells.source)) * size * _EM
    horizontal = columns * (column_label_width + 8) < min(420, columns * ASPECT * row)
    angle = 0 if horizontal else -90 if columns > 20 else -50
    # 0.77 is the sine of 50 degrees.
    label_height = {0: 1.6 * size, -50: column_label_width * 0.77 + size, -90: column_label_width + 6}[angle]
    left, right = int(row_label_width) + 16, 26 if angle == -50 else 12
    column = max(NARROWEST_COLUMN, int(column_label_width) + 6) if horizontal else NARROWEST_COLUMN
    narrowest = min(column * columns, LARGEST_SIDE)
    widest = max(round(ASPECT * row * columns), narrowest, COLOUR_BAR_LENGTH + 20)
    return HeatmapSizes(
        row, left, int(label_height) + 10, right, angle, left + right + narrowest, left + right + widest
    )


def font_size(count: int) -> int:
    """Return the font size of the labels of `count` rows or columns, in pixels."""
    return 14 if count <= 16 else 13 if count <= 26 else 12 if count <= 40 else 11
