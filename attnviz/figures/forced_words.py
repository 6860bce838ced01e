"""Figure and table of the probability of each word of one translation under models that are forced to write it."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.prefixes import ForcedWords
from attnviz.figures import labels
from attnviz.figures.build import Spec, base_axis, base_layout, build
from attnviz.figures.labels import line_style, literal
from attnviz.languages import gettext
from attnviz.palette import Palette, ThemeName, palette
from attnviz.wording.labels import shorten
from attnviz.wording.numbers import power_name, small
from attnviz.wording.why import short_name

_COLUMN, _LABEL, _SIZE = 19, 14, 13
"""Pixels of the narrowest column with a slanted label, characters of a label, and font size in pixels."""
_LOWEST_POWER = -6
"""Decimal logarithm of the smallest probability that is drawn to scale."""


def forced_words_figure(forced: ForcedWords, *, slanting: bool = True, theme: ThemeName = "light") -> go.Figure:
    """Draw the probability of each word on a logarithmic scale, a line for each model; words from left to right.

    Labels are `slanting` or level. Smaller probabilities than a millionth are drawn at a millionth; the hover text has
    the number. `layout.meta` has `alt` and `narrowest`.
    """
    ink, count = palette(theme), len(forced.words)
    short = [shorten(word, _LABEL) for word in forced.words]
    column = _COLUMN if slanting else max(labels.width(word, _SIZE) for word in short) + 10
    traces = [_line(forced, model, ink) for model in range(len(forced.models))]
    low = max(_LOWEST_POWER, float(np.floor(forced.log_probabilities.min() / np.log(10))))
    layout = base_layout(ink) | {
        "height": 340 if slanting else 290,
        "hovermode": "x unified",
        "showlegend": True,
        "margin": {"l": 62, "r": 24, "t": 36, "b": 84 if slanting else 34},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "xaxis": base_axis(ink)
        | {
            "range": [-0.5, count - 0.5],
            "tickvals": list(range(count)),
            "ticktext": [literal(word) for word in short],
            "tickangle": -45 if slanting else 0,
            "showgrid": False,
            "zeroline": False,
            "tickfont": {"size": _SIZE, "color": ink.decoder},
        },
        "yaxis": base_axis(ink)
        | {
            "range": [low - 0.15, 0.15],
            "tickvals": list(range(int(low), 1)),
            "ticktext": [power_name(power) for power in range(int(low), 1)],
            "zeroline": False,
            "title": {"text": gettext("probability of the word"), "font": {"size": 12, "color": ink.quiet}},
        },
        "meta": {"alt": _alt(forced), "narrowest": 86 + column * count},
    }
    return build(traces, layout)


def forced_words_table(forced: ForcedWords) -> pd.DataFrame:
    """Return p and log p (in nats) of each word by each model, a row for each word (counted from 1)."""
    frame: dict[str, object] = {gettext("word"): list(forced.words)}
    for model, logs in zip(forced.models, forced.log_probabilities, strict=True):
        frame |= {f"p, {model}": np.exp(logs), f"log p, {model}": logs}
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(forced.words) + 1, name=gettext("position")))


def _line(forced: ForcedWords, model: int, ink: Palette) -> Spec:
    logs, style = forced.log_probabilities[model], line_style(forced.attentions[model], ink)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": literal(short_name(forced.attentions[model])),
        "x": list(range(len(logs))),
        "y": np.maximum(logs / np.log(10), _LOWEST_POWER),
        "cliponaxis": False,
        "customdata": [small(float(p)) for p in np.exp(logs)],
        "hovertemplate": "%{customdata}",
    } | style.line()


def _alt(forced: ForcedWords) -> str:
    means = ", ".join(
        f"{short_name(kind)} {small(float(np.exp(logs.mean())))}"
        for kind, logs in zip(forced.attentions, forced.log_probabilities, strict=True)
    )
    return gettext(
        "Probability of each of {count} words of one translation, which {models} models are forced to write. "
        "Geometric means: {means}.",
        count=len(forced.words),
        models=len(forced.models),
        means=means,
    )
