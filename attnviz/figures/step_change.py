"""Figure of the effect of an intervention on a step: likeliest pieces, context and state."""

from __future__ import annotations

import math

import numpy as np

from attnviz.analysis.labels import subscript
from attnviz.analysis.what_if_effects import change_alt
from attnviz.figures.grammar import bars, blank_axis, label_axis, numbers, rows_layout, text_at
from attnviz.figures.spec import TRANSPARENT, Spec, axis_labels, emphasise, numbered
from attnviz.figures.subject import Subject
from attnviz.languages import format_share, gettext
from attnviz.text import piece_name

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
        for side, least in zip(shares.tolist(), change.least, strict=True)
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
    return Spec(data, layout, change_alt(change), numbered(columns))
