"""All heads of a transformer as small heatmaps: figure and table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.measures import entropy
from attnviz.figures.build import Spec, base_axis, base_layout, build
from attnviz.languages import gettext
from attnviz.palette import GREYS, Palette, ThemeName, palette
from attnviz.trace import TransformerTrace
from attnviz.trace.parts import KINDS
from attnviz.trace.transformer_trace import Head
from attnviz.wording.head import kind_name
from attnviz.wording.numbers import decimal

Rates = Mapping[tuple[int, int], float]
"""Alignment error rates of the cross-attention heads, by 0-based layer and head."""
_ROW, _GAP, _NAME = 120, 0.012, 34
"""Pixels of a row; share of the width between panels; pixels of the name of a kind of attention."""

LARGEST = 48
"""Largest number of rows and columns of a thumbnail."""


def thumbnail(matrix: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return `matrix`, (m, n), with at most LARGEST rows and columns, by the maximum of each block.

    The maximum keeps single bright cells visible.
    """
    for axis in (0, 1):
        if (size := matrix.shape[axis]) > LARGEST:
            starts = np.arange(LARGEST) * size // LARGEST
            matrix = np.maximum.reduceat(matrix, starts, axis=axis)
    return matrix


def head_gallery(trace: TransformerTrace, rates: Rates, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the weights of every head, queries down and keys across, with its number and its alignment error rate.

    Brightness is the square root of the weight. Heads without an entry in `rates` have only a number.
    """
    ink = palette(theme)
    layers, heads = trace.cross_alignment.shape[:2]
    layout = base_layout(ink) | {
        "height": _NAME + len(KINDS) * (layers * _ROW + _NAME),
        "margin": {"l": 8, "r": 8, "t": _NAME, "b": 8},
        "annotations": [],
        "meta": {"alt": _alt(trace, rates), "narrowest": 560},
    }
    panels: list[Spec] = []
    for block, kind in enumerate(KINDS):
        top = 1 - block / len(KINDS)
        layout["annotations"].append(_annotation(kind_name(kind), 0, top, ink, size=14))
        for place, head in enumerate(trace.heads_of(kind)):
            number = len(panels) + 1
            left, high = place % heads / heads, top - (place // heads + 0.28) / (layers + 0.3) / len(KINDS)
            low = high - 0.78 / (layers + 0.3) / len(KINDS)
            panels.append(_panel(head, number))
            layout |= _axes(number, (left, left + 1 / heads - _GAP), (low, high), ink)
            layout["annotations"].append(_annotation(_panel_name(head, rates), left, high, ink))
    return build(panels, layout)


def head_gallery_table(trace: TransformerTrace, rates: Rates) -> pd.DataFrame:
    """Return a row for each head: mean entropy in bits, mean largest weight, and alignment error rate where known."""
    rows = [
        {
            gettext("attention"): kind_name(kind),
            gettext("layer"): head.layer + 1,
            gettext("head"): head.head + 1,
            gettext("mean entropy, bits"): float(entropy(head.alignment).mean()),
            gettext("mean largest weight"): float(head.alignment.max(axis=1).mean()),
            gettext("alignment error rate"): rates.get((head.layer, head.head), np.nan) if kind == "cross" else np.nan,
        }
        for kind in KINDS
        for head in trace.heads_of(kind)
    ]
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1))


def _panel(head: Head, number: int) -> Spec:
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


def _axes(number: int, horizontal: tuple[float, float], vertical: tuple[float, float], ink: Palette) -> Spec:
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


def _annotation(text: str, x: float, y: float, ink: Palette, size: int = 12) -> Spec:
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
