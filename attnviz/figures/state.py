"""The state of one decoder step that moves: gates, state before, candidate, state after, as strips of units."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.figures.build import APART, STRIP, Spec, base_axis, base_layout, emphasise, rectangle
from attnviz.figures.labels import axis_labels
from attnviz.figures.strips import note, seams
from attnviz.figures.template import Slot, Values, filled
from attnviz.languages import say
from attnviz.palette import ThemeName, palette
from attnviz.trace import Trace
from attnviz.wording.labels import subscript


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


def state_template(trace: Trace, theme: ThemeName) -> Spec:
    """Return the template of `state_strips`."""
    ink, units = palette(theme), trace.states.shape[1]
    strip = {
        "type": "heatmap", "x": Slot("units"), "showscale": False,
        "hovertemplate": say("unit %{x}: %{z:.3f}") + "<extra></extra>",
    }  # fmt: skip
    gates = strip | {
        "z": Slot("gates"), "y": [0, 1], "zmin": 0, "zmax": 1, "colorscale": [[0, ink.paper], [1, ink.decoder]],
    }  # fmt: skip
    states = strip | {
        "z": Slot("states"), "y": [2.4, 3.4, 4.4, 5.4, 6.4], "zmin": -1, "zmax": 1, "colorscale": ink.signed_root,
    }  # fmt: skip
    places = [0, 1, 2.4, 3.4, 4.4, 5.4, 6.4]
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": 24 + round(STRIP * 7.4) + 8, "margin": {"l": 116, "r": 6, "t": 24, "b": 8},
        "shapes": [*seams(places, units, ink), rectangle(-0.5, units - 0.5, 5.94, 6.86, ink.decoder)],
        "xaxis": axis | {"type": "category", "range": [-0.5, units - 0.5], "showticklabels": False},
        "annotations": [note(say("← rewritten"), 0, ink), note(say("kept →"), 1, ink)],
        "yaxis": axis | APART | {
            "range": [6.9, -0.5], "tickvals": places, "ticktext": Slot("names"),
            "tickfont": {"size": 12, "color": ink.decoder},
        },
        "meta": {"alt": Slot("alt"), "narrowest": 320},
    }  # fmt: skip
    return {"data": [gates, states], "layout": layout}


def state_values(trace: Trace, step: int, theme: ThemeName) -> Values:
    """Return the values of `state_strips`."""
    names, rows = state_rows(trace, step)
    order = np.argsort(rows[1], kind="stable")
    labels = axis_labels(names, 20)
    labels[-1] = emphasise(labels[-1], palette(theme).decoder)
    return {
        "units": [str(unit) for unit in (order + 1).tolist()], "gates": rows[:2, order], "states": rows[2:, order],
        "names": labels, "alt": _state_alt(trace, step),
    }  # fmt: skip


def state_strips(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the rows of `state_rows` as strips, units in the order of the update gate: what is rewritten stands left.

    Gates run from the page's colour (0) to purple (1); the rest is signed, in (-1, 1).
    """
    return filled(state_template(trace, theme), state_values(trace, step, theme))


def _state_alt(trace: Trace, step: int) -> str:
    kept = f"{float(trace.update_gates[step].mean()):.0%}"
    return say(
        "The state of step {step}, {count} units: gates, state before, candidate, what is kept, what is new, state "
        "after. The update gate keeps {kept} on average.", step=step + 1, count=trace.states.shape[1], kept=kept,
    )  # fmt: skip
