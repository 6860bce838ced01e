"""Figures of measures of a corpus: a histogram of one, or a scatter plot of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.figures.grammar import points, sized_layout, titled_axis
from attnviz.figures.spec import Numbers, Part, Spec, escape
from attnviz.languages import gettext

MOST_POINTS = 3000
"""Number of drawn pairs; larger corpora are sampled evenly over the rows."""


def scatter(
    x: Numbers,
    y: Numbers,
    names: tuple[str, str],
    *,
    selected_region: Sequence[float] = (),
) -> Spec:
    """Draw two measures of N pairs, (N,) each, as a scatter plot; pairs with NaN are left out.

    `names` label the axes; `selected_region` is a rectangle (left, right, bottom, top) or empty. At most MOST_POINTS
    are drawn.
    """
    finite = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    indices = finite[np.linspace(0, len(finite) - 1, MOST_POINTS).astype(int)] if len(finite) > MOST_POINTS else finite
    marker = {"size": 6, "color": "decoder", "opacity": 0.5}
    hover = f"{escape(names[0])} %{{x:.3~g}}<br>{escape(names[1])} %{{y:.3~g}}<extra></extra>"
    drawn = points(x[indices], y[indices], marker, hovertemplate=hover)
    return _selectable(drawn, names, selected_region)


def histogram(values: Numbers, name: str, *, selected_region: Sequence[float] = ()) -> Spec:
    """Draw a histogram of one measure of N pairs, (N,), without NaN; `selected_region` is an interval, or empty."""
    finite = values[np.isfinite(values)]
    bins = "sqrt" if len(finite) < MOST_POINTS else 60
    counts, edges = np.histogram(finite, bins) if len(finite) else (np.array([0]), np.array([0, 1]))
    bars = {
        "type": "bar",
        "x": (edges[1:] + edges[:-1]) / 2,
        "y": counts,
        "width": np.diff(edges),
        "marker": {"color": "decoder"},
        "customdata": np.stack([edges[:-1], edges[1:]], axis=1),
        "hovertemplate": f"{escape(name)} %{{customdata[0]:.3~g}} – %{{customdata[1]:.3~g}}: %{{y}}<extra></extra>",
    }
    region = [*selected_region, 0, 1.05 * float(counts.max())] if selected_region else ()
    return _selectable(bars, (name, gettext("pairs")), region, bargap=0.04, selectdirection="h")


def _selectable(trace: Part, names: tuple[str, str], region: Sequence[float], **more: Any) -> Spec:
    """Return a figure in which a rectangle can be selected; it is `region` at first."""
    corners = dict(zip(("x0", "x1", "y0", "y1"), region, strict=False))
    layout = sized_layout(300, (60, 10, 10, 46), 300) | {
        "dragmode": "select",
        "selections": [{"type": "rect", "xref": "x", "yref": "y"} | corners] if corners else [],
        "xaxis": titled_axis(escape(names[0]), 13, automargin=True),
        "yaxis": titled_axis(escape(names[1]), 13, automargin=True),
    }
    alt = gettext("{y} against {x}, one point for each sentence pair", x=names[0], y=names[1])
    return Spec([trace], layout | more, alt)
