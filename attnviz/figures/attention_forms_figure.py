"""Figures and tables of forms of attention: a row of weights in one form, and the multiplications for all energies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import decimal, thousands
from attnviz.analysis.transformer_exhibits import AttentionForm, Multiplications
from attnviz.figures.spec import APART, base_axis, base_layout, build_figure, escape
from attnviz.languages import format_share, gettext
from attnviz.palette import ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import FloatArray

_BRIGHT = 0.46
"""Weight above which black text has more contrast than white text."""
_CELL, _ROW, _LEFT, _LINE, _EDGE = 74, 44, 84, 24, 12
"""Pixels of a cell, of a row, of the margin with its names, of a line of labels, and of the other margins."""
_LONGEST = 10
"""Characters of the label of a piece."""


def attention_row_figure(
    form: AttentionForm, step: int, pieces: Sequence[str], alt: str, *, theme: ThemeName = "light"
) -> go.Figure:
    """Draw the weights of 0-based `step` over the source `pieces`: 0 black, 1 white, as in the heatmap.

    With several heads, each has a row above their mean. An energy stands below the name of its piece. `alt` is the text
    alternative.
    """
    ink, rows = palette(theme), _rows(form, step)
    weights = list(rows.values())
    names = [escape(shorten(piece_name(piece), _LONGEST)) for piece in pieces]
    top = _EDGE + _LINE
    if form.energies is not None:
        top += _LINE
        names = [
            f"{name}<br>{decimal(float(energy), 1)}" for name, energy in zip(names, form.energies[step], strict=True)
        ]
    cells = {
        "type": "heatmap",
        "z": weights,
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, "rgb(0,0,0)"], [1, "rgb(255,255,255)"]],
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
        "hoverinfo": "skip",
    }
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "width": _LEFT + _CELL * len(pieces) + _EDGE,
        "height": top + _ROW * len(rows) + _EDGE,
        "margin": {"l": _LEFT, "r": _EDGE, "t": top, "b": _EDGE},
        "xaxis": axis
        | {
            "side": "top",
            "tickvals": list(range(len(pieces))),
            "ticktext": names,
            "tickangle": 0,
            "tickfont": {"size": 13, "color": ink.encoder},
        },
        "yaxis": axis | {"autorange": "reversed", "tickvals": list(range(len(rows))), "ticktext": list(rows)},
        "annotations": [
            {
                "x": j,
                "y": row,
                "text": format_share(float(weight)),
                "showarrow": False,
                "font": {"size": 12, "color": "black" if weight > _BRIGHT else "white"},
            }
            for row, shown in enumerate(weights)
            for j, weight in enumerate(shown)
        ],
        "meta": {"alt": alt, "narrowest": 330},
    }
    return build_figure([cells], layout)


def attention_row_table(form: AttentionForm, step: int, pieces: Sequence[str]) -> pd.DataFrame:
    """Return the energies and weights of 0-based `step`, a row for each source piece."""
    columns = {} if form.energies is None else {gettext("energy e"): form.energies[step]}
    frame = {gettext("piece"): [piece_name(piece) for piece in pieces]} | columns | _rows(form, step)
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(pieces) + 1, name=gettext("position")))


def _rows(form: AttentionForm, step: int) -> dict[str, FloatArray]:
    """Return the weights of the figure's rows, from the top."""
    if form.heads is None:
        return {gettext("weight α"): form.weights[step]}
    heads = {gettext("head {n}", n=number): head[step] for number, head in enumerate(form.heads, 1)}
    return heads | {gettext("mean"): form.weights[step]}


def work_figure(works: Mapping[str, Multiplications], *, theme: ThemeName = "light") -> go.Figure:
    """Draw a stacked bar for each name: multiplications for keys, queries and pairs."""
    ink, names = palette(theme), list(works)
    parts = _parts()
    colours = {"keys": ink.encoder, "queries": ink.decoder, "pairs": ink.bar}
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": names,
            "x": [getattr(work, part) for work in works.values()],
            "marker": {"color": colours[part]},
            "hovertemplate": f"{name}: %{{x:,d}}<extra></extra>",
        }
        for part, name in parts.items()
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
        "meta": {"alt": _alt(works), "narrowest": 320, "widest": 900},
    }
    return build_figure(bars, layout)


def work_table(works: Mapping[str, Multiplications]) -> pd.DataFrame:
    """Return the numbers of `work_figure`, a row for each name, with the sum and the number of tanh."""
    rows = [
        {label: getattr(work, part) for part, label in _parts().items()}
        | {gettext("sum"): work.total, "tanh": work.tanh}
        for work in works.values()
    ]
    return pd.DataFrame(rows, index=pd.Index(list(works), name=gettext("attention")))


def _parts() -> dict[str, str]:
    return {
        "keys": gettext("keys, once per piece"),
        "queries": gettext("query, once per step"),
        "pairs": gettext("every pair"),
    }


def _alt(works: Mapping[str, Multiplications]) -> str:
    listed = "; ".join(
        gettext(
            "{name}: {total} multiplications and {tanh} tanh",
            name=name,
            total=thousands(work.total),
            tanh=thousands(work.tanh),
        )
        for name, work in works.items()
    )
    return gettext("Multiplications for all energies of this sentence. {listed}.", listed=listed)
