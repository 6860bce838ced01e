"""Figures of a transformer's heads and of forms of attention: residual stream, weights, multiplications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.analysis.attention_forms import AttentionForm, Multiplications
from attnviz.analysis.labels import decimal, percent, quote, shorten
from attnviz.analysis.measures import entropy, strongest_words, word_weights_of_heads
from attnviz.analysis.transformer_steps import added_name, block_name, head_kind_name
from attnviz.figures.heatmap import words_axis
from attnviz.figures.spec import (
    APART,
    FRAMED,
    LABEL_LENGTH,
    Numbers,
    Spec,
    Table,
    axis_labels,
    bare_axis,
    bars,
    blank_axis,
    cells,
    colour_limit,
    emphasise,
    label_axis,
    label_height,
    legend_above,
    line,
    numbered_rows,
    numbers,
    row_frame,
    rows_layout,
    side_by_side,
    sized_layout,
    strip_shapes,
    strips,
    text_at,
    titled_axis,
    units_table,
    value_axis,
)
from attnviz.figures.subject import Subject
from attnviz.languages import format_share, gettext, ngettext
from attnviz.palette import GREYS, colour_at, heatmap_scale, letter_colour
from attnviz.text import piece_name
from attnviz.trace import TransformerTrace
from attnviz.trace.parts import HEAD_KINDS


def draw_stream(subject: Subject) -> Spec:
    """Draw the terms of the stream: its embedding with position, the contribution of each block, and their sum.

    Each has a strip of units and a bar of its length; the block of the displayed head is framed. At the level *Idea*
    only the lengths of the terms are drawn, without a scale, and the displayed block is highlighted.
    """
    head, step = subject.attention, subject.step
    streams, displayed, label_length, colour = head.streams, head.block + 1, 20, "bar"
    blocks = [(block, layer) for layer in range(1, head.layers + 1) for block in head.blocks]
    names = [gettext("embedding"), *(block_name(block, layer) for block, layer in blocks), gettext("sum")]
    rows = np.concatenate([streams[:1, step], head.added[:, step], streams[-1:, step]])  # (blocks + 2, units)
    units, limit = rows.shape[1], colour_limit(streams[-1])
    table = units_table(names, rows, 0)
    if subject.simple:
        names = [gettext("last piece written"), *(added_name(block, layer) for block, layer in blocks)]
        streams, label_length, colour = streams[:1], 26, "decoder"
    labels, colours = axis_labels(names, label_length), [colour] * len(names)
    labels[displayed], colours[displayed] = emphasise(labels[displayed], "context"), "context"
    lengths = np.linalg.norm(rows, axis=1)[: len(names)]
    longest = np.linalg.norm(np.concatenate([streams, head.added]), axis=-1).max() or 1.0

    if subject.simple:
        layout = rows_layout(label_axis(labels, "quiet"), 22, (148, 8, 8, 8), 260, blank_axis(0, longest))
        alt = gettext(
            "What the residual stream of step {step} is made of, one bar for each part. The largest parts: {told}.",
            step=step + 1,
            told=", ".join(names[k] for k in np.argsort(-lengths, kind="stable")[:3]),
        )
        return Spec([bars(lengths, colours)], layout, alt, table)

    labels[-1], colours[-1] = emphasise(labels[-1], "decoder"), "decoder"
    texts = [decimal(length) for length in lengths]
    hover = gettext("length %{x:.3f}") + "<extra></extra>"
    on_lengths = [
        bars(lengths, colours, texts, hovertemplate=hover, xaxis="x2"),
        numbers(lengths, [f" {text}" for text in texts], xaxis="x2"),
    ]
    hidden = {"showticklabels": False, "showgrid": False, "zeroline": False}
    rows_axis = label_axis(labels, "quiet")
    layout = rows_layout(
        rows_axis,
        22,
        (132, 6, 44, 8),
        340,
        value_axis(gettext("{count} units", count=units), [0.5, units + 0.5], domain=[0, 0.68], **hidden),
        value_axis(gettext("length"), [0, longest], domain=[0.72, 0.92], **hidden),
    ) | {"shapes": strip_shapes(rows_axis, displayed, "context")}
    alt = gettext(
        "Terms of the residual stream of step {step}, with their lengths: {told}.",
        step=step + 1,
        told="; ".join(f"{name} {text}" for name, text in zip(names, texts, strict=True)),
    )
    return Spec([strips(rows, limit), *on_lengths], layout, alt, table)


_LARGEST = 48
"""Largest number of rows and columns of a thumbnail."""


def draw_all_heads(subject: Subject) -> Spec:
    """Draw all cross-attention heads of a transformer at one step: a row for each, a column for each source word.

    It replaces the values of one head at the level *Idea*. Brightness is the square root of the share; layers are
    separated, the displayed head is framed.
    """
    trace, step, displayed = subject.trace, subject.step, subject.attention
    layers, heads = trace.cross_alignment.shape[:2]
    words = trace.words().source
    shares = word_weights_of_heads(trace, step).reshape(-1, len(words))
    (count, columns), displayed_row = shares.shape, displayed.layer * heads + displayed.head
    names, long_words = [gettext("attention {k}", k=k + 1) for k in range(count)], axis_labels(words, 60)
    texts = [
        [f"{name}<br>{word} {percent(share)}" for word, share in zip(long_words, row, strict=True)]
        for name, row in zip(names, shares, strict=True)
    ]
    names[displayed_row] = emphasise(names[displayed_row], "context")
    word_axis, longest = words_axis(words, (), "encoder", LABEL_LENGTH, across=True)
    angle = -50 if columns * longest > 300 else 0
    word_axis |= {"side": "top", "tickangle": angle}
    top = label_height(longest, word_axis["tickfont"]["size"], angle) + 10
    narrowest, widest = max(260, 110 + 12 * columns), 110 + 44 * max(columns, 6)
    layout = rows_layout(label_axis(names, "quiet"), 21, (84, 26, top, 8), narrowest, word_axis, widest=widest) | {
        "plot_bgcolor": "line",
        "shapes": [
            *(line((0, 1), [heads * layer - 0.5] * 2, "quiet", 2) for layer in range(1, layers)),
            row_frame(displayed_row, "context"),
        ],
    }
    counts = np.bincount(strongest_words(trace, step).ravel())
    most_attended = counts.argmax()
    alt = ngettext(
        "The {all} attention distributions of step {step}, a row each. {count} distribution attends most to {word}.",
        "The {all} attention distributions of step {step}, a row each. {count} distributions attend most to {word}.",
        counts[most_attended],
        all=count,
        step=step + 1,
        word=quote(shorten(words[most_attended], 30)),
    )
    image = cells(shares, 0, 1, heatmap_scale(root=True), xgap=1, ygap=1, text=texts, hoverinfo="text")
    return Spec([image], layout, alt)


def thumbnail(matrix: Numbers) -> Numbers:
    """Return `matrix`, (m, n), with at most LARGEST rows and columns, by the maximum of each block.

    The maximum keeps single bright cells visible.
    """
    for axis in (0, 1):
        if (size := matrix.shape[axis]) > _LARGEST:
            starts = np.arange(_LARGEST) * size // _LARGEST
            matrix = np.maximum.reduceat(matrix, starts, axis=axis)
    return matrix


def head_gallery(trace: TransformerTrace, rates: Mapping[tuple[int, int], float]) -> Spec:
    """Draw the weights of every head, queries down and keys across, with its number and its alignment error rate.

    Brightness is the square root of the weight. `rates` are alignment error rates of cross-attention heads, by 0-based
    layer and head; heads without one have only a number. The table has the mean entropy of each head in bits and its
    mean largest weight.
    """
    (layers, heads) = trace.cross_alignment.shape[:2]
    every = [head for kind in HEAD_KINDS for head in trace.heads_of(kind)]
    known_rates = [rates.get((head.layer, head.head)) if head.kind == "cross" else None for head in every]
    axis, panels = bare_axis(tickvals=[], **FRAMED), {}
    for number, (head, rate) in enumerate(zip(every, known_rates, strict=True)):
        name = f"{head.layer + 1}.{head.head + 1}"
        if rate is not None:
            name += "  " + gettext("AER {rate}", rate=decimal(rate))
        if head.layer == head.head == 0:
            name = f"<b>{head_kind_name(head.kind)}</b><br>{name}"
        panels[number] = name, axis, axis | {"autorange": "reversed"}
    layout, axes = side_by_side(panels, heads, (40, 0, 84, 6), (8, 8, 0, 0), 120)
    images = [
        cells(thumbnail(head.alignment), 0, 1, heatmap_scale(root=True), hoverinfo="skip", **axes[number])
        for number, head in enumerate(every)
    ]
    columns = {
        gettext("attention"): [head_kind_name(head.kind) for head in every],
        gettext("layer"): [head.layer + 1 for head in every],
        gettext("head"): [head.head + 1 for head in every],
        gettext("mean entropy, bits"): [entropy(head.alignment).mean() for head in every],
        gettext("mean largest weight"): [head.alignment.max(axis=1).mean() for head in every],
        gettext("alignment error rate"): [np.nan if rate is None else rate for rate in known_rates],
    }
    alt = gettext(
        "Small heatmaps of all heads: three kinds of attention, {layers} layers of {heads} heads each.",
        layers=layers,
        heads=heads,
    )
    if rates:
        layer, best = min(rates, key=rates.__getitem__)
        alt += " " + gettext(
            "In the cross-attention, head {head} of layer {layer} aligns best: its AER is {rate}.",
            head=best + 1,
            layer=layer + 1,
            rate=decimal(rates[layer, best]),
        )
    return Spec(images, layout, alt, numbered_rows(columns))


def weights_row(form: AttentionForm, step: int, pieces: Sequence[str], alt: str) -> Spec:
    """Draw the weights of 0-based `step` over the source `pieces`: 0 black, 1 white, as in the heatmap.

    With several heads, each has a row above their mean. An energy stands below the name of its piece. `alt` is the text
    alternative. The table has the energies and weights, a row for each source piece.
    """
    names = [piece_name(piece) for piece in pieces]
    if form.heads is None:
        rows = {gettext("weight α"): form.weights[step]}
    else:
        rows = {gettext("head {n}", n=number): head[step] for number, head in enumerate(form.heads, 1)}
        rows[gettext("mean")] = form.weights[step]
    labels, energies = axis_labels(names, 10), {}
    if form.energies is not None:
        energies = {gettext("energy e"): form.energies[step]}
        labels = [f"{label}<br>{decimal(energy, 1)}" for label, energy in zip(labels, form.energies[step], strict=True)]
    top, middle = 36 + 24 * len(energies), {"xref": "x", "xanchor": "center", "yanchor": "middle"}
    layout = rows_layout(
        label_axis(list(rows), "quiet", size=11, ticks=""),
        44,
        (84, 12, top, 12),
        330,
        label_axis(labels, "encoder", size=13, across=True, side="top"),
    ) | {
        "width": 96 + 74 * len(pieces),
        "annotations": [
            text_at(format_share(weight), j, row, letter_colour(colour_at(GREYS, weight)), **middle)
            for row, weights in enumerate(rows.values())
            for j, weight in enumerate(weights)
        ],
    }
    table = numbered_rows({gettext("piece"): names} | energies | rows, gettext("position"))
    return Spec([cells(list(rows.values()), 0, 1, GREYS, xgap=3, ygap=3, hoverinfo="skip")], layout, alt, table)


def multiplications(works: Mapping[str, Multiplications]) -> Spec:
    """Draw a stacked bar for each name: multiplications for keys, queries and pairs.

    The table has these numbers, a row for each name, with the sum and the number of tanh.
    """
    names, counts = list(works), list(works.values())
    parts = {
        gettext("keys, once per piece"): [work.keys for work in counts],
        gettext("query, once per step"): [work.queries for work in counts],
        gettext("every pair"): [work.pairs for work in counts],
    }
    colours = "encoder", "decoder", "bar"
    stacked = [
        bars(amounts, colour, y=names, name=name, hoverinfo="all", hovertemplate=f"{name}: %{{x:,d}}<extra></extra>")
        for (name, amounts), colour in zip(parts.items(), colours, strict=True)
    ]
    layout = (
        sized_layout(110 + 54 * len(names), (112, 36, 34, 52), 320, widest=900)
        | {
            "barmode": "stack",
            "bargap": 0.35,
            "xaxis": titled_axis(gettext("multiplications"), zeroline=False, nticks=5, tickformat=",d"),
            "yaxis": bare_axis(autorange="reversed", tickfont={"size": 13, "color": "ink"}) | APART,
        }
        | legend_above(1, traceorder="normal")
    )
    listed = "; ".join(
        gettext(
            "{name}: {total} multiplications and {tanh} tanh",
            name=name,
            total=work.total,
            tanh=work.tanh,
        )
        for name, work in works.items()
    )
    table: Table = {
        gettext("attention"): names,
        **parts,
        gettext("sum"): [work.total for work in counts],
        "tanh": [work.tanh for work in counts],
    }
    alt = gettext("Multiplications for all energies of this sentence. {listed}.", listed=listed)
    return Spec(stacked, layout, alt, table)
