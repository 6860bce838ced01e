"""Figure and table of translation quality as a sentence grows clause by clause, a line for each model."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.clauses import Growth
from attnviz.figures.build import base_axis, base_layout, build
from attnviz.figures.labels import literal
from attnviz.figures.line_styles import line_style
from attnviz.languages import gettext
from attnviz.palette import BAND, ThemeName, palette
from attnviz.wording.why import growth_sentence, short_name


def sentence_growth_figure(growth: Growth, *, step: int | None = None, theme: ThemeName = "light") -> go.Figure:
    """Draw chrF2 of each model's translation against the reference model's, from 0 to 100, by number of words.

    0-based `step` is the marked beginning. `layout.meta` has `alt`, `narrowest`, the 0-based numbers of the beginnings
    (`steps`), which are clickable, and the edges and colour of the mark at each (`spans`, `mark`).
    """
    ink, words = palette(theme), growth.words
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": literal(short_name(kind)),
            "x": list(words),
            "y": scores,
            "hovertemplate": "chrF %{y:.0f}",
            "cliponaxis": False,
        }
        | line_style(kind, ink).line()
        for kind, scores in zip(growth.attentions, growth.scores, strict=True)
    ]
    traces.append(
        {
            "type": "scatter",
            "mode": "lines",
            "name": gettext("unrelated text"),
            "x": list(words),
            "y": growth.baseline,
            "line": {"color": ink.quiet, "width": 1.5, "dash": "longdash"},
            "hovertemplate": "chrF %{y:.0f}",
        }
    )
    half = max(0.6, 0.018 * words[-1])
    spans = [[count - half, count + half] for count in words]
    layout = base_layout(ink) | {
        "height": 300,
        "margin": {"l": 52, "r": 20, "t": 36, "b": 46},
        "showlegend": True,
        "hovermode": "x unified",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "xaxis": base_axis(ink)
        | {
            "range": [0, words[-1] + 2 * half],
            "tickvals": list(words),
            "showgrid": False,
            "zeroline": False,
            "title": {"text": gettext("words of the sentence so far"), "font": {"size": 12, "color": ink.quiet}},
        },
        "yaxis": base_axis(ink)
        | {
            "range": [0, 102],
            "tickvals": [0, 25, 50, 75, 100],
            "zeroline": False,
            "title": {"text": "chrF", "font": {"size": 12, "color": ink.quiet}},
        },
        "meta": {
            "alt": _alt(growth),
            "narrowest": 320,
            "mark": ink.decoder,
            "steps": list(range(len(words))),
            "spans": spans,
        },
    }
    if step is not None:
        layout["shapes"] = [
            {
                "type": "rect",
                "x0": spans[step][0],
                "x1": spans[step][1],
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "line": {"width": 0},
                "fillcolor": ink.decoder,
                "opacity": BAND,
                "layer": "below",
            }
        ]
    return build(traces, layout)


def sentence_growth_table(growth: Growth) -> pd.DataFrame:
    """Return each model's translation of each beginning, a row for each (counted from 1)."""
    frame: dict[str, object] = {
        gettext("words"): list(growth.words),
        gettext("clause"): list(growth.clauses),
        growth.reference_model: list(growth.references),
    }
    frame[gettext("chrF, unrelated text")] = growth.baseline
    for model, scores, translations in zip(growth.models, growth.scores, growth.translations, strict=True):
        frame |= {f"chrF, {model}": scores, model: list(translations)}
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(growth.clauses) + 1, name=gettext("clauses")))


def _alt(growth: Growth) -> str:
    return gettext(
        "One line for each model: the quality of its translations of the {count} beginnings of a sentence. {told}",
        count=len(growth.words),
        told=growth_sentence(growth),
    )
