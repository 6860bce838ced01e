"""Figures of a corpus: a histogram of a measure, a scatter plot of two, a map of vectors by principal components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.analysis.labels import percent, shorten
from attnviz.figures.spec import Numbers, Part, Spec, escape, points, sized_layout, titled_axis
from attnviz.languages import gettext
from attnviz.palette import MARKER, MARKER_EDGE
from attnviz.trace.parts import Array

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
    region = [*selected_region, 0, 1.05 * counts.max()] if selected_region else ()
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


def vector_map(
    places: Array,
    names: Sequence[tuple[str, str]],
    shares: tuple[float, float],
    colour: str,
    *,
    url_prefixes: Sequence[str] = (),
    url_parts: Sequence[tuple[int, str]] = (),
) -> Spec:
    """Draw a map of N points at `places`, (N, 2).

    `names` are the word and the sentence in each hover text, `shares` the shares of variance along the axes, `colour`
    the palette's name of the kind of vector. A click on a point leads to a URL: a prefix in `url_prefixes` and
    a suffix, by the point's pair in `url_parts`, (index of the prefix, suffix).
    """
    (x, y) = places.T
    marker = {"size": 6, "color": colour, "opacity": 0.45}
    texts = [f"<b>{escape(word)}</b><br>{escape(shorten(sentence, 90))}" for word, sentence in names]
    links = {"customdata": [list(part) for part in url_parts]} if url_parts else {}
    data = [points(x.round(3), y.round(3), marker, name="vectors", text=texts, hoverinfo="text") | links]
    titles = [
        gettext("component {number}: {share} of the variance", number=number, share=percent(share))
        for number, share in enumerate(shares, 1)
    ]
    layout = sized_layout(460, (56, 12, 12, 46), 320, opens=list(url_prefixes)) | {
        "xaxis": titled_axis(titles[0], standoff=6, automargin=True),
        "yaxis": titled_axis(titles[1], standoff=6, automargin=True),
    }
    alt = gettext(
        "A map of {count} corpus vectors along two principal components, including the vector of this step",
        count=len(places),
    )
    table = {
        "": range(len(names)),
        gettext("piece"): [word for word, _ in names],
        gettext("sentence"): [sentence for _, sentence in names],
        gettext("component 1"): x,
        gettext("component 2"): y,
    }
    return Spec(data, layout, alt, table)


def with_star(drawn: Spec, place: Array, name: str) -> Spec:
    """Return a `vector_map` with a star at `place`, (2,), whose hover text is `name`."""
    (x, y), edge = place.round(3).tolist(), {"width": 1.5, "color": MARKER_EDGE}
    marker = {"symbol": "star", "size": 18, "color": MARKER, "line": edge}
    star = points([x], [y], marker, name="this step", text=[escape(name)], hoverinfo="text", cliponaxis=False)
    return replace(drawn, data=[*drawn.data, star])
