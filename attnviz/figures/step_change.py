"""Figure and table of the effect of an intervention on a step: likeliest pieces, context and state."""

from __future__ import annotations

import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import subscript
from attnviz.analysis.what_if_effects import PieceChange, StepChange, change_alt
from attnviz.figures.spec import APART, Part, axis_labels, base_axis, base_layout, build_figure, emphasise
from attnviz.languages import format_share, gettext
from attnviz.palette import Palette, ThemeName, palette
from attnviz.text import piece_name

_ROW, _TOP, _BOTTOM = 30, 30, 8
"""Pixels of a piece, above the first and below the last."""
_PIECES_SPAN, _VECTORS_SPAN = (0.0, 0.64), (0.72, 1.0)
"""Shares of the width."""
_NUMBER_SPACE = 0.3
"""Space right of a bar of probability 1 for its number, on the axis of probabilities."""


def step_change_figure(change: StepChange, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the likeliest pieces of a step, in [0, 1], before and after an intervention, and the change of the vectors.

    Hollow bars are before the intervention. Changes of context and state are relative to their length.
    `layout.meta` has `alt`, `narrowest` and `widest`.
    """
    ink, rows = palette(theme), range(len(change.pieces))
    is_written = [piece.piece_id == change.written.piece_id for piece in change.pieces]
    bar = {"type": "bar", "orientation": "h", "width": 0.34, "hoverinfo": "skip"}
    bars_before = bar | {
        "name": "before",
        "x": [piece.before or 0 for piece in change.pieces],
        "y": [row - 0.19 for row in rows],
        "marker": {"color": "rgba(0,0,0,0)", "line": {"color": ink.quiet, "width": 1.5}},
    }
    bars_after = bar | {
        "name": "after",
        "x": [piece.after or 0 for piece in change.pieces],
        "y": [row + 0.19 for row in rows],
        "marker": {"color": [ink.decoder if written else ink.bar for written in is_written]},
    }
    vector_bars = bar | {
        "name": "moved",
        "x": [change.context, change.state],
        "y": [1.2, 3.2],
        "width": 0.5,
        "xaxis": "x2",
        "marker": {"color": [ink.context, ink.decoder]},
    }
    numbers = [_numbers(change, "before", ink), _numbers(change, "after", ink)]
    return build_figure([bars_before, bars_after, *numbers, vector_bars], _layout(change, is_written, ink))


def step_change_table(change: StepChange) -> pd.DataFrame:
    """Return the likeliest pieces of a step with their probabilities before and after the intervention.

    nan where a probability was too small to be recorded.
    """
    frame = {
        gettext("piece"): [entry.piece for entry in change.pieces],
        gettext("before"): [float("nan") if entry.before is None else entry.before for entry in change.pieces],
        gettext("after"): [float("nan") if entry.after is None else entry.after for entry in change.pieces],
        gettext("written"): [_written(change, entry) for entry in change.pieces],
    }
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(change.pieces) + 1, name=gettext("row")))


def _written(change: StepChange, piece: PieceChange) -> str:
    """Return which of the two translations wrote a piece at the step, if any."""
    translations = [gettext("after")] if piece.piece_id == change.written.piece_id else []
    if change.written_before is not None and piece.piece_id == change.written_before.piece_id:
        translations.insert(0, gettext("before"))
    return ", ".join(translations)


def _numbers(change: StepChange, when: str, ink: Palette) -> Part:
    """Return the numbers at the ends of the bars; `when` is "before" or "after" the intervention."""
    values = [piece.before if when == "before" else piece.after for piece in change.pieces]
    shift, threshold = (-0.19, change.least[0]) if when == "before" else (0.19, change.least[1])
    exists = when == "after" or change.moment != "none"
    return {
        "type": "scatter",
        "mode": "text",
        "name": f"numbers {when}",
        "x": [value or 0 for value in values],
        "y": [row + shift for row in range(len(values))],
        "hoverinfo": "skip",
        "cliponaxis": False,
        "text": [f" {_share(value, threshold)} " if exists else "" for value in values],
        "textposition": "middle right",
        "textfont": {"size": 11, "color": ink.quiet if when == "before" else ink.ink},
    }


def _share(p: float | None, threshold: float) -> str:
    """Return a probability as a percentage to one decimal place; for None, that it is below `threshold`."""
    if p is None:
        return f"<\u00a0{format_share(max(threshold, 0.001), 1)}"
    return format_share(p, 1)


def _layout(change: StepChange, is_written: list[bool], ink: Palette) -> Part:
    count = len(change.pieces)
    names = axis_labels([piece_name(piece.piece) for piece in change.pieces], 13)
    labels = [
        emphasise(name, ink.decoder) if written else name for name, written in zip(names, is_written, strict=True)
    ]
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False, "showticklabels": False}
    return base_layout(ink) | {
        "height": _TOP + _ROW * count + _BOTTOM,
        "margin": {"l": 110, "r": 10, "t": _TOP, "b": _BOTTOM},
        "barmode": "overlay",
        "xaxis": axis | {"domain": list(_PIECES_SPAN), "range": [0, 1 + _NUMBER_SPACE]},
        "xaxis2": axis
        | {
            "domain": list(_VECTORS_SPAN),
            "range": [0, max(1, change.context, change.state)],
            "anchor": "y",
        },
        "yaxis": axis
        | APART
        | {
            "range": [count - 0.5, -0.5],
            "tickvals": list(range(count)),
            "ticktext": labels,
            "showticklabels": True,
            "tickfont": {"size": 13, "color": ink.ink},
        },
        "annotations": _annotations(change, ink),
        "meta": {"alt": change_alt(change), "narrowest": 340, "widest": 1200},
    }


def _annotations(change: StepChange, ink: Palette) -> list[Part]:
    """Return the headings of both halves, and the labels of the vectors' bars."""
    heading = {
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom",
        "y": 1,
        "yshift": 6,
        "font": {"size": 12, "color": ink.quiet},
    }
    annotations = [heading | {"x": _PIECES_SPAN[0], "text": f"□ {gettext('before')}   ■ {gettext('after')}"}]
    if change.moment == "none":
        return annotations
    annotations.append(heading | {"x": _VECTORS_SPAN[0], "text": gettext("moved by")})
    bar_label = {
        "xref": "paper",
        "yref": "y",
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom",
        "x": _VECTORS_SPAN[0],
    }
    step = subscript(change.step + 1)
    for row, name, moved, colour in (
        (0.9, f"c{step}", change.context, ink.context),
        (2.9, f"s{step}", change.state, ink.decoder),
    ):
        text = f"{name} {format_share(moved)}"
        annotations.append(bar_label | {"y": row, "text": text, "font": {"size": 12, "color": colour}})
    return annotations
