"""Figure, tables and text alternative that compare two translations: both heatmaps, difference, log p of each word."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.comparison import (
    ComparedSide,
    Comparison,
    SharedAxis,
    cell_hover_lines,
    comparison_sentences,
    default_names,
    word_hover_lines,
)
from attnviz.analysis.grid import scale_end
from attnviz.analysis.labels import shorten, size_text
from attnviz.analysis.numbers import signed
from attnviz.figures.comparison_layout import LOG_PROBABILITIES, PanelSizes, colour_axis, hatching, panels_layout
from attnviz.figures.heatmap import MOST_TEXTS
from attnviz.figures.spec import PRINT_WIDTH, Part, build_figure, escape, rectangle
from attnviz.languages import gettext
from attnviz.palette import (
    CELL_FRAME,
    DEFAULT_COLOURS,
    ROW_FRAME,
    ROW_FRAME_WIDTH,
    Colours,
    Palette,
    ThemeName,
    heatmap_scale,
    palette,
)
from attnviz.trace.parts import Array


def comparison(
    compared: Comparison,
    names: tuple[str, str] | None = None,
    *,
    end: bool = True,
    root: bool = False,
    colours: Colours = DEFAULT_COLOURS,
    across: int = 2,
    step: int | None = None,
    leads: ComparedSide = "first",
    width: int = PRINT_WIDTH,
    theme: ThemeName = "light",
) -> go.Figure:
    """Draw the result of `analysis.compare` as panels with the same axes.

    The panels are both heatmaps with one scale, other minus first (blue more, red less), and log p of each word. Cells
    of words that one side lacks are hatched; where a model has no attention, there is only log p.

    Args:
        compared: Result of `analysis.compare`.
        names: Labels of the two translations.
        end: Whether to draw `</s>`.
        root: Whether to colour by the square root.
        colours: Colour scale of the heatmaps.
        across: Number of panels side by side.
        step: Step, 0-based, of the side that leads, whose row is framed.
        leads: "first" or "other".
        width: Width of the figure in pixels.
        theme: "light" or "dark".

    Returns:
        The figure. `layout.meta` has, as that of `heatmap`, `alt`, `narrowest`, `widest`, `rows`, `columns`, `frame`
        and `selection_colour`, for steps and source pieces of the leading side; `steps` and `sources` are None where it
        lacks a word. `panels` are the axes of the heatmaps by kind, `beside` those of the others, `stacked` whether all
        are in one column.

    Raises:
        ValueError: `across` is less than 1.
    """
    if across < 1:
        raise ValueError(f"across must be at least 1, not {across!r}")
    ink, labels = palette(theme), names or default_names()
    sizes = PanelSizes.for_comparison(compared, end=end, across=across, width=width)
    layout = panels_layout(compared, sizes, labels, ink)
    traces: list[Part] = []
    if compared.both_attend:
        layout |= _colour_axes(compared, sizes, root, colours, ink)
        traces += _heatmaps(compared, sizes, labels, root, ink)
    layout["meta"] |= _meta(compared, sizes, leads) | {"alt": comparison_alt(compared, labels, end=end)}
    row = None if step is None else layout["meta"]["rows"][step]
    if row is not None:
        layout["shapes"] += row_frames(sizes, row)
    if compared.has_probabilities:
        traces += _word_traces(compared, sizes, labels, ink)
    return build_figure(traces, layout)


def row_frames(sizes: PanelSizes, row: int) -> list[Part]:
    """Return the frames of a row, one in each panel."""
    return [
        rectangle(0, 1, row - 0.5, row + 0.5, ROW_FRAME, ROW_FRAME_WIDTH)
        | {"xref": f"{axes['xaxis']} domain", "yref": axes["yaxis"]}
        for axes in sizes.axes.values()
    ]


def _meta(compared: Comparison, sizes: PanelSizes, leads: ComparedSide) -> Part:
    all_steps, all_pieces = compared.steps[leads], compared.pieces[leads]
    return {
        "steps": [steps[0] if steps else None for steps in all_steps[: sizes.rows]],
        "sources": [pieces[0] if pieces else None for pieces in all_pieces[: sizes.columns]],
        "rows": _positions(all_steps, sizes.rows),
        "columns": _positions(all_pieces, sizes.columns),
        "panels": {kind: axes for kind, axes in sizes.axes.items() if kind != LOG_PROBABILITIES},
        "beside": [axes for kind, axes in sizes.axes.items() if kind == LOG_PROBABILITIES],
        "stacked": sizes.panels_per_line == 1,
        "frame": ROW_FRAME,
        "selection_colour": CELL_FRAME,
    }


def _positions(groups: tuple[tuple[int, ...], ...], shown: int) -> list[int | None]:
    """Return the position of each step or piece on the common axis; None where it is not drawn."""
    positions = {index: position for position, group in enumerate(groups) for index in group}
    return [positions[index] if positions[index] < shown else None for index in range(len(positions))]


def _colour_axes(compared: Comparison, sizes: PanelSizes, root: bool, colours: Colours, ink: Palette) -> Part:
    """Return the colour scales of both heatmaps and of their difference.

    For signed values the square root is in the scale, not in the numbers.
    """
    signed = compared.face == "difference"
    rooted = ink.signed_root_scale if root else ink.signed_scale
    limit = scale_end(_largest_amount(compared.first, compared.other)) if signed else 1.0
    difference_limit = scale_end(_largest_amount(compared.difference))
    return {
        "coloraxis": colour_axis(
            sizes, "first", compared.face, rooted if signed else heatmap_scale(colours), limit, root, ink
        ),
        "coloraxis2": colour_axis(sizes, "difference", compared.face, rooted, difference_limit, root, ink),
    }


def _heatmaps(compared: Comparison, sizes: PanelSizes, names: tuple[str, str], root: bool, ink: Palette) -> list[Part]:
    """Return both heatmaps, their difference, and the hatching of missing words."""
    displayed = np.s_[: sizes.rows, : sizes.columns]
    matrices = {
        "first": compared.first[displayed],
        "other": compared.other[displayed],
        "difference": compared.difference[displayed],
    }
    hover: Part = {"hoverinfo": "skip"}
    if compared.first.size <= MOST_TEXTS:
        cell_texts = [
            [_hover_text(cell_hover_lines(compared, names, i, j)) for j in range(sizes.columns)]
            for i in range(sizes.rows)
        ]
        hover = {"text": cell_texts, "hoverinfo": "text"}
    traces: list[Part] = []
    hatched: list[Part] = []
    for kind, values in matrices.items():
        rooted = root and kind != "difference" and compared.face != "difference"
        traces.append(
            {
                "type": "heatmap",
                "name": kind,
                "z": np.sqrt(values) if rooted else values,
                "hoverongaps": False,
                "coloraxis": "coloraxis2" if kind == "difference" else "coloraxis",
                "xgap": sizes.cell_gap,
                "ygap": sizes.cell_gap,
                "customdata": values,
            }
            | hover
            | sizes.axes[kind]
        )
        rows = _missing_positions(compared.target, kind)[: sizes.rows]
        columns = _missing_positions(compared.source, kind)[: sizes.columns]
        if rows.any() or columns.any():
            hatched.append(hatching(rows, columns, ink) | sizes.axes[kind])
    return [*traces, *hatched]


def _missing_positions(axis: SharedAxis, kind: str) -> NDArray[np.bool_]:
    """Return at which positions a panel has no values."""
    if kind == "difference":
        return ~axis.shared
    return np.array([place is None for place in (axis.first if kind == "first" else axis.other)], dtype=bool)


def _largest_amount(*matrices: Array) -> float:
    return max(float(np.abs(np.nan_to_num(values)).max()) for values in matrices)


def _word_traces(compared: Comparison, sizes: PanelSizes, names: tuple[str, str], ink: Palette) -> list[Part]:
    """Return log p of each word: a ring for the first, a dot for the other, and a line in the colour of the sign."""
    first, other = (logs[: sizes.rows] for logs in (compared.first_log_probabilities, compared.other_log_probabilities))
    axes, rows = sizes.axes[LOG_PROBABILITIES], np.arange(sizes.rows)
    traces: list[Part] = []
    for name, colour, selected in (("likelier", ink.plus, other > first), ("less likely", ink.minus, other < first)):
        ends = np.stack([first, other, np.full(len(first), np.nan)], axis=1)[selected]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": ends.ravel(),
                "y": np.repeat(rows[selected], 3),
                "line": {"color": colour, "width": 3},
                "hoverinfo": "skip",
            }
            | axes
        )
    texts = [_hover_text(word_hover_lines(compared, names, row)) for row in range(sizes.rows)]
    markers: tuple[tuple[str, Array, Part], ...] = (
        ("first", first, {"color": ink.paper, "line": {"color": ink.decoder, "width": 2}}),
        ("other", other, {"color": ink.decoder}),
    )
    for name, logs, marker in markers:
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": f"log p, {name}",
                "x": logs,
                "y": rows,
                "text": texts,
                "hoverinfo": "text",
                "marker": marker | {"size": 9},
                "cliponaxis": False,
            }
            | axes
        )
    return traces


def _hover_text(lines: list[str]) -> str:
    """Return the lines of a hover text, with markup escaped."""
    return "<br>".join(escape(line) for line in lines)


def comparison_table(compared: Comparison, names: tuple[str, str] | None = None) -> pd.DataFrame:
    """Return every cell that either translation has.

    Args:
        compared: Result of `analysis.compare`.
        names: Labels of the two translations.

    Returns:
        A row for each cell, with the words, counted from 1 on the common axes, both values, and their difference;
        missing values are nan.
    """
    first_name, other_name = names or default_names()
    rows, columns = np.nonzero(np.isfinite(compared.first) | np.isfinite(compared.other))
    frame: dict[str, Any] = {
        gettext("target word"): _numbered(compared.target, rows),
        gettext("source word"): _numbered(compared.source, columns),
        first_name: compared.first[rows, columns],
        _distinct(other_name, first_name): compared.other[rows, columns],
        gettext("difference"): compared.difference[rows, columns],
    }
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(rows) + 1, name=gettext("row")))


def compared_words_table(compared: Comparison, names: tuple[str, str] | None = None) -> pd.DataFrame:
    """Return log p of each target word in two translations.

    Args:
        compared: Result of `analysis.compare`.
        names: Labels of the two translations.

    Returns:
        For each target word on the common axis, counted from 1, log p in both, the difference, and
        `Comparison.total_variation`; nan where one translation lacks the word.
    """
    first_name, other_name = names or default_names()
    logs = compared.first_log_probabilities, compared.other_log_probabilities
    frame: dict[str, Any] = {gettext("target word"): list(compared.target.names)}
    if compared.has_probabilities:
        frame |= {
            f"log p, {first_name}": logs[0],
            f"log p, {_distinct(other_name, first_name)}": logs[1],
            gettext("difference"): logs[1] - logs[0],
        }
    if compared.both_attend and compared.face != "difference":
        frame[gettext("total variation of attention")] = compared.total_variation
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(logs[0]) + 1, name=gettext("row")))


def comparison_alt(compared: Comparison, names: tuple[str, str], *, end: bool = True) -> str:
    """Return the text alternative: contents of the panels, and the cells that differ most.

    `end=False` leaves out `</s>`.
    """
    if compared.both_attend and not compared.has_probabilities:
        start = gettext(
            "“{first}” and “{other}” as heatmaps of {size}, and their difference.",
            first=names[0],
            other=names[1],
            size=size_text("words", len(compared.target.names), len(compared.source.names)),
        )
    elif compared.both_attend:
        start = gettext(
            "“{first}” and “{other}” as heatmaps of {size}, their difference, and log p of each word.",
            first=names[0],
            other=names[1],
            size=size_text("words", len(compared.target.names), len(compared.source.names)),
        )
    else:
        start = gettext("log p of each word in “{first}” and in “{other}”.", first=names[0], other=names[1])
    cells = [
        f"{shorten(compared.target.names[row], 20)} ← {shorten(compared.source.names[column], 20)} "
        f"{signed(float(compared.difference[row, column]))}"
        for row, column in compared.most_changed(5)
        if end or "</s>" not in (compared.target.names[row], compared.source.names[column])
    ]
    if cells:
        start += " " + gettext("The cells that differ most: {listed}.", listed="; ".join(cells))
    return " ".join([start, *comparison_sentences(compared, names)])


def _numbered(axis: SharedAxis, places: Any) -> list[str]:
    return [f"{place + 1} {axis.names[place]}" for place in places]


def _distinct(name: str, other: str) -> str:
    """Return a name that differs from the other, since columns must."""
    return name if name != other else f"{name} (2)"
