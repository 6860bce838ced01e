"""The alignment heatmap: the paper's Fig. 3, source on top, target down the side, sums and entropies in its margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.analysis.measures import coverage, entropy
from attnviz.figures.build import Spec, base_axis, base_layout, build, rectangle
from attnviz.figures.labels import axis_labels, label_stride, literal, piece_name, shorten
from attnviz.figures.palette import CELL_FRAME, ROW_FRAME, Colours, Palette, ThemeName, palette, scale
from attnviz.languages import say
from attnviz.trace import Trace

By = Literal["words", "pieces"]

NARROWEST_COLUMN = 12
"""Pixels; a narrower column no longer carries a readable label, so the figure scrolls instead."""

LARGEST_SIDE = 4000
"""Pixels; past this a browser's canvas gives up, so cells shrink and only every so many are labelled."""

_SEAM = "#3b3935"
"""Between cells: dark enough not to pass for weight, light enough to tell two black cells apart."""

_BELOW, _GAP, _SHARE = 44, 8, 0.87
"""Of the margins: pixels of the bars below the heatmap, pixels between, the share of the width left to the heatmap."""

MOST_TEXTS = 10_000
"""Cells that get a hover text each."""


@dataclass(frozen=True)
class Grid:
    """What the heatmap draws: names of the columns and rows, their weights, and the step each row belongs to."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alpha: NDArray[np.float32]
    """(rows, columns), exact."""
    steps: tuple[tuple[int, ...], ...]
    """For each row, the 0-based decoder steps that wrote it."""
    pieces: tuple[tuple[int, ...], ...]
    """For each column, its 0-based source pieces."""
    covered: NDArray[np.float64]
    """sum_i alpha_ij of each column over all rows, those not drawn included: (columns,)."""
    entropies: NDArray[np.float64]
    """H_i in bits of each row, that of its pieces, as the network computed them; for a word of several the mean."""


def grid(trace: Trace, by: By = "words", end: bool = True) -> Grid:
    """Return the rows and columns to draw, word by word or piece by piece; `end=False` leaves out `</s>` on both axes.

    Raise ValueError unless `by` is "words" or "pieces".
    """
    if by == "words":
        words = trace.words()
        source, target, alpha, steps = words.source, words.target, words.alignment, words.target_groups
        pieces = words.source_groups
    elif by == "pieces":
        source = tuple(piece_name(piece) for piece in trace.source_pieces)
        target = tuple(piece_name(piece) for piece in trace.target_pieces)
        alpha, steps = trace.alignment, tuple((i,) for i in range(len(target)))
        pieces = tuple((j,) for j in range(len(source)))
    else:
        raise ValueError(f"by must be words or pieces, not {by!r}")
    rows, columns = alpha.shape
    if not end:
        columns -= trace.source_pieces[-1] == "</s>" and columns > 1
        rows -= trace.target_pieces[-1] == "</s>" and rows > 1
    bits = entropy(trace.alignment)
    return Grid(
        source[:columns], target[:rows], alpha[:rows, :columns], steps[:rows], pieces[:columns],
        coverage(alpha)[:columns], np.array([bits[list(group)].mean() for group in steps[:rows]]),
    )  # fmt: skip


def heatmap(
    trace: Trace,
    *,
    by: By = "words",
    colours: Colours = "paper",
    root: bool = False,
    end: bool = True,
    margins: bool = False,
    step: int | None = None,
    theme: ThemeName = "light",
) -> go.Figure:
    """Draw alpha_ij: a row for each target word (or piece), a column for each source word, 0 dark, 1 bright.

    `root` colours by the square root, which lifts small weights; the hover text keeps the exact alpha. `step` (0-based)
    frames the row it belongs to. `margins` adds, below, how much each column was looked at in all, sum_i alpha_ij, and,
    on the right, the entropy H_i of each row in bits (`Grid`). `layout.meta` has the text alternative (`alt`), the
    width below which the figure should scroll (`narrowest`), and for those who listen to clicks or move the frames
    themselves: the first step of each row (`steps`), the row of each step or None (`rows`), likewise the first source
    piece of each column and the column of each source piece (`sources`, `columns`), and the colours of the frames of a
    row and a cell (`frame`, `mark`). Raise ValueError on an unknown choice.
    """
    cells, ink = grid(trace, by, end), palette(theme)
    gap = 1 if max(cells.alpha.shape) <= 32 else 0
    image = {
        "type": "heatmap", "z": np.sqrt(cells.alpha) if root else cells.alpha, "zmin": 0, "zmax": 1,
        "colorscale": scale(colours), "colorbar": _colour_bar(root, ink), "xgap": gap, "ygap": gap,
    } | _hover(cells, root)  # fmt: skip
    layout = _layout(cells, ink)
    rows = rows_of_steps(cells, len(trace.target_pieces))
    layout["meta"] = {
        "alt": heatmap_alt(trace, by=by, end=end),
        "narrowest": _narrowest(cells),
        "steps": [steps[0] for steps in cells.steps],
        "sources": [pieces[0] for pieces in cells.pieces],
        "rows": rows,
        "columns": _places(cells.pieces, len(trace.source_pieces)),
        "frame": ROW_FRAME,
        "mark": CELL_FRAME,
    }
    bars: list[Spec] = []
    if margins:
        bars = _margin_bars(cells, len(trace.source_pieces), ink)
        _make_room(layout, cells, len(trace.source_pieces), ink)
    row = None if step is None else rows[step]
    if row is not None:
        frame = rectangle(-0.5, len(cells.source) - 0.5, row - 0.5, row + 0.5, ROW_FRAME, 2.5)
        layout["shapes"] = [*layout.get("shapes", []), frame]
    return build([image, *bars], layout)


def rows_of_steps(cells: Grid, count: int) -> list[int | None]:
    """Return the row that each of `count` steps wrote, or None where it is not drawn."""
    return _places(cells.steps, count)


def _places(groups: tuple[tuple[int, ...], ...], count: int) -> list[int | None]:
    """Return the row (or column) that each of `count` pieces is in, or None where that is not drawn."""
    places: list[int | None] = [None] * count
    for place, group in enumerate(groups):
        for piece in group:
            places[piece] = place
    return places


def heatmap_alt(trace: Trace, *, by: By = "words", end: bool = True) -> str:
    """Return a sentence for those who do not see the heatmap: its size and where each row is brightest."""
    cells = grid(trace, by, end)
    links = [
        say("{target} at {source} {alpha:.2f}", target=shorten(word, 30),
            source=shorten(cells.source[int(row.argmax())], 30), alpha=row.max())
        for word, row in zip(cells.target, cells.alpha, strict=True)
    ]  # fmt: skip
    shown = "; ".join(links[:60]) + ("; …" if len(links) > 60 else "")
    told = {"rows": len(cells.target), "columns": len(cells.source), "shown": shown}
    if by == "words":
        return say("Alignment of {rows} target and {columns} source words. Largest weights: {shown}.", **told)
    return say("Alignment of {rows} target and {columns} source pieces. Largest weights: {shown}.", **told)


def heatmap_table(trace: Trace, *, by: By = "words", end: bool = True, margins: bool = False) -> pd.DataFrame:
    """Return the weights of the heatmap as a table: target down, source across, each name preceded by its number.

    `margins` adds a last column, the entropy of each row in bits, and a last row, how much each column was looked at.
    """
    cells = grid(trace, by, end)
    table = pd.DataFrame(
        cells.alpha,
        index=pd.Index([f"{i} {name}" for i, name in enumerate(cells.target, 1)], name=say("target \\ source")),
        columns=[f"{j} {name}" for j, name in enumerate(cells.source, 1)],
    )
    if margins:
        table[say("H, bits")] = cells.entropies
        table.loc["Σ α"] = [*cells.covered, np.nan]
    return table


def _hover(cells: Grid, root: bool) -> Spec:
    """Return the hover text: both words and the exact alpha; in a very large grid the number alone."""
    if cells.alpha.size > MOST_TEXTS:
        return {"hovertemplate": ("√α" if root else "α") + " = %{z:.4f}<extra></extra>"}
    source = [literal(shorten(name, 60)) for name in cells.source]
    target = [literal(shorten(name, 60)) for name in cells.target]
    text = [
        [f"{row} ← {column}<br>α = {alpha:.4f}" for column, alpha in zip(source, alphas, strict=True)]
        for row, alphas in zip(target, cells.alpha.tolist(), strict=True)
    ]
    return {"text": text, "hoverinfo": "text"}


def _margin_bars(cells: Grid, positions: int, ink: Palette) -> list[Spec]:
    """Return the bars of the margins: `y2` hangs below the columns, `x2` stands right of the rows."""
    sums = [
        say("{name}: looked at {amount:.2f} times in all (Σ α over the rows)",
            name=literal(shorten(name, 60)), amount=amount)
        for name, amount in zip(cells.source, cells.covered, strict=True)
    ]  # fmt: skip
    spreads = [
        say("{name}: entropy H = {bits:.2f} of at most {most:.2f} bits, as if it looked at {count:.1f} pieces alike",
            name=literal(shorten(name, 60)), bits=bits, most=np.log2(positions), count=2**bits)
        + (say("<br>mean of its {count} pieces", count=len(steps)) if len(steps) > 1 else "")
        for name, bits, steps in zip(cells.target, cells.entropies, cells.steps, strict=True)
    ]  # fmt: skip
    bar = {"type": "bar", "hovertemplate": "%{customdata}<extra></extra>"}
    return [
        bar | {"name": "coverage", "x": list(range(len(sums))), "y": cells.covered.tolist(), "yaxis": "y2",
               "customdata": sums, "marker": {"color": ink.encoder}},
        bar | {"name": "entropy", "orientation": "h", "x": cells.entropies.tolist(), "y": list(range(len(spreads))),
               "xaxis": "x2", "customdata": spreads, "marker": {"color": ink.decoder}},
    ]  # fmt: skip


def _make_room(layout: Spec, cells: Grid, positions: int, ink: Palette) -> None:
    """Move the heatmap of `layout` up and to the left, and put the axes of the margins' bars in the room this wins."""
    inner = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    bottom = (_BELOW + _GAP) / (inner + _BELOW + _GAP)
    layout["height"] += _BELOW + _GAP
    layout["meta"]["narrowest"] = round(layout["meta"]["narrowest"] / _SHARE)
    layout["xaxis"]["domain"], layout["yaxis"]["domain"] = [0, _SHARE], [bottom, 1]
    most, largest = float(cells.covered.max()), float(np.log2(positions)) or 1.0
    axis = base_axis(ink) | {"showgrid": False, "zeroline": True}
    title = {"font": {"size": 11, "color": ink.quiet}, "standoff": 3}
    layout["yaxis2"] = axis | {
        "domain": [0, bottom * _BELOW / (_BELOW + _GAP)], "range": [most * 1.04, 0], "anchor": "x",
        "tickvals": [0, most], "ticktext": ["Σ α  0", f"{most:.1f}"],
    }  # fmt: skip
    layout["xaxis2"] = axis | {
        "domain": [_SHARE + 0.02, 1], "range": [0, largest], "anchor": "y", "side": "bottom",
        "tickvals": [0, largest], "ticktext": ["0", f"{largest:.1f}"], "title": title | {"text": say("H, bits")},
    }  # fmt: skip
    layout["xaxis"]["anchor"], layout["bargap"] = "y", 0.25
    # A background belongs to every panel of a figure; that between the cells must be the heatmap's alone.
    rows, columns = cells.alpha.shape
    seam = rectangle(-0.5, columns - 0.5, -0.5, rows - 0.5, _SEAM, 0) | {"fillcolor": _SEAM, "layer": "below"}
    layout["plot_bgcolor"], layout["shapes"] = "rgba(0,0,0,0)", [seam]


