"""Figures and table of the context of one step: weighted values, their sum, and the sum as it grows.

The context is the context vector of a recurrent translator, whose values are annotations, or the output of a head.
`context_frame` returns the growing sum without its numbers, which the browser computes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import shorten, subscript
from attnviz.analysis.measures import weight_order
from attnviz.analysis.numbers import decimal, percent, significant
from attnviz.figures.grammar import (
    LABEL_LENGTH,
    LEFT,
    SUM_GAP,
    THINNED_ROWS,
    TOP,
    label_size,
    row_height,
    row_names,
)
from attnviz.figures.legacy import Slot, Values
from attnviz.figures.spec import (
    APART,
    STRIP,
    Part,
    axis_labels,
    base_axis,
    base_layout,
    build_figure,
    emphasise,
    escape,
    rectangle,
)
from attnviz.languages import format_share, gettext
from attnviz.palette import STRONGEST, Palette, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import FloatArray, Trace
from attnviz.trace.transformer_trace import Head

STRIPS = 6
"""Number of values with a strip of their own; the others are summed."""
_STRIP_HEIGHT = 25
"""Pixels."""


def weighted_values(attention: Trace | Head, step: int) -> tuple[list[str], FloatArray]:
    """Return names and rows of the sum c_i = sum_j alpha_ij h_j, or z_i = sum_j alpha_ij v_j of a head.

    Rows are the largest terms, the rest as one, and the sum, (terms + 1, units); the terms add up to the last row.
    Without attention c_i is the forward half of the last annotation, the only row.
    """
    symbol, total = _symbol(attention, step), attention.contexts[step][None]
    if not attention.attends:
        return [f"{symbol} = →h{subscript(len(attention.source_pieces))}"], total
    alpha = attention.alignment[step]
    terms = alpha[:, None] * attention.values  # (Tx, units)
    largest = np.sort(np.argsort(-alpha, kind="stable")[:STRIPS])
    rest = np.setdiff1d(np.arange(len(alpha)), largest)
    names = [f"{decimal(float(alpha[j]))}  {shorten(piece_name(attention.source_pieces[j]), 14)}" for j in largest]
    rows = [terms[largest]]
    if rest.size:
        names.append(f"{decimal(float(alpha[rest].sum()))}  {gettext('{n} more', n=rest.size)}")
        rows.append(terms[rest].sum(axis=0, keepdims=True))
    names.append(gettext("{context} = sum", context=symbol))
    return names, np.concatenate([*rows, total])


def _symbol(attention: Trace | Head, step: int) -> str:
    return f"{attention.context_symbol}{subscript(step + 1)}"


def _parts(attention: Any) -> list[str]:
    """Return the names of the parts of equal size that the units of a context have."""
    if attention.has_heads:
        return [gettext("values of the head")]
    half = attention.annotations.shape[1] // (1 + attention.reads_backwards)
    return [gettext("forward →"), gettext("← backward")][: attention.contexts.shape[1] // half]


def context_strips(attention: Trace | Head, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw alpha_ij h_j for the pieces of largest weight and, below them, their sum c_i, a pixel column for each unit.

    Blue is positive, red negative, with the square root of the amount as intensity, so that small terms are visible;
    colours saturate at the 98th percentile of |c_i|. A line separates forward and backward halves.

    Args:
        attention: The translation, or a head of a transformer.
        step: Step, 0-based.
        theme: "light" or "dark".
    """
    (names, rows), parts = weighted_values(attention, step), _parts(attention)
    ink, units = palette(theme), rows.shape[1]
    limit = float(np.quantile(np.abs(rows[-1]), STRONGEST)) or 1.0
    strips = {
        "type": "heatmap",
        "z": rows,
        "y": np.arange(len(names)),
        "x0": 1,
        "dx": 1,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": ink.signed_root_scale,
        "colorbar": _colour_bar(limit, ink),
        "ygap": 3,
        "hovertemplate": gettext("unit %{x}: %{z:.3f}") + "<extra></extra>",
    }
    alt = gettext(
        "Context {symbol} of step {step}: a strip of {count} units for each weighted piece, and a last strip for their "
        "sum.",
        symbol=_symbol(attention, step),
        step=step + 1,
        count=units,
    )
    bottom = len(names) - 1
    shapes = [rectangle(0.5, units + 0.5, bottom - 0.44, bottom + 0.44, ink.context)]
    shapes += [
        rectangle(x + 0.5, x + 0.5, -0.5, bottom + 0.5, ink.encoder, 1.5)
        for x in (units * k / len(parts) for k in range(1, len(parts)))
    ]
    labels = axis_labels(names, 30)
    labels[-1] = emphasise(labels[-1], ink.context)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False, "tickfont": {"size": 12, "color": ink.encoder}}
    layout = base_layout(ink) | {
        "height": 60 + _STRIP_HEIGHT * len(names),
        "margin": {"l": 142, "r": 6, "t": 26, "b": 34},
        "shapes": shapes,
        "xaxis": axis
        | {
            "side": "top",
            "tickvals": [units * (k + 0.5) / len(parts) for k in range(len(parts))],
            "ticktext": parts,
            "range": [0.5, units + 0.5],
        },
        "yaxis": axis
        | {
            "range": [bottom + 0.5, -0.5],
            "tickvals": list(range(len(names))),
            "ticktext": labels,
        },
        "meta": {"alt": alt, "narrowest": 300},
    }
    return build_figure([strips], layout)


