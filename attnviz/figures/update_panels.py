"""Panels of curves over the updates of a training run, one below the other, with a mark at one update."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from attnviz.figures.build import Spec, base_axis, base_layout, build, literal
from attnviz.languages import gettext
from attnviz.palette import Palette
from attnviz.trace.snapshots import Snapshots
from attnviz.wording.learning import grouped_digits

_LINEAR_UPDATES = 20
"""Number of updates up to which the scale is nearly linear; after that it is logarithmic."""
_TICKS = (0, 10, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
_MIN_TICK_DISTANCE = 0.07
"""Smallest distance of two ticks, as a share of the width."""
_PANEL, _GAP, _TOP, _BOTTOM, _LEGEND = 150, 34, 26, 48, 24
"""Heights in pixels."""
_MARK_HALF_WIDTH = 0.006
"""Half the width of the mark, as a share of the width."""


def update_positions(updates: ArrayLike) -> NDArray[np.float64]:
    """Return the positions of updates u, of any shape: log2(1 + u / 20), nearly linear up to 20, then logarithmic."""
    places: NDArray[np.float64] = np.log2(1 + np.asarray(updates, dtype=np.float64) / _LINEAR_UPDATES)
    return places


def axes_of(place: int) -> dict[str, str]:
    """Return the axes of a panel by its position from the top."""
    return {"xaxis": "x", "yaxis": f"y{place + 1}" if place else "y"}


def panels_figure(
    runs: Sequence[Snapshots],
    moments: Sequence[int],
    traces: list[Spec],
    titles: Mapping[str, str],
    ranges: Mapping[str, tuple[float, float | None]],
    update: int | None,
    ink: Palette,
    alt: str,
    right_margin: int = 16,
) -> go.Figure:
    """Return panels of `traces`, one below the other, with a title each, over the same updates; `update` is marked."""
    count = max(1, len(titles))
    inner, has_legend = count * _PANEL + (count - 1) * _GAP, any(trace.get("showlegend") for trace in traces)
    bottom = _BOTTOM + (_LEGEND if has_legend else 0)
    last_updates = [at for run in runs for curve in run.curves.values() for at, _ in curve[-1:]]
    last = float(update_positions(max([*moments, *last_updates])))
    spans = [
        [float(update_positions(at)) - _MARK_HALF_WIDTH * last, float(update_positions(at)) + _MARK_HALF_WIDTH * last]
        for at in moments
    ]
    layout = base_layout(ink) | {
        "height": _TOP + inner + bottom,
        "margin": {"l": 52, "r": right_margin, "t": _TOP, "b": bottom},
        "hovermode": "closest",
        "showlegend": has_legend,
        "legend": {"orientation": "h", "x": 0, "y": -_BOTTOM / inner, "yanchor": "top", "font": {"size": 12}},
        "meta": {"alt": alt, "narrowest": 320, "spans": spans, "mark": ink.context},
        "xaxis": _update_axis(last, ink) | {"anchor": "y" if count == 1 else f"y{count}"},
        "annotations": [],
    }
    for place, (name, title) in enumerate(titles.items()):
        top = 1 - place * (_PANEL + _GAP) / inner
        low, high = ranges.get(name, (None, None))
        layout[f"yaxis{place + 1}" if place else "yaxis"] = (
            base_axis(ink)
            | {
                "domain": [max(0.0, top - _PANEL / inner), top],
                "rangemode": "tozero" if low == 0 else "normal",
                "nticks": 6,
                "zeroline": False,
            }
            | ({} if high is None else {"range": [low, high * 1.03]})
        )
        layout["annotations"].append(
            {
                "text": literal(title[:1].upper() + title[1:]),
                "showarrow": False,
                "font": {"size": 13, "color": ink.ink},
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "xanchor": "left",
                "xshift": -44,
                "y": top,
                "yanchor": "bottom",
            }
        )
    if update is not None:
        at = float(update_positions(update))
        layout["shapes"] = [
            {
                "type": "line",
                "x0": at,
                "x1": at,
                "y0": 0,
                "y1": 1,
                "yref": "paper",
                "line": {"color": ink.context, "width": 2},
            }
        ]
    return build(traces, layout)


def _update_axis(last: float, ink: Palette) -> Spec:
    """Return the axis of updates, with ticks at round numbers where there is room."""
    ticks: list[int] = []
    for tick in _TICKS:
        place = float(update_positions(tick))
        if place <= last * 1.001 and (
            not ticks or place - float(update_positions(ticks[-1])) >= _MIN_TICK_DISTANCE * last
        ):
            ticks.append(tick)
    return base_axis(ink) | {
        "range": [-0.02 * last, 1.02 * last],
        "tickvals": update_positions(ticks),
        "zeroline": False,
        "ticktext": [grouped_digits(tick) for tick in ticks],
        "title": {
            "text": gettext("training updates (log scale)"),
            "font": {"size": 12, "color": ink.quiet},
            "standoff": 6,
        },
    }
