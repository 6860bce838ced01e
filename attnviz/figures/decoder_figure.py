"""Figures of the decoder at one step: its state, the maxout, the likeliest next pieces, and what a change did."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attnviz.analysis.labels import percent, shorten, subscript
from attnviz.analysis.what_if_effects import change_alt
from attnviz.figures.spec import (
    STRIP,
    TRANSPARENT,
    Part,
    Spec,
    axis_labels,
    bars,
    blank_axis,
    colour_limit,
    emphasise,
    label_axis,
    numbered_rows,
    numbers,
    rows_layout,
    strip_shapes,
    strips,
    text_at,
)
from attnviz.figures.subject import Subject
from attnviz.languages import format_share, gettext
from attnviz.palette import LOSER_OPACITY, PALE
from attnviz.text import piece_name


def draw_state(subject: Subject) -> Spec:
    """Draw gates, state before, candidate, kept part, new part and state after, the sum of both parts, as strips.

    For an LSTM, whose cell state is the sum, the state comes last. Units are sorted by the update gate (in an LSTM, the
    forget gate), rewritten ones on the left. Gates run from the background colour (0) to purple (1); the other rows are
    signed, in (-1, 1) except for an LSTM's cell states. At the level *Idea* one bar has the shares kept and new.
    """
    trace, step = subject.trace, subject.step
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
    table = numbered_rows(gates | states, gettext("unit"))
    if subject.simple:
        kept = trace.kept_shares[step].mean()
        shares = {"kept": percent(kept), "new": percent(1 - kept)}
        bar = bars(
            [kept, 1 - kept],
            "decoder",
            marker={"opacity": [1, 0.25]},
            base=[0, kept],
            y=[0, 0],
            text=[gettext("kept {kept}", **shares), gettext("new {new}", **shares)],
            textposition="inside",
            insidetextanchor="middle",
            textfont={"size": 14, "color": ["paper", "ink"]},
            textangle=0,
        )
        layout = rows_layout(blank_axis(0.5, -0.5), 46, (2, 2, 8, 8), 240, blank_axis(0, 1)) | {"bargap": 0}
        alt = gettext("Step {step}: {kept} of the state is kept, {new} is new.", step=step + 1, **shares)
        return Spec([bar], layout, alt, table)

    order, names, count = np.argsort(keep, kind="stable"), axis_labels([*gates, *states], 20), len(gates)
    names[-1] = emphasise(names[-1], "decoder")
    places = [*range(count), *(count + 0.4 + k for k in range(len(states)))]
    sorted_units = (order + 1).astype(str)
    gate_colours = {"zmin": 0, "zmax": 1, "colorscale": [[0, "paper"], [1, "decoder"]]}
    # Cell states are unbounded, states are in (-1, 1).
    limit = np.abs(trace.memories).max(initial=1)
    rows = np.stack([*gates.values(), *states.values()])[:, order]
    parts = [
        strips(rows[:count], 1, x=sorted_units, **gate_colours),
        strips(rows[count:], limit, x=sorted_units, y=places[count:]),
    ]
    axis = label_axis(names, "decoder", places)
    unit_axis = blank_axis(-0.5, units - 0.5, type="category")
    layout = rows_layout(axis, STRIP, (116, 6, 24, 8), 320, unit_axis) | {
        "shapes": strip_shapes(axis, places[-1], "decoder"),
        "annotations": [
            text_at(gettext("← rewritten"), 0, 1, "quiet", yref="paper"),
            text_at(gettext("kept →"), 1, 1, "quiet", yref="paper", xanchor="right"),
        ],
    }
    alt = gettext(
        "Strips of {count} units at step {step}: the gates, the memory before the step, the candidate, the kept part "
        "and the new part of the memory, the memory after the step, the state after the step. The forget gate keeps "
        "{kept} of the memory on average."
        if is_lstm
        else "Strips of {count} units at step {step}: the gates, the state before the step, the candidate, the kept "
        "part, the new part, the state after the step. The update gate keeps {kept} of the previous state on "
        "average.",
        step=step + 1,
        count=units,
        kept=f"{keep.mean():.0%}",
    )
    return Spec(parts, layout, alt, table)


_LABEL = 13
"""Characters of a label, the same at every step, so that the bars begin at one position."""
_SHOWN = 10
"""Number of the likeliest pieces."""


def draw_candidates(subject: Subject) -> Spec:
    """Draw the ten likeliest pieces of a step as bars, then the chosen one if it is not among them.

    The chosen one has the decoder's colour. `layout.meta` has the ids of the pieces (`words`). In the table the rank is
    0 for a chosen piece without a recorded rank.
    """
    trace, step = subject.trace, subject.step
    chosen, recorded = int(trace.target_ids[step]), trace.top_ids[step].tolist()
    candidates = zip(recorded, trace.top_pieces[step], trace.top_probabilities[step], strict=True)
    rows = [(rank, *row) for rank, row in enumerate(candidates, 1) if rank <= _SHOWN or row[0] == chosen]
    if chosen not in recorded:
        rows.append((0, chosen, trace.target_pieces[step], trace.probabilities[step]))
    ranks, words, pieces, probabilities = map(list, zip(*rows, strict=True))
    ends = np.array(probabilities)
    count, own, names = len(rows), words.index(chosen), list(map(piece_name, pieces))
    shares = [format_share(probability, 1) for probability in probabilities]
    labels, colours, opacities = axis_labels(names, subject.longest or _LABEL), ["quiet"] * count, [PALE] * count
    labels[own], colours[own], opacities[own] = emphasise(labels[own], "decoder"), "decoder", 1
    hover = gettext("%{customdata}: %{x:.6f}") + "<extra></extra>"
    opacity = {"opacity": opacities}
    likeliest = bars(ends, colours, axis_labels(names, 60), marker=opacity, hovertemplate=hover)
    rows_axis = label_axis(labels, "ink", size=13)
    layout = rows_layout(rows_axis, 20, (110, 56, 6, 6), 280, blank_axis(0, 1), words=words)
    layout["hovermode"] = "y"
    listed = [f"{shorten(name, 30)} {share}" for name, share in zip(names, shares, strict=True)]
    listed[own] += gettext(", chosen")
    alt = gettext("Likeliest next pieces: {listed}.", listed="; ".join(listed))
    table = {
        gettext("rank"): ranks,
        gettext("piece"): pieces,
        gettext("probability"): probabilities,
        gettext("chosen"): [word == chosen for word in words],
    }
    at_bars = numbers(ends, [f" {share}" for share in shares], 13)
    return Spec([likeliest, at_bars], layout, alt, table)


def draw_maxout(subject: Subject) -> Spec:
    """Draw the l pairs t~_i, where the weights are available, and the larger of each, t_i; smaller ones are pale."""
    trace, step, pairs = subject.trace, subject.step, subject.maxout_pairs
    larger, name = trace.readouts[step], f"t{subscript(step + 1)}"
    count, limit = len(larger), colour_limit(larger)
    names, parts = [name], []
    table: dict[str, Any] = {}
    if pairs is not None:
        both = np.asarray(pairs, dtype=np.float32).reshape(-1, 2).T  # (2, l)
        is_smaller = both < both.max(axis=0)
        won, lost = np.where(is_smaller, np.nan, both), np.where(is_smaller, both, np.nan)
        parts = [strips(won, limit), strips(lost, limit, opacity=LOSER_OPACITY)]
        names = [gettext("first of pair"), gettext("second of pair"), gettext("larger: {vector}", vector=name)]
        table |= {gettext("first"): pairs[0::2], gettext("second"): pairs[1::2]}
    last = len(names) - 1
    parts.append(strips(larger[None], limit, y=[last]))
    hover: Part = {"hovertemplate": gettext("pair %{x}: %{z:.3f}") + "<extra></extra>"}
    layout = rows_layout(label_axis(names, "ink"), STRIP, (116, 6, 4, 4), 320, blank_axis(0.5, count + 0.5))
    layout["shapes"] = strip_shapes(layout["yaxis"], last, "quiet", 1)
    alt = gettext(
        "Maxout of step {step}: it keeps the larger value of each of {count} pairs. The kept values run from "
        "{low:.2f} to {high:.2f}.",
        step=step + 1,
        count=count,
        low=larger.min(),
        high=larger.max(),
    )
    table |= {gettext("larger"): larger}
    return Spec([part | hover for part in parts], layout, alt, numbered_rows(table, gettext("pair")))


_VECTORS = 0.72
"""Where the vectors begin, as a share of the width."""


def draw_change(subject: Subject) -> Spec:
    """Draw the likeliest pieces of a step, in [0, 1], before and after an intervention, and the change of the vectors.

    Hollow bars are before the intervention. Changes of context and state are relative to their length.
    """
    change = subject.change
    pieces, has_before, step = change.pieces, change.moment != "none", subscript(change.step + 1)
    count, written = len(pieces), [piece.piece_id == change.written.piece_id for piece in pieces]
    sides = gettext("before"), gettext("after")
    # nan where the probability was too small to be recorded, (2, pieces).
    shares = np.array([[piece.before for piece in pieces], [piece.after for piece in pieces]], dtype=float)
    ends, rows = np.nan_to_num(shares).ravel(), np.add.outer([-0.19, 0.19], np.arange(count)).ravel()
    fills = [TRANSPARENT] * count + ["decoder" if is_written else "bar" for is_written in written]
    outline = {"color": "quiet", "width": [1.5] * count + [0] * count}
    texts = [
        f" <\u00a0{format_share(max(least, 0.001), 1)} " if math.isnan(p) else f" {format_share(p, 1)} "
        for side, least in zip(shares, change.least, strict=True)
        for p in side
    ]
    if not has_before:
        texts[:count] = [""] * count
    font = {"size": 11, "color": ["quiet"] * count + ["ink"] * count}
    moved = [change.context, change.state]
    data = [
        bars(ends, fills, marker={"line": outline}, y=rows, width=0.34),
        numbers(ends, texts, y=rows, textfont=font),
        bars(moved, ["context", "decoder"], y=[1.2, 3.2], width=0.5, xaxis="x2"),
    ]

    names = axis_labels([piece_name(piece.piece) for piece in pieces], subject.longest or 13)
    labels = [emphasise(name, "decoder") if bold else name for name, bold in zip(names, written, strict=True)]
    heading = {"yref": "paper", "yshift": 6}
    notes = [text_at("□ {}   ■ {}".format(*sides), 0, 1, "quiet", **heading)]
    if has_before:
        notes += [
            text_at(gettext("moved by"), _VECTORS, 1, "quiet", **heading),
            text_at(f"c{step} {format_share(change.context)}", _VECTORS, 0.9, "context"),
            text_at(f"s{step} {format_share(change.state)}", _VECTORS, 2.9, "decoder"),
        ]
    layout = rows_layout(
        label_axis(labels, "ink", size=13),
        30,
        (110, 10, 30, 8),
        340,
        blank_axis(0, 1.3, domain=[0, 0.64]),  # with space for a number right of a bar of probability 1
        blank_axis(0, max(1, *moved), domain=[_VECTORS, 1]),
        widest=1200,
    ) | {"annotations": notes}
    writers = dict(zip(sides, (change.written_before, change.written), strict=True))
    columns = {
        gettext("piece"): [piece.piece for piece in pieces],
        **dict(zip(sides, shares, strict=True)),
        gettext("written"): [
            ", ".join(name for name, wrote in writers.items() if wrote and wrote.piece_id == piece.piece_id)
            for piece in pieces
        ],
    }
    return Spec(data, layout, change_alt(change), numbered_rows(columns))
