"""Figure and table of the residual stream of one step or source piece: embedding, blocks, and their sum."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attnviz.analysis.heads import OpenHead, open_head
from attnviz.figures.build import (
    APART,
    Spec,
    axis_labels,
    base_axis,
    base_layout,
    emphasise,
    rectangle,
    strip_separators,
)
from attnviz.figures.template import Slot, Values, number_values, numbers
from attnviz.languages import gettext
from attnviz.palette import STRONGEST, ThemeName, palette
from attnviz.trace import FloatArray, TransformerTrace
from attnviz.wording.numbers import decimal

_ROW = 22
"""Height of a row in pixels."""
_STRIPS_SPAN = [0, 0.68]
_LENGTHS_SPAN = [0.72, 0.92]
"""Shares of the width for the strips of units and for the bars of their lengths."""


def stream_rows(head: TransformerTrace | OpenHead, step: int) -> tuple[list[str], FloatArray]:
    """Return names and rows of the sum that makes the stream of 0-based `step`, (blocks + 2, units).

    The rows are the embedding with its position, the contribution of each block (three in a decoder layer, two in an
    encoder layer), and the stream after the last.
    """
    opened = open_head(head)
    layers = range(1, len(opened.trace.cross_weights) + 1)
    names = [_block_name(kind, layer) for layer in layers for kind in opened.blocks]
    streams = opened.streams[:, step]
    return [gettext("embedding"), *names, gettext("sum")], np.concatenate(
        [streams[:1], opened.added[:, step], streams[-1:]]
    )


def _block_name(kind: str, layer: int) -> str:
    """Return the name of a block of a layer, from 1."""
    if kind == "attention":
        return gettext("self-attention {layer}", layer=layer)
    if kind == "cross":
        return gettext("cross-attention {layer}", layer=layer)
    return gettext("feed-forward {layer}", layer=layer)


def stream_template(head: TransformerTrace | OpenHead, theme: ThemeName) -> Spec:
    """Return the template of the stream: a strip of units and a bar of its length for each term.

    Colours are by the square root of the amount; the block of the displayed head is framed.
    """
    ink, opened = palette(theme), open_head(head)
    streams = opened.streams
    count, units = len(streams) + 1, streams.shape[2]
    longest = float(np.linalg.norm(streams, axis=-1).max())
    longest = max(longest, float(np.linalg.norm(opened.added, axis=-1).max())) or 1.0
    limit = float(np.quantile(np.abs(streams[-1]), STRONGEST)) or 1.0
    rows, names = list(range(count)), stream_rows(opened, 0)[0]
    labels, displayed_row = axis_labels(names, 20), opened.block + 1
    labels[displayed_row], labels[-1] = (
        emphasise(labels[displayed_row], ink.context),
        emphasise(labels[-1], ink.decoder),
    )
    strips = {
        "type": "heatmap",
        "z": Slot("rows"),
        "y": rows,
        "x0": 1,
        "dx": 1,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": ink.signed_root,
        "showscale": False,
        "hovertemplate": gettext("unit %{x}: %{z:.3f}") + "<extra></extra>",
    }
    colours = [ink.context if row == displayed_row else ink.decoder if row == count - 1 else ink.bar for row in rows]
    lengths = {
        "type": "bar",
        "orientation": "h",
        "x": Slot("lengths"),
        "y": rows,
        "xaxis": "x2",
        "marker": {"color": colours},
        "hovertemplate": gettext("length %{x:.3f}") + "<extra></extra>",
    }
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    title = {"font": {"size": 12, "color": ink.quiet}, "standoff": 2}
    layout = base_layout(ink) | {
        "height": 44 + _ROW * count + 8,
        "margin": {"l": 132, "r": 6, "t": 44, "b": 8},
        "bargap": 0.3,
        "shapes": [
            *strip_separators(rows, units, ink, first=0.5),
            rectangle(0.5, units + 0.5, displayed_row - 0.45, displayed_row + 0.45, ink.context),
        ],
        "xaxis": axis
        | {
            "domain": _STRIPS_SPAN,
            "range": [0.5, units + 0.5],
            "showticklabels": False,
            "side": "top",
            "anchor": "y",
            "title": title | {"text": gettext("{count} units", count=units)},
        },
        "xaxis2": axis
        | {
            "domain": _LENGTHS_SPAN,
            "range": [0, longest],
            "showticklabels": False,
            "side": "top",
            "anchor": "y",
            "title": title | {"text": gettext("length")},
        },
        "yaxis": axis
        | APART
        | {
            "range": [count - 0.5, -0.5],
            "tickvals": rows,
            "ticktext": labels,
            "tickfont": {"size": 12, "color": ink.quiet},
        },
        "meta": {"alt": Slot("alt"), "narrowest": 340},
    }
    return {"data": [strips, lengths, {**numbers(12, ink), "xaxis": "x2"}], "layout": layout}


def stream_values(head: TransformerTrace | OpenHead, step: int) -> Values:
    """Return the values of `stream_template` at 0-based `step`."""
    names, rows = stream_rows(head, step)
    lengths = np.linalg.norm(rows, axis=1)
    lengths_text = "; ".join(f"{name} {decimal(length)}" for name, length in zip(names, lengths.tolist(), strict=True))
    alt = gettext(
        "Terms of the residual stream of step {step}, with their lengths: {told}.", step=step + 1, told=lengths_text
    )
    texts = [f" {decimal(length)}" for length in lengths.tolist()]
    return {"rows": rows, "lengths": lengths, "alt": alt} | number_values(lengths, texts)


def stream_table(head: TransformerTrace | OpenHead, step: int) -> pd.DataFrame:
    """Return the rows of `stream_rows` as columns, one row for each unit (counted from 1)."""
    names, rows = stream_rows(head, step)
    unit = pd.RangeIndex(1, rows.shape[1] + 1, name=gettext("unit"))
    return pd.DataFrame(rows.T, index=unit, columns=[f"({k}) {name}" for k, name in enumerate(names)])
