"""Figures of *Why attention?*: forced words, decay of gradients, BLEU by length, and words left out of prefixes.

BLEU is of a corpus, by buckets of lengths (Bahdanau et al., Fig. 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.analysis.labels import NO_BREAK, decimal, power_name, small
from attnviz.analysis.why_attention import (
    ForcedWords,
    PrefixTranslations,
    attention_name,
    bucket_name,
    distances,
    gradient_quartiles,
    growth_sentence,
    short_kind_name,
    small_length,
)
from attnviz.figures.spec import (
    ATTENTION_STYLES,
    Part,
    Spec,
    Table,
    axis_labels,
    band,
    curve,
    escape,
    in_colour,
    label_axis,
    label_width,
    legend_above,
    numbered_rows,
    pair_columns,
    points,
    side_by_side,
    sized_layout,
    text_at,
    titled_axis,
)
from attnviz.languages import format_number, gettext, ngettext
from attnviz.trace import Trace
from attnviz.trace.parts import GradientNorms

_COLUMN, _LABEL, _SIZE = 19, 14, 13
"""Pixels of the narrowest column with a slanted label, characters of a label, and font size in pixels."""
_LOWEST_POWER = -6
"""Decimal logarithm of the smallest probability that is drawn to scale."""


def forced_words_figure(forced: ForcedWords, *, slanting: bool = True) -> Spec:
    """Draw the probability of each word on a logarithmic scale, a line for each model; words from left to right.

    Labels are `slanting` or level. Smaller probabilities than a millionth are drawn at a millionth; the hover text has
    the number. The table has p and log p (in nats) of each word by each model, a row for each word (counted from 1).
    """
    count, probabilities = len(forced.words), np.exp(forced.log_probabilities)
    kinds = [short_kind_name(kind) for kind in forced.attentions]
    powers = np.maximum(forced.log_probabilities / np.log(10), _LOWEST_POWER)
    lines = []
    for name, kind, own_powers, own in zip(kinds, forced.attentions, powers, probabilities, strict=True):
        texts, style = [small(p) for p in own], ATTENTION_STYLES.index(kind)
        places = list(range(count))
        lines.append(curve(places, own_powers, name, style, customdata=texts, hovertemplate="%{customdata}"))
    column = _COLUMN if slanting else label_width(forced.words, _SIZE, _LABEL) + 10
    height, bottom = (340, 84) if slanting else (290, 34)
    labels = axis_labels(forced.words, _LABEL)
    layout = (
        sized_layout(height, (62, 24, 36, bottom), round(86 + column * count))
        | legend_above()
        | {
            "hovermode": "x unified",
            "xaxis": label_axis(labels, "decoder", size=_SIZE, across=True, tickangle=-45 if slanting else 0),
            "yaxis": _power_axis(gettext("probability of the word"), int(np.floor(powers.min())), 0, 0.15),
        }
    )
    table: dict[str, Any] = {gettext("word"): forced.words}
    for model, own, logs in zip(forced.models, probabilities, forced.log_probabilities, strict=True):
        table |= {f"p, {model}": own, f"log p, {model}": logs}
    means = np.exp(forced.log_probabilities.mean(axis=1))
    alt = gettext(
        "Probability of each of {count} words of one translation, which {models} models are forced to write. "
        "Geometric means: {means}.",
        count=count,
        models=len(forced.models),
        means=", ".join(f"{name} {small(mean)}" for name, mean in zip(kinds, means, strict=True)),
    )
    return Spec(lines, layout, alt, numbered_rows(table, gettext("position")))


def gradient_norms(traces: Sequence[Trace], signals: Sequence[GradientNorms], *, across: int = 3) -> Spec:
    """Draw |d log p(y_i) / d E x_j|, E x_j an embedding, on a logarithmic scale against the number of recurrent steps.

    One line is the gradient through s_0, that is by the recurrence alone, the other that through the contexts. Lines
    are medians of pairs at a similar distance, bands their quartiles. All panels have the same axes, `across` of them
    side by side. The table has the gradient norms, by each path and in total, of the models that segment the sentences
    like the last one: a row for each target piece i and source piece j, both counted from 1. Raise ValueError unless
    there are as many `signals` as `traces`, and `across` is at least 1.
    """
    if len(traces) != len(signals):
        raise ValueError("a panel needs its translation and its signals")
    decays = [gradient_quartiles(one) for one in signals]
    kinds = [str(trace.config["attention"]) for trace in traces]
    lengths = np.concatenate([values.ravel() for decay in decays for values in (decay.start, decay.contexts)])
    low, high = np.log10(np.clip([lengths.min(), lengths.max()], 1e-12, None))
    longest_distance = max(decay.distances[-1] for decay in decays)
    title = gettext("recurrent steps between word and source piece")
    # The title, wider than a panel, stands once, below the middle of each line.
    distance_axes = [
        titled_axis(name, standoff=6, range=[-0.8, longest_distance + 0.8], zeroline=False)
        for name in (title if place % across == across // 2 else "" for place in range(len(kinds)))
    ]
    length_axis = _power_axis("", int(np.floor(low)), int(np.ceil(high)), 0.1)
    layout, axes = side_by_side(
        {
            place: (escape(attention_name(kind)), axis, length_axis)
            for place, (kind, axis) in enumerate(zip(kinds, distance_axes, strict=True))
        },
        across,
        (34, 0, 230, 46),
        (62, 14, 30, 0),
        224,
        size=15,
    )
    alone, by_contexts = gettext("by the recurrence alone"), gettext("by the contexts")
    legend = f"{in_colour(f'● {alone}', 'decoder')}   {in_colour(f'◆ {by_contexts}', 'context')}"
    layout["annotations"].insert(0, text_at(legend, 0, 1, "ink", 13, yref="paper", yshift=6))

    lines: list[Part] = []
    for place, (kind, decay) in enumerate(zip(kinds, decays, strict=True)):
        through = gettext("by the one vector" if kind == "none" else "by attention")
        for name, values, colour, symbol in (
            (alone, decay.start, "decoder", "circle"),
            (through, decay.contexts, "context", "diamond"),
        ):
            lower, middle, upper = np.log10(np.maximum(values, 1e-30))
            ends = np.concatenate([decay.distances, decay.distances[::-1]]), np.concatenate([upper, lower[::-1]])
            filled = {"mode": "lines", "line": {"width": 0}, "fill": "toself", "fillcolor": colour, "opacity": 0.18}
            steps = [ngettext("{count:.0f} step", "{count:.0f} steps", distance) for distance in decay.distances]
            hover = gettext(
                "{name}<br>{length} at {steps}", name=escape(name), length="%{customdata[0]}", steps="%{customdata[1]}"
            )
            line = {
                "mode": "lines+markers",
                "line": {"color": colour, "width": 2},
                "customdata": list(map(list, zip(map(small_length, values[1]), steps, strict=True))),
                "hovertemplate": f"{hover}<extra></extra>",
            }
            marker = {"size": 7, "color": colour, "symbol": symbol}
            lines += [
                points(*ends, {}, name=f"{name}, quartiles", hoverinfo="skip", **filled | axes[place]),
                points(decay.distances, middle, marker, name=escape(name), **line | axes[place]),
            ]

    last = traces[-1]
    table = pair_columns(last) | {gettext("steps between"): distances(*signals[-1].whole.shape).ravel()}
    for trace, signal in zip(traces, signals, strict=True):
        if (trace.source_pieces, trace.target_pieces) == (last.source_pieces, last.target_pieces):
            norms = {alone: signal.start, by_contexts: signal.contexts, gettext("whole"): signal.whole}
            table |= {f"{name}, {trace.model}": values.ravel() for name, values in norms.items()}
    told = [
        gettext(
            "{name}: the median length is {start} (near) and {end} (far) through the recurrence alone, and {near} "
            "(near) and {far} (far) through the contexts",
            name=attention_name(kind),
            start=small_length(decay.near[0]),
            end=small_length(decay.far[0]),
            near=small_length(decay.near[1]),
            far=small_length(decay.far[1]),
        )
        for kind, decay in zip(kinds, decays, strict=True)
    ]
    alt = gettext(
        "Lengths of gradients between target and source pieces. “Near” pairs are the quarter with the fewest steps "
        "between the two pieces; “far” pairs are the quarter with the most steps. {told}.",
        told="; ".join(told),
    )
    return Spec(lines, layout, alt, table)


def _power_axis(title: str, low: int, high: int, padding: float) -> Part:
    """Return the axis of decimal logarithms from `low` to `high`, with labels for all powers of ten."""
    powers, limits = list(range(low, high + 1)), [low - padding, high + padding]
    labels = [power_name(power) for power in powers]
    return titled_axis(title, range=limits, tickvals=powers, ticktext=labels, zeroline=False)


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
    told, hover = [], gettext("{words} words: BLEU {bleu}", words="%{text}", bleu="%{y:.1f}")
    for k, model in enumerate(dict.fromkeys(models.tolist())):
        own = models == model
        line = curve(words[own].tolist(), bleu[own], model, k, hovertemplate=hover)
        line["text"] = [bucket_name(each) for each in line["x"]]
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
                ticktext=[f"{escape(bucket)}<br>{format_number(pairs)}" for bucket, pairs in buckets.items()],
            ),
            "yaxis": titled_axis("BLEU", 13, automargin=True, rangemode="tozero"),
        }
    )
    if marked_length is not None and (bucket := bucket_of(marked_length, list(buckets))) is not None:
        place = [*buckets].index(bucket)
        layout["yaxis"]["range"] = [0, 1.15 * np.fmax(bleu, high).max()]
        layout["shapes"] = [band(place - 0.5, place + 0.5, "decoder")]
        text = ngettext("your sentence: {count} word", "your sentence: {count} words", marked_length)
        at: Part = {"xref": "x", "yref": "paper", "yanchor": "top", "font": {"size": 13, "color": "decoder"}}
        at |= {"xanchor": "center"} if place else {"xshift": -34}
        layout["annotations"] = [text_at(text, place, 1, "decoder", **at)]
    alt = gettext(
        "BLEU by the number of words of the source sentence, from {first} to {last} words: {told}.",
        first=next(iter(buckets)).partition("-")[0],
        last=bucket_name(next(reversed(buckets))),
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
