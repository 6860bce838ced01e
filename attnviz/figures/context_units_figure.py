"""Figure of the most distinctive units of a context vector, as a running sum over source words."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.context_units import context_units
from attnviz.analysis.diagram_texts import context_sentence
from attnviz.analysis.labels import shorten, subscript
from attnviz.analysis.numbers import decimal, percent
from attnviz.figures.grammar import bare_axis, bars, label_axis, note, numbers, signed_colours, sized_layout
from attnviz.figures.spec import Spec, axis_labels, escape, rectangle
from attnviz.figures.subject import Subject
from attnviz.languages import gettext

_LABEL_LENGTH = 12
"""Characters of a word beside its line."""
_LINE, _WEIGHT_BAR, _GAP, _UNIT_LABELS = 38, 42, 26, 46
"""Pixels: height of a line, of the bar of weights above, of the gap, and of the unit labels below."""
_BAR_LENGTH = 0.46
"""Largest extent of a bar as a share of a line's height, in either direction."""
_WEIGHTS_Y, _NAMES_Y = 0.715, 0.2
"""Vertical positions of the bar of weights and of the words above it, downwards from 0 to 1."""
_LEAST_LABELLED = 0.12
"""Smallest share of the bar of weights with room for a word."""


def draw_context_units(subject: Subject) -> Spec:
    """Draw 24 units of c_i as columns, with a line for each source word and one for c_i.

    On a word's line, its alpha_ij h_j are added to the running sum of the lines above (a thin line). The bar above has
    the weights of the words; the column at the right has the largest cosine of c_i with an annotation of each word.
    `layout.meta` has the line of each source piece (`lines`). The table has the mean of all steps besides, and first
    the weights and the cosines.
    """
    trace, step, ink = subject.trace, subject.step, subject.ink
    found, words, symbol = context_units(trace, step), trace.words(), f"c{subscript(step + 1)}"
    count, lines, own = len(found.units), len(found.terms), len(found.words)
    groups, names = [words.source_groups[k] for k in found.words], [words.source[k] for k in found.words]
    columns = [f"({k + 1}) {name}" for k, name in zip(found.words, names, strict=True)]
    cosines = [float(found.cosines[list(group)].max()) for group in groups]
    if lines > own:
        names.append(gettext("{n} more", n=len(words.source) - own))
        columns.append(gettext("other words"))
        cosines.append(np.nan)
    weights, units = found.weights.tolist(), (found.units + 1).tolist()
    table = {gettext("unit"): [gettext("weight"), gettext("cosine"), *map(str, units)]}
    for column, weight, cosine, term in zip(columns, weights, cosines, found.terms, strict=True):
        table[column] = [weight, cosine, *term]
    table |= {symbol: [sum(weights), 1.0, *found.context], gettext("mean of all steps"): [np.nan, np.nan, *found.mean]}

    before = np.vstack([found.partial_sums, np.zeros(count)])  # (lines + 1, units)
    added = np.vstack([found.terms, found.context])
    # Lines are numbered downwards; positive values extend upwards from their line.
    scale = -_BAR_LENGTH / (float(np.abs([before + added, before]).max()) or 1.0)
    x, y = np.tile(np.arange(count), lines + 1), np.repeat(np.arange(lines + 1), count)
    texts = [
        gettext(
            "{name} adds {value} to unit {unit}, making {total}",
            name=escape(shorten(name, 30)),
            value=decimal(value, 3),
            unit=unit,
            total=decimal(start + value, 3),
        )
        for name, starts, term in zip(names, found.partial_sums.tolist(), found.terms.tolist(), strict=True)
        for unit, start, value in zip(units, starts, term, strict=True)
    ]
    texts += [
        gettext("unit {unit}: {value}", unit=unit, value=decimal(value, 3))
        for unit, value in zip(units, found.context.tolist(), strict=True)
    ]
    colours, starts = signed_colours(found.terms.ravel(), ink) + [ink.context] * count, (scale * before).ravel()
    sums = bars(x, {"color": ink.quiet}, orientation="v", base=y, y=starts, width=0.16)
    terms = bars(x, {"color": colours}, texts, orientation="v", base=y + starts, y=(scale * added).ravel())
    texts = [decimal(cosine) for cosine in cosines[:own]] + [""] * (lines - own)
    on_right = numbers([count - 0.2] * lines, texts, 12, ink) | {"textfont": {"size": 12, "color": ink.quiet}}
    ends, above = np.cumsum(weights), {"xaxis": "x2", "yaxis": "y2"}
    texts = [
        escape(f"{percent(share)} {shorten(name, max(3, int(share * 34)))}") if share >= _LEAST_LABELLED else ""
        for name, share in zip(names, weights, strict=True)
    ]
    on_top = numbers(ends - found.weights / 2, texts, 13, ink) | above
    on_top |= {"y": [_NAMES_Y] * lines, "textposition": "middle center"}
    shares = bars(
        found.weights,
        {"color": ink.encoder, "line": {"width": 1.5, "color": ink.paper}},
        [escape(f"{percent(share)} {shorten(name, 30)}") for name, share in zip(names, weights, strict=True)],
        base=ends - found.weights,
        y=[_WEIGHTS_Y] * lines,
        width=0.43,
        **above,
    )

    labels = [f"{shorten(name, _LABEL_LENGTH)} {decimal(share)}" for name, share in zip(names, weights, strict=True)]
    labels = [*axis_labels(labels, _LABEL_LENGTH + 6), f"<b>{gettext('sum = {c}', c=symbol)}</b>"]
    forward = trace.annotations.shape[1] // (1 + trace.reads_backwards)
    line_of_piece = {j: row for row, group in enumerate(groups) for j in group}
    inner = _WEIGHT_BAR + _GAP + _LINE * (lines + 1)
    top, bar_bottom = _LINE * (lines + 1) / inner, 1 - _WEIGHT_BAR / inner
    layout = sized_layout(
        ink,
        inner + _UNIT_LABELS + 6,
        (112, 46, 6, _UNIT_LABELS),
        340,
        lines=[line_of_piece.get(j, own) for j in range(len(trace.source_pieces))],
        selection_colour=ink.encoder,
    ) | {
        "bargap": 0.22,
        "barmode": "overlay",
        "hovermode": "closest",
        "xaxis": label_axis(
            [f"{unit} {'→' if unit <= forward else '←'}" for unit in units],
            ink,
            ink.quiet,
            size=10,
            range=[-0.6, count],
            tickangle=-90,
            ticks="",
            anchor="y",
        ),
        "yaxis": label_axis(labels, ink, ink.encoder, size=13, domain=[0, top], showgrid=True),
        "xaxis2": bare_axis(ink, range=[0, 1], showticklabels=False, anchor="y2"),
        "yaxis2": label_axis([f"{symbol} ="], ink, ink.context, [_WEIGHTS_Y], 14, range=[1, 0], domain=[bar_bottom, 1]),
        "annotations": [
            note(gettext("cosine"), 1, top, ink.quiet, yref="paper", xshift=-2, font={"size": 11, "color": ink.quiet})
        ],
        "shapes": [rectangle(0, 1, 0.46, 0.97, ink.context) | {"xref": "paper", "yref": "y2"}],
    }
    largest = int(np.abs(found.context - found.mean).argmax())
    alt = gettext(
        "What each source word adds to the units of the context vector of step {step}. {told} Unit {unit} "
        "differs most from its mean over all steps: {value} instead of {mean}.",
        step=step + 1,
        told=context_sentence(trace, found, step),
        unit=int(found.units[largest]) + 1,
        value=decimal(float(found.context[largest])),
        mean=decimal(float(found.mean[largest])),
    )
    return Spec([sums, terms, on_right, shares, on_top], layout, alt, table)
