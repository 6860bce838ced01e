"""The softmax of one decoder step: each energy, and beside it the weight it becomes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.measures import weight_order
from attnviz.figures.attention import attention_table
from attnviz.figures.build import build
from attnviz.figures.source_rows import (
    bar_numbers,
    energy_range,
    finite_energies,
    piece_bars,
    short_name,
    signed_colours,
    source_layout,
    value_axis,
)
from attnviz.languages import say
from attnviz.palette import PALE, ThemeName, palette
from attnviz.trace import Trace


def softmax_bars(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw e_ij of 0-based `step` and, beside it on the same rows, alpha_ij in [0, 1]."""
    ink, energies, alpha = palette(theme), finite_energies(trace), trace.alignment[step]
    before = piece_bars(trace, energies[step], "e") | signed_colours(energies[step], ink, opacity=PALE)
    after = piece_bars(trace, alpha, "α") | {"xaxis": "x2", "marker": {"color": ink.bar}}
    layout = source_layout(trace, step, ink)
    layout["xaxis"] = value_axis(ink, say("energy e"), energy_range(energies, room=0.06)) | {"domain": [0, 0.36]}
    layout["xaxis2"] = value_axis(ink, say("weight α"), [0, 1.16]) | {
        "domain": [0.44, 1], "tickvals": [0, 0.5, 1], "anchor": "y",
    }  # fmt: skip
    best = weight_order(trace, step)[0]
    layout["meta"]["alt"] = say(
        "Softmax of step {step}: beside each energy the weight it becomes. The largest weight, {weight:.2f}, is that "
        "of piece {number}, {name}.", step=step + 1, weight=alpha[best], number=best + 1, name=short_name(trace, best),
    )  # fmt: skip
    return build([before, after, *({**one, "xaxis": "x2"} for one in bar_numbers(alpha, ink))], layout)


def softmax_table(trace: Trace, step: int) -> pd.DataFrame:
    """Return how the weights of 0-based `step` come about: e_ij, exp(e_ij - max_k e_ik), their sum's share alpha_ij."""
    table = attention_table(trace, step)
    energies = trace.energies[step]
    table.insert(len(table.columns) - 1, "exp(e - max)", np.exp(energies - energies.max()))
    return table
