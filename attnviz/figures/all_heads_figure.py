"""All heads of a transformer as small heatmaps: figure and table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import quote, shorten
from attnviz.analysis.measures import entropy, strongest_words, word_weights_of_heads
from attnviz.analysis.numbers import decimal, percent
from attnviz.analysis.transformer_steps import head_kind_name
from attnviz.figures.grammar import LABEL_LENGTH
from attnviz.figures.heatmap_parts import font_size
from attnviz.figures.legacy import Slot, Values
from attnviz.figures.spec import (
    APART,
    Part,
    axis_labels,
    base_axis,
    base_layout,
    build_figure,
    emphasise,
    escape,
    rectangle,
)
from attnviz.languages import gettext, ngettext
from attnviz.palette import GREYS, Palette, ThemeName, palette
from attnviz.trace import TransformerTrace
from attnviz.trace.parts import HEAD_KINDS
from attnviz.trace.transformer_trace import Head

Rates = Mapping[tuple[int, int], float]
"""Alignment error rates of the cross-attention heads, by 0-based layer and head."""
_ROW, _GAP, _NAME = 120, 0.012, 34
"""Pixels of a row; share of the width between panels; pixels of the name of a kind of attention."""

_HEAD_ROW = 21
"""Pixels of the row of a head, with the other heads of one step."""
_LARGEST = 48
"""Largest number of rows and columns of a thumbnail."""


def all_heads_template(trace: TransformerTrace, theme: ThemeName) -> Part:
    """Return the template of all cross-attention heads at one step: a row for each, a column for each source word.

    It replaces the values of one head at the level *Idea*. Brightness is the square root of the share; layers are
    separated, the displayed head is framed.
    """
    ink, displayed, words = palette(theme), trace.displayed, trace.words().source
    layers, heads = trace.cross_alignment.shape[:2]
    count, displayed_row, columns = layers * heads, displayed.layer * heads + displayed.head, len(words)
    names = [gettext("attention {k}", k=k + 1) for k in range(count)]
    names[displayed_row] = emphasise(names[displayed_row], ink.context)
    labels = axis_labels(words, LABEL_LENGTH)
    slanted = sum(map(len, labels)) > 40
    top = 16 + (max(map(len, labels)) * 6 if slanted else 14)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    image = {
        "type": "heatmap",
        "z": Slot("shares"),
        "zmin": 0,
        "zmax": 1,
        "colorscale": GREYS,
        "showscale": False,
        "text": Slot("texts"),
        "hoverinfo": "text",
        "xgap": 1,
        "ygap": 1,
    }
    layout = base_layout(ink) | {
        "height": top + _HEAD_ROW * count + 8,
        "margin": {"l": 84, "r": 26, "t": top, "b": 8},
        "plot_bgcolor": ink.line,
        "shapes": [
            *(_separator(heads * layer, ink.quiet) for layer in range(1, layers)),
            rectangle(-0.5, columns - 0.5, displayed_row - 0.5, displayed_row + 0.5, ink.context),
        ],
        "xaxis": axis
        | {
            "side": "top",
            "range": [-0.5, columns - 0.5],
            "tickangle": -50 if slanted else 0,
            "tickvals": list(range(columns)),
            "ticktext": labels,
            "tickfont": {"size": font_size(columns), "color": ink.encoder},
        },
        "yaxis": axis
        | APART
        | {
            "range": [count - 0.5, -0.5],
            "tickvals": list(range(count)),
            "ticktext": names,
            "tickfont": {"size": 12, "color": ink.quiet},
        },
        "meta": {"alt": Slot("alt"), "narrowest": max(260, 110 + 12 * columns), "widest": 110 + 44 * max(columns, 6)},
    }
    return {"data": [image], "layout": layout}


def all_heads_values(trace: TransformerTrace, step: int) -> Values:
    """Return the values of `all_heads_template` at 0-based `step`."""
    words = trace.words().source
    shares = word_weights_of_heads(trace, step).reshape(-1, len(words))
    names = [escape(shorten(word, 60)) for word in words]
    texts = [
        [f"{gettext('attention {k}', k=k)}<br>{name} {percent(share)}" for name, share in zip(names, row, strict=True)]
        for k, row in enumerate(shares.tolist(), 1)
    ]
    strongest, counts = np.unique(strongest_words(trace, step), return_counts=True)
    most_attended = int(counts.argmax())
    alt = ngettext(
        "The {all} attention distributions of step {step}, a row each. {count} distribution attends most to {word}.",
        "The {all} attention distributions of step {step}, a row each. {count} distributions attend most to {word}.",
        int(counts[most_attended]),
        all=len(shares),
        step=step + 1,
        word=quote(shorten(words[int(strongest[most_attended])], 30)),
    )
    return {"shares": np.sqrt(shares), "texts": texts, "alt": alt}


def _separator(row: int, colour: str) -> dict[str, Any]:
    """Return a line above a 0-based row, across its label and the whole width."""
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": row - 0.5,
        "y1": row - 0.5,
        "line": {"color": colour, "width": 2},
    }


def thumbnail(matrix: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return `matrix`, (m, n), with at most LARGEST rows and columns, by the maximum of each block.

    The maximum keeps single bright cells visible.
    """
    for axis in (0, 1):
        if (size := matrix.shape[axis]) > _LARGEST:
            starts = np.arange(_LARGEST) * size // _LARGEST
            matrix = np.maximum.reduceat(matrix, starts, axis=axis)
    return matrix


