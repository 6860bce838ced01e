"""Figure and table of the maxout of one decoder step: pairs of units, and the larger of each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.figures.build import APART, STRIP, Spec, base_axis, base_layout, rectangle
from attnviz.figures.template import Slot, Values, filled
from attnviz.figures.unit_strips import strip_separators
from attnviz.languages import gettext
from attnviz.palette import LOSER_OPACITY, STRONGEST, ThemeName, palette
from attnviz.trace import Trace
from attnviz.wording.labels import subscript


def maxout_template(trace: Trace, theme: ThemeName, *, paired: bool) -> Spec:
    """Return the template of `maxout_strips`, with the pairs if `paired`."""
    ink, size, last = palette(theme), trace.readouts.shape[1], 2 if paired else 0
    strip = {
        "type": "heatmap",
        "x0": 1,
        "dx": 1,
        "zmin": Slot("low"),
        "zmax": Slot("high"),
        "colorscale": ink.signed_root,
        "showscale": False,
        "hovertemplate": gettext("pair %{x}: %{z:.3f}") + "<extra></extra>",
    }
    traces = [
        strip | {"z": Slot(name), "y": [0, 1], "opacity": opacity}
        for name, opacity in (("won", 1), ("lost", LOSER_OPACITY))
    ]
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": 4 + STRIP * (last + 1) + 4,
        "margin": {"l": 116, "r": 6, "t": 4, "b": 4},
        "shapes": [
            *strip_separators(range(last + 1), size, ink, first=0.5),
            rectangle(0.5, size + 0.5, last - 0.46, last + 0.46, ink.quiet, 1),
        ],
        "xaxis": axis | {"range": [0.5, size + 0.5], "showticklabels": False},
        "yaxis": axis
        | APART
        | {
            "range": [last + 0.5, -0.5],
            "tickvals": list(range(last + 1)),
            "ticktext": Slot("names"),
            "tickfont": {"size": 12, "color": ink.ink},
        },
        "meta": {"alt": Slot("alt"), "narrowest": 320},
    }
    return {"data": [*(traces if paired else []), strip | {"z": Slot("larger"), "y": [last]}], "layout": layout}


def maxout_values(trace: Trace, step: int, pairs: NDArray[np.floating] | None) -> Values:
    """Return the values of `maxout_strips`; `pairs` are the values of the l pairs, (2l,)."""
    winners = trace.readouts[step]
    limit = float(np.quantile(np.abs(winners), STRONGEST)) or 1.0
    name = f"t{subscript(step + 1)}"
    values = {
        "larger": winners[None],
        "low": -limit,
        "high": limit,
        "names": [name],
        "alt": _maxout_alt(winners, step),
    }
    if pairs is None:
        return values
    values_of_pairs = np.asarray(pairs, dtype=np.float32).reshape(-1, 2).T
    is_smaller = values_of_pairs < values_of_pairs.max(axis=0)
    return values | {
        "won": np.where(is_smaller, np.nan, values_of_pairs),
        "lost": np.where(is_smaller, values_of_pairs, np.nan),
        "names": [gettext("first of pair"), gettext("second of pair"), gettext("larger: {vector}", vector=name)],
    }


def maxout_strips(
    trace: Trace, step: int, pairs: NDArray[np.floating] | None, *, theme: ThemeName = "light"
) -> go.Figure:
    """Draw the l pairs t~_i, (2l,), from `analysis.readout.pairs`, and the larger of each, t_i; others are pale.

    Without `pairs`, which need the weights, only t_i is drawn. Colours saturate at the 98th percentile of |t_i|.
    """
    template = maxout_template(trace, theme, paired=pairs is not None)
    return filled(template, maxout_values(trace, step, pairs))


def maxout_table(trace: Trace, step: int, pairs: NDArray[np.floating] | None) -> pd.DataFrame:
    """Return the `pairs`, (2l,), where available, and the larger of each, a row each (counted from 1)."""
    columns = {} if pairs is None else {gettext("first"): pairs[0::2], gettext("second"): pairs[1::2]}
    index = pd.RangeIndex(1, trace.readouts.shape[1] + 1, name=gettext("pair"))
    return pd.DataFrame(columns | {gettext("larger"): trace.readouts[step]}, index=index)


def _maxout_alt(winners: NDArray[np.float32], step: int) -> str:
    return gettext(
        "Maxout of step {step}: it keeps the larger value of each of {count} pairs. The kept values run from "
        "{low:.2f} to {high:.2f}.",
        step=step + 1,
        count=len(winners),
        low=winners.min(),
        high=winners.max(),
    )
