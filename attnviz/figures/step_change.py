"""Figure of the effect of an intervention on a step: likeliest pieces, context and state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attnviz.analysis.labels import subscript
from attnviz.analysis.what_if_effects import change_alt
from attnviz.figures.grammar import bare_axis, bars, label_axis, numbers, sized_layout, text_at
from attnviz.figures.spec import Part, Spec, axis_labels, emphasise
from attnviz.figures.subject import Subject
from attnviz.languages import format_share, gettext
from attnviz.text import piece_name

_VECTORS = 0.72
"""Where the vectors begin, as a share of the width."""


def draw_change(subject: Subject) -> Spec:
    """Draw the likeliest pieces of a step, in [0, 1], before and after an intervention, and the change of the vectors.

    Hollow bars are before the intervention. Changes of context and state are relative to their length.
    """
    change, ink = subject.change, subject.ink
    pieces, has_before, step = change.pieces, change.moment != "none", subscript(change.step + 1)
    written = [piece.piece_id == change.written.piece_id for piece in pieces]
    sides = {"before": gettext("before"), "after": gettext("after")}
    # nan where the probability was too small to be recorded, (pieces,).
    before, after = (np.array([getattr(piece, side) for piece in pieces], dtype=float) for side in sides)

    hollow = {"color": "rgba(0,0,0,0)", "line": {"color": ink.quiet, "width": 1.5}}
    filled = {"color": [ink.decoder if is_written else ink.bar for is_written in written]}
    moved, vectors = [change.context, change.state], {"color": [ink.context, ink.decoder]}
    pairs: list[Part] = []
    texts: list[Part] = []
    for name, values, marker, shift, least, colour in (
        ("before", before, hollow, -0.19, change.least[0], ink.quiet),
        ("after", after, filled, 0.19, change.least[1], ink.ink),
    ):
        ends, rows = np.nan_to_num(values), np.arange(len(pieces)) + shift
        below = f"<\u00a0{format_share(max(least, 0.001), 1)}"
        shares = [f" {below if math.isnan(p) else format_share(p, 1)} " for p in values.tolist()]
        if name == "before" and not has_before:
            shares = [""] * len(pieces)
        pairs.append(bars(ends, marker, name=name, y=rows, width=0.34))
        number = {"name": f"numbers {name}", "y": rows, "textfont": {"size": 11, "color": colour}}
        texts.append(numbers(ends, shares, 11, ink) | number)
    data = [*pairs, *texts, bars(moved, vectors, name="moved", y=[1.2, 3.2], width=0.5, xaxis="x2")]

    names = axis_labels([piece_name(piece.piece) for piece in pieces], 13)
    labels = [emphasise(name, ink.decoder) if bold else name for name, bold in zip(names, written, strict=True)]
    heading = {"yref": "paper", "yshift": 6}
    notes = [text_at("□ {before}   ■ {after}".format(**sides), 0, 1, ink.quiet, **heading)]
    if has_before:
        notes += [
            text_at(gettext("moved by"), _VECTORS, 1, ink.quiet, **heading),
            text_at(f"c{step} {format_share(change.context)}", _VECTORS, 0.9, ink.context),
            text_at(f"s{step} {format_share(change.state)}", _VECTORS, 2.9, ink.decoder),
        ]
    layout = sized_layout(ink, 30 * len(pieces) + 38, (110, 10, 30, 8), 340, widest=1200) | {
        "barmode": "overlay",
        # Space for a number right of a bar of probability 1.
        "xaxis": bare_axis(ink, domain=[0, 0.64], range=[0, 1.3], showticklabels=False),
        "xaxis2": bare_axis(ink, domain=[_VECTORS, 1], range=[0, max(1, *moved)], anchor="y", showticklabels=False),
        "yaxis": label_axis(labels, ink, ink.ink, size=13),
        "annotations": notes,
    }
    writers = {sides["before"]: change.written_before, sides["after"]: change.written}
    table: dict[str, Any] = {
        gettext("row"): range(1, len(pieces) + 1),
        gettext("piece"): [piece.piece for piece in pieces],
        sides["before"]: before,
        sides["after"]: after,
        gettext("written"): [
            ", ".join(name for name, wrote in writers.items() if wrote and wrote.piece_id == piece.piece_id)
            for piece in pieces
        ],
    }
    return Spec(data, layout, change_alt(change), table)