def context_table(attention: Trace | Head, step: int) -> pd.DataFrame:
    """Return the rows of `context_strips` as columns, one row for each unit (counted from 1).

    Args:
        attention: The translation, or a head of a transformer.
        step: Step, 0-based.
    """
    names, rows = weighted_values(attention, step)
    unit = pd.RangeIndex(1, rows.shape[1] + 1, name=gettext("unit"))
    return pd.DataFrame(rows.T, index=unit, columns=[f"({k}) {name}" for k, name in enumerate(names, 1)])


def mixtures_template(theme: ThemeName) -> Part:
    """Return the template of three bars: what the mixtures of the step before, this step and the next are made of.

    It replaces the strips at the level *Idea*, where there is attention.
    """
    ink = palette(theme)
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": [0, 1, 2],
        "insidetextanchor": "middle",
        "textangle": 0,
        "textposition": "inside",
        "constraintext": "none",
        "cliponaxis": False,
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    fills = [(ink.encoder, 1, ink.paper), (ink.encoder, 0.45, ink.ink), (ink.encoder, 0.22, ink.ink)]
    bars = [
        bar
        | {
            "x": Slot(f"shares{rank}"),
            "text": Slot(f"texts{rank}"),
            "customdata": Slot(f"hovers{rank}"),
            "marker": {"color": colour, "opacity": opacity, "line": {"color": ink.paper, "width": 1}},
            "textfont": {"size": 13, "color": letters},
        }
        for rank, (colour, opacity, letters) in enumerate([*fills, (ink.line, 1, ink.quiet)])
    ]
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False, "showticklabels": False}
    layout = base_layout(ink) | {
        "height": 118,
        "margin": {"l": LEFT, "r": 2, "t": 4, "b": 4},
        "barmode": "stack",
        "bargap": 0.3,
        "xaxis": axis | {"range": [0, 1]},
        "yaxis": axis
        | {
            "range": [2.5, -0.5],
            "showticklabels": True,
            "tickvals": [0, 1, 2],
            "ticktext": Slot("names"),
            "tickfont": {"size": 13, "color": ink.decoder},
        },
        "shapes": [rectangle(0, 1, 0.62, 1.38, ink.context)],
        "meta": {"alt": Slot("alt"), "narrowest": 260},
    }
    return {"data": bars, "layout": layout}


def mixtures_values(trace: Trace, step: int) -> Values:
    """Return the values of `mixtures_template` at 0-based `step`: the largest weights of each row, and the rest."""
    values: Values = {"names": []}
    columns: list[list[tuple[float, str, str]]] = [[] for _ in range(_NAMED_PARTS + 1)]
    descriptions = []
    for other in (step - 1, step, step + 1):
        exists = 0 <= other < len(trace.target_pieces)
        name = escape(shorten(piece_name(trace.target_pieces[other]), LABEL_LENGTH)) if exists else ""
        values["names"].append(f"<b>{name}</b>" if other == step else name)
        parts = _mixture_parts(trace, other) if exists else [(0.0, "")] * len(columns)
        for column, (share, piece) in zip(columns, parts, strict=True):
            label = f"{piece} {format_share(share)}"
            # A part too short for its name has none; the bar is about 400 pixels long.
            column.append((share, label if len(label) * _LETTER < share * _BAR else "", label))
        if exists:
            named = ", ".join(f"{piece} {percent(share)}" for share, piece in parts[:-1] if piece)
            descriptions.append(gettext("{word}: {parts}", word=name, parts=named))
    for rank, column in enumerate(columns):
        values |= {
            f"shares{rank}": [share for share, _, _ in column],
            f"texts{rank}": [text for _, text, _ in column],
            f"hovers{rank}": [hover for _, _, hover in column],
        }
    return values | {"alt": gettext("Parts of each context vector. {mixtures}.", mixtures="; ".join(descriptions))}


