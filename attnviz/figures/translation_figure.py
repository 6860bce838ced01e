"""Figures and tables of a whole translation: the heatmap, or without attention the single context vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.gold import GoldLinks
from attnviz.analysis.grid import Grid, grid, rows_of_steps
from attnviz.analysis.imported_attention import missing_values_reason
from attnviz.analysis.labels import shorten
from attnviz.analysis.posterior import posterior
from attnviz.analysis.recomputation import Weights
from attnviz.errors import AttnvizError
from attnviz.figures.heatmap import heatmap, heatmap_table
from attnviz.figures.heatmap_parts import HIGHEST_ROW, LOWEST_ROW, font_size
from attnviz.figures.spec import (
    Part,
    axis_labels,
    base_axis,
    base_layout,
    build_figure,
    escape,
    label_stride,
    label_width,
    rectangle,
    strip_caption,
)
from attnviz.languages import gettext
from attnviz.palette import DEFAULT_COLOURS, ROW_FRAME, STRONGEST, Colours, Palette, ThemeName, palette
from attnviz.trace import Trace
from attnviz.trace.drawing import By, Face


def translation_figure(
    trace: Any,
    *,
    by: By = "words",
    face: Face = "before",
    weights: Weights | None = None,
    colours: Colours = DEFAULT_COLOURS,
    root: bool = False,
    end: bool = True,
    margins: bool = False,
    step: int | None = None,
    theme: ThemeName = "light",
    gold: GoldLinks | None = None,
) -> go.Figure:
    """Return the heatmap of a record, or without attention the figure of its single vector.

    For the latter, `colours`, `root`, `margins` and `gold` have no effect.

    Args:
        trace: The record.
        by: As in `heatmap`.
        face: As in `heatmap`.
        weights: Weights of the model that made the trace (`analysis.load_weights`), for a `face` other than "before".
        colours: As in `heatmap`.
        root: As in `heatmap`.
        end: As in `heatmap`.
        margins: As in `heatmap`.
        step: As in `heatmap`.
        theme: As in `heatmap`.
        gold: As in `heatmap`.

    Returns:
        The figure.

    Raises:
        AttnvizError: The weights are missing or another model's, or a step does not have exactly one attention
            distribution.
    """
    posterior_weights = _required_posterior(trace, face, weights)
    if trace.attends:
        return heatmap(
            trace,
            by=by,
            face=face,
            posterior=posterior_weights,
            colours=colours,
            root=root,
            end=end,
            margins=margins,
            step=step,
            theme=theme,
            gold=gold,
        )
    return fixed_context(trace, by=by, end=end, step=step, theme=theme)


def translation_table(
    trace: Any,
    *,
    by: By = "words",
    face: Face = "before",
    weights: Weights | None = None,
    end: bool = True,
    margins: bool = False,
) -> pd.DataFrame:
    """Return the numbers of `translation_figure`.

    Args:
        trace: The record.
        by: As in `heatmap`.
        face: As in `heatmap`.
        weights: As in `translation_figure`.
        end: As in `heatmap`.
        margins: As in `heatmap_table`.

    Returns:
        The table.

    Raises:
        AttnvizError: As in `translation_figure`.
    """
    posterior_weights = _required_posterior(trace, face, weights)
    if trace.attends:
        return heatmap_table(trace, by=by, face=face, posterior=posterior_weights, end=end, margins=margins)
    return fixed_context_table(trace)


def _required_posterior(trace: Any, face: Face, weights: Weights | None) -> NDArray[np.float64] | None:
    """Return the posterior where `face` needs it and the weights are available."""
    if face == "before":
        return None
    if not trace.translated:
        raise AttnvizError(missing_values_reason())
    if not trace.attends:
        raise AttnvizError(
            gettext(
                "The model {model} has no attention, so there is no alignment to show before and after the word.",
                model=trace.model,
            )
        )
    if trace.imported:
        raise AttnvizError(
            gettext(
                "The model {model} was imported, so it has no posterior attention (after the word).", model=trace.model
            )
        )
    if not trace.attends_once:
        raise AttnvizError(
            gettext(
                "The model {model} is a transformer: each step has many attention distributions, so it has no "
                "single posterior attention (after the word).",
                model=trace.model,
            )
        )
    return None if weights is None else posterior(trace, weights)


_ENCODER_X, _STRIP_X = 0.1, 0.55
"""Positions in the left half, from 0 to 1: the encoder's line, and the left edge of the vector."""
_ARROW_TIP_X = 0.96
"""Horizontal position of the arrow tips in the right half, from 0 to 1."""
_ROWS_HEIGHT, _TOP = 420, 34
"""Pixels of all rows together unless they have their smallest height, and above the first."""


def fixed_context(
    trace: Trace, *, by: By = "words", end: bool = True, step: int | None = None, theme: ThemeName = "light"
) -> go.Figure:
    """Draw c, (n,), the last forward annotation: computed from all source words in order, and given to every step.

    The source is on the left, in reading order; the vector in the middle, a strip of its n units; the target on the
    right, a row for each word (or piece), with an arrow from the vector. `step` (0-based) frames its row. `layout.meta`
    has, as that of `heatmap`, `alt`, `narrowest`, `widest`, `steps`, `rows` and `frame`. Raise ValueError unless `by`
    is "words" or "pieces".
    """
    cells, ink = grid(trace, by, end), palette(theme)
    vector = trace.contexts[0]
    rows = rows_of_steps(cells, len(trace.target_pieces))
    layout = _layout(cells, len(vector), ink) | {
        "meta": {
            "alt": gettext(
                "A single vector for all steps. The encoder reads {count} source words in order. The last encoder "
                "state, a vector of {units} numbers, goes to each of {rows} target words.",
                count=len(cells.source),
                units=len(vector),
                rows=len(cells.target),
            ),
            "narrowest": 330,
            "widest": 760,
            "steps": [steps[0] for steps in cells.steps],
            "rows": rows,
            "frame": ROW_FRAME,
        },
    }
    row = None if step is None else rows[step]
    if row is not None:
        layout["shapes"] = [*layout["shapes"], rectangle(0, 1, row - 0.5, row + 0.5, ROW_FRAME, 2.5)]
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
    return build_figure([strip, *_encoder_traces(len(cells.source), ink), *_arrow_traces(cells, ink)], layout)


