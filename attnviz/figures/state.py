"""Figure and table of the state change of one decoder step, as strips of units: gates, states, and candidate."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.figures.build import (
    APART,
    STRIP,
    Spec,
    axis_labels,
    base_axis,
    base_layout,
    emphasise,
    rectangle,
    strip_caption,
    strip_separators,
)
from attnviz.figures.template import Slot, Values, filled
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Seq2SeqTrace, Trace
from attnviz.wording.labels import subscript


def state_rows(trace: Trace | Seq2SeqTrace, step: int) -> tuple[list[str], NDArray[np.float32]]:
    """Return names and rows of the state change at 0-based `step`, (7, units), units in their own order.

    The rows are both gates, state before, candidate, the kept part, the new part, and state after, which is their sum.
    For an LSTM they are its three gates, cell state before, candidate, the kept part, the new part, cell state after,
    and state after, (9, units).
    """
    if _is_lstm(trace):
        return _lstm_rows(trace, step)
    i = step + 1
    update_gate, previous_state, candidate = (
        trace.update_gates[step],
        trace.previous_states[step],
        trace.candidates[step],
    )
    old_name, new_name = f"s{subscript(i - 1)}", f"s{subscript(i)}"
    rows = [
        trace.reset_gates[step],
        update_gate,
        previous_state,
        candidate,
        update_gate * previous_state,
        (1 - update_gate) * candidate,
        trace.states[step],
    ]
    names = [
        gettext("reset gate r"),
        gettext("update gate z"),
        gettext("{state} before", state=old_name),
        gettext("candidate {state}", state=f"s̃{subscript(i)}"),
        gettext("kept {product}", product=f"z⊙{old_name}"),
        gettext("new {product}", product="(1−z)⊙s̃"),
        gettext("{state} after", state=new_name),
    ]
    return names, np.stack(rows)


def _is_lstm(trace: Trace | Seq2SeqTrace) -> TypeGuard[Seq2SeqTrace]:
    """Return whether the state is that of an LSTM."""
    return bool(trace.config.get("cell") == "lstm")


def _lstm_rows(trace: Seq2SeqTrace, step: int) -> tuple[list[str], NDArray[np.float32]]:
    i = step + 1
    input_gate, forget_gate, candidate, output_gate = trace.gates[step, -1]
    previous_memory, memory = trace.previous_memories[step], trace.memories[step, -1]
    rows = [
        input_gate,
        forget_gate,
        output_gate,
        previous_memory,
        candidate,
        forget_gate * previous_memory,
        input_gate * candidate,
        memory,
        trace.states[step],
    ]
    names = [
        gettext("input gate e"),
        gettext("forget gate f"),
        gettext("output gate o"),
        gettext("{state} before", state=f"m{subscript(i - 1)}"),
        gettext("candidate {state}", state=f"m̃{subscript(i)}"),
        gettext("kept {product}", product=f"f⊙m{subscript(i - 1)}"),
        gettext("new {product}", product="e⊙m̃"),
        gettext("{state} after", state=f"m{subscript(i)}"),
        gettext("{state} after", state=f"s{subscript(i)}"),
    ]
    return names, np.stack(rows)


def state_table(trace: Trace | Seq2SeqTrace, step: int) -> pd.DataFrame:
    """Return the rows of `state_rows` as columns, one row for each unit (counted from 1)."""
    names, rows = state_rows(trace, step)
    return pd.DataFrame(rows.T, index=pd.RangeIndex(1, rows.shape[1] + 1, name=gettext("unit")), columns=names)


def state_template(trace: Trace | Seq2SeqTrace, theme: ThemeName) -> Spec:
    """Return the template of `state_strips`."""
    ink, units = palette(theme), trace.states.shape[1]
    gate_rows, state_count = (3, 6) if _is_lstm(trace) else (2, 5)
    # Cell states are unbounded, states are in (-1, 1).
    limit = max(1.0, float(np.abs(trace.memories).max())) if _is_lstm(trace) else 1
    state_positions = [gate_rows + 0.4 + k for k in range(state_count)]
    strip = {
        "type": "heatmap",
        "x": Slot("units"),
        "showscale": False,
        "hovertemplate": gettext("unit %{x}: %{z:.3f}") + "<extra></extra>",
    }
    gates = strip | {
        "z": Slot("gates"),
        "y": list(range(gate_rows)),
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, ink.paper], [1, ink.decoder]],
    }
    states = strip | {
        "z": Slot("states"),
        "y": state_positions,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": ink.signed_root,
    }
    positions = [*range(gate_rows), *state_positions]
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": 24 + round(STRIP * (len(positions) + 0.4)) + 8,
        "margin": {"l": 116, "r": 6, "t": 24, "b": 8},
        "shapes": [
            *strip_separators(positions, units, ink),
            rectangle(-0.5, units - 0.5, state_positions[-1] - 0.46, state_positions[-1] + 0.46, ink.decoder),
        ],
        "xaxis": axis | {"type": "category", "range": [-0.5, units - 0.5], "showticklabels": False},
        "annotations": [strip_caption(gettext("← rewritten"), 0, ink), strip_caption(gettext("kept →"), 1, ink)],
        "yaxis": axis
        | APART
        | {
            "range": [state_positions[-1] + 0.5, -0.5],
            "tickvals": positions,
            "ticktext": Slot("names"),
            "tickfont": {"size": 12, "color": ink.decoder},
        },
        "meta": {"alt": Slot("alt"), "narrowest": 320},
    }
    return {"data": [gates, states], "layout": layout}


def state_values(trace: Trace | Seq2SeqTrace, step: int, theme: ThemeName) -> Values:
    """Return the values of `state_strips`."""
    names, rows = state_rows(trace, step)
    order, gates = np.argsort(rows[1], kind="stable"), len(rows) - (6 if _is_lstm(trace) else 5)
    labels = axis_labels(names, 20)
    labels[-1] = emphasise(labels[-1], palette(theme).decoder)
    return {
        "units": [str(unit) for unit in (order + 1).tolist()],
        "gates": rows[:gates, order],
        "states": rows[gates:, order],
        "names": labels,
        "alt": _state_alt(trace, step),
    }


def state_strips(trace: Trace | Seq2SeqTrace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the rows of `state_rows` as strips, units sorted by the update gate (in an LSTM, the forget gate).

    Rewritten units are on the left. Gates run from the background colour (0) to purple (1); the other rows are signed,
    in (-1, 1) except for an LSTM's cell states.
    """
    return filled(state_template(trace, theme), state_values(trace, step, theme))


def _state_alt(trace: Trace | Seq2SeqTrace, step: int) -> str:
    if _is_lstm(trace):
        kept = f"{float(trace.gates[step, -1, 1].mean()):.0%}"
        return gettext(
            "Strips of the state of step {step}, {count} units: gates, memory before the step, candidate, kept "
            "part, new part, memory and state after the step. The forget gate keeps {kept} of the memory on "
            "average.",
            step=step + 1,
            count=trace.states.shape[1],
            kept=kept,
        )
    kept = f"{float(trace.update_gates[step].mean()):.0%}"
    return gettext(
        "The state of step {step}, {count} units: gates, state before, candidate, what is kept, what is new, "
        "state after. On average, the update gate keeps {kept} of the state before.",
        step=step + 1,
        count=trace.states.shape[1],
        kept=kept,
    )
