"""Attribution methods for one translation: heatmaps side by side with one scale, tables, and their agreement."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.attribution_methods import (
    Agreement,
    AttributionMethod,
    AttributionMethods,
    attribution_method_texts,
)
from attnviz.analysis.grid import Grid, grid, places_of_pieces, rows_of_steps
from attnviz.analysis.labels import shorten
from attnviz.figures.heatmap import MOST_TEXTS
from attnviz.figures.spec import (
    PRINT_WIDTH,
    Part,
    axis_labels,
    base_axis,
    base_layout,
    build_figure,
    escape,
    rectangle,
)
from attnviz.languages import gettext
from attnviz.palette import CELL_FRAME, ROW_FRAME, Palette, ThemeName, palette
from attnviz.trace import Attention, Trace
from attnviz.trace.drawing import By

_ROW, _CAPTION, _COLOUR_BAR = (11, 20), 44, 40
"""Pixels: smallest and largest row, caption above a panel, colour bar below all."""
_GAP = 14
"""Pixels between panels side by side."""
_NARROWEST_COLUMN = 5
"""Pixels of the narrowest column; long sentences are read by their pattern and by hovering."""
_LABEL, _EM = 12, 0.56
"""Characters of a label, and average width of a letter in font sizes."""


def attributions_figure(
    trace: Trace | Attention,
    attributions: AttributionMethods,
    *,
    by: By = "words",
    end: bool = True,
    across: int = 3,
    step: int | None = None,
    width: int = PRINT_WIDTH,
    theme: ThemeName = "light",
) -> go.Figure:
    """Draw each attribution as a heatmap: target down, source across.

    All share one scale: each entry divided by the sum of absolute values of its row (`AttributionMethods.shares`). Blue
    supports the word, red opposes it, with the square root as intensity; hover texts have the numbers themselves.

    Args:
        trace: The translation.
        attributions: Result of `analysis.attribution_methods`.
        by: "words" or "pieces".
        end: Whether to draw `</s>`.
        across: Number of heatmaps side by side.
        step: Step, 0-based, whose row is framed in all panels.
        width: Width of the figure in pixels; labels are thinned to fit it.
        theme: "light" or "dark".

    Returns:
        The figure. `layout.meta` has, as that of `heatmap`, `alt`, `narrowest`, `steps`, `sources`, `rows`, `columns`
        and `frame`, and the axes of each panel by attribution (`panels`), for a shared cursor.

    Raises:
        AttnvizError: `by` is unknown.
        ValueError: `across` is less than 1.
    """
    if across < 1:
        raise ValueError(f"across must be at least 1, not {across!r}")
    cells, ink = grid(trace, by, end), palette(theme)
    across = min(across, len(attributions.names))
    layout, axes = _layout(cells, attributions.names, across, width, ink)
    rows = rows_of_steps(cells, len(trace.target_pieces))
    row = None if step is None else rows[step]
    panels = []
    for index, name in enumerate(attributions.names):
        panels.append(_panel(trace, attributions, name, cells, by, ink) | axes[index] | {"showscale": index == 0})
        if row is not None:
            frame = rectangle(-0.5, len(cells.source) - 0.5, row - 0.5, row + 0.5, ROW_FRAME)
            layout["shapes"].append(frame | {"xref": axes[index]["xaxis"], "yref": axes[index]["yaxis"]})
    panels[0]["colorbar"] = _colour_bar(layout, ink)
    layout["meta"] |= {
        "alt": _alt(trace, attributions, step),
        "steps": [steps[0] for steps in cells.steps],
        "rows": rows,
        "sources": [pieces[0] for pieces in cells.pieces],
        "columns": places_of_pieces(cells.pieces, len(trace.source_pieces)),
        "frame": ROW_FRAME,
        "selection_colour": CELL_FRAME,
        "panels": {name: axes[index] for index, name in enumerate(attributions.names)},
    }
    return build_figure(panels, layout)


def attributions_table(trace: Trace | Attention, attributions: AttributionMethods, step: int) -> pd.DataFrame:
    """Return the attributions of a step in their own units.

    Args:
        trace: The translation.
        attributions: Result of `analysis.attribution_methods`.
        step: Step, 0-based.

    Returns:
        A row for each source piece, counted from 1.
    """
    labels = attribution_method_texts()
    columns: dict[str, Any] = {gettext("source piece"): list(trace.source_pieces)}
    columns |= {
        f"{labels[name].name}, {labels[name].unit}": attributions.matrices[name][step] for name in attributions.names
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(1, len(trace.source_pieces) + 1, name="j"))


def attribution_table(
    trace: Trace | Attention, attributions: AttributionMethods, name: AttributionMethod
) -> pd.DataFrame:
    """Return one attribution in its own unit.

    Args:
        trace: The translation.
        attributions: Result of `analysis.attribution_methods`.
        name: One of its methods.

    Returns:
        Target pieces down, source pieces across, each with its number.
    """
    rows, columns = (
        [f"{number} {piece}" for number, piece in enumerate(pieces, 1)]
        for pieces in (trace.target_pieces, trace.source_pieces)
    )
    return pd.DataFrame(
        attributions.matrices[name], index=pd.Index(rows, name=gettext("target \\ source")), columns=columns
    )


def all_attributions_table(trace: Trace | Attention, attributions: AttributionMethods) -> pd.DataFrame:
    """Return the attributions of all steps in their own units.

    Args:
        trace: The translation.
        attributions: Result of `analysis.attribution_methods`.

    Returns:
        A row for each target piece i and source piece j, both counted from 1.
    """
    labels, (steps, pieces) = attribution_method_texts(), attributions.matrices[attributions.names[0]].shape
    index = pd.MultiIndex.from_product([range(1, steps + 1), range(1, pieces + 1)], names=["i", "j"])
    columns: dict[str, Any] = {
        gettext("target piece"): np.repeat(np.array(trace.target_pieces, dtype=object), pieces),
        gettext("source piece"): np.tile(np.array(trace.source_pieces, dtype=object), steps),
    }
    columns |= {
        f"{labels[name].name}, {labels[name].unit}": attributions.matrices[name].ravel() for name in attributions.names
    }
    return pd.DataFrame(columns, index=index)


def agreement_table(agreement: Agreement) -> pd.DataFrame:
    """Return the agreement of each pair of attributions: same top piece, tau-b, total variation.

    Args:
        agreement: Result of `analysis.agreement`.
    """
    labels = attribution_method_texts()
    pairs = list(zip(*np.triu_indices(len(agreement.names), 1), strict=True))
    frame = {
        gettext("attribution"): [labels[agreement.names[one]].name for one, _ in pairs],
        gettext("other attribution"): [labels[agreement.names[other]].name for _, other in pairs],
        gettext("same top piece"): [agreement.top[pair] for pair in pairs],
        gettext("Kendall’s τ"): [agreement.tau[pair] for pair in pairs],
        gettext("total variation"): [agreement.variation[pair] for pair in pairs],
    }
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(pairs) + 1, name=gettext("row")))


def _panel(
    trace: Trace | Attention,
    attributions: AttributionMethods,
    name: AttributionMethod,
    cells: Grid,
    by: By,
    ink: Palette,
) -> Part:
    """Return the heatmap of one attribution."""
    label = attribution_method_texts()[name]
    shares, amounts = (
        _on_grid(trace, values, cells, by) for values in (attributions.shares(name), attributions.matrices[name])
    )
    panel = {
        "type": "heatmap",
        "name": label.name,
        "z": shares,
        "zmin": -1,
        "zmax": 1,
        "colorscale": ink.signed_root_scale,
        "xgap": 1 if max(shares.shape) <= 24 else 0,
        "ygap": 1 if max(shares.shape) <= 24 else 0,
    }
    number = f"{escape(label.name)}: %{{customdata:.3f}} {label.unit}<extra></extra>"
    if shares.size * len(attributions.names) > MOST_TEXTS:
        return panel | {"customdata": amounts, "hovertemplate": number}
    columns = [escape(shorten(column, 40)) for column in cells.source]
    hover_texts = [[f"{escape(shorten(row, 40))} ← {column}" for column in columns] for row in cells.target]
    return panel | {"customdata": amounts, "text": hover_texts, "hovertemplate": f"%{{text}}<br>{number}"}


def _on_grid(trace: Trace | Attention, values: NDArray[np.float64], cells: Grid, by: By) -> NDArray[np.float32]:
    """Return (Ty, Tx) `values` on a grid, (rows, columns), merged and cropped like the attention."""
    merged = trace.words().merged(values) if by == "words" else values.astype(np.float32)
    return merged[: len(cells.target), : len(cells.source)]


def _layout(
    cells: Grid, names: tuple[AttributionMethod, ...], panels_per_line: int, figure_width: int, ink: Palette
) -> tuple[Part, list[Part]]:
    """Return the layout without frames, and the axes of each panel.

    Source labels are below the lowest panel of each column, target labels left of each row.
    """
    rows, columns = cells.alpha.shape
    lines = -(-len(names) // panels_per_line)
    height = float(np.clip(230 / rows, *_ROW)) * rows
    size = 12 if columns <= 16 else 11
    slanted = max(len(shorten(name, _LABEL)) for name in cells.source) * size * _EM
    left = int(max(len(shorten(name, _LABEL)) for name in cells.target) * 12 * _EM) + 14
    plot = lines * height + (lines - 1) * _CAPTION
    margin = {"l": left, "r": 12, "t": _CAPTION, "b": int(slanted) + 10 + _COLOUR_BAR}
    layout = base_layout(ink) | {
        "height": round(plot + margin["t"] + margin["b"]),
        "margin": margin,
        "hovermode": "closest",
        "annotations": [],
        "shapes": [],
        "meta": {"narrowest": max(300, left + 12 + panels_per_line * (_NARROWEST_COLUMN * columns + _GAP))},
    }
    labels, axes = attribution_method_texts(), []
    gap = _GAP / (figure_width - left)
    panel_width = (1 - gap * (panels_per_line - 1)) / panels_per_line
    for index, name in enumerate(names):
        panel_line, column = divmod(index, panels_per_line)
        x, y = (f"{axis}{'' if index == 0 else index + 1}" for axis in "xy")
        start, top = column * (panel_width + gap), 1 - panel_line * (height + _CAPTION) / plot
        layout[f"xaxis{x[1:]}"] = _source_axis(cells, size, (figure_width - left) * panel_width, ink) | {
            "domain": [start, start + panel_width],
            "anchor": y,
            "showticklabels": index + panels_per_line >= len(names),
        }
        layout[f"yaxis{y[1:]}"] = _target_axis(cells, height, ink) | {
            "domain": [max(0, top - height / plot), top],
            "anchor": x,
            "showticklabels": column == 0,
        }
        layout["annotations"].append(
            {
                "text": f"<b>{labels[name].name}</b><br>{labels[name].summary}",
                "showarrow": False,
                "align": "left",
                "xref": "paper",
                "yref": "paper",
                "x": start,
                "y": top,
                "yshift": 2,
                "xshift": -3,
                "xanchor": "left",
                "yanchor": "bottom",
                "font": {"size": 12, "color": ink.ink},
            }
        )
        axes.append({"xaxis": x, "yaxis": y})
    return layout, axes


def _source_axis(cells: Grid, size: int, panel_width: float, ink: Palette) -> Part:
    columns = len(cells.source)
    # Labels are vertical: each needs the height of its letters.
    stride = max(1, -(-columns * (size + 3) // max(1, int(panel_width))))
    return base_axis(ink) | {
        "showgrid": False,
        "zeroline": False,
        "linecolor": ink.line,
        "mirror": True,
        "range": [-0.5, columns - 0.5],
        "tickvals": list(range(0, columns, stride)),
        "ticktext": axis_labels(cells.source[::stride], _LABEL),
        "tickangle": -90,
        "tickfont": {"size": size, "color": ink.encoder},
    }


def _target_axis(cells: Grid, height: float, ink: Palette) -> Part:
    rows = len(cells.target)
    stride = max(1, -(-rows * 12 // max(1, int(height))))
    return base_axis(ink) | {
        "showgrid": False,
        "zeroline": False,
        "linecolor": ink.line,
        "mirror": True,
        "range": [rows - 0.5, -0.5],
        "tickvals": list(range(0, rows, stride)),
        "ticktext": axis_labels(cells.target[::stride], _LABEL),
        "tickfont": {"size": 12 if rows <= 18 else 11, "color": ink.decoder},
    }


def _colour_bar(layout: Part, ink: Palette) -> Part:
    """Return the colour bar, below all panels."""
    inner = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    return {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "thickness": 8,
        "lenmode": "pixels",
        "len": 230,
        "y": -(layout["margin"]["b"] - 30) / inner,
        "yanchor": "top",
        "xpad": 0,
        "ypad": 0,
        "outlinewidth": 1,
        "outlinecolor": ink.line,
        "tickvals": [-1, -0.25, 0, 0.25, 1],
        "ticktext": [gettext("against"), "¼", "0", "¼", gettext("for the word")],
        "tickfont": {"size": 11, "color": ink.quiet},
    }


def _alt(trace: Trace | Attention, attributions: AttributionMethods, step: int | None) -> str:
    labels, steps = attribution_method_texts(), range(len(trace.target_pieces)) if step is None else [step]
    listed = "; ".join(
        gettext(
            "{answer}: {piece}",
            answer=labels[name].name,
            piece=", ".join(
                f"{shorten(trace.target_pieces[i], 20)} ← {shorten(trace.source_pieces[int(row.argmax())], 20)}"
                for i, row in ((i, attributions.matrices[name][i]) for i in list(steps)[:12])
            ),
        )
        for name in attributions.names
    )
    return gettext(
        "Heatmaps of {count} attribution methods, with the same scale. Most important source piece for each "
        "target piece, by method: {listed}.",
        count=len(attributions.names),
        listed=listed,
    )
