"""Figures of the context of one step: weighted values and their sum, the sum as it grows, and its units.

The context is the context vector of a recurrent translator, whose values are annotations, or the output of a head.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.analysis.diagram import context_sentence, context_units
from attnviz.analysis.labels import shorten, subscript
from attnviz.analysis.measures import weight_order
from attnviz.analysis.numbers import decimal, percent, significant
from attnviz.figures.heads_figure import draw_all_heads
from attnviz.figures.heatmap import colour_bar
from attnviz.figures.spec import (
    LABEL_LENGTH,
    LEFT,
    STRIP,
    THINNED_ROWS,
    TOP,
    Part,
    Spec,
    axis_labels,
    bars,
    blank_axis,
    colour_limit,
    emphasise,
    escape,
    label_axis,
    label_size,
    numbers,
    rectangle,
    row_height,
    row_names,
    rows_layout,
    signed_colours,
    sized_layout,
    strip_shapes,
    strips,
    text_at,
    units_table,
)
from attnviz.figures.subject import Subject
from attnviz.languages import gettext, ngettext
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.trace.transformer_trace import Head

STRIPS = 6
"""Number of values with a strip of their own; the others are summed."""


def draw_context(subject: Subject) -> Spec:
    """Draw c_i = sum_j alpha_ij h_j, or z_i = sum_j alpha_ij v_j of a head: the largest terms, the rest, and the sum.

    Lines separate forward and backward halves. Without attention c_i is the forward half of the last annotation, the
    only strip. At the level *Idea* it draws the weights of all heads instead.
    """
    attention, step, total = subject.attention, subject.step, subject.attention.contexts[subject.step]
    symbol, units = f"{attention.context_symbol}{subscript(step + 1)}", len(total)
    names, rows = [f"{symbol} = →h{subscript(len(attention.source_pieces))}"], [total]
    if attention.attends:
        alpha, order = attention.alignment[step], weight_order(attention, step)
        groups = [[j] for j in sorted(order[:STRIPS])] + [sorted(order[STRIPS:])] * (len(order) > STRIPS)
        pieces = [shorten(piece_name(piece), subject.longest or 14) for piece in attention.source_pieces]
        named = [*(pieces[group[0]] for group in groups[:STRIPS]), gettext("{n} more", n=len(order) - STRIPS)]
        names = [f"{decimal(alpha[group].sum())}  {name}" for group, name in zip(groups, named, strict=False)]
        names.append(gettext("{context} = sum", context=symbol))
        rows = [alpha[group] @ attention.values[group] for group in groups] + [total]
    table = units_table(names, rows)
    if subject.simple and subject.trace.has_heads:
        return replace(draw_all_heads(subject), table=table)

    limit, last = colour_limit(total), len(rows) - 1
    ends = [f"≤ −{significant(limit)}", "0", f"≥ {significant(limit)}"]
    scale = colour_bar([-limit, 0, limit], ends) | {"x": 1, "xanchor": "right", "xpad": 10, "ypad": 6, "len": 150}
    labels = axis_labels(names, subject.longest + 30)
    labels[-1] = emphasise(labels[-1], "context")
    rows_axis, unit_axis = label_axis(labels, "encoder", ticks=""), _unit_axis(attention)
    layout = rows_layout(rows_axis, 25, (142, 6, 26, 34), 300, unit_axis)
    layout["shapes"] = strip_shapes(rows_axis, last, "context")
    for edge in np.linspace(0.5, units + 0.5, len(unit_axis["ticktext"]) + 1)[1:-1]:
        layout["shapes"].append(rectangle(edge, edge, -0.5, last + 0.5, "encoder", 1.5))
    alt = gettext(
        "Context {symbol} of step {step}: a strip of {count} units for each weighted piece, and a last strip for their "
        "sum.",
        symbol=symbol,
        step=step + 1,
        count=units,
    )
    return Spec([strips(np.stack(rows), limit, showscale=True, colorbar=scale)], layout, alt, table)


def _unit_axis(attention: Any) -> Part:
    """Return the axis of the units, with the names of the parts of equal size that they have."""
    units, names = attention.contexts.shape[1], [gettext("values of the head")]
    if not attention.has_heads:
        half = attention.annotations.shape[1] // (1 + attention.reads_backwards)
        names = [gettext("forward →"), gettext("← backward")][: units // half]
    places, ends = [units * (k + 0.5) / len(names) for k in range(len(names))], [0.5, units + 0.5]
    return label_axis(names, "encoder", places, range=ends, side="top", ticks="")


_SUM_GAP = 12
"""Pixels between the rows and the running sum below them."""


def context_frame(attention: Trace | Head, *, thinned: bool = False) -> Spec:
    """Return the figure of the growing context, (units,), without its numbers, which the browser computes.

    Rows are the source pieces, or if `thinned` THINNED_ROWS of them and one for the rest; below them is the running
    sum, on an axis of its own. `layout.meta` has the pieces' `names`, the number of `rows`, and the unit after which
    the second part begins (`hidden`).
    """
    count = THINNED_ROWS + 1 if thinned else len(attention.source_pieces)
    units, unit_axis = attention.contexts.shape[1], _unit_axis(attention)
    rows_height, sum_height = row_height(count) * count, STRIP + 4
    inner = rows_height + _SUM_GAP + sum_height
    meta = {"selection_colour": "encoder", "paper_colour": "paper", "context_colour": "context", "rows": count}
    meta |= {"hidden": units // len(unit_axis["ticktext"]), "names": row_names(attention)}
    layout = sized_layout(TOP + inner + 8, (LEFT + 38, 6, TOP, 8), 320, **meta) | {
        "xaxis": unit_axis,
        "yaxis": label_axis([""] * count, "encoder", size=label_size(count), domain=[1 - rows_height / inner, 1]),
        "yaxis2": label_axis([""], "context", size=13, domain=[0, sum_height / inner], anchor="x"),
    }
    alt = gettext(
        "Weighted sum: one strip of {count} units for each source piece, and a last strip for the sum.", count=units
    )
    strip = strips([], 1)
    return Spec([strip, strip | {"yaxis": "y2"}], layout, alt)


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
    trace, step = subject.trace, subject.step
    found, words, symbol = context_units(trace, step), trace.words(), f"c{subscript(step + 1)}"
    count, lines, own = len(found.units), len(found.terms), len(found.words)
    groups, names = [words.source_groups[k] for k in found.words], [words.source[k] for k in found.words]
    columns = [f"({k + 1}) {name}" for k, name in zip(found.words, names, strict=True)]
    cosines = [float(found.cosines[list(group)].max()) for group in groups]
    if lines > own:
        names.append(ngettext("{count} other", "{count} others", len(words.source) - own))
        columns.append(gettext("other words"))
        cosines.append(np.nan)
    weights, units = found.weights.tolist(), (found.units + 1).tolist()
    named = list(zip(names, weights, strict=True))

    before = np.vstack([found.partial_sums, np.zeros(count)])  # (lines + 1, units)
    added = np.vstack([found.terms, found.context])
    # Lines are numbered downwards; positive values extend upwards from their line.
    scale = -_BAR_LENGTH / (float(np.abs([before + added, before]).max()) or 1.0)
    x, y = [*range(count)] * (lines + 1), np.repeat(np.arange(lines + 1), count)
    adds, is_sum = gettext("{name}: {value} added to unit {unit}, making {total}"), gettext("unit {unit}: {value}")
    hover = [
        adds.format(name=name, value=decimal(value, 3), unit=unit, total=decimal(start + value, 3))
        for name, starts, term in zip(axis_labels(names, 30), found.partial_sums, found.terms, strict=True)
        for unit, start, value in zip(units, starts, term, strict=True)
    ]
    hover += [
        is_sum.format(unit=unit, value=decimal(value, 3)) for unit, value in zip(units, found.context, strict=True)
    ]
    colours, starts = signed_colours(found.terms.ravel()) + ["context"] * count, (scale * before).ravel()
    ends, above = np.cumsum(weights), {"xaxis": "x2", "yaxis": "y2"}
    on_lines = [decimal(cosine) for cosine in cosines[:own]] + [""] * (lines - own)
    texts = [
        escape(f"{percent(share)} {shorten(name, max(3, int(share * 34)))}") if share >= _LEAST_LABELLED else ""
        for name, share in named
    ]
    shares = bars(
        found.weights,
        "bar",
        [escape(f"{percent(share)} {shorten(name, 30)}") for name, share in named],
        marker={"line": {"width": 1.5, "color": "paper"}},
        base=ends - found.weights,
        y=[_WEIGHTS_Y] * lines,
        width=0.43,
    )
    names_above = numbers(
        ends - found.weights / 2, texts, 13, y=[_NAMES_Y] * lines, textposition="middle center", **above
    )
    data = [
        bars(x, "quiet", orientation="v", base=y, y=starts, width=0.16),
        bars(x, colours, hover, orientation="v", base=y + starts, y=(scale * added).ravel()),
        numbers([count - 0.2] * lines, on_lines, textfont={"size": 12, "color": "quiet"}),
        shares | above,
        names_above,
    ]

    longest = subject.longest or LABEL_LENGTH
    labels = axis_labels([f"{shorten(name, longest)} {decimal(share)}" for name, share in named], longest + 6)
    labels.append(f"<b>{gettext('sum = {c}', c=symbol)}</b>")
    forward = trace.annotations.shape[1] // (1 + trace.reads_backwards)
    unit_labels = [f"{unit} {'→' if unit <= forward else '←'}" for unit in units]
    line_of_piece = {j: row for row, group in enumerate(groups) for j in group}
    line_of_pieces = [line_of_piece.get(j, own) for j in range(len(trace.source_pieces))]
    inner = _WEIGHT_BAR + _GAP + _LINE * (lines + 1)
    top, bar_bottom = _LINE * (lines + 1) / inner, 1 - _WEIGHT_BAR / inner
    layout = sized_layout(
        inner + _UNIT_LABELS + 6, (112, 46, 6, _UNIT_LABELS), 340, lines=line_of_pieces, selection_colour="encoder"
    ) | {
        "bargap": 0.22,
        "barmode": "overlay",
        "xaxis": label_axis(unit_labels, "quiet", size=10, range=[-0.6, count], tickangle=-90, ticks=""),
        "yaxis": label_axis(labels, "encoder", size=13, domain=[0, top], showgrid=True),
        "xaxis2": blank_axis(0, 1, anchor="y2"),
        "yaxis2": label_axis([f"{symbol} ="], "context", [_WEIGHTS_Y], 14, range=[1, 0], domain=[bar_bottom, 1]),
        "annotations": [text_at(gettext("cosine"), 1, top, "quiet", 11, yref="paper", xshift=-2)],
        "shapes": [rectangle(0, 1, 0.46, 0.97, "context") | {"xref": "paper", "yref": "y2"}],
    }
    largest = int(np.abs(found.context - found.mean).argmax())
    alt = gettext(
        "What each source word adds to the units of the context vector of step {step}. {told} Unit {unit} "
        "differs most from its mean over all steps: {value} instead of {mean}.",
        step=step + 1,
        told=context_sentence(trace, found, step),
        unit=units[largest],
        value=decimal(float(found.context[largest])),
        mean=decimal(float(found.mean[largest])),
    )
    table: dict[str, list[Any]] = {gettext("unit"): [gettext("weight"), gettext("cosine"), *map(str, units)]}
    for column, weight, cosine, term in zip(columns, weights, cosines, found.terms, strict=True):
        table[column] = [weight, cosine, *term]
    table |= {symbol: [sum(weights), 1.0, *found.context], gettext("mean of all steps"): [np.nan, np.nan, *found.mean]}
    return Spec(data, layout, alt, table)