def head_gallery(trace: TransformerTrace, rates: Rates, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the weights of every head, queries down and keys across, with its number and its alignment error rate.

    Brightness is the square root of the weight. Heads without an entry in `rates` have only a number.
    """
    ink = palette(theme)
    layers, heads = trace.cross_alignment.shape[:2]
    layout = base_layout(ink) | {
        "height": _NAME + len(HEAD_KINDS) * (layers * _ROW + _NAME),
        "margin": {"l": 8, "r": 8, "t": _NAME, "b": 8},
        "annotations": [],
        "meta": {"alt": _alt(trace, rates), "narrowest": 560},
    }
    panels: list[Part] = []
    for block, kind in enumerate(HEAD_KINDS):
        top = 1 - block / len(HEAD_KINDS)
        layout["annotations"].append(_annotation(head_kind_name(kind), 0, top, ink, size=14))
        for place, head in enumerate(trace.heads_of(kind)):
            number = len(panels) + 1
            left, high = place % heads / heads, top - (place // heads + 0.28) / (layers + 0.3) / len(HEAD_KINDS)
            low = high - 0.78 / (layers + 0.3) / len(HEAD_KINDS)
            panels.append(_panel(head, number))
            layout |= _axes(number, (left, left + 1 / heads - _GAP), (low, high), ink)
            layout["annotations"].append(_annotation(_panel_name(head, rates), left, high, ink))
    return build_figure(panels, layout)


def head_gallery_table(trace: TransformerTrace, rates: Rates) -> pd.DataFrame:
    """Return a row for each head: mean entropy in bits, mean largest weight, and alignment error rate where known."""
    rows = [
        {
            gettext("attention"): head_kind_name(kind),
            gettext("layer"): head.layer + 1,
            gettext("head"): head.head + 1,
            gettext("mean entropy, bits"): float(entropy(head.alignment).mean()),
            gettext("mean largest weight"): float(head.alignment.max(axis=1).mean()),
            gettext("alignment error rate"): rates.get((head.layer, head.head), np.nan) if kind == "cross" else np.nan,
        }
        for kind in HEAD_KINDS
        for head in trace.heads_of(kind)
    ]
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1))


def _panel(head: Head, number: int) -> Part:
    return {
        "type": "heatmap",
        "z": np.sqrt(thumbnail(head.alignment)),
        "zmin": 0,
        "zmax": 1,
        "colorscale": GREYS,
        "showscale": False,
        "hoverinfo": "skip",
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
    }


def _axes(number: int, horizontal: tuple[float, float], vertical: tuple[float, float], ink: Palette) -> Part:
    axis = base_axis(ink) | {
        "showticklabels": False,
        "showgrid": False,
        "zeroline": False,
        "linecolor": ink.line,
        "mirror": True,
    }
    return {
        f"xaxis{number}": axis | {"domain": horizontal, "anchor": f"y{number}"},
        f"yaxis{number}": axis | {"domain": vertical, "anchor": f"x{number}", "autorange": "reversed"},
    }


def _panel_name(head: Head, rates: Rates) -> str:
    rate = rates.get((head.layer, head.head)) if head.kind == "cross" else None
    number = f"{head.layer + 1}.{head.head + 1}"
    return number if rate is None else f"{number}  " + gettext("AER {rate}", rate=decimal(rate))


def _annotation(text: str, x: float, y: float, ink: Palette, size: int = 12) -> Part:
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": size, "color": ink.ink if size > 12 else ink.quiet},
    }


def _alt(trace: TransformerTrace, rates: Rates) -> str:
    layers, heads = trace.cross_alignment.shape[:2]
    text = gettext(
        "Small heatmaps of all heads: three kinds of attention, {layers} layers of {heads} heads each.",
        layers=layers,
        heads=heads,
    )
    if not rates:
        return text
    layer, head = min(rates, key=rates.__getitem__)
    return (
        text
        + " "
        + gettext(
            "In the cross-attention, head {head} of layer {layer} aligns best: its AER is {rate}.",
            head=head + 1,
            layer=layer + 1,
            rate=decimal(rates[layer, head]),
        )
    )
