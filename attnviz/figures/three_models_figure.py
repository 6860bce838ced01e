"""Figures and tables that compare the three models of *Why attention?*: forced words, and decay of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.gradient_decay import GradientDecay, distances, gradient_quartiles
from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import power_name, small
from attnviz.analysis.prefixes import ForcedWords
from attnviz.analysis.why_attention import attention_name, short_kind_name, small_length
from attnviz.figures.spec import Part, base_axis, base_layout, build_figure, escape, line_style
from attnviz.figures.spec import width as text_width
from attnviz.languages import gettext, ngettext
from attnviz.palette import Palette, ThemeName, palette
from attnviz.trace import Trace
from attnviz.trace.parts import GradientNorms

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
    column = _COLUMN if slanting else max(text_width(word, _SIZE) for word in short) + 10
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
            "ticktext": [escape(word) for word in short],
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
        "meta": {"alt": _forced_words_alt(forced), "narrowest": 86 + column * count},
    }
    return build_figure(traces, layout)


def forced_words_table(forced: ForcedWords) -> pd.DataFrame:
    """Return p and log p (in nats) of each word by each model, a row for each word (counted from 1)."""
    frame: dict[str, object] = {gettext("word"): list(forced.words)}
    for model, logs in zip(forced.models, forced.log_probabilities, strict=True):
        frame |= {f"p, {model}": np.exp(logs), f"log p, {model}": logs}
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(forced.words) + 1, name=gettext("position")))


def _line(forced: ForcedWords, model: int, ink: Palette) -> Part:
    logs, style = forced.log_probabilities[model], line_style(forced.attentions[model], ink)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape(short_kind_name(forced.attentions[model])),
        "x": list(range(len(logs))),
        "y": np.maximum(logs / np.log(10), _LOWEST_POWER),
        "cliponaxis": False,
        "customdata": [small(float(p)) for p in np.exp(logs)],
        "hovertemplate": "%{customdata}",
    } | style.line()


def _forced_words_alt(forced: ForcedWords) -> str:
    means = ", ".join(
        f"{short_kind_name(kind)} {small(float(np.exp(logs.mean())))}"
        for kind, logs in zip(forced.attentions, forced.log_probabilities, strict=True)
    )
    return gettext(
        "Probability of each of {count} words of one translation, which {models} models are forced to write. "
        "Geometric means: {means}.",
        count=len(forced.words),
        models=len(forced.models),
        means=means,
    )


_PANEL, _CAPTION, _GAP = 230, 34, 0.05
"""Pixels of a panel's height and of its caption; share of the width between panels."""
_LEFT, _TOP, _BOTTOM = 62, 30, 46
"""Margins in pixels."""
_NARROWEST = {1: 300, 3: 760}
"""Pixels of the narrowest figure, by the number of panels side by side."""


def gradient_norms_figure(
    attentions: Sequence[str], signals: Sequence[GradientNorms], *, across: int = 3, theme: ThemeName = "light"
) -> go.Figure:
    """Draw |d log p(y_i) / d E x_j|, E x_j an embedding, on a logarithmic scale against the number of recurrent steps.

    One line is the gradient through s_0, that is by the recurrence alone, the other that through the contexts. Lines
    are medians of pairs at a similar distance, bands their quartiles. All panels have the same axes, `across` of them
    side by side. `layout.meta` has `alt` and `narrowest`. Raise ValueError unless there are as many `signals` as
    `attentions`, and `across` is at least 1.
    """
    if len(attentions) != len(signals) or across < 1:
        raise ValueError("a panel needs its attention and its signals, and a place")
    ink, across = palette(theme), min(across, len(signals))
    decays = [gradient_quartiles(signal) for signal in signals]
    layout = _layout(list(attentions), decays, across, ink)
    traces = [line for place, decay in enumerate(decays) for line in _panel(decay, attentions[place], place, ink)]
    return build_figure(traces, layout)


def gradient_norms_table(trace: Trace, models: Sequence[str], signals: Sequence[GradientNorms]) -> pd.DataFrame:
    """Return the gradient norms, by each path and in total, a row for each target piece i and source piece j.

    Both are counted from 1.
    """
    steps, pieces = signals[0].whole.shape
    index = pd.MultiIndex.from_product([range(1, steps + 1), range(1, pieces + 1)], names=["i", "j"])
    columns: dict[str, Any] = {
        gettext("target piece"): np.repeat(np.array(trace.target_pieces, dtype=object), pieces),
        gettext("source piece"): np.tile(np.array(trace.source_pieces, dtype=object), steps),
        gettext("steps between"): distances(steps, pieces).ravel(),
    }
    for model, signal in zip(models, signals, strict=True):
        norms = {
            gettext("by the recurrence alone"): signal.start,
            gettext("by the contexts"): signal.contexts,
            gettext("whole"): signal.whole,
        }
        columns |= {f"{name}, {model}": values.ravel() for name, values in norms.items()}
    return pd.DataFrame(columns, index=index)


