"""Figure and table of a map of corpus vectors by principal components, with the vector of a step as a star."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import percent
from attnviz.figures.legacy import Slot, Values
from attnviz.figures.spec import Part, base_axis, base_layout, escape
from attnviz.languages import gettext
from attnviz.palette import MARKER, MARKER_EDGE, ThemeName, palette

HEIGHT = 460


def vector_map_template(
    places: NDArray[np.float64],
    names: Sequence[tuple[str, str]],
    shares: tuple[float, float],
    colour: str,
    *,
    theme: ThemeName = "light",
    url_prefixes: Sequence[str] = (),
    url_parts: Sequence[tuple[int, str]] = (),
) -> Part:
    """Return the map as a template: N points at `places`, (N, 2), with the star of a step in a Slot.

    `names` are the word and the sentence in each hover text, `shares` the shares of variance along the axes, `colour`
    the palette's name of the kind of vector. A click on a point leads to a URL: a prefix in `url_prefixes` and
    a suffix, by the point's pair in `url_parts`, (index of the prefix, suffix).
    """
    ink = palette(theme)
    points: Part = {
        "type": "scatter",
        "mode": "markers",
        "name": "vectors",
        "x": places[:, 0].round(3),
        "y": places[:, 1].round(3),
        "marker": {"size": 6, "color": getattr(ink, colour), "opacity": 0.45},
        "text": [f"<b>{escape(word)}</b><br>{escape(shorten(sentence, 90))}" for word, sentence in names],
        "hoverinfo": "text",
    }
    if url_parts:
        points["customdata"] = [list(url_part) for url_part in url_parts]
    star: Part = {
        "type": "scatter",
        "mode": "markers",
        "name": "this step",
        "x": Slot("x"),
        "y": Slot("y"),
        "text": Slot("name"),
        "hoverinfo": "text",
        "cliponaxis": False,
        "marker": {"symbol": "star", "size": 18, "color": MARKER, "line": {"width": 1.5, "color": MARKER_EDGE}},
    }
    axes = {}
    for side, share, number in zip("xy", shares, (1, 2), strict=True):
        title = gettext("component {number}: {share} of the variance", number=number, share=percent(share))
        axes[f"{side}axis"] = base_axis(ink) | {
            "title": {"text": title, "font": {"size": 12, "color": ink.quiet}, "standoff": 6},
            "zeroline": True,
            "automargin": True,
        }
    alt = gettext(
        "A map of {count} corpus vectors along two principal components, including the vector of this step",
        count=len(places),
    )
    meta = {"alt": alt, "narrowest": 320, "opens": list(url_prefixes)}
    layout = (
        base_layout(ink)
        | axes
        | {
            "height": HEIGHT,
            "margin": {"l": 56, "r": 12, "t": 12, "b": 46},
            "hovermode": "closest",
            "meta": meta,
        }
    )
    return {"data": [points, star], "layout": layout}


def vector_map_values(place: NDArray[np.float64], name: str) -> Values:
    """Return the position, (2,), and the label of a step's star."""
    return {"x": [round(float(place[0]), 3)], "y": [round(float(place[1]), 3)], "name": [escape(name)]}


def vector_map_table(places: NDArray[np.float64], names: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return the numbers of the map, (N, 2), a row for each vector."""
    return pd.DataFrame(
        {
            gettext("piece"): [word for word, _ in names],
            gettext("sentence"): [sentence for _, sentence in names],
            gettext("component 1"): places[:, 0],
            gettext("component 2"): places[:, 1],
        }
    )
