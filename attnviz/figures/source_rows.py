"""Common parts of figures with a row for each source piece: energies, softmax, growing context vector.

Rows line up across the figures. `layout.meta` has `order`, the 0-based source pieces by weight, largest first, and
`selection_colour`, the colour of the selected row. For a long sentence it also has `thinned`: rows and height when
ordered by weight, and the name of the row for the rest (`more`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.labels import shorten, subscript
from attnviz.analysis.measures import weight_order
from attnviz.analysis.numbers import decimal
from attnviz.figures.build import APART, Spec, base_axis, base_layout, escape
from attnviz.figures.template import Slot, Values, number_values, numbers
from attnviz.languages import gettext
from attnviz.palette import Palette
from attnviz.text import piece_name
from attnviz.trace import Attention, Trace
from attnviz.trace.aligned import AttentionMatrix
from attnviz.trace.transformer_trace import Head

WithEnergies = Trace | Head | Attention
"""Attention whose energies are known: of a recurrent translator, of a head, or of another program."""
LABEL_LENGTH = 12
"""Characters of a source piece's label; hover texts are longer."""

LEFT = 96
"""Pixels left of the bars, for labels."""
TOP = 44
"""Pixels above the first row, where the axes are."""
MOST_ROWS = 48
"""Number of source pieces up to which each has a row in any order.

In longer sentences ordered by weight, THINNED_ROWS pieces have a row.
"""
THINNED_ROWS = 30
"""Rows of a long sentence ordered by weight; the other pieces share one more row."""
SUM_GAP = 12
"""Pixels between the rows and the running sum below them."""


def row_height(count: int) -> int:
    """Return the height of one of `count` rows in pixels, enough for a readable label."""
    return 23 if count <= 18 else 20 if count <= 28 else 17 if count <= 48 else 14 if count <= 90 else 12


def row_names(trace: AttentionMatrix) -> list[str]:
    """Return a label for each source piece, with its number where a label occurs twice."""
    names = [shorten(piece_name(piece), LABEL_LENGTH) for piece in trace.source_pieces]
    return [escape(name) + (subscript(j) if names.count(name) > 1 else "") for j, name in enumerate(names, 1)]


def finite_energies(trace: WithEnergies) -> NDArray[np.float32]:
    """Return the energies of all steps, (Ty, Tx), with nan in place of -inf, which has no bar."""
    return np.where(np.isfinite(trace.energies), trace.energies, np.float32(np.nan))


def energy_range(energies: NDArray[np.float32], padding: float = 0.2) -> list[float]:
    """Return the range of an axis for the `energies` (Ty, Tx) of all steps, with `padding` at both ends for numbers."""
    low, high = min(0.0, float(np.nanmin(energies))), max(0.0, float(np.nanmax(energies)))
    spread = (high - low) or 1.0
    return [low - padding * spread * (low < 0), high + padding * spread * (high > 0)]


def piece_bars(trace: AttentionMatrix, lengths: Slot, symbol: str, form: str = ".4f") -> Spec:
    """Return one horizontal bar for each source piece, of these `lengths`, (Tx,).

    Hover texts have the `symbol` and the number in D3's `form`.
    """
    return {
        "type": "bar",
        "orientation": "h",
        "x": lengths,
        "y": list(range(len(trace.source_pieces))),
        "customdata": [escape(shorten(piece_name(piece), 60)) for piece in trace.source_pieces],
        "hovertemplate": f"%{{customdata}}<br>{symbol} = %{{x:{form}}}<extra></extra>",
    }


def bar_numbers(trace: AttentionMatrix, ink: Palette) -> list[Spec]:
    """Return the numbers at the ends of the bars, where there is room; `bar_texts` fills them."""
    count = len(trace.source_pieces)
    return [] if count > MOST_ROWS else [numbers(label_size(count) - 1, ink)]