def fixed_context_table(trace: Trace) -> pd.DataFrame:
    """Return c, the same at every step, one row for each of its n units (counted from 1)."""
    index = pd.RangeIndex(1, trace.contexts.shape[1] + 1, name=gettext("unit"))
    return pd.DataFrame({gettext("context vector, the same vector at every step"): trace.contexts[0]}, index=index)


def _encoder_traces(count: int, ink: Palette) -> list[Part]:
    """Return the encoder as a line down the source, with a point at each word, and an arrow into the vector."""
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "encoder",
        "xaxis": "x2",
        "yaxis": "y2",
        "hoverinfo": "skip",
        "line": {"color": ink.encoder, "width": 1.5},
    }
    points = {"size": 5, "color": ink.encoder}
    end = count - 1
    source_line = line | {"x": [_ENCODER_X] * count, "y": list(range(count)), "marker": points}
    arrow_marker = {"size": [5, 10], "color": ink.encoder, "symbol": ["circle", "triangle-right"]}
    arrow_line = line | {"x": [_ENCODER_X, _STRIP_X - 0.03], "y": [end, end], "marker": arrow_marker}
    return [source_line, arrow_line]


def _arrow_traces(cells: Grid, ink: Palette) -> list[Part]:
    """Return an arrow from the centre of the vector to each row, and the hover and click targets there."""
    count = len(cells.target)
    middle = (count - 1) / 2
    ends = [part for row in range(count) for part in (middle, row, None)]
    lines = {
        "type": "scatter",
        "mode": "lines",
        "name": "arrows",
        "hoverinfo": "skip",
        "y": ends,
        "x": [0, _ARROW_TIP_X, None] * count,
        "line": {"color": ink.context, "width": 1},
    }
    heads = {
        "type": "scatter",
        "mode": "markers",
        "name": "heads",
        "hoverinfo": "skip",
        "x": [_ARROW_TIP_X] * count,
        "y": list(range(count)),
        "marker": {"symbol": "triangle-right", "size": 9, "color": ink.context},
    }
    hover = [[gettext("{word}: the same vector", word=escape(shorten(word, 60)))] for word in cells.target]
    surface = {
        "type": "heatmap",
        "name": "rows",
        "z": np.zeros((count, 1)),
        "x": [0, 1],
        "opacity": 0,
        "showscale": False,
        "text": hover,
        "hoverinfo": "text",
    }
    return [lines, heads, surface]


def _layout(cells: Grid, units: int, ink: Palette) -> Part:
    """Return the layout: `y` has the target's rows, `y2` the source's, `y3` the units of the vector."""
    rows, sources = len(cells.target), len(cells.source)
    row_count = max(rows, sources)
    height = round(row_count * float(np.clip(_ROWS_HEIGHT / row_count, LOWEST_ROW, HIGHEST_ROW)))
    source_stride, target_stride = label_stride(sources), label_stride(rows)
    left, right = (int(label_width(names, font_size(len(names)))) + 18 for names in (cells.source, cells.target))
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    return base_layout(ink) | {
        "height": _TOP + height + 12,
        "margin": {"l": left, "r": right, "t": _TOP, "b": 12},
        "hovermode": "closest",
        "xaxis": axis | {"range": [0, 1], "domain": [0.5, 1], "showticklabels": False},
        "xaxis2": axis | {"range": [0, 1], "domain": [0, 0.5], "showticklabels": False, "anchor": "y2"},
        "yaxis": axis
        | {
            "range": [rows - 0.5, -0.5],
            "side": "right",
            "tickvals": list(range(0, rows, target_stride)),
            "ticktext": axis_labels(cells.target[::target_stride]),
            "tickfont": {"size": font_size(rows), "color": ink.decoder},
        },
        "yaxis2": axis
        | {
            "range": [sources - 0.5, -0.5],
            "side": "left",
            "anchor": "x2",
            "tickvals": list(range(0, sources, source_stride)),
            "ticktext": axis_labels(cells.source[::source_stride]),
            "tickfont": {"size": font_size(sources), "color": ink.encoder},
        },
        "yaxis3": axis | {"range": [units + 0.5, 0.5], "overlaying": "y2", "showticklabels": False, "anchor": "x2"},
        "shapes": [
            {
                "type": "rect",
                "xref": "x2",
                "yref": "paper",
                "x0": _STRIP_X,
                "x1": 1,
                "y0": 0,
                "y1": 1,
                "line": {"color": ink.context, "width": 2},
            }
        ],
        "annotations": [
            strip_caption(gettext("c, {count} numbers", count=units), 0, ink)
            | {
                "x": 0.5,
                "xanchor": "right",
                "yshift": 4,
                "font": {"size": 13, "color": ink.context},
            },
        ],
    }
