"""Figures of measures of a corpus: a histogram of one, or a scatter plot of two."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.figures.spec import Part, base_axis, base_layout, build_figure, escape
from attnviz.languages import gettext
from attnviz.palette import Palette, ThemeName, palette

MOST_POINTS = 3000
"""Number of drawn pairs; larger corpora are sampled evenly over the rows."""
_HEIGHT = 300


_Interval = tuple[float, float]
"""Interval of an axis, from and to."""


def scatter_figure(
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    names: tuple[str, str],
    *,
    selected_region: tuple[_Interval, _Interval] | None = None,
    theme: ThemeName = "light",
) -> go.Figure:
    """Draw two measures of N pairs, (N,) each, as a scatter plot; pairs with NaN are left out.

    `names` label the axes; `selected_region` is a rectangle, horizontal and vertical. At most MOST_POINTS are drawn.
    """
    ink = palette(theme)
    finite = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    indices = finite[np.linspace(0, len(finite) - 1, MOST_POINTS).astype(int)] if len(finite) > MOST_POINTS else finite
    points: Part = {
        "type": "scatter",
        "mode": "markers",
        "x": x[indices],
        "y": y[indices],
        "marker": {"size": 6, "color": ink.decoder, "opacity": 0.5},
        "hovertemplate": f"{escape(names[0])} %{{x:.3~g}}<br>{escape(names[1])} %{{y:.3~g}}<extra></extra>",
    }
    layout = _layout(ink, names)
    layout |= {"dragmode": "select", "selections": _selection(selected_region)}
    return build_figure([points], layout)


def histogram_figure(
    values: NDArray[np.floating], name: str, *, selected_region: _Interval | None = None, theme: ThemeName = "light"
) -> go.Figure:
    """Draw a histogram of one measure of N pairs, (N,), without NaN, and the interval `selected_region`."""
    ink, finite = palette(theme), values[np.isfinite(values)]
    counts, edges = (
        np.histogram(finite, bins="sqrt" if len(finite) < MOST_POINTS else 60) if len(finite) else ([0], [0, 1])
    )
    middles = (np.asarray(edges)[1:] + np.asarray(edges)[:-1]) / 2
    bars: Part = {
        "type": "bar",
        "x": middles,
        "y": counts,
        "width": np.diff(edges),
        "marker": {"color": ink.decoder},
        "customdata": np.stack([np.asarray(edges)[:-1], np.asarray(edges)[1:]], axis=1),
        "hovertemplate": f"{escape(name)} %{{customdata[0]:.3~g}} – %{{customdata[1]:.3~g}}: %{{y}}<extra></extra>",
    }
    layout = _layout(ink, (name, gettext("pairs")))
    region = None if selected_region is None else (selected_region, (0.0, 1.05 * float(np.max(counts))))
    layout |= {"bargap": 0.04, "dragmode": "select", "selectdirection": "h", "selections": _selection(region)}
    return build_figure([bars], layout)


def _selection(region: tuple[_Interval, _Interval] | None) -> list[Part]:
    """Return a region in the form of Plotly's selections."""
    if region is None:
        return []
    (x0, x1), (y0, y1) = region
    return [{"type": "rect", "xref": "x", "yref": "y", "x0": x0, "x1": x1, "y0": y0, "y1": y1}]


def _layout(ink: Palette, names: tuple[str, str]) -> Part:
    axes = {
        f"{side}axis": base_axis(ink)
        | {
            "title": {"text": escape(name), "font": {"size": 13, "color": ink.quiet}},
            "automargin": True,
        }
        for side, name in zip("xy", names, strict=True)
    }
    return (
        base_layout(ink)
        | axes
        | {
            "height": _HEIGHT,
            "margin": {"l": 60, "r": 10, "t": 10, "b": 46},
            "meta": {
                "alt": gettext("{y} against {x}, one point for each sentence pair", x=names[0], y=names[1]),
                "narrowest": 300,
            },
        }
    )
