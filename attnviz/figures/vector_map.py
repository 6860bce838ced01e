"""Figure of a map of corpus vectors by principal components, with the vector of a step as a star."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import percent
from attnviz.figures.grammar import points, sized_layout, titled_axis
from attnviz.figures.spec import Spec, escape
from attnviz.languages import gettext
from attnviz.palette import MARKER, MARKER_EDGE
from attnviz.trace.parts import Array


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
        gettext("component 1"): x.tolist(),
        gettext("component 2"): y.tolist(),
    }
    return Spec(data, layout, alt, table)


def with_star(drawn: Spec, place: Array, name: str) -> Spec:
    """Return a `vector_map` with a star at `place`, (2,), whose hover text is `name`."""
    (x, y), edge = place.round(3).tolist(), {"width": 1.5, "color": MARKER_EDGE}
    marker = {"symbol": "star", "size": 18, "color": MARKER, "line": edge}
    star = points([x], [y], marker, name="this step", text=[escape(name)], hoverinfo="text", cliponaxis=False)
    return replace(drawn, data=[*drawn.data, star])
