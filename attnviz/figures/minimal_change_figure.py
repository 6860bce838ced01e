"""Figure of minimal changes: how much attention must move at each step until another piece is written."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnviz.analysis.labels import shorten
from attnviz.analysis.minimal_change import MinimalChange
from attnviz.analysis.numbers import decimal
from attnviz.figures.grammar import TOP, bars, label_axis, label_size, numbers, row_height, sized_layout, value_axis
from attnviz.figures.spec import Spec, axis_labels, rectangle
from attnviz.languages import gettext
from attnviz.palette import PALE, ROW_FRAME, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Trace

_LABEL, _OTHER = 12, 10
"""Characters of the label of a step, and of a piece at the end of a bar."""


def minimal_change_figure(
    trace: Trace,
    changes: MinimalChange,
    spelling: Callable[[int], str],
    *,
    step: int | None = None,
    theme: ThemeName = "light",
) -> Spec:
    """Draw |alpha' - alpha|_1 of every step, from 0 to 2, as a bar that ends with the piece that would be written.

    Where no change was found, the bar is pale, has full length and ends with ∞.

    Args:
        trace: The translation.
        changes: Result of `analysis.minimal_change`.
        spelling: Function that returns the piece of an id.
        step: Step, 0-based, that is framed.
        theme: "light" or "dark".

    Returns:
        The figure. The bars' `customdata` begins with the 0-based step; `layout.meta` has `narrowest`, `frame`, and the
        row of each step as `heatmap` has it (`steps`, `rows`). The table has a row for each step, with inf where no
        change was found.
    """
    ink, distances, count = palette(theme), changes.distances, len(changes.distances)
    steps, unreachable = list(range(count)), np.isinf(distances).tolist()
    likeliest = [spelling(int(piece)) for piece in changes.first_ids]
    new = ["" if unreachable[i] else spelling(int(changes.second_ids[i])) for i in steps]
    names = axis_labels(map(piece_name, trace.target_pieces), _LABEL)
    before, after = (axis_labels(map(piece_name, pieces), _OTHER) for pieces in (likeliest, new))
    # The piece before the change is named where the step wrote another one.
    before = [f"{before[i]} " if changes.first_ids[i] != trace.target_ids[i] else "" for i in steps]
    texts = [" ∞ " if unreachable[i] else f" {decimal(distances[i])} {before[i]}→ {after[i]} " for i in steps]

    ends = np.where(unreachable, 2.0, distances)
    marker = {
        "color": [ink.quiet if pale else ink.bar for pale in unreachable],
        "opacity": [PALE if pale else 1.0 for pale in unreachable],
    }
    hover = [[i, names[i]] for i in steps]
    template = "%{customdata[1]}<br>|α′ − α| = %{x:.3f}<extra></extra>"
    data = [
        bars(ends, marker, hover, name="minimal-change", hovertemplate=template),
        numbers(ends, texts, label_size(count) - 1, ink),
    ]
    frame = [] if step is None else [rectangle(0, 1, step - 0.5, step + 0.5, ROW_FRAME) | {"xref": "paper"}]
    height = TOP + row_height(count) * count + 8
    layout = sized_layout(ink, height, (96, 96, TOP, 8), 320, frame=ROW_FRAME, steps=steps, rows=steps) | {
        "bargap": 0.42,
        "hovermode": "y",
        "shapes": frame,
        "xaxis": value_axis(ink, gettext("change needed, Σ |Δα|"), [0, 2], tickvals=[0, 0.5, 1, 1.5, 2]),
        "yaxis": label_axis(names, ink, ink.decoder, size=label_size(count)),
    }

    alt = gettext(
        "How much the attention weights of each of {count} steps must change so that another piece is written.",
        count=count,
    )
    if any(unreachable):
        alt += " " + gettext(
            "At {count} of the steps, no change was found that gives another piece.", count=sum(unreachable)
        )
    if not all(unreachable):
        smallest = int(distances.argmin())
        alt += " " + gettext(
            "Step {step}, {name}, needs the smallest change: {distance}.",
            step=smallest + 1,
            name=shorten(piece_name(trace.target_pieces[smallest]), 30),
            distance=decimal(distances[smallest]),
        )
    table = {
        gettext("step"): range(1, count + 1),
        gettext("target piece"): trace.target_pieces,
        gettext("likeliest piece"): likeliest,
        "|α′ − α|": distances.tolist(),
        gettext("new piece"): new,
    }
    return Spec(data, layout, alt, table)
