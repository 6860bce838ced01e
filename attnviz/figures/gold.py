"""Marks of word links on the heatmap, with legend: sure and possible gold links, and false links of the alignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnviz.analysis.alignment_error import Link
from attnviz.analysis.gold import GoldLinks, link_errors
from attnviz.analysis.grid import Grid, places_of_pieces
from attnviz.figures.build import Spec
from attnviz.figures.cells import HeatmapSizes
from attnviz.figures.labels import width
from attnviz.palette import MARK, MARK_EDGE, Palette
from attnviz.trace import Words
from attnviz.wording.gold import mark_names

Kind = Literal["sure", "possible", "false"]
SYMBOLS: dict[Kind, str] = {"sure": "◉", "possible": "○", "false": "×"}
"""Symbols in the legend; they differ in shape."""
_LINE_HEIGHT, _FONT_SIZE = 18, 12
"""Line height and font size of the legend, in pixels."""
_COLOUR_BAR_HEIGHT = 40
"""Height in pixels of the colour bar, below which the legend is."""


@dataclass(frozen=True)
class LinkMarks:
    """The marks of the links on one heatmap."""

    positions: dict[Kind, tuple[Link, ...]]
    """The (row, column) of each mark, by kind; only kinds that occur."""

    def hover_lines(self) -> dict[Link, str]:
        """Return a line for the hover text of each marked cell (row, column), which names its mark."""
        names = mark_names()
        return {
            position: f"{SYMBOLS[kind]} {names[kind]}"
            for kind, positions in self.positions.items()
            for position in positions
        }

    def traces(self, sizes: HeatmapSizes, columns: int) -> list[Spec]:
        """Return the marks as Plotly traces, with dark edges and light fill, which are visible on any colour.

        They ignore the pointer, so that hovering reaches the cell.
        """
        narrowest = (sizes.narrowest - sizes.left - sizes.right) / columns
        size = float(np.clip(0.46 * min(sizes.row, 2 * narrowest), 7, 15))
        return [trace for kind, positions in self.positions.items() for trace in _mark_traces(kind, positions, size)]

    def legend(self, sizes: HeatmapSizes, ink: Palette) -> tuple[list[Spec], int]:
        """Return the legend of the marks below the heatmap, and its height in pixels."""
        lines, names = [""], mark_names()
        for kind in self.positions:
            text = f"{SYMBOLS[kind]}\u00a0{names[kind]}"
            longer = f"{lines[-1]}   {text}" if lines[-1] else text
            if lines[-1] and width(longer, _FONT_SIZE) > sizes.narrowest - 12:
                lines.append(text)
            else:
                lines[-1] = longer
        annotation = {
            "text": "<br>".join(lines),
            "showarrow": False,
            "align": "left",
            "xref": "paper",
            "yref": "paper",
            "x": 0,
            "y": 0,
            "xanchor": "left",
            "yanchor": "top",
            "xshift": 8 - sizes.left,
            "yshift": -_COLOUR_BAR_HEIGHT,
            "font": {"size": _FONT_SIZE, "color": ink.ink},
        }
        return [annotation], _LINE_HEIGHT * len(lines) + 4


def link_marks(grid: Grid, words: Words, gold: GoldLinks) -> LinkMarks:
    """Return the marks of the links of `gold` and `words` on the cells of `grid`, which are words or pieces.

    A false link is one of the alignment in `words` that is neither a sure nor a possible link of `gold`.
    """
    errors = link_errors(words, gold)
    piece_counts = (max(map(max, groups)) + 1 for groups in (words.target_groups, words.source_groups))
    rows, columns = (
        places_of_pieces(groups, count) for groups, count in zip((grid.steps, grid.pieces), piece_counts, strict=True)
    )

    def positions_of(links: frozenset[Link] | tuple[Link, ...]) -> tuple[Link, ...]:
        positions = {
            (rows[step], columns[piece])
            for j, i in links
            for step in words.target_groups[i]
            for piece in words.source_groups[j]
        }
        return tuple(sorted((r, c) for r, c in positions if r is not None and c is not None))

    kinds: dict[Kind, tuple[Link, ...]] = {
        "sure": positions_of(gold.sure),
        "possible": positions_of(gold.possible),
        "false": positions_of(errors.false),
    }
    return LinkMarks({kind: positions for kind, positions in kinds.items() if positions})


def _mark_traces(kind: Kind, positions: tuple[Link, ...], size: float) -> list[Spec]:
    """Return the marks of a kind: edge, line, and for sure links a dot inside."""
    rows, columns = map(list, zip(*positions, strict=True))
    points = {"type": "scatter", "mode": "markers", "x": columns, "y": rows, "hoverinfo": "skip", "showlegend": False}
    line = max(1.2, 0.14 * size)
    # The line of an open symbol is its colour; the edge is a wider symbol below it.
    layers: list[tuple[str, Spec]] = [
        (f"{kind} edge", {"size": size, "color": MARK_EDGE, "line": {"width": line + 2.5}}),
        (kind, {"size": size, "color": MARK, "line": {"width": line}}),
    ]
    shape = {"symbol": "x-thin-open" if kind == "false" else "circle-open"}
    traces = [points | {"name": name, "marker": shape | marker} for name, marker in layers]
    if kind == "sure":  # a dot with a dark edge, which is visible on light cells too
        core = {"symbol": "circle", "size": 0.44 * size, "color": MARK, "line": {"width": 1, "color": MARK_EDGE}}
        traces.append(points | {"name": "sure core", "marker": core})
    return traces
