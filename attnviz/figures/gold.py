"""Gold links as marks on the heatmap, and false links of the alignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnviz.analysis.alignment_error import Link
from attnviz.analysis.gold import GoldLinks, link_errors
from attnviz.analysis.grid import Grid, places_of_pieces
from attnviz.figures.build import Spec
from attnviz.figures.cells import Cells
from attnviz.figures.letters import width
from attnviz.palette import MARK, MARK_EDGE, Palette
from attnviz.trace import Words
from attnviz.wording.gold import mark_names

Kind = Literal["sure", "possible", "false"]
SYMBOLS: dict[Kind, str] = {"sure": "◉", "possible": "○", "false": "×"}
"""Symbols in the legend; they differ in shape."""
_LINE, _LETTERS = 18, 12
"""Line height and font size of the legend, in pixels."""
_BEFORE = 40
"""Pixels of the colour bar, below which the legend is."""


@dataclass(frozen=True)
class GoldMarks:
    """The marks of one heatmap."""

    cells: dict[Kind, tuple[Link, ...]]
    """The (row, column) of each mark, by kind; only kinds that occur."""

    def notes(self) -> dict[Link, str]:
        """Return what the hover text of a marked cell says about its mark."""
        names = mark_names()
        return {cell: f"{SYMBOLS[kind]} {names[kind]}" for kind, cells in self.cells.items() for cell in cells}

    def traces(self, sizes: Cells, columns: int) -> list[Spec]:
        """Return the marks as Plotly traces, with dark edges and light fill, which are visible on any colour.

        They ignore the pointer, so that hovering reaches the cell.
        """
        narrowest = (sizes.narrowest - sizes.left - sizes.right) / columns
        size = float(np.clip(0.46 * min(sizes.row, 2 * narrowest), 7, 15))
        return [trace for kind, cells in self.cells.items() for trace in _drawn(kind, cells, size)]

    def legend(self, sizes: Cells, ink: Palette) -> tuple[list[Spec], int]:
        """Return the legend of the marks below the heatmap, and its height in pixels."""
        lines, names = [""], mark_names()
        for kind in self.cells:
            text = f"{SYMBOLS[kind]}\u00a0{names[kind]}"
            longer = f"{lines[-1]}   {text}" if lines[-1] else text
            if lines[-1] and width(longer, _LETTERS) > sizes.narrowest - 12:
                lines.append(text)
            else:
                lines[-1] = longer
        note = {
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
            "yshift": -_BEFORE,
            "font": {"size": _LETTERS, "color": ink.ink},
        }
        return [note], _LINE * len(lines) + 4


def gold_marks(cells: Grid, words: Words, gold: GoldLinks) -> GoldMarks:
    """Return the marks of `gold` on the grid `cells`, by the words or pieces of `words`.

    A cross marks a link of the alignment in `words` that is not even possible.
    """
    errors = link_errors(words, gold)
    ends = (max(map(max, groups)) + 1 for groups in (words.target_groups, words.source_groups))
    rows, columns = (
        places_of_pieces(groups, end) for groups, end in zip((cells.steps, cells.pieces), ends, strict=True)
    )

    def cells_of(links: frozenset[Link] | tuple[Link, ...]) -> tuple[Link, ...]:
        marks = {
            (rows[step], columns[piece])
            for j, i in links
            for step in words.target_groups[i]
            for piece in words.source_groups[j]
        }
        return tuple(sorted((r, c) for r, c in marks if r is not None and c is not None))

    kinds: dict[Kind, tuple[Link, ...]] = {
        "sure": cells_of(gold.sure),
        "possible": cells_of(gold.possible),
        "false": cells_of(errors.false),
    }
    return GoldMarks({kind: marks for kind, marks in kinds.items() if marks})


def _drawn(kind: Kind, cells: tuple[Link, ...], size: float) -> list[Spec]:
    """Return the marks of a kind: edge, line, and for sure links a core."""
    rows, columns = map(list, zip(*cells, strict=True))
    places = {"type": "scatter", "mode": "markers", "x": columns, "y": rows, "hoverinfo": "skip", "showlegend": False}
    line = max(1.2, 0.14 * size)
    # The line of an open symbol is its colour; the edge is a wider symbol below it.
    layers: list[tuple[str, Spec]] = [
        (f"{kind} edge", {"size": size, "color": MARK_EDGE, "line": {"width": line + 2.5}}),
        (kind, {"size": size, "color": MARK, "line": {"width": line}}),
    ]
    shape = {"symbol": "x-thin-open" if kind == "false" else "circle-open"}
    drawn = [places | {"name": name, "marker": shape | marker} for name, marker in layers]
    if kind == "sure":  # a separate core: on light cells a filled ring would be invisible
        core = {"symbol": "circle", "size": 0.44 * size, "color": MARK, "line": {"width": 1, "color": MARK_EDGE}}
        drawn.append(places | {"name": "sure core", "marker": core})
    return drawn
