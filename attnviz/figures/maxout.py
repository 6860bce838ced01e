"""The maxout of one decoder step: pairs of units, and the larger of each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.figures.build import APART, STRIP, base_axis, base_layout, build, rectangle
from attnviz.figures.strips import seams
from attnviz.languages import say
from attnviz.palette import LOST, STRONGEST, ThemeName, palette
from attnviz.trace import Trace
from attnviz.wording.labels import subscript


def maxout_strips(
    trace: Trace, step: int, pairs: NDArray[np.floating] | None, *, theme: ThemeName = "light"
) -> go.Figure:
    """Draw t~_i as pairs, (2l,) as `analysis.readout.pairs` gives them, and t_i, the larger of each; losers are pale.

    Without `pairs`, for want of the weights, only t_i is drawn. Colours end at the 98th percentile of |t_i|.
    """
    ink, winners = palette(theme), trace.readouts[step]
    limit = float(np.quantile(np.abs(winners), STRONGEST)) or 1.0
    strip = {
        "type": "heatmap", "x0": 1, "dx": 1, "zmin": -limit, "zmax": limit, "colorscale": ink.signed_root,
        "showscale": False, "hovertemplate": say("pair %{x}: %{z:.3f}") + "<extra></extra>",
    }  # fmt: skip
    names, traces, size = [f"t{subscript(step + 1)}"], [], len(winners)
    if pairs is not None:
        both = np.asarray(pairs, dtype=np.float32).reshape(-1, 2).T
        lost = both < both.max(axis=0)
        for rows, opacity in ((np.where(lost, np.nan, both), 1), (np.where(lost, both, np.nan), LOST)):
            traces.append(strip | {"z": rows, "y": [0, 1], "opacity": opacity})
        names = [say("first of pair"), say("second of pair"), say("larger: {vector}", vector=names[0])]
    last = len(names) - 1
    traces.append(strip | {"z": winners[None], "y": [last]})
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": 4 + STRIP * len(names) + 4, "margin": {"l": 116, "r": 6, "t": 4, "b": 4},
        "shapes": [*seams(range(len(names)), size, ink, first=0.5),
                   rectangle(0.5, size + 0.5, last - 0.46, last + 0.46, ink.quiet, 1)],
        "xaxis": axis | {"range": [0.5, size + 0.5], "showticklabels": False},
        "yaxis": axis | APART | {
            "range": [last + 0.5, -0.5], "tickvals": list(range(len(names))), "ticktext": names,
            "tickfont": {"size": 12, "color": ink.ink},
        },
        "meta": {"alt": _maxout_alt(winners, step), "narrowest": 320},
    }  # fmt: skip
    return build(traces, layout)


def maxout_table(trace: Trace, step: int, pairs: NDArray[np.floating] | None) -> pd.DataFrame:
    """Return each of the `pairs` (2l,) of `maxout_strips`, where they are known, with the larger (counted from 1)."""
    columns = {} if pairs is None else {say("first"): pairs[0::2], say("second"): pairs[1::2]}
    index = pd.RangeIndex(1, trace.readouts.shape[1] + 1, name=say("pair"))
    return pd.DataFrame(columns | {say("larger"): trace.readouts[step]}, index=index)


def _maxout_alt(winners: NDArray[np.float32], step: int) -> str:
    return say(
        "Maxout of step {step}: {count} pairs, of each the larger is kept, from {low:.2f} to {high:.2f}.",
        step=step + 1, count=len(winners), low=winners.min(), high=winners.max(),
    )  # fmt: skip
