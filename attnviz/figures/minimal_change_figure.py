"""Figure and table of minimal changes: how much attention must move at each step until another piece is written."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import shorten
from attnviz.analysis.minimal_change import MinimalChange
from attnviz.analysis.numbers import decimal
from attnviz.figures.grammar import TOP, label_size, row_height
from attnviz.figures.legacy import fill, number_values, numbers
from attnviz.figures.spec import APART, base_axis, base_layout, build_figure, escape, rectangle
from attnviz.languages import gettext
from attnviz.palette import PALE, ROW_FRAME, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Trace

_LABEL, _OTHER = 12, 10
"""Characters of the label of a step, and of a piece at the end of a bar."""

_Spelling = Callable[[int], str]


def minimal_change_figure(
    trace: Trace, changes: MinimalChange, spelling: _Spelling, *, step: int | None = None, theme: ThemeName = "light"
) -> go.Figure:
    """Draw |alpha' - alpha|_1 of every step, from 0 to 2, as a bar that ends with the piece that would be written.

    Where no change was found, the bar is pale, has full length and ends with ∞.

    Args:
        trace: The translation.
        changes: Result of `analysis.minimal_change`.
        spelling: Function that returns the piece of an id.
        step: Step, 0-based, that is framed.
        theme: "light" or "dark".

    Returns:
        The figure. The bars' `customdata` begins with the 0-based step; `layout.meta` has `alt`, `narrowest`, `frame`,
        and the row of each step as `heatmap` has it (`steps`, `rows`).
    """
    ink, count = palette(theme), len(changes.distances)
    unreachable = np.isinf(changes.distances)
    ends = np.where(unreachable, 2.0, changes.distances)
    texts = [_bar_label(trace, changes, i, spelling) for i in range(count)]
    names = [escape(shorten(piece_name(piece), _LABEL)) for piece in trace.target_pieces]
    bars = {
        "type": "bar",
        "orientation": "h",
        "name": "minimal-change",
        "x": ends,
        "y": list(range(count)),
        "marker": {
            "color": [ink.quiet if is_unreachable else ink.bar for is_unreachable in unreachable],
            "opacity": [PALE if is_unreachable else 1.0 for is_unreachable in unreachable],
        },
        "customdata": [[i, name] for i, name in enumerate(names)],
        "hovertemplate": "%{customdata[1]}<br>|α′ − α| = %{x:.3f}<extra></extra>",
    }
    number_labels = fill(numbers(label_size(count) - 1, ink), number_values(ends, texts))
    layout = base_layout(ink) | {
        "height": TOP + row_height(count) * count + 8,
        "margin": {"l": 96, "r": 96, "t": TOP, "b": 8},
        "bargap": 0.42,
        "hovermode": "y",
        "meta": {
            "alt": _alt(trace, changes),
            "narrowest": 320,
            "frame": ROW_FRAME,
            "steps": list(range(count)),
            "rows": list(range(count)),
        },
        "xaxis": base_axis(ink)
        | {
            "side": "top",
            "range": [0, 2],
            "tickvals": [0, 0.5, 1, 1.5, 2],
            "zerolinecolor": ink.quiet,
            "title": {
                "text": gettext("change needed, Σ |Δα|"),
                "font": {"size": 12, "color": ink.quiet},
                "standoff": 2,
            },
        },
        "yaxis": base_axis(ink)
        | APART
        | {
            "range": [count - 0.5, -0.5],
            "tickvals": list(range(count)),
            "ticktext": names,
            "showgrid": False,
            "zeroline": False,
            "tickfont": {"size": label_size(count), "color": ink.decoder},
        },
    }
    if step is not None:
        layout["shapes"] = [rectangle(0, 1, step - 0.5, step + 0.5, ROW_FRAME) | {"xref": "paper"}]
    return build_figure([bars, number_labels], layout)


def minimal_change_table(trace: Trace, changes: MinimalChange, spelling: _Spelling) -> pd.DataFrame:
    """Return the numbers of the figure.

    Args:
        trace: The translation.
        changes: Result of `analysis.minimal_change`.
        spelling: Function that returns the piece of an id.

    Returns:
        A row for each step, counted from 1; inf where no change was found.
    """
    frame = {
        gettext("target piece"): list(trace.target_pieces),
        gettext("likeliest piece"): [spelling(int(piece)) for piece in changes.first_ids],
        "|α′ − α|": changes.distances,
        gettext("new piece"): [
            "" if np.isinf(distance) else spelling(int(piece))
            for piece, distance in zip(changes.second_ids, changes.distances, strict=True)
        ],
    }
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(changes.distances) + 1, name=gettext("step")))


def _bar_label(trace: Trace, changes: MinimalChange, step: int, spelling: _Spelling) -> str:
    """Return the label at the end of a bar: the distance, and the pieces before (if not the written one) and after."""
    if np.isinf(changes.distances[step]):
        return " ∞ "
    first, second = (
        escape(shorten(piece_name(spelling(int(ids[step]))), _OTHER)) for ids in (changes.first_ids, changes.second_ids)
    )
    first_label = "" if changes.first_ids[step] == trace.target_ids[step] else f"{first} "
    return f" {decimal(float(changes.distances[step]))} {first_label}→ {second} "


def _alt(trace: Trace, changes: MinimalChange) -> str:
    unreachable, smallest = int(np.isinf(changes.distances).sum()), int(changes.distances.argmin())
    text = gettext(
        "How much the attention weights of each of {count} steps must change so that another piece is written.",
        count=len(changes.distances),
    )
    if unreachable:
        text += " " + gettext(
            "At {count} of the steps, no change was found that gives another piece.", count=unreachable
        )
    if unreachable < len(changes.distances):
        text += " " + gettext(
            "Step {step}, {name}, needs the smallest change: {distance}.",
            step=smallest + 1,
            name=shorten(piece_name(trace.target_pieces[smallest]), 30),
            distance=decimal(float(changes.distances[smallest])),
        )
    return text
