"""Figures of forms of attention: a row of weights in one form, and the multiplications for all energies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import decimal, thousands
from attnviz.analysis.transformer_exhibits import AttentionForm, Multiplications
from attnviz.figures.spec import APART, Spec, base_axis, base_layout, escape
from attnviz.languages import format_share, gettext
from attnviz.palette import GREYS, ThemeName, palette
from attnviz.text import piece_name

_BRIGHT = 0.46
"""Weight above which black text has more contrast than white text."""
_CELL, _ROW, _LEFT, _LINE, _EDGE = 74, 44, 84, 24, 12
"""Pixels of a cell, of a row, of the margin with its names, of a line of labels, and of the other margins."""
_LONGEST = 10
"""Characters of the label of a piece."""


def weights_row(form: AttentionForm, step: int, pieces: Sequence[str], alt: str, *, theme: ThemeName = "light") -> Spec:
    """Draw the weights of 0-based `step` over the source `pieces`: 0 black, 1 white, as in the heatmap.

    With several heads, each has a row above their mean. An energy stands below the name of its piece. `alt` is the text
    alternative. The table has the energies and weights, a row for each source piece.
    """
    ink, names = palette(theme), [piece_name(piece) for piece in pieces]
    if form.heads is None:
        rows = {gettext("weight α"): form.weights[step]}
    else:
        rows = {gettext("head {n}", n=number): head[step] for number, head in enumerate(form.heads, 1)}
        rows[gettext("mean")] = form.weights[step]
    labels, energies = [escape(shorten(name, _LONGEST)) for name in names], {}
    if form.energies is not None:
        energies = {gettext("energy e"): form.energies[step]}
        labels = [
            f"{label}<br>{decimal(energy, 1)}"
            for label, energy in zip(labels, form.energies[step].tolist(), strict=True)
        ]
    cells = {
        "type": "heatmap",
        "z": list(rows.values()),
        "zmin": 0,
        "zmax": 1,
        "colorscale": GREYS,
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
        "hoverinfo": "skip",
    }
    top, axis = _EDGE + _LINE * (1 + len(energies)), base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "width": _LEFT + _CELL * len(pieces) + _EDGE,
        "height": top + _ROW * len(rows) + _EDGE,
        "margin": {"l": _LEFT, "r": _EDGE, "t": top, "b": _EDGE},
        "xaxis": axis
        | {
            "side": "top",
            "tickvals": list(range(len(pieces))),
            "ticktext": labels,
            "tickfont": {"size": 13, "color": ink.encoder},
        },
        "yaxis": axis | {"autorange": "reversed", "tickvals": list(range(len(rows))), "ticktext": list(rows)},
        "annotations": [
            {
                "x": j,
                "y": row,
                "text": format_share(weight),
                "showarrow": False,
                "font": {"size": 12, "color": "black" if weight > _BRIGHT else "white"},
            }
            for row, weights in enumerate(rows.values())
            for j, weight in enumerate(weights.tolist())
        ],
        "meta": {"narrowest": 330},
    }
    return Spec(
        [cells],
        layout,
        alt,
        {gettext("position"): range(1, len(pieces) + 1), gettext("piece"): names} | energies | rows,
    )


def multiplications(works: Mapping[str, Multiplications], *, theme: ThemeName = "light") -> Spec:
    """Draw a stacked bar for each name: multiplications for keys, queries and pairs.

    The table has these numbers, a row for each name, with the sum and the number of tanh.
    """
    ink, names = palette(theme), list(works)
    parts = {
        gettext("keys, once per piece"): ([work.keys for work in works.values()], ink.encoder),
        gettext("query, once per step"): ([work.queries for work in works.values()], ink.decoder),
        gettext("every pair"): ([work.pairs for work in works.values()], ink.bar),
    }
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": names,
            "x": counts,
            "marker": {"color": colour},
            "hovertemplate": f"{name}: %{{x:,d}}<extra></extra>",
        }
        for name, (counts, colour) in parts.items()
    ]
    axis = base_axis(ink) | {"zeroline": False}
    layout = base_layout(ink) | {
        "height": 70 + 54 * len(names) + 40,
        "barmode": "stack",
        "bargap": 0.35,
        "margin": {"l": 112, "r": 36, "t": 34, "b": 52},
        "xaxis": axis
        | {
            "title": {"text": gettext("multiplications"), "font": {"size": 12, "color": ink.quiet}},
            "nticks": 5,
            "tickformat": ",d",
        },
        "yaxis": axis
        | APART
        | {"autorange": "reversed", "showgrid": False, "tickfont": {"size": 13, "color": ink.ink}},
        "showlegend": True,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1,
            "yanchor": "bottom",
            "traceorder": "normal",
            "font": {"size": 12},
        },
        "meta": {"narrowest": 320, "widest": 900},
    }
    listed = "; ".join(
        gettext(
            "{name}: {total} multiplications and {tanh} tanh",
            name=name,
            total=thousands(work.total),
            tanh=thousands(work.tanh),
        )
        for name, work in works.items()
    )
    table = (
        {gettext("attention"): names}
        | {name: counts for name, (counts, _) in parts.items()}
        | {
            gettext("sum"): [work.total for work in works.values()],
            "tanh": [work.tanh for work in works.values()],
        }
    )
    alt = gettext("Multiplications for all energies of this sentence. {listed}.", listed=listed)
    return Spec(bars, layout, alt, table)
