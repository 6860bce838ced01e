"""Figure and table of the softmax of one decoder step: each energy and, beside it, its weight."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.measures import weight_order
from attnviz.figures.attention import attention_table
from attnviz.figures.build import Spec
from attnviz.figures.source_rows import (
    bar_numbers,
    bar_texts,
    energy_range,
    finite_energies,
    piece_bars,
    short_name,
    signed_colours,
    signs,
    source_layout,
    source_values,
    value_axis,
)
from attnviz.figures.template import Slot, Values, filled
from attnviz.languages import gettext
from attnviz.palette import PALE, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.wording.labels import shorten


def softmax_template(trace: Trace, theme: ThemeName) -> Spec:
    """Return the template of `softmax_bars`; both axes are the same at every step."""
    ink = palette(theme)
    energy_bars = piece_bars(trace, Slot("energies"), "e") | signed_colours(ink, opacity=PALE)
    weight_bars = piece_bars(trace, Slot("weights"), "α") | {"xaxis": "x2", "marker": {"color": ink.bar}}
    layout = source_layout(trace, ink)
    limits = energy_range(finite_energies(trace), padding=0.06)
    layout["xaxis"] = value_axis(ink, gettext("energy e"), limits) | {"domain": [0, 0.36]}
    layout["xaxis2"] = value_axis(ink, gettext("weight α"), [0, 1.16]) | {
        "domain": [0.44, 1],
        "tickvals": [0, 0.5, 1],
        "anchor": "y",
    }
    # Where the page lets the user drag the weights, these bars are dragged.
    pieces = [shorten(piece_name(piece), 40) for piece in trace.source_pieces]
    layout["meta"] |= {"weights": {"trace": 1, "axis": "xaxis2", "pieces": pieces}}
    return {
        "data": [energy_bars, weight_bars, *({**spec, "xaxis": "x2"} for spec in bar_numbers(trace, ink))],
        "layout": layout,
    }


def softmax_values(trace: Trace, step: int) -> Values:
    """Return the values of `softmax_bars`."""
    energies, alpha = finite_energies(trace)[step], trace.alignment[step]
    best = weight_order(trace, step)[0]
    alt = gettext(
        "Softmax of step {step}: each energy and its attention weight, side by side. The largest weight, "
        "{weight:.2f}, is that of piece {number}, {name}.",
        step=step + 1,
        weight=alpha[best],
        number=best + 1,
        name=short_name(trace, best),
    )
    numbers = {"energies": energies, "weights": alpha}
    return numbers | signs(energies) | bar_texts(alpha) | source_values(trace, step, alt)


def softmax_bars(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw e_ij of 0-based `step` and, beside it on the same rows, alpha_ij in [0, 1]."""
    return filled(softmax_template(trace, theme), softmax_values(trace, step))


def softmax_table(trace: Trace, step: int) -> pd.DataFrame:
    """Return the softmax of 0-based `step`: e_ij, exp(e_ij - max_k e_ik), alpha_ij."""
    table = attention_table(trace, step)
    energies = trace.energies[step]
    table.insert(len(table.columns) - 1, "exp(e - max)", np.exp(energies - energies.max()))
    return table
