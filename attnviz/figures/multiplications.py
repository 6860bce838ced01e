"""Figure and table of the number of multiplications for a sentence's energies, by kind of attention."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.multiplications import Multiplications
from attnviz.figures.build import APART, base_axis, base_layout, build
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.wording.numbers import thousands


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
    return build(bars, layout)


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
