"""Figures by sentence length: BLEU of each model, and source words left out of growing prefixes.

BLEU is of a corpus, by buckets of lengths (Bahdanau et al., Fig. 2). The other figure is of one sentence: the share of
the content words of its first words that each model leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.analysis.numbers import NO_BREAK, decimal, thousands
from attnviz.analysis.why_attention import PrefixTranslations, growth_sentence, short_kind_name
from attnviz.figures.grammar import ATTENTION_STYLES, band, curve, legend_above, sized_layout, text_at, titled_axis
from attnviz.figures.spec import Part, Spec, Table, escape
from attnviz.languages import gettext, ngettext


def bleu_by_length(rows: Sequence[Mapping[str, Any]], marked_length: int | None = None) -> Spec:
    """Draw the `rows` that `attnviz evaluate --by-length --csv` writes, as `csv.DictReader` reads them.

    A row has `words` (the bucket), `pairs`, `model`, `bleu`, `bleu_low` and `bleu_high` (error bars; blank without).
    The number of sentences is below each bucket. The bucket of a sentence of `marked_length` words is highlighted.
    """
    buckets = {str(row["words"]): int(row["pairs"]) for row in rows}
    words, models = (np.array([str(row[name]) for row in rows]) for name in ("words", "model"))
    bleu, low, high = (
        np.array([float("nan" if row[name] in (None, "") else row[name]) for row in rows])
        for name in ("bleu", "bleu_low", "bleu_high")
    )
    curves: list[Part] = []
    told, hover = [], gettext("{words} words: BLEU {bleu}", words="%{x}", bleu="%{y:.1f}")
    for k, model in enumerate(dict.fromkeys(models.tolist())):
        own = models == model
        line = curve(words[own].tolist(), bleu[own].tolist(), model, k, hovertemplate=hover)
        line["error_y"] = {
            "type": "data",
            "thickness": 1,
            "width": 3,
            "array": np.nan_to_num(high - bleu)[own],
            "arrayminus": np.nan_to_num(bleu - low)[own],
        }
        curves.append(line)
        first, last = decimal(line["y"][0], 1), decimal(line["y"][-1], 1)
        told.append(gettext("{model} from {first} to {last}", model=model, first=first, last=last))
    layout = (
        sized_layout(300, (60, 20, 50, 70), 320)
        | legend_above()
        | {
            "xaxis": titled_axis(
                gettext("words in the source sentence (below: number of sentences)"),
                13,
                automargin=True,
                type="category",
                showgrid=False,
                tickvals=list(buckets),
                ticktext=[f"{escape(bucket)}<br>{thousands(pairs)}" for bucket, pairs in buckets.items()],
            ),
            "yaxis": titled_axis("BLEU", 13, automargin=True, rangemode="tozero"),
        }
    )
    if marked_length is not None and (bucket := bucket_of(marked_length, list(buckets))) is not None:
        place = [*buckets].index(bucket)
        layout["yaxis"]["range"] = [0, 1.15 * float(np.fmax(bleu, high).max())]
        layout["shapes"] = [band(place - 0.5, place + 0.5, "decoder")]
        text = ngettext("your sentence: {count} word", "your sentence: {count} words", marked_length)
        at: Part = {"xref": "x", "yref": "paper", "yanchor": "top", "font": {"size": 13, "color": "decoder"}}
        at |= {"xanchor": "center"} if place else {"xshift": -34}
        layout["annotations"] = [text_at(text, place, 1, "decoder", **at)]
    alt = gettext(
        "BLEU by the number of words of the source sentence, from {first} to {last} words: {told}.",
        first=next(iter(buckets)),
        last=next(reversed(buckets)),
        told=", ".join(told),
    )
    table: Table = {
        gettext("words"): words,
        gettext("model"): models,
        gettext("sentences"): [int(row["pairs"]) for row in rows],
        "BLEU": bleu,
        gettext("low"): low,
        gettext("high"): high,
    }
    return Spec(curves, layout, alt, table)


def bucket_of(words: int, buckets: Sequence[str]) -> str | None:
    """Return the bucket, named as "11-20" or ">50", of a sentence of `words` words; None where there is none."""
    for bucket in buckets:
        first, _, last = bucket.lstrip(">").partition("-")
        if (words > int(first)) if bucket.startswith(">") else int(first) <= words <= int(last or first):
            return bucket
    return None


def sentence_growth(growth: PrefixTranslations) -> Spec:
    """Draw the share of English content words that each model leaves out, in per cent, by number of English words.

    The table has each model's translation of each prefix with its measures. `layout.meta` has the 0-based numbers of
    the prefixes (`steps`), which are clickable, and the edges and colour of the mark at each (`spans`,
    `selection_colour`).
    """
    words = growth.counts
    curves: list[Part] = []
    table: dict[str, list[Any]] = {gettext("English words"): list(words)}
    for kind, model, row in zip(growth.attentions, growth.models, growth.translations, strict=True):
        shares = [100 * len(judged.omitted) / max(len(judged.content), 1) for judged in row]
        name, hover = short_kind_name(kind), f"%{{y:.0f}}{NO_BREAK}%"
        curves.append(curve(list(words), shares, name, ATTENTION_STYLES.index(kind), hovertemplate=hover))
        table |= {
            model: [judged.text for judged in row],
            gettext("French words, {model}", model=model): [len(judged.words) for judged in row],
            gettext("improbable words, {model}", model=model): [judged.improbable for judged in row],
            gettext("English words left out, {model}", model=model): [
                "".join(judged.source_words[place] for place in judged.omitted).strip() for judged in row
            ],
        }
    half = max(0.6, 0.018 * words[-1])
    spans = [[count - half, count + half] for count in words]
    meta = {"selection_colour": "decoder", "steps": list(range(len(words))), "spans": spans}
    layout = (
        sized_layout(300, (52, 20, 36, 46), 320, **meta)
        | legend_above()
        | {
            "hovermode": "x unified",
            "xaxis": titled_axis(
                gettext("English words"), range=[0, words[-1] + 2 * half], showgrid=False, zeroline=False
            ),
            "yaxis": titled_axis(
                gettext("left out, %"), range=[-3, 103], tickvals=[0, 25, 50, 75, 100], zeroline=False
            ),
        }
    )
    alt = gettext(
        "One line for each model: the share of content words that the model omits when it translates the start of an "
        "English sentence. {told}",
        told=growth_sentence(growth),
    )
    return Spec(curves, layout, alt, table)
