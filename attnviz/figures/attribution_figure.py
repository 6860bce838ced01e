"""Attribution methods for one translation: heatmaps side by side with one scale, their numbers, and their agreement."""

from __future__ import annotations

import numpy as np

from attnviz import lazy_pandas as pd
from attnviz.analysis.attribution_methods import (
    UNSIGNED_METHODS,
    Agreement,
    AttributionMethods,
    attribution_method_texts,
)
from attnviz.analysis.grid import grid
from attnviz.analysis.labels import shorten
from attnviz.figures.grammar import (
    FRAMED,
    cell_names,
    cursor,
    label_axis,
    pair_columns,
    row_frames,
    side_by_side,
    strips,
)
from attnviz.figures.heatmap import MOST_TEXTS, colour_bar
from attnviz.figures.spec import (
    PRINT_WIDTH,
    Part,
    Spec,
    axis_labels,
    escape,
    frame_of,
    label_height,
    label_width,
    numbered_rows,
)
from attnviz.languages import gettext
from attnviz.palette import ROOT_GREYS
from attnviz.trace import Attention, Trace
from attnviz.trace.drawing import By

_ROW, _CAPTION, _BOTTOM, _RIGHT = (11, 20), 44, 50, 12
"""Pixels: smallest and largest row, caption above a panel, colour bar and gaps below all, and right margin."""
_GAP = 14
"""Pixels between panels side by side."""
_NARROWEST_COLUMN = 5
"""Pixels of the narrowest column; long sentences are read by their pattern and by hovering."""
_LABEL = 12
"""Characters of a label."""