def _row_height(rows: int) -> float:
    """Return the pixels of a row: roomy for few, never below what its label needs while the figure can grow."""
    return float(np.clip(450 / rows, min(16, LARGEST_SIDE / rows), 36))


def _font_size(count: int) -> int:
    return 14 if count <= 16 else 13 if count <= 26 else 12 if count <= 40 else 11


def _margins(cells: Grid) -> tuple[int, int, int]:
    """Return the left and top margins in pixels and the angle of the column labels."""
    columns = len(cells.source)
    size = _font_size(columns)
    across = max(len(label) for label in map(shorten, cells.target)) * _font_size(len(cells.target)) * 0.54
    down = max(len(label) for label in map(shorten, cells.source)) * size * 0.54
    angle = 0 if columns * (down + 8) < 420 else -90 if columns > 20 else -50
    height = {0: 1.6 * size, -50: down * 0.77 + size, -90: down + 6}[angle]
    return int(across) + 16, int(height) + 10, angle


def _narrowest(cells: Grid) -> int:
    left, _, _ = _margins(cells)
    return left + 26 + min(NARROWEST_COLUMN * len(cells.source), LARGEST_SIDE)


def _layout(cells: Grid, ink: Palette) -> Spec:
    rows, columns = cells.alpha.shape
    left, top, angle = _margins(cells)
    across, down = label_stride(columns), label_stride(rows)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False, "linecolor": ink.line, "mirror": True}
    return base_layout(ink) | {
        "plot_bgcolor": _SEAM,
        "height": top + round(rows * _row_height(rows)) + 44,
        "margin": {"l": left, "r": 26 if angle == -50 else 12, "t": top, "b": 44},
        "hovermode": "closest",
        "xaxis": axis | {
            "side": "top", "ticklabeloverflow": "allow", "range": [-0.5, columns - 0.5], "tickangle": angle,
            "tickvals": list(range(0, columns, across)), "ticktext": axis_labels(cells.source[::across]),
            "tickfont": {"size": _font_size(columns), "color": ink.encoder},
        },
        "yaxis": axis | {
            "range": [rows - 0.5, -0.5],
            "tickvals": list(range(0, rows, down)), "ticktext": axis_labels(cells.target[::down]),
            "tickfont": {"size": _font_size(rows), "color": ink.decoder},
        },
    }  # fmt: skip


def _colour_bar(root: bool, ink: Palette) -> Spec:
    ticks = [0, 0.05, 0.25, 0.5, 1] if root else [0, 0.25, 0.5, 0.75, 1]
    return {
        "orientation": "h", "x": 1, "xanchor": "right", "y": 0, "yanchor": "top", "ypad": 8, "thickness": 8,
        "lenmode": "pixels", "len": 190, "outlinewidth": 1, "outlinecolor": ink.line,
        "tickvals": [float(np.sqrt(t)) if root else t for t in ticks],
        "ticktext": ["α = 0", *(f"{t:g}" for t in ticks[1:])],
        "tickfont": {"size": 11, "color": ink.quiet},
    }  # fmt: skip
