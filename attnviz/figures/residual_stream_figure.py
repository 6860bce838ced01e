"""Figures and table of the residual stream of one head: what each block of a transformer adds to it at a step."""

from __future__ import annotations

import numpy as np

from attnviz import lazy_pandas as pd
from attnviz.analysis.numbers import decimal
from attnviz.analysis.transformer_steps import added_name
from attnviz.figures.legacy import Slot, Values, number_values, numbers
from attnviz.figures.spec import (
    APART,
    Part,
    axis_labels,
    base_axis,
    base_layout,
    emphasise,
    rectangle,
    strip_separators,
)
from attnviz.languages import gettext
from attnviz.palette import STRONGEST, ThemeName, palette
from attnviz.trace import FloatArray
from attnviz.trace.transformer_trace import Head

_ROW = 22
"""Height of a row in pixels."""
_STRIPS_SPAN = [0, 0.68]
_LENGTHS_SPAN = [0.72, 0.92]
"""Shares of the width for the strips of units and for the bars of their lengths."""


def stream_rows(head: Head, step: int) -> tuple[list[str], FloatArray]:
    """Return names and rows of the sum that makes the stream of 0-based `step`, (blocks + 2, units).

    The rows are the embedding with its position, the contribution of each block (three in a decoder layer, two in an
    encoder layer), and the stream after the last.
    """
    layers = range(1, head.layers + 1)
    names = [_block_name(kind, layer) for layer in layers for kind in head.blocks]
    streams = head.streams[:, step]
    return [gettext("embedding"), *names, gettext("sum")], np.concatenate(
        [streams[:1], head.added[:, step], streams[-1:]]
    )


def _block_name(kind: str, layer: int) -> str:
    """Return the name of a block of a layer, from 1."""
    if kind == "attention":
        return gettext("self-attention {layer}", layer=layer)
    if kind == "cross":
        return gettext("cross-attention {layer}", layer=layer)
    return gettext("feed-forward {layer}", layer=layer)


def stream_template(head: Head, theme: ThemeName) -> Part:
    """Return the template of the stream: a strip of units and a bar of its length for each term.

    Colours are by the square root of the amount; the block of the displayed head is framed.
    """
    ink = palette(theme)
    streams = head.streams
    count, units = len(streams) + 1, streams.shape[2]
    longest = float(np.linalg.norm(streams, axis=-1).max())
    longest = max(longest, float(np.linalg.norm(head.added, axis=-1).max())) or 1.0
    limit = float(np.quantile(np.abs(streams[-1]), STRONGEST)) or 1.0
    rows, names = list(range(count)), stream_rows(head, 0)[0]
    labels, displayed_row = axis_labels(names, 20), head.block + 1
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
        "colorscale": ink.signed_root_scale,
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


def stream_values(head: Head, step: int) -> Values:
    """Return the values of `stream_template` at 0-based `step`."""
    names, rows = stream_rows(head, step)
    lengths = np.linalg.norm(rows, axis=1)
    lengths_text = "; ".join(f"{name} {decimal(length)}" for name, length in zip(names, lengths.tolist(), strict=True))
    alt = gettext(
        "Terms of the residual stream of step {step}, with their lengths: {told}.", step=step + 1, told=lengths_text
    )
    texts = [f" {decimal(length)}" for length in lengths.tolist()]
    return {"rows": rows, "lengths": lengths, "alt": alt} | number_values(lengths, texts)


def added_template(head: Head, theme: ThemeName) -> Part:
    """Return the template of a bar for the contribution of the embedding and of each decoder block to the stream.

    It is for the level *Idea*. Bars have no scale; the block of the displayed head is highlighted.
    """
    ink, streams, names = palette(theme), head.streams, _everyday_names(head)
    count, displayed_row = len(names), head.block + 1
    longest = float(max(np.linalg.norm(head.added, axis=-1).max(), np.linalg.norm(streams[0], axis=-1).max()))
    labels = axis_labels(names, 26)
    labels[displayed_row] = emphasise(labels[displayed_row], ink.context)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": Slot("lengths"),
        "y": list(range(count)),
        "hoverinfo": "skip",
        "marker": {"color": [ink.context if row == displayed_row else ink.decoder for row in range(count)]},
    }
    layout = base_layout(ink) | {
        "height": _ROW * count + 16,
        "margin": {"l": 148, "r": 8, "t": 8, "b": 8},
        "bargap": 0.3,
        "xaxis": axis | {"range": [0, longest or 1.0], "showticklabels": False},
        "yaxis": axis
        | APART
        | {
            "range": [count - 0.5, -0.5],
            "tickvals": list(range(count)),
            "ticktext": labels,
            "tickfont": {"size": 12, "color": ink.quiet},
        },
        "meta": {"alt": Slot("alt"), "narrowest": 260},
    }
    return {"data": [bars], "layout": layout}


def added_values(head: Head, step: int) -> Values:
    """Return the values of `added_template` at 0-based `step`."""
    terms = np.concatenate([head.streams[:1, step], head.added[:, step]])
    lengths = np.linalg.norm(terms, axis=1)
    names = _everyday_names(head)
    largest = ", ".join(names[k] for k in np.argsort(-lengths, kind="stable")[:3])
    alt = gettext(
        "What the residual stream of step {step} is made of, one bar for each part. The largest parts: {told}.",
        step=step + 1,
        told=largest,
    )
    return {"lengths": lengths, "alt": alt}


def _everyday_names(head: Head) -> list[str]:
    layers = range(1, head.layers + 1)
    return [gettext("last piece written"), *(added_name(block, layer) for layer in layers for block in head.blocks)]


def stream_table(head: Head, step: int) -> pd.DataFrame:
    """Return the rows of `stream_rows` as columns, one row for each unit (counted from 1)."""
    names, rows = stream_rows(head, step)
    unit = pd.RangeIndex(1, rows.shape[1] + 1, name=gettext("unit"))
    return pd.DataFrame(rows.T, index=unit, columns=[f"({k}) {name}" for k, name in enumerate(names)])
