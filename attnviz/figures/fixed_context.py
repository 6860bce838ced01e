"""The figure of a translation without attention: one context vector of the whole sentence for every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.analysis.grid import Bracket, Grid, rows_of_steps
from attnviz.analysis.labels import shorten
from attnviz.figures.heatmap_parts import BRACKET_ROOM, HIGHEST_ROW, LOWEST_ROW, axis_names, font_size, tick_labels
from attnviz.figures.spec import (
    Part,
    Spec,
    base_axis,
    base_layout,
    escape,
    label_width,
    rectangle,
    strip_caption,
)
from attnviz.languages import gettext
from attnviz.palette import ROW_FRAME, STRONGEST, Palette

_ENCODER_X, _STRIP_X = 0.1, 0.55
"""Positions in the left half, from 0 to 1: the encoder's line, and the left edge of the vector."""
_ARROW_TIP_X = 0.96
"""Horizontal position of the arrow tips in the right half, from 0 to 1."""
_ROWS_HEIGHT, _TOP = 420, 34
"""Pixels of all rows together unless they have their smallest height, and above the first."""


def fixed_context(trace: Any, cells: Grid, ink: Palette, step: int | None, longest: int) -> Spec:
    """Draw c, (n,), the last forward annotation: computed from all source words in order, and given to every step.

    The source is on the left, in reading order; the vector in the middle, a strip of its n units; the target on the
    right, a row for each row of `cells`, with an arrow from the vector. `step` (0-based) frames its row. `layout.meta`
    has, as that of `heatmap`, `narrowest`, `widest`, `steps`, `rows` and `frame`. The table has one row for each unit.
    """
    vector, rows, sources = trace.contexts[0], len(cells.target), len(cells.source)
    line = {"type": "scatter", "mode": "lines+markers", "hoverinfo": "skip"}
    encoder = line | {"name": "encoder", "xaxis": "x2", "yaxis": "y2", "line": {"color": ink.encoder, "width": 1.5}}
    limit = float(np.quantile(np.abs(vector), STRONGEST)) or 1.0
    strip = {
        "type": "heatmap",
        "name": "context",
        "z": vector[:, None],
        "x": [_STRIP_X, 1],
        "yaxis": "y3",
        "xaxis": "x2",
        "y0": 1,
        "dy": 1,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": ink.signed_root_scale,
        "showscale": False,
        "hoverinfo": "skip",  # otherwise a click on a unit would count as a click on a row
    }
    words_read = encoder | {
        "x": [_ENCODER_X] * sources,
        "y": list(range(sources)),
        "marker": {"size": 5, "color": ink.encoder},
    }
    into_vector = encoder | {
        "x": [_ENCODER_X, _STRIP_X - 0.03],
        "y": [sources - 1, sources - 1],
        "marker": {"size": [5, 10], "color": ink.encoder, "symbol": ["circle", "triangle-right"]},
    }
    arrows = line | {
        "name": "arrows",
        "mode": "lines",
        "y": [y for row in range(rows) for y in ((rows - 1) / 2, row, None)],
        "x": [0, _ARROW_TIP_X, None] * rows,
        "line": {"color": ink.context, "width": 1},
    }
    heads = line | {
        "name": "heads",
        "mode": "markers",
        "x": [_ARROW_TIP_X] * rows,
        "y": list(range(rows)),
        "marker": {"symbol": "triangle-right", "size": 9, "color": ink.context},
    }
    surface = {  # reacts to hovering and clicks
        "type": "heatmap",
        "name": "rows",
        "z": np.zeros((rows, 1)),
        "x": [0, 1],
        "opacity": 0,
        "showscale": False,
        "text": [[gettext("{word}: the same vector", word=escape(shorten(word, 60)))] for word in cells.full_names[1]],
        "hoverinfo": "text",
    }
    layout, rows_shown = _layout(cells, len(vector), ink, longest), rows_of_steps(cells, len(trace.target_pieces))
    layout["meta"] = {
        "narrowest": 330,
        "widest": 760,
        "steps": [steps[0] for steps in cells.steps],
        "rows": rows_shown,
        "frame": ROW_FRAME,
    }
    row = None if step is None else rows_shown[step]
    if row is not None:
        layout["shapes"].append(rectangle(0, 1, row - 0.5, row + 0.5, ROW_FRAME, 2.5))
    words, read, written = trace.words(), {*sum(cells.pieces, ())}, {*sum(cells.steps, ())}
    alt = gettext(
        "A single vector for all steps. The encoder reads {count} source words in order. The last encoder "
        "state, a vector of {units} numbers, goes to each of {rows} target words.",
        count=sum(group[0] in read for group in words.source_groups),
        units=len(vector),
        rows=sum(group[0] in written for group in words.target_groups),
    )
    table = {
        gettext("unit"): np.arange(1, len(vector) + 1),
        gettext("context vector, the same vector at every step"): vector,
    }
    return Spec([strip, words_read, into_vector, arrows, heads, surface], layout, alt, table)


def _layout(cells: Grid, units: int, ink: Palette, longest: int) -> Part:
    """Return the layout: `y` has the target's rows, `y2` the source's, `y3` the units of the vector."""
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}

    def rows_axis(names: Sequence[str], brackets: Sequence[Bracket], colour: str) -> Part:
        count = len(names)
        font = {"tickfont": {"size": font_size(count), "color": colour}}
        return axis | {"range": [count - 0.5, -0.5]} | font | tick_labels(names, brackets, longest)

    row_count = max(len(cells.target), len(cells.source))
    left, right = (
        int(label_width(axis_names(names, brackets).values(), font_size(len(names)), longest))
        + 18
        + BRACKET_ROOM * bool(brackets)
        for names, brackets in ((cells.source, cells.source_brackets), (cells.target, cells.target_brackets))
    )
    return base_layout(ink) | {
        "height": _TOP + round(row_count * float(np.clip(_ROWS_HEIGHT / row_count, LOWEST_ROW, HIGHEST_ROW))) + 12,
        "margin": {"l": left, "r": right, "t": _TOP, "b": 12},
        "hovermode": "closest",
        "xaxis": axis | {"range": [0, 1], "domain": [0.5, 1], "showticklabels": False},
        "xaxis2": axis | {"range": [0, 1], "domain": [0, 0.5], "showticklabels": False, "anchor": "y2"},
        "yaxis": rows_axis(cells.target, cells.target_brackets, ink.decoder) | {"side": "right"},
        "yaxis2": rows_axis(cells.source, cells.source_brackets, ink.encoder) | {"side": "left", "anchor": "x2"},
        "yaxis3": axis | {"range": [units + 0.5, 0.5], "overlaying": "y2", "showticklabels": False, "anchor": "x2"},
        "shapes": [
            rectangle(_STRIP_X, 1, 0, 1, ink.context) | {"xref": "x2", "yref": "paper"},
        ],
        "annotations": [
            strip_caption(gettext("c, {count} numbers", count=units), 0, ink)
            | {"x": 0.5, "xanchor": "right", "yshift": 4, "font": {"size": 13, "color": ink.context}},
        ],
    }
