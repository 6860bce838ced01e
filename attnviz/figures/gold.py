"""Links that people drew as marks over the heatmap, and the links of the alignment that they did not draw."""

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
"""As the legend has them: the shape alone tells them apart."""
_LINE, _LETTERS = 18, 12
"""Pixels of a line of the legend, and of its letters."""
_BEFORE = 40
"""Pixels of the colour bar, below which the legend stands."""


@dataclass(frozen=True)
class GoldMarks:
    """The marks of one heatmap."""

    cells: dict[Kind, tuple[Link, ...]]
    """The (row, column) of each mark, by kind; kinds without one are left out."""

    def notes(self) -> dict[Link, str]:
        """Return what the hover text of a marked cell says of its mark."""
        names = mark_names()
        return {cell: f"{SYMBOLS[kind]} {names[kind]}" for kind, cells in self.cells.items() for cell in cells}

    def traces(self, sizes: Cells, columns: int) -> list[Spec]:
        """Return the marks as Plotly draws them: dark at the edge and light within, so that they are seen on cells of
        any colour. They are in nobody's way: who points at one points at its cell."""
        narrowest = (sizes.narrowest - sizes.left - sizes.right) / columns
        size = float(np.clip(0.46 * min(sizes.row, 2 * narrowest), 7, 15))
        return [trace for kind, cells in self.cells.items() for trace in _drawn(kind, cells, size)]

    def legend(self, sizes: Cells, ink: Palette) -> tuple[list[Spec], int]:
        """Return what names the marks below the heatmap, and how many pixels it takes."""
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
    """Return the marks of `gold` on `cells`, a grid of the words or the pieces of `words`, whose alignment is what the
    links of the model are drawn by: a cross stands where they are not even possible."""
    errors = link_errors(words, gold)
    ends = (max(map(max, groups)) + 1 for groups in (words.target_groups, words.source_groups))
    rows, columns = (
        places_of_pieces(groups, end) for groups, end in zip((cells.steps, cells.pieces), ends, strict=True)
    )

    def marked(links: frozenset[Link] | tuple[Link, ...]) -> tuple[Link, ...]:
        found = {
            (rows[step], columns[piece])
            for j, i in links
            for step in words.target_groups[i]
            for piece in words.source_groups[j]
        }
        return tuple(sorted((r, c) for r, c in found if r is not None and c is not None))

    kinds: dict[Kind, tuple[Link, ...]] = {
        "sure": marked(gold.sure),
        "possible": marked(gold.possible),
        "false": marked(errors.false),
    }
    return GoldMarks({kind: places for kind, places in kinds.items() if places})


def _drawn(kind: Kind, cells: tuple[Link, ...], size: float) -> list[Spec]:
    """Return the marks of a kind: edge, line, and of a sure link its core."""
    rows, columns = map(list, zip(*cells, strict=True))
    places = {"type": "scatter", "mode": "markers", "x": columns, "y": rows, "hoverinfo": "skip", "showlegend": False}
    line = max(1.2, 0.14 * size)
    # The line of an open shape is its colour: the edge is a wider one below it.
    layers: list[tuple[str, Spec]] = [
        (f"{kind} edge", {"size": size, "color": MARK_EDGE, "line": {"width": line + 2.5}}),
        (kind, {"size": size, "color": MARK, "line": {"width": line}}),
    ]
    shape = {"symbol": "x-thin-open" if kind == "false" else "circle-open"}
    drawn = [places | {"name": name, "marker": shape | marker} for name, marker in layers]
    if kind == "sure":  # a core, which a light cell would not show if the ring were but filled
        core = {"symbol": "circle", "size": 0.44 * size, "color": MARK, "line": {"width": 1, "color": MARK_EDGE}}
        drawn.append(places | {"name": "sure core", "marker": core})
    return drawn
