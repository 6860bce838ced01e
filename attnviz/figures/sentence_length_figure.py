"""Figures and tables by sentence length: BLEU of each model, and source words left out of growing prefixes.

BLEU is of a corpus, by buckets of lengths (Bahdanau et al., Fig. 2). The other figure is of one sentence: the share of
the content words of its first words that each model leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.numbers import NO_BREAK, decimal, thousands
from attnviz.analysis.prefixes import PrefixTranslations
from attnviz.analysis.why_attention import growth_sentence, short_kind_name
from attnviz.figures.spec import Part, base_axis, base_layout, build_figure, escape, line_style
from attnviz.languages import gettext, ngettext
from attnviz.palette import BAND, Palette, ThemeName, palette

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x")


def bleu_by_length(
    rows: Sequence[Mapping[str, Any]], theme: ThemeName = "light", marked_length: int | None = None
) -> go.Figure:
    """Draw the `rows` that `attnviz evaluate --by-length --csv` writes, as `csv.DictReader` reads them.

    A row has `words` (the bucket), `pairs`, `model`, `bleu`, `bleu_low` and `bleu_high` (error bars; blank without).
    Models differ in dash and symbol, not only in colour; the number of sentences is below each bucket. The bucket of a
    sentence of `marked_length` words is highlighted. `layout.meta` has `alt` and `narrowest`.
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
        "xaxis": axis
        | {
            "type": "category",
            "showgrid": False,
            "title": axis["title"] | {"text": gettext("words in the source sentence (below: number of sentences)")},
            "tickvals": list(buckets),
            "ticktext": [f"{escape(words)}<br>{thousands(pairs)}" for words, pairs in buckets.items()],
        },
        "yaxis": axis | {"rangemode": "tozero", "title": axis["title"] | {"text": "BLEU"}},
        "meta": {"alt": _alt(rows, list(buckets), models), "narrowest": 320},
    }
    if marked_length is not None and (bucket := bucket_of(marked_length, list(buckets))) is not None:
        layout |= _bucket_mark(list(buckets).index(bucket), marked_length, ink)
        layout["yaxis"]["range"] = [0, 1.15 * max(_number(row["bleu_high"] or row["bleu"]) for row in rows)]
    return build_figure(traces, layout)


def bleu_by_length_table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return BLEU with its interval, a row for each bucket and model."""
    frame = pd.DataFrame(
        [
            {
                gettext("words"): str(row["words"]),
                gettext("sentences"): int(row["pairs"]),
                gettext("model"): str(row["model"]),
                "BLEU": _number(row["bleu"]),
                gettext("low"): _number(row["bleu_low"]),
                gettext("high"): _number(row["bleu_high"]),
            }
            for row in rows
        ]
    )
    return frame.set_index([gettext("words"), gettext("model")])


def bucket_of(words: int, buckets: Sequence[str]) -> str | None:
    """Return the bucket, named as "11-20" or ">50", of a sentence of `words` words; None where there is none."""
    for bucket in buckets:
        first, _, last = bucket.lstrip(">").partition("-")
        if (words > int(first)) if bucket.startswith(">") else int(first) <= words <= int(last or first):
            return bucket
    return None


def _number(text: Any) -> float:
    return float(text) if text not in ("", None) else float("nan")


def _bucket_mark(index: int, words: int, ink: Palette) -> Part:
    """Return the band behind a bucket, and its label."""
    return {
        "shapes": [
            {
                "type": "rect",
                "x0": index - 0.5,
                "x1": index + 0.5,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "layer": "below",
                "line": {"width": 0},
                "fillcolor": ink.decoder,
                "opacity": BAND,
            }
        ],
        "annotations": [
            {
                "text": ngettext("your sentence: {count} word", "your sentence: {count} words", words),
                "x": index,
                "yref": "paper",
                "y": 1,
                "yanchor": "top",
                "xanchor": "left" if index == 0 else "center",
                "xshift": -34 if index == 0 else 0,
                "showarrow": False,
                "font": {"size": 13, "color": ink.decoder},
            }
        ],
    }


def _alt(rows: Sequence[Mapping[str, Any]], buckets: list[str], models: list[str]) -> str:
    texts = []
    for model in models:
        scores = {str(row["words"]): float(row["bleu"]) for row in rows if str(row["model"]) == model}
        first, last = (next((b for b in order if b in scores), None) for order in (buckets, buckets[::-1]))
        if first is not None and last is not None:
            texts.append(
                gettext(
                    "{model} from {first} to {last}",
                    model=model,
                    first=decimal(scores[first], 1),
                    last=decimal(scores[last], 1),
                )
            )
    return gettext(
        "BLEU by the number of words of the source sentence, from {first} to {last} words: {told}.",
        first=buckets[0],
        last=buckets[-1],
        told=", ".join(texts),
    )


def _line(model: str, index: int, rows: Sequence[Mapping[str, Any]], ink: Palette) -> Part:
    model_rows = [row for row in rows if str(row["model"]) == model]
    bleu = [float(row["bleu"]) for row in model_rows]
    colours = (ink.ink, ink.plus, ink.minus, ink.quiet, ink.decoder)
    colour = colours[index % len(colours)]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape(model),
        "x": [str(row["words"]) for row in model_rows],
        "y": bleu,
        "line": {"color": colour, "width": 2, "dash": _DASHES[index % len(_DASHES)]},
        "marker": {"size": 8, "symbol": _SYMBOLS[index % len(_SYMBOLS)]},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "thickness": 1,
            "width": 3,
            "color": colour,
            "array": [float(row["bleu_high"] or score) - score for row, score in zip(model_rows, bleu, strict=True)],
            "arrayminus": [
                score - float(row["bleu_low"] or score) for row, score in zip(model_rows, bleu, strict=True)
            ],
        },
        "hovertemplate": gettext("{words} words: BLEU {bleu}", words="%{x}", bleu="%{y:.1f}"),
    }


def sentence_growth_figure(growth: PrefixTranslations, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the share of English content words that each model leaves out, in per cent, by number of English words.

    `layout.meta` has `alt`, `narrowest`, the 0-based numbers of the prefixes (`steps`), which are clickable, and the
    edges and colour of the mark at each (`spans`, `selection_colour`).
    """
    ink, words = palette(theme), growth.counts
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": escape(short_kind_name(kind)),
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
            "alt": _growth_alt(growth),
            "narrowest": 320,
            "selection_colour": ink.decoder,
            "steps": list(range(len(words))),
            "spans": spans,
        },
    }
    return build_figure(traces, layout)


def sentence_growth_table(growth: PrefixTranslations) -> pd.DataFrame:
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


def _growth_alt(growth: PrefixTranslations) -> str:
    return gettext(
        "One line for each model: the share of content words that the model omits when it translates the start of an "
        "English sentence. {told}",
        told=growth_sentence(growth),
    )