def bar_texts(values: NDArray[np.float32]) -> Values:
    """Return the values of the `bar_numbers` of bars of these `values`, (Tx,); empty where these are left out."""
    if len(values) > MOST_ROWS:
        return {}
    texts = [f" {decimal(value)} " if math.isfinite(value) else " −∞ " for value in values.tolist()]
    return number_values(np.nan_to_num(values), texts)


def signed_colours(ink: Palette, opacity: float = 1) -> Spec:
    """Return the colours of signed bars: blue from 0 up, red below, by `signs`."""
    return {"marker": {"color": Slot("signs", (ink.plus, ink.minus)), "opacity": opacity}}


def signs(values: NDArray[np.float32]) -> Values:
    """Return the `signs` of these `values`, (Tx,): 1 where negative."""
    return {"signs": (values < 0).astype(int).tolist()}


def value_axis(ink: Palette, title: str, limits: list[float]) -> Spec:
    """Return the axis of the bars, on top."""
    return base_axis(ink) | {
        "side": "top",
        "range": limits,
        "nticks": 4,
        "zerolinecolor": ink.quiet,
        "title": {"text": title, "font": {"size": 12, "color": ink.quiet}, "standoff": 2},
    }


def source_layout(trace: AttentionMatrix, ink: Palette) -> Spec:
    """Return a layout whose rows are the source pieces."""
    count = len(trace.source_pieces)
    return base_layout(ink) | {
        "height": TOP + row_height(count) * count + 8,
        "margin": {"l": LEFT, "r": 8, "t": TOP, "b": 8},
        "bargap": 0.3,
        "hovermode": "y",
        "barmode": "overlay",
        "yaxis": base_axis(ink)
        | APART
        | {
            "range": [count - 0.5, -0.5],
            "tickvals": list(range(count)),
            "ticktext": row_names(trace),
            "tickfont": {"size": label_size(count), "color": ink.encoder},
            "showgrid": False,
            "zeroline": False,
        },
        "meta": {
            "narrowest": 260,
            "order": Slot("order"),
            "selection_colour": ink.encoder,
            "thinned": _thinned_rows(count),
            "alt": Slot("alt"),
        },
    }


def source_values(trace: AttentionMatrix, step: int, alt: str) -> Values:
    """Return the values of a `source_layout` at 0-based `step`: the order of the pieces by weight, and `alt`."""
    return {"order": weight_order(trace, step), "alt": alt}


def _thinned_rows(count: int) -> Spec | None:
    if count <= MOST_ROWS:
        return None
    more = gettext("{n} more", n=count - THINNED_ROWS)
    return {"rows": THINNED_ROWS, "more": more, "height": TOP + row_height(THINNED_ROWS + 1) * (THINNED_ROWS + 1) + 8}


def label_size(count: int) -> int:
    """Return the font size of the labels of `count` rows, in pixels."""
    return 13 if count <= 28 else 12 if count <= 48 else 11 if count <= 90 else 10


def short_source_name(trace: AttentionMatrix, j: int) -> str:
    """Return the label of 0-based source piece j, short enough for a sentence."""
    return shorten(piece_name(trace.source_pieces[j]), 30)


def without_scale(spec: Spec) -> Spec:
    """Return the template of bars `spec` without its numbers: at the level *Idea* only their lengths count."""
    (bars, *_), layout = spec["data"], spec["layout"]
    layout["xaxis"] |= {"showticklabels": False, "title": layout["xaxis"]["title"] | {"text": gettext("fit")}}
    return {"data": [bars | {"hovertemplate": "%{customdata}<extra></extra>"}], "layout": layout}


def fit_alt(trace: AttentionMatrix, step: int) -> str:
    """Return the text alternative of bars without a scale at 0-based `step`."""
    best = weight_order(trace, step)[0]
    return gettext(
        "How well {count} English pieces fit the state at step {step}. The longest bar is that of piece {number}, "
        "{name}.",
        count=len(trace.source_pieces),
        step=step + 1,
        number=best + 1,
        name=short_source_name(trace, best),
    )