def _panel(decay: GradientDecay, attention: str, place: int, ink: Palette) -> list[Part]:
    """Return both lines of a model with their bands."""
    axes = {"xaxis": f"x{place + 1 if place else ''}", "yaxis": f"y{place + 1 if place else ''}"}
    by_contexts = gettext("by the one vector") if attention == "none" else gettext("by attention")
    lines: tuple[tuple[str, Any, str, str], ...] = (
        (gettext("by the recurrence alone"), decay.start, ink.decoder, "circle"),
        (by_contexts, decay.contexts, ink.context, "diamond"),
    )
    traces: list[Part] = []
    for name, values, colour, symbol in lines:
        low, middle, high = np.log10(np.maximum(values, 1e-30))
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{name}, quartiles",
                "fill": "toself",
                "hoverinfo": "skip",
                "x": np.concatenate([decay.distances, decay.distances[::-1]]),
                "y": np.concatenate([high, low[::-1]]),
                "line": {"width": 0},
                "fillcolor": f"{colour}2e",
            }
            | axes
        )
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": escape(name),
                "x": decay.distances,
                "y": middle,
                "line": {"color": colour, "width": 2},
                "marker": {"size": 7, "color": colour, "symbol": symbol},
                "customdata": [
                    [small_length(float(v)), ngettext("{count:.0f} step", "{count:.0f} steps", float(d))]
                    for v, d in zip(values[1], decay.distances, strict=True)
                ],
                "hovertemplate": gettext(
                    "{name}<br>{length} at {steps}",
                    name=escape(name),
                    length="%{customdata[0]}",
                    steps="%{customdata[1]}",
                )
                + "<extra></extra>",
            }
            | axes
        )
    return traces


def _layout(attentions: list[str], decays: list[GradientDecay], panels_per_line: int, ink: Palette) -> Part:
    """Return the layout: axes, captions and legend."""
    rows = -(-len(decays) // panels_per_line)
    inner = rows * (_PANEL + _CAPTION) + (rows - 1) * _BOTTOM
    lengths = np.concatenate([values.ravel() for decay in decays for values in (decay.start, decay.contexts)])
    ends = np.log10(np.clip([lengths.min(), lengths.max()], 1e-12, None))
    low, high = np.floor(ends[0]), np.ceil(ends[1])
    longest_distance = max(float(decay.distances[-1]) for decay in decays)
    layout: Part = base_layout(ink) | {
        "height": _TOP + inner + _BOTTOM,
        "margin": {"l": _LEFT, "r": 14, "t": _TOP, "b": _BOTTOM},
        "hovermode": "closest",
        "annotations": [],
        "meta": {
            "alt": _gradient_decay_alt(attentions, decays),
            "narrowest": _NARROWEST.get(panels_per_line, 250 * panels_per_line),
        },
    }
    layout["annotations"] += _legend(ink)
    for place, attention in enumerate(attentions):
        row, column = divmod(place, panels_per_line)
        panel_width = (1 - _GAP * (panels_per_line - 1)) / panels_per_line
        left = column * (panel_width + _GAP)
        top = 1 - (row * (_PANEL + _CAPTION + _BOTTOM) + _CAPTION) / inner
        suffix = str(place + 1) if place else ""
        powers = list(range(int(low), int(high) + 1))
        layout[f"xaxis{suffix}"] = base_axis(ink) | {
            "domain": [left, left + panel_width],
            "anchor": f"y{suffix}",
            "range": [-0.8, longest_distance + 0.8],
            "zeroline": False,
            "title": {
                "text": gettext("recurrent steps between word and source piece"),
                "standoff": 6,
                "font": {"size": 12, "color": ink.quiet},
            },
        }
        layout[f"yaxis{suffix}"] = base_axis(ink) | {
            "domain": [max(top - _PANEL / inner, 0), top],
            "anchor": f"x{suffix}",
            "range": [low - 0.1, high + 0.1],
            "tickvals": powers,
            "zeroline": False,
            "showticklabels": column == 0,
            "ticktext": [power_name(power) for power in powers],
        }
        layout["annotations"].append(
            {
                "text": escape(attention_name(attention)),
                "x": left,
                "xref": "paper",
                "xanchor": "left",
                "y": top,
                "yref": "paper",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": 15, "color": ink.ink},
            }
        )
    return layout


def _legend(ink: Palette) -> list[Part]:
    """Return the legend of both colours, above all panels."""
    shared = {"xref": "paper", "yref": "paper", "y": 1, "yanchor": "bottom", "showarrow": False}
    text = (
        f'<span style="color:{ink.decoder}">● {gettext("by the recurrence alone")}</span>   '
        f'<span style="color:{ink.context}">◆ {gettext("by the contexts")}</span>'
    )
    return [shared | {"text": text, "x": 0, "xanchor": "left", "yshift": 6, "font": {"size": 13, "color": ink.ink}}]


def _gradient_decay_alt(attentions: list[str], decays: list[GradientDecay]) -> str:
    texts = [
        gettext(
            "{name}: the median length is {start} (near) and {end} (far) through the recurrence alone, and {near} "
            "(near) and {far} (far) through the contexts",
            name=attention_name(kind),
            start=small_length(decay.near[0]),
            end=small_length(decay.far[0]),
            near=small_length(decay.near[1]),
            far=small_length(decay.far[1]),
        )
        for kind, decay in zip(attentions, decays, strict=True)
    ]
    return gettext(
        "Lengths of gradients between target and source pieces. “Near” pairs are the quarter with the fewest steps "
        "between the two pieces; “far” pairs are the quarter with the most steps. {told}.",
        told="; ".join(texts),
    )
