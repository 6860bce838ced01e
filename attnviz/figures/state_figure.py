"""Figures and table of the state of one step, unit by unit, of a recurrent decoder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import subscript
from attnviz.analysis.numbers import percent
from attnviz.figures.legacy import Slot, Values
from attnviz.figures.spec import (
    APART,
    STRIP,
    Part,
    axis_labels,
    base_axis,
    base_layout,
    emphasise,
    rectangle,
    strip_caption,
    strip_separators,
)
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Trace


def state_rows(trace: Trace, step: int) -> tuple[list[str], NDArray[np.float32]]:
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
        trace.candidate_states[step],
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


def _is_lstm(trace: Trace) -> bool:
    """Return whether the state is that of an LSTM."""
    return bool(trace.form["cell"] == "lstm")


def _lstm_rows(trace: Trace, step: int) -> tuple[list[str], NDArray[np.float32]]:
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


def state_table(trace: Trace, step: int) -> pd.DataFrame:
    """Return the rows of `state_rows` as columns, one row for each unit (counted from 1)."""
    names, rows = state_rows(trace, step)
    return pd.DataFrame(rows.T, index=pd.RangeIndex(1, rows.shape[1] + 1, name=gettext("unit")), columns=names)


def state_template(trace: Trace, theme: ThemeName) -> Part:
    """Return the template of the rows of `state_rows` as strips.

    Units are sorted by the update gate (in an LSTM, the forget gate), rewritten ones on the left. Gates run from the
    background colour (0) to purple (1); the other rows are signed, in (-1, 1) except for an LSTM's cell states.
    """
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
        "colorscale": ink.signed_root_scale,
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


def state_values(trace: Trace, step: int, theme: ThemeName) -> Values:
    """Return the values of `state_template`."""
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


def state_shares_template(trace: Trace, theme: ThemeName) -> Part:  # noqa: ARG001  the same for all traces
    """Return the template of one bar, for the level *Idea*: the shares of the state that a step keeps and are new."""
    ink = palette(theme)
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": [0],
        "hoverinfo": "skip",
        "insidetextanchor": "middle",
        "textfont": {"size": 14, "color": ink.ink},
        "textangle": 0,
    }
    kept = {"x": Slot("kept"), "text": Slot("kept_text"), "marker": {"color": ink.decoder}}
    kept["textfont"] = {"size": 14, "color": ink.paper}
    new = {"x": Slot("new"), "text": Slot("new_text"), "marker": {"color": ink.decoder, "opacity": 0.25}}
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False, "showticklabels": False}
    layout = base_layout(ink) | {
        "height": 62,
        "margin": {"l": 2, "r": 2, "t": 8, "b": 8},
        "barmode": "stack",
        "bargap": 0,
        "xaxis": axis | {"range": [0, 1]},
        "yaxis": axis,
        "meta": {"alt": Slot("alt"), "narrowest": 240},
    }
    return {"data": [bar | kept, bar | new], "layout": layout}


def state_shares_values(trace: Trace, step: int) -> Values:
    """Return the values of `state_shares_template` at 0-based `step`: the mean of the update gate, and the rest."""
    kept = float(trace.kept_shares[step].mean())
    shares = {"kept": percent(kept), "new": percent(1 - kept)}
    return {
        "kept": [kept],
        "new": [1 - kept],
        "kept_text": [gettext("kept {kept}", kept=shares["kept"])],
        "new_text": [gettext("new {new}", new=shares["new"])],
        "alt": gettext("Step {step}: {kept} of the state is kept, {new} is new.", step=step + 1, **shares),
    }


def _state_alt(trace: Trace, step: int) -> str:
    kept = f"{float(trace.kept_shares[step].mean()):.0%}"
    if _is_lstm(trace):
        return gettext(
            "Strips of {count} units at step {step}: the gates, the memory before the step, the candidate, the kept "
            "part and the new part of the memory, the memory after the step, the state after the step. The forget "
            "gate keeps {kept} of the memory on average.",
            step=step + 1,
            count=trace.states.shape[1],
            kept=kept,
        )
    return gettext(
        "Strips of {count} units at step {step}: the gates, the state before the step, the candidate, the kept part, "
        "the new part, the state after the step. The update gate keeps {kept} of the previous state on average.",
        step=step + 1,
        count=trace.states.shape[1],
        kept=kept,
    )
