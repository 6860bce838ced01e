"""BLEU against the length of the source sentence, one line a model: the paper's Fig. 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from attnviz.figures.build import Spec, base_axis, base_layout, build
from attnviz.figures.labels import literal
from attnviz.palette import Palette, ThemeName, palette

_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x")


def bleu_by_length(rows: Sequence[Mapping[str, Any]], theme: ThemeName = "light") -> go.Figure:
    """Return the figure of `rows`, as `attnviz evaluate --by-length --csv` writes them and `csv.DictReader` reads them.

    A row has `words` (the bucket), `pairs`, `model`, `bleu`, `bleu_low` and `bleu_high` (the bars; blank where
    there are none). Models differ in
    dash and symbol, not in colour alone; under each bucket stands its number of sentences.
    """
    ink = palette(theme)
    buckets = {str(row["words"]): int(row["pairs"]) for row in rows}
    models = list(dict.fromkeys(str(row["model"]) for row in rows))
    traces = [_line(model, place, rows, ink) for place, model in enumerate(models)]
    axis = base_axis(ink) | {"automargin": True, "title": {"font": {"size": 13, "color": ink.quiet}}}
    layout = base_layout(ink) | {
        "height": 420,
        "margin": {"l": 60, "r": 20, "t": 50, "b": 70},
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "xaxis": axis | {
            "type": "category", "showgrid": False,
            "title": axis["title"] | {"text": "words of the source sentence, and number of sentences"},
            "tickvals": list(buckets),
            "ticktext": [f"{literal(words)}<br>{pairs:,}" for words, pairs in buckets.items()],
        },
        "yaxis": axis | {"rangemode": "tozero", "title": axis["title"] | {"text": "BLEU"}},
    }  # fmt: skip
    return build(traces, layout)


def _line(model: str, place: int, rows: Sequence[Mapping[str, Any]], ink: Palette) -> Spec:
    own = [row for row in rows if str(row["model"]) == model]
    bleu = [float(row["bleu"]) for row in own]
    colours = (ink.ink, ink.plus, ink.minus, ink.quiet)
    colour = colours[place % len(colours)]
    return {
        "type": "scatter", "mode": "lines+markers", "name": literal(model),
        "x": [str(row["words"]) for row in own], "y": bleu,
        "line": {"color": colour, "width": 2, "dash": _DASHES[place % len(_DASHES)]},
        "marker": {"size": 8, "symbol": _SYMBOLS[place % len(_SYMBOLS)]},
        "error_y": {
            "type": "data", "symmetric": False, "thickness": 1, "width": 3, "color": colour,
            "array": [float(row["bleu_high"] or score) - score for row, score in zip(own, bleu, strict=True)],
            "arrayminus": [score - float(row["bleu_low"] or score) for row, score in zip(own, bleu, strict=True)],
        },
        "hovertemplate": "%{x} words: BLEU %{y:.1f}",
    }  # fmt: skip