def _mixture_parts(trace: Trace, step: int) -> list[tuple[float, str]]:
    """Return the largest weights of 0-based `step` with the labels of their pieces, and last the sum of the others."""
    alpha, names = trace.alignment[step], row_names(trace)
    order = weight_order(trace, step)
    parts = [(float(alpha[j]), names[j]) for j in order[:_NAMED_PARTS]]
    parts += [(0.0, "")] * (_NAMED_PARTS - len(parts))
    return [*parts, (max(0.0, 1 - sum(share for share, _ in parts)), gettext("others"))]


_NAMED_PARTS = 3
"""Source pieces that are named in each mixture."""
_LETTER, _BAR = 7, 400
"""Width of a letter and of a whole bar in pixels, about."""


def _colour_bar(limit: float, ink: Palette) -> Part:
    """Return the colour bar of the strips, below them."""
    return {
        "orientation": "h",
        "x": 1,
        "xanchor": "right",
        "y": 0,
        "yanchor": "top",
        "ypad": 6,
        "thickness": 8,
        "lenmode": "pixels",
        "len": 150,
        "outlinewidth": 1,
        "outlinecolor": ink.line,
        "tickvals": [-limit, 0, limit],
        "ticktext": [f"≤ −{significant(limit)}", "0", f"≥ {significant(limit)}"],
        "tickfont": {"size": 11, "color": ink.quiet},
    }


def context_frame(attention: Trace | Head, *, thinned: bool = False, theme: ThemeName = "light") -> go.Figure:
    """Return the figure of the growing context, (units,), without its numbers, which the browser computes.

    Rows are the source pieces, or if `thinned` THINNED_ROWS of them and one for the rest; below them is the running
    sum, on an axis of its own. `layout.meta` has the pieces' `names`, the number of `rows`, and the unit after which
    the second part begins (`hidden`).
    """
    ink, count = palette(theme), THINNED_ROWS + 1 if thinned else len(attention.source_pieces)
    units, parts = attention.contexts.shape[1], _parts(attention)
    part_size = units // len(parts)
    alt = gettext(
        "Weighted sum: one strip of {count} units for each source piece, and a last strip for the sum.", count=units
    )
    rows_height, sum_height = row_height(count) * count, STRIP + 4
    inner = rows_height + SUM_GAP + sum_height
    strip = {
        "type": "heatmap",
        "x0": 1,
        "dx": 1,
        "colorscale": ink.signed_root_scale,
        "showscale": False,
        "zmid": 0,
        "hovertemplate": gettext("unit %{x}: %{z:.3f}") + "<extra></extra>",
    }
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    rows = axis | APART | {"tickfont": {"size": label_size(count), "color": ink.encoder}}
    layout = base_layout(ink) | {
        "height": TOP + inner + 8,
        "margin": {"l": LEFT + 38, "r": 6, "t": TOP, "b": 8},
        "xaxis": axis
        | {
            "side": "top",
            "range": [0.5, units + 0.5],
            "anchor": "y",
            "tickfont": {"size": 12, "color": ink.encoder},
            "tickvals": [part_size * (k + 0.5) for k in range(len(parts))],
            "ticktext": parts,
        },
        "yaxis": rows
        | {
            "range": [count - 0.5, -0.5],
            "domain": [1 - rows_height / inner, 1],
            "tickvals": list(range(count)),
        },
        "yaxis2": axis
        | APART
        | {
            "range": [0.5, -0.5],
            "domain": [0, sum_height / inner],
            "tickvals": [0],
            "tickfont": {"size": 13, "color": ink.context},
            "anchor": "x",
        },
        "meta": {
            "alt": alt,
            "narrowest": 320,
            "selection_colour": ink.encoder,
            "paper": ink.paper,
            "context": ink.context,
            "hidden": part_size,
            "rows": count,
            "names": row_names(attention),
        },
    }
    return build_figure([strip, strip | {"yaxis": "y2"}], layout)
