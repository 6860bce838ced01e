"""The figure of a translation without attention: one context vector of the whole sentence for every step."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.analysis.grid import Grid, places_of_pieces
from attnviz.analysis.labels import shorten
from attnviz.figures.grammar import blank_axis, colour_limit, path, points, row_frames, sized_layout, strips, text_at
from attnviz.figures.heatmap_parts import BRACKET_ROOM, HIGHEST_ROW, LOWEST_ROW, widest_label, words_axis
from attnviz.figures.spec import Part, Spec, escape, numbered_rows, rectangle
from attnviz.languages import gettext
from attnviz.palette import ROW_FRAME
from attnviz.trace.drawing import HeatmapChoices

_ENCODER_X, _STRIP_X = 0.1, 0.55
"""Positions in the left half, from 0 to 1: the encoder's line, and the left edge of the vector."""
_ARROW_TIP_X = 0.96
"""Horizontal position of the arrow tips in the right half, from 0 to 1."""
_ROWS_HEIGHT, _TOP = 420, 34
"""Pixels of all rows together unless they have their smallest height, and above the first."""


def fixed_context(trace: Any, cells: Grid, chosen: HeatmapChoices) -> Spec:
    """Draw c, (n,), the last forward annotation: computed from all source words in order, and given to every step.

    The source is on the left, in reading order; the vector in the middle, a strip of its n units; the target on the
    right, a row for each row of `cells`, with an arrow from the vector. The chosen step frames its row. `layout.meta`
    has, as that of `heatmap`, `narrowest`, `widest`, `steps`, `rows` and `frame`. The table has one row for each unit.
    """
    vector, rows, sources = trace.contexts[0], len(cells.target), len(cells.source)
    strip = strips(
        vector[:, None],
        colour_limit(vector),
        name="context",
        x=[_STRIP_X, 1],
        y0=1,
        xaxis="x2",
        yaxis="y3",
        hoverinfo="skip",  # otherwise a click on a unit would count as a click on a row
    )
    into_vector = {"size": [5, 10], "color": "encoder", "symbol": ["circle", "triangle-right"]}
    encoder = [
        path(x, y, "encoder", 1.5, mode="lines+markers", marker=marker, xaxis="x2", yaxis="y2")
        for x, y, marker in (
            ([_ENCODER_X] * sources, list(range(sources)), {"size": 5, "color": "encoder"}),
            ([_ENCODER_X, _STRIP_X - 0.03], [sources - 1, sources - 1], into_vector),
        )
    ]
    arrow_ends = [y for row in range(rows) for y in ((rows - 1) / 2, row, None)]
    arrows = path([0, _ARROW_TIP_X, None] * rows, arrow_ends, "context")
    tip = {"symbol": "triangle-right", "size": 9, "color": "context"}
    heads = points([_ARROW_TIP_X] * rows, list(range(rows)), tip, name="heads", hoverinfo="skip")
    texts = [[gettext("{word}: the same vector", word=escape(shorten(word, 60)))] for word in cells.full_names[1]]
    # Reacts to hovering and clicks.
    surface = strips(
        np.zeros((rows, 1)),
        1,
        name="rows",
        x=[0, 1],
        opacity=0,
        text=texts,
        hovertemplate="%{text}<extra></extra>",
    )

    margins, axes = [], []
    for names, brackets, colour in (
        (cells.source, cells.source_brackets, "encoder"),
        (cells.target, cells.target_brackets, "decoder"),
    ):
        margins.append(int(widest_label(names, brackets, chosen.longest)) + 18 + BRACKET_ROOM * bool(brackets))
        axes.append(words_axis(names, brackets, colour, chosen.longest))
    highest = max(rows, sources)
    height = _TOP + round(highest * float(np.clip(_ROWS_HEIGHT / highest, LOWEST_ROW, HIGHEST_ROW))) + 12
    hidden: Part = blank_axis(0, 1)
    caption = gettext("c, {count} numbers", count=len(vector))
    shown = places_of_pieces(cells.steps, len(trace.target_pieces))
    meta = {"widest": 760, "steps": [steps[0] for steps in cells.steps], "rows": shown, "frame": ROW_FRAME}
    layout = sized_layout(height, (*margins, _TOP, 12), 330, **meta) | {
        "xaxis": hidden | {"domain": [0.5, 1]},
        "xaxis2": hidden | {"domain": [0, 0.5], "anchor": "y2"},
        "yaxis": axes[1] | {"side": "right"},
        "yaxis2": axes[0] | {"anchor": "x2"},
        "yaxis3": hidden | {"range": [len(vector) + 0.5, 0.5], "overlaying": "y2", "anchor": "x2"},
        "shapes": [rectangle(_STRIP_X, 1, 0, 1, "context") | {"xref": "x2", "yref": "paper"}],
        "annotations": [text_at(caption, 0.5, 1, "context", 13, yref="paper", xanchor="right", yshift=4)],
    }
    layout["shapes"] += row_frames(meta, chosen.step)
    words, read, written = trace.words(), {*sum(cells.pieces, ())}, {*sum(cells.steps, ())}
    alt = gettext(
        "A single vector for all steps. The encoder reads {count} source words in order. The last encoder "
        "state, a vector of {units} numbers, goes to each of {rows} target words.",
        count=sum(group[0] in read for group in words.source_groups),
        units=len(vector),
        rows=sum(group[0] in written for group in words.target_groups),
    )
    table = numbered_rows({gettext("context vector, the same vector at every step"): vector}, gettext("unit"))
    return Spec([strip, *encoder, arrows, heads, surface], layout, alt, table)
