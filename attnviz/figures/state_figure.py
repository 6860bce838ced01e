"""Figures and tables of the state of one step: units of a recurrent decoder, or blocks of a transformer's stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import subscript
from attnviz.analysis.numbers import (
    decimal,
    percent,
)
from attnviz.analysis.transformer_steps import added_name
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
from attnviz.figures.template import Slot, Values, number_values, numbers
from attnviz.languages import gettext
from attnviz.palette import STRONGEST, ThemeName, palette
from attnviz.trace import FloatArray, Trace
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


def stream_template(head: Head, theme: ThemeName) -> Spec:
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


def added_template(head: Head, theme: ThemeName) -> Spec:
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


def state_template(trace: Trace, theme: ThemeName) -> Spec:
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


def state_shares_template(trace: Trace, theme: ThemeName) -> Spec:  # noqa: ARG001  the same for all traces
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
