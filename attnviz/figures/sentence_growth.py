"""Figure and table of the words that translations leave out as a sentence grows, a line for each model."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.prefixes import Growth
from attnviz.figures.build import base_axis, base_layout, build
from attnviz.figures.labels import line_style, literal
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.wording.numbers import NO_BREAK
from attnviz.wording.why import growth_sentence, short_name


def sentence_growth_figure(growth: Growth, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the share of English content words that each model leaves out, in per cent, by number of English words.

    `layout.meta` has `alt`, `narrowest`, the 0-based numbers of the prefixes (`steps`), which are clickable, and the
    edges and colour of the mark at each (`spans`, `mark`).
    """
    ink, words = palette(theme), growth.counts
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": literal(short_name(kind)),
            "x": list(words),
            "y": [100 * len(judged.omitted) / max(len(judged.content), 1) for judged in row],
            "hovertemplate": f"%{{y:.0f}}{NO_BREAK}%",
            "cliponaxis": False,
        }
        | line_style(kind, ink).line()
        for kind, row in zip(growth.attentions, growth.translations, strict=True)
    ]
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
            "showgrid": False,
            "zeroline": False,
            "title": {"text": gettext("English words"), "font": {"size": 12, "color": ink.quiet}},
        },
        "yaxis": base_axis(ink)
        | {
            "range": [-3, 103],
            "tickvals": [0, 25, 50, 75, 100],
            "zeroline": False,
            "title": {"text": gettext("left out, %"), "font": {"size": 12, "color": ink.quiet}},
        },
        "meta": {
            "alt": _alt(growth),
            "narrowest": 320,
            "mark": ink.decoder,
            "steps": list(range(len(words))),
            "spans": spans,
        },
    }
    return build(traces, layout)


def sentence_growth_table(growth: Growth) -> pd.DataFrame:
    """Return each model's translation of each prefix with its measures, a row for each number of English words."""
    frame: dict[str, object] = {}
    for model, row in zip(growth.models, growth.translations, strict=True):
        frame |= {
            model: [judged.text for judged in row],
            gettext("French words, {model}", model=model): [len(judged.words) for judged in row],
            gettext("improbable words, {model}", model=model): [judged.improbable for judged in row],
            gettext("English words left out, {model}", model=model): [
                "".join(judged.source_words[place] for place in judged.omitted).strip() for judged in row
            ],
        }
    return pd.DataFrame(frame, index=pd.Index(growth.counts, name=gettext("English words")))


def _alt(growth: Growth) -> str:
    return gettext(
        "One line for each model: the share of English content words that it leaves out of the first words of a "
        "sentence. {told}",
        told=growth_sentence(growth),
    )