def attributions(
    trace: Trace | Attention,
    methods: AttributionMethods,
    *,
    by: By = "words",
    end: bool = True,
    across: int = 3,
    step: int | None = None,
    width: int = PRINT_WIDTH,
) -> Spec:
    """Draw each attribution as a heatmap: target down, source across.

    All share one scale: each entry divided by the sum of absolute values of its row (`AttributionMethods.shares`). Blue
    counts for the word, red against it; weights, which have no sign, run from black 0 to white 1. The shade is the
    square root; hover texts have the numbers themselves.

    Args:
        trace: The translation.
        methods: Result of `analysis.attribution_methods`.
        by: "words" or "steps".
        end: Whether to draw `</s>`.
        across: Number of heatmaps side by side.
        step: Step, 0-based, whose row is framed in all panels.
        width: Width of the figure in pixels; labels are thinned to fit it.

    Returns:
        The figure. `layout.meta` has, as that of `heatmap`, `narrowest`, `steps`, `sources`, `rows`, `columns` and
        `frame`, and the axes of each panel by attribution (`panels`), for a shared cursor. The table has the
        attributions in their own units, a row for each target piece i and source piece j, both counted from 1.

    Raises:
        AttnvizError: `by` is unknown.
        ValueError: `across` is less than 1.
    """
    if across < 1:
        raise ValueError(f"across must be at least 1, not {across!r}")
    cells, texts = grid(trace, by, end), attribution_method_texts()
    (rows, columns), count = cells.alpha.shape, len(methods.names)
    across = min(across, count)

    source_size = 12 if columns <= 16 else 11
    left = int(label_width(cells.target, 12, _LABEL)) + 14
    bottom = label_height(label_width(cells.source, source_size, _LABEL), source_size, -90) + _BOTTOM
    height = float(np.clip(230 / rows, *_ROW)) * rows
    panel_width = (width - left - _GAP * (across - 1)) / across
    narrowest = max(
        label_width([texts[name].summary for name in methods.names], 12, longest=99), _NARROWEST_COLUMN * columns
    )
    # Labels of columns are vertical: each needs the height of its letters.
    strides = -(-columns * (source_size + 3) // max(1, int(panel_width))), -(-rows * 12 // int(height))
    labels = axis_labels(cells.source, _LABEL), axis_labels(cells.target, _LABEL)
    source_axis = label_axis(
        labels[0], "encoder", size=source_size, across=True, stride=strides[0], tickangle=-90, **FRAMED
    )
    target_size = 12 if rows <= 18 else 11
    target_axis = label_axis(labels[1], "decoder", size=target_size, stride=strides[1], ticks="", **FRAMED)
    layout, axes = side_by_side(
        {
            name: (
                f"<b>{texts[name].name}</b><br>{texts[name].summary}",
                source_axis | {"showticklabels": place + across >= count},  # below the lowest panel of each column
                target_axis,
            )
            for place, name in enumerate(methods.names)
        },
        across,
        (_CAPTION, 0, height, 0),
        _GAP / (width - left),
        (left, _RIGHT, 0, bottom),
        max(300, round(left + _RIGHT + across * (narrowest + _GAP))),
        size=12,
    )

    hover: Part = {}
    if rows * columns * count <= MOST_TEXTS:
        source, target = axis_labels(cells.source, 40), axis_labels(cells.target, 40)
        hover = {"text": cell_names(target, source)}
    cell_gap = 1 if max(rows, columns) <= 24 else 0
    panels: list[Part] = []
    for name, place in axes.items():
        shares, amounts = (
            (trace.words().merged(values) if by == "words" else values.astype(np.float32))[:rows, :columns]
            for values in (methods.shares(name), methods.matrices[name])
        )
        number = f"{escape(texts[name].name)}: %{{customdata:.3f}} {texts[name].unit}<extra></extra>"
        cell: Part = {"x0": 0, "xgap": cell_gap, "ygap": cell_gap, "customdata": amounts}
        cell["hovertemplate"] = f"%{{text}}<br>{number}" if hover else number
        # Gaps, which show the paper, would be bright lines between black cells.
        greys: Part = {"zmin": 0, "colorscale": ROOT_GREYS, "xgap": 0, "ygap": 0}
        signs = greys if name in UNSIGNED_METHODS else {}
        panels.append(strips(shares, 1, name=texts[name].name, **cell | hover | place | signs))
    words = [gettext("against"), "¼", "0", "¼", gettext("for the word")]
    below = (30 - bottom) / (layout["height"] - bottom)
    scale = colour_bar([-1, -0.25, 0, 0.25, 1], words) | {"len": 230, "y": below, "ypad": 0}
    signed = next((panel for panel in panels if panel["zmin"] < 0), None)
    if signed is not None:
        signed |= {"showscale": True, "colorbar": scale}

    counts = len(trace.target_pieces), len(trace.source_pieces)
    layout["meta"] |= cursor(cells.steps, cells.pieces, *counts) | {"panels": axes}
    layout["shapes"] = row_frames(layout["meta"], step, axes.values())
    table = pair_columns(trace) | {
        f"{texts[name].name}, {texts[name].unit}": methods.matrices[name].ravel() for name in methods.names
    }
    return Spec(panels, layout, _alt(trace, methods, step), table)


def agreement_table(agreement: Agreement) -> pd.DataFrame:
    """Return the agreement of each pair of attributions: same top piece, tau-b, total variation.

    Args:
        agreement: Result of `analysis.agreement`.
    """
    texts, (one, other) = attribution_method_texts(), np.triu_indices(len(agreement.names), 1)
    names = np.array([texts[name].name for name in agreement.names], dtype=object)
    columns = {
        gettext("attribution"): names[one],
        gettext("other attribution"): names[other],
        gettext("same top piece"): agreement.top[one, other],
        gettext("Kendall’s τ"): agreement.tau[one, other],
        gettext("total variation"): agreement.variation[one, other],
    }
    return frame_of(numbered_rows(columns))


def _alt(trace: Trace | Attention, methods: AttributionMethods, step: int | None) -> str:
    texts, steps = attribution_method_texts(), [step] if step is not None else range(len(trace.target_pieces))[:12]
    listed = "; ".join(
        gettext(
            "{answer}: {piece}",
            answer=texts[name].name,
            piece=", ".join(
                f"{shorten(trace.target_pieces[i], 20)} ← "
                f"{shorten(trace.source_pieces[int(methods.matrices[name][i].argmax())], 20)}"
                for i in steps
            ),
        )
        for name in methods.names
    )
    return gettext(
        "Heatmaps of {count} attribution methods, with the same scale. Most important source piece for each "
        "target piece, by method: {listed}.",
        count=len(methods.names),
        listed=listed,
    )
