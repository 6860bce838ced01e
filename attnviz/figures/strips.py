"""The pictures of a step's last two stages, strips of units: the state that moves, and the maxout of the readout."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.figures.build import APART, STRIP, Spec, base_axis, base_layout, build, emphasise, rectangle
from attnviz.figures.labels import axis_labels, subscript
from attnviz.figures.palette import Palette, ThemeName, palette
from attnviz.languages import say
from attnviz.trace import Trace


def state_rows(trace: Trace, step: int) -> tuple[list[str], NDArray[np.float32]]:
    """Return names and rows of the state's change at 0-based `step`: both gates, then state before, candidate, what is
    kept, what is new, state after, (7, n), units in their own order; the two last but one add up to the last."""
    i = step + 1
    gate, before, candidate = trace.update_gates[step], trace.previous_states[step], trace.candidates[step]
    old, new = f"s{subscript(i - 1)}", f"s{subscript(i)}"
    rows = [trace.reset_gates[step], gate, before, candidate, gate * before, (1 - gate) * candidate, trace.states[step]]
    names = [
        say("reset gate r"), say("update gate z"), say("{state} before", state=old),
        say("candidate {state}", state=f"s̃{subscript(i)}"), say("kept {product}", product=f"z⊙{old}"),
        say("new {product}", product="(1−z)⊙s̃"), say("{state} after", state=new),
    ]  # fmt: skip
    return names, np.stack(rows)


def state_table(trace: Trace, step: int) -> pd.DataFrame:
    """Return the rows of `state_rows` as columns, one row for each unit (counted from 1)."""
    names, rows = state_rows(trace, step)
    return pd.DataFrame(rows.T, index=pd.RangeIndex(1, rows.shape[1] + 1, name=say("unit")), columns=names)


def state_strips(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the rows of `state_rows` as strips, units in the order of the update gate: what is rewritten stands left.

    Gates run from the page's colour (0) to purple (1); the rest is signed, in (-1, 1).
    """
    ink, (names, rows) = palette(theme), state_rows(trace, step)
    order = np.argsort(rows[1], kind="stable")
    units = len(order)
    strip = {
        "type": "heatmap", "x": [str(unit + 1) for unit in order], "showscale": False,
        "hovertemplate": say("unit %{x}: %{z:.3f}") + "<extra></extra>",
    }  # fmt: skip
    gates = strip | {
        "z": rows[:2, order], "y": [0, 1], "zmin": 0, "zmax": 1, "colorscale": [[0, ink.paper], [1, ink.decoder]],
    }  # fmt: skip
    states = strip | {
        "z": rows[2:, order], "y": [2.4, 3.4, 4.4, 5.4, 6.4], "zmin": -1, "zmax": 1, "colorscale": ink.signed_root,
    }  # fmt: skip
    places = [0, 1, 2.4, 3.4, 4.4, 5.4, 6.4]
    labels = axis_labels(names, 20)
    labels[-1] = emphasise(labels[-1], ink.decoder)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": 24 + round(STRIP * 7.4) + 8, "margin": {"l": 116, "r": 6, "t": 24, "b": 8},
        "shapes": [*_seams(places, units, ink), rectangle(-0.5, units - 0.5, 5.94, 6.86, ink.decoder)],
        "xaxis": axis | {"type": "category", "range": [-0.5, units - 0.5], "showticklabels": False},
        "annotations": [_heading(say("← rewritten"), 0, ink), _heading(say("kept →"), 1, ink)],
        "yaxis": axis | APART | {
            "range": [6.9, -0.5], "tickvals": places, "ticktext": labels,
            "tickfont": {"size": 12, "color": ink.decoder},
        },
        "meta": {"alt": _state_alt(trace, step), "narrowest": 320},
    }  # fmt: skip
    return build([gates, states], layout)


def maxout_strips(
    trace: Trace, step: int, pairs: NDArray[np.floating] | None, *, theme: ThemeName = "light"
) -> go.Figure:
    """Draw t~_i as pairs, (2l,) as `analysis.readout.pairs` gives them, and t_i, the larger of each; losers are pale.

    Without `pairs`, for want of the weights, only t_i is drawn. Colours end at the 98th percentile of |t_i|.
    """
    ink, winners = palette(theme), trace.readouts[step]
    limit = float(np.quantile(np.abs(winners), 0.98)) or 1.0
    strip = {
        "type": "heatmap", "x0": 1, "dx": 1, "zmin": -limit, "zmax": limit, "colorscale": ink.signed_root,
        "showscale": False, "hovertemplate": say("pair %{x}: %{z:.3f}") + "<extra></extra>",
    }  # fmt: skip
    names, traces, size = [f"t{subscript(step + 1)}"], [], len(winners)
    if pairs is not None:
        both = np.asarray(pairs, dtype=np.float32).reshape(-1, 2).T
        lost = both < both.max(axis=0)
        for rows, opacity in ((np.where(lost, np.nan, both), 1), (np.where(lost, both, np.nan), 0.25)):
            traces.append(strip | {"z": rows, "y": [0, 1], "opacity": opacity})
        names = [say("first of pair"), say("second of pair"), say("larger: {vector}", vector=names[0])]
    last = len(names) - 1
    traces.append(strip | {"z": winners[None], "y": [last]})
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": 4 + STRIP * len(names) + 4, "margin": {"l": 116, "r": 6, "t": 4, "b": 4},
        "shapes": [*_seams(range(len(names)), size, ink, first=0.5),
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
    """Return each pair of `maxout_strips`, where it is known, with the larger of the two (counted from 1)."""
    columns = {} if pairs is None else {say("first"): pairs[0::2], say("second"): pairs[1::2]}
    index = pd.RangeIndex(1, trace.readouts.shape[1] + 1, name=say("pair"))
    return pd.DataFrame(columns | {say("larger"): trace.readouts[step]}, index=index)


def _seams(places: Iterable[float], width: int, ink: Palette, first: float = -0.5) -> list[Spec]:
    """Return thin lines of the page's colour below the strips at `places`, which part them."""
    line = {"color": ink.paper, "width": 3}
    return [
        {"type": "line", "x0": first, "x1": first + width, "y0": y + 0.5, "y1": y + 0.5, "line": line} for y in places
    ]


def _heading(text: str, x: int, ink: Palette) -> Spec:
    """Return a note above the strips, at their left (0) or right (1) end."""
    return {
        "text": text, "x": x, "xref": "paper", "xanchor": "right" if x else "left", "y": 1, "yref": "paper",
        "yanchor": "bottom", "showarrow": False, "font": {"size": 12, "color": ink.quiet},
    }  # fmt: skip


def _state_alt(trace: Trace, step: int) -> str:
    kept = f"{float(trace.update_gates[step].mean()):.0%}"
    return say(
        "The state of step {step}, {count} units: gates, state before, candidate, what is kept, what is new, state "
        "after. The update gate keeps {kept} on average.", step=step + 1, count=trace.states.shape[1], kept=kept,
    )  # fmt: skip


def _maxout_alt(winners: NDArray[np.float32], step: int) -> str:
    return say(
        "Maxout of step {step}: {count} pairs, of each the larger is kept, from {low:.2f} to {high:.2f}.",
        step=step + 1, count=len(winners), low=winners.min(), high=winners.max(),
    )  # fmt: skip
