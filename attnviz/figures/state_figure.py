"""Figure of the state of one step, unit by unit, of a recurrent decoder."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.labels import subscript
from attnviz.analysis.numbers import percent
from attnviz.figures.grammar import bare_axis, bars, bars_layout, label_axis, strips, strips_layout
from attnviz.figures.spec import Spec, Table, axis_labels, emphasise, strip_caption
from attnviz.figures.subject import Subject
from attnviz.languages import gettext


def draw_state(subject: Subject) -> Spec:
    """Draw gates, state before, candidate, kept part, new part and state after, the sum of both parts, as strips.

    For an LSTM, whose cell state is the sum, the state comes last. Units are sorted by the update gate (in an LSTM, the
    forget gate), rewritten ones on the left. Gates run from the background colour (0) to purple (1); the other rows are
    signed, in (-1, 1) except for an LSTM's cell states. At the level *Idea* one bar has the shares kept and new.
    """
    trace, step, ink = subject.trace, subject.step, subject.ink
    is_lstm = trace.form["cell"] == "lstm"
    if is_lstm:
        write, keep, candidate, output = trace.gates[step, -1]
        gates = {gettext("input gate e"): write, gettext("forget gate f"): keep, gettext("output gate o"): output}
        before, after = trace.previous_memories[step], trace.memories[step, -1]
        symbol, keeping, writing = "m", "f", "e"
    else:
        keep, candidate = trace.update_gates[step], trace.candidate_states[step]
        gates, write = {gettext("reset gate r"): trace.reset_gates[step], gettext("update gate z"): keep}, 1 - keep
        before, after = trace.previous_states[step], trace.states[step]
        symbol, keeping, writing = "s", "z", "(1−z)"
    states = {
        gettext("{state} before", state=f"{symbol}{subscript(step)}"): before,
        gettext("candidate {state}", state=f"{symbol}\u0303{subscript(step + 1)}"): candidate,
        gettext("kept {product}", product=f"{keeping}⊙{symbol}{subscript(step)}"): keep * before,
        gettext("new {product}", product=f"{writing}⊙{symbol}\u0303"): write * candidate,
        gettext("{state} after", state=f"{symbol}{subscript(step + 1)}"): after,
        # The same row for a GRU.
        gettext("{state} after", state=f"s{subscript(step + 1)}"): trace.states[step],
    }
    units = len(keep)
    table = {gettext("unit"): np.arange(1, units + 1)} | gates | states
    if subject.simple:
        return _draw_shares(subject, table)

    order, names = np.argsort(keep, kind="stable"), axis_labels([*gates, *states], 20)
    names[-1] = emphasise(names[-1], ink.decoder)
    places = [*range(len(gates)), *(len(gates) + 0.4 + k for k in range(len(states)))]
    numbers = {"x": [str(unit) for unit in (order + 1).tolist()]}
    gate_colours = {"zmin": 0, "zmax": 1, "colorscale": [[0, ink.paper], [1, ink.decoder]]}
    # Cell states are unbounded, states are in (-1, 1).
    limit = float(np.abs(trace.memories).max(initial=1))
    rows = np.stack([*gates.values(), *states.values()])[:, order]
    parts = [
        strips(rows[: len(gates)], 1, ink, **numbers, **gate_colours),
        strips(rows[len(gates) :], limit, ink, **numbers, y=places[len(gates) :]),
    ]
    axis = label_axis(names, ink, ink.decoder, places)
    layout = strips_layout(axis, units, ink, places[-1], ink.decoder, first=0, top=24, bottom=8)
    layout["xaxis"]["type"] = "category"
    layout["annotations"] = [
        strip_caption(gettext("← rewritten"), 0, ink),
        strip_caption(gettext("kept →"), 1, ink),
    ]
    sentence = {"step": step + 1, "count": units, "kept": f"{float(keep.mean()):.0%}"}
    alt = (
        gettext(
            "Strips of {count} units at step {step}: the gates, the memory before the step, the candidate, the kept "
            "part and the new part of the memory, the memory after the step, the state after the step. The forget "
            "gate keeps {kept} of the memory on average.",
            **sentence,
        )
        if is_lstm
        else gettext(
            "Strips of {count} units at step {step}: the gates, the state before the step, the candidate, the kept "
            "part, the new part, the state after the step. The update gate keeps {kept} of the previous state on "
            "average.",
            **sentence,
        )
    )
    return Spec(parts, layout, alt, table)


def _draw_shares(subject: Subject, table: Table) -> Spec:
    """Draw the mean of the gate that keeps, and the rest, as one bar."""
    step, ink = subject.step, subject.ink
    kept = float(subject.trace.kept_shares[step].mean())
    shares = {"kept": percent(kept), "new": percent(1 - kept)}
    bar = bars(
        [kept, 1 - kept],
        {"color": ink.decoder, "opacity": [1, 0.25]},
        base=[0, kept],
        y=[0, 0],
        text=[gettext("kept {kept}", **shares), gettext("new {new}", **shares)],
        textposition="inside",
        insidetextanchor="middle",
        textfont={"size": 14, "color": [ink.paper, ink.ink]},
        textangle=0,
    )
    layout = bars_layout(bare_axis(ink, showticklabels=False), ink, 62, (2, 2, 8, 8), 240) | {"bargap": 0}
    alt = gettext("Step {step}: {kept} of the state is kept, {new} is new.", step=step + 1, **shares)
    return Spec([bar], layout, alt, table)
