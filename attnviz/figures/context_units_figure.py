"""Figure of the most distinctive units of a context vector, as a running sum over source words."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.context_units import context_units
from attnviz.analysis.diagram_texts import context_sentence
from attnviz.analysis.labels import shorten, subscript
from attnviz.analysis.numbers import decimal, percent
from attnviz.figures.grammar import bare_axis, label_axis, numbers, signed_colours
from attnviz.figures.spec import Part, Spec, axis_labels, base_layout, escape, rectangle
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
    found, words = context_units(trace, step), trace.words()
    symbol, weights, count, lines = f"c{subscript(step + 1)}", found.weights, len(found.units), len(found.terms)
    groups, names = [words.source_groups[k] for k in found.words], [words.source[k] for k in found.words]
    cosines = [float(found.cosines[list(group)].max()) for group in groups]
    table: dict[str, list[object]] = {
        gettext("unit"): [gettext("weight"), gettext("cosine"), *(str(unit + 1) for unit in found.units)]
    }
    columns = [f"({k + 1}) {words.source[k]}" for k in found.words]
    if lines > len(groups):
        names.append(gettext("{n} more", n=len(words.source) - len(groups)))
        columns.append(gettext("other words"))
    for row, column in enumerate(columns):
        table[column] = [weights[row], cosines[row] if row < len(cosines) else np.nan, *found.terms[row]]
    table |= {symbol: [weights.sum(), 1.0, *found.context], gettext("mean of all steps"): [np.nan, np.nan, *found.mean]}

    sums = np.vstack([found.partial_sums, np.zeros(count)])  # (lines + 1, units)
    added = np.vstack([found.terms, found.context])
    # Lines are numbered downwards; positive values extend upwards from their line.
    scale = -_BAR_LENGTH / (float(np.abs(np.vstack([sums + added, sums])).max()) or 1.0)
    bar = {"type": "bar", "x": np.tile(np.arange(count), lines + 1)}
    running = bar | {
        "base": np.repeat(np.arange(lines + 1), count),
        "y": (scale * sums).ravel(),
        "hoverinfo": "skip",
        "width": 0.16,
        "marker": {"color": ink.quiet},
    }
    added_bars = bar | {
        "base": (np.arange(lines + 1)[:, None] + scale * sums).ravel(),
        "y": (scale * added).ravel(),
        "customdata": [
            *(
                gettext(
                    "{name} adds {value} to unit {unit}, making {total}",
                    name=escape(shorten(name, 30)),
                    value=decimal(value, 3),
                    unit=unit + 1,
                    total=decimal(before + value, 3),
                )
                for name, befores, term in zip(names, sums.tolist(), added.tolist(), strict=False)
                for unit, before, value in zip(found.units, befores, term, strict=True)
            ),
            *(
                gettext("unit {unit}: {value}", unit=unit + 1, value=decimal(value, 3))
                for unit, value in zip(found.units, found.context.tolist(), strict=True)
            ),
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": [*signed_colours(found.terms.ravel(), ink), *[ink.context] * count]},
    }
    texts = [*map(decimal, cosines), *[""] * (lines - len(cosines))]
    cosine_texts = numbers([count - 0.2] * lines, texts, 12, ink) | {"textfont": {"size": 12, "color": ink.quiet}}

    above: Part = {"xaxis": "x2", "yaxis": "y2"}
    ends, named = np.cumsum(weights), list(zip(names, weights.tolist(), strict=True))
    weight_bar = above | {
        "type": "bar",
        "orientation": "h",
        "x": weights,
        "base": ends - weights,
        "y": [_WEIGHTS_Y] * lines,
        "width": 0.43,
        "customdata": [escape(f"{percent(weight)} {shorten(name, 30)}") for name, weight in named],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": ink.encoder, "line": {"width": 1.5, "color": ink.paper}},
    }
    weight_names = above | {
        "type": "scatter",
        "mode": "text",
        "x": ends - weights / 2,
        "y": [_NAMES_Y] * lines,
        "text": [
            escape(f"{percent(weight)} {shorten(name, max(3, int(weight * 34)))}") if weight >= _LEAST_LABELLED else ""
            for name, weight in named
        ],
        "hoverinfo": "skip",
        "textfont": {"size": 13, "color": ink.ink},
    }

    inner = _WEIGHT_BAR + _GAP + _LINE * (lines + 1)
    top = _LINE * (lines + 1) / inner
    forward = trace.annotations.shape[1] // (1 + trace.reads_backwards)
    line_of_piece = {j: line for line, group in enumerate(groups) for j in group}
    layout = base_layout(ink) | {
        "height": inner + _UNIT_LABELS + 6,
        "margin": {"l": 112, "r": 46, "t": 6, "b": _UNIT_LABELS},
        "bargap": 0.22,
        "barmode": "overlay",
        "hovermode": "closest",
        "xaxis": bare_axis(
            ink,
            range=[-0.6, count],
            tickvals=list(range(count)),
            ticktext=[f"{unit + 1} {'→' if unit < forward else '←'}" for unit in found.units],
            tickangle=-90,
            anchor="y",
            tickfont={"size": 10, "color": ink.quiet},
        ),
        "yaxis": label_axis(
            [
                *axis_labels([f"{shorten(name, _LABEL_LENGTH)} {decimal(weight)}" for name, weight in named], 18),
                f"<b>{gettext('sum = {c}', c=symbol)}</b>",
            ],
            ink,
            ink.encoder,
            domain=[0, top],
            size=13,
            showgrid=True,
        ),
        "xaxis2": bare_axis(ink, range=[0, 1], showticklabels=False, anchor="y2"),
        "yaxis2": label_axis(
            [f"{symbol} ="],
            ink,
            ink.context,
            [_WEIGHTS_Y],
            range=[1, 0],
            domain=[1 - _WEIGHT_BAR / inner, 1],
            size=14,
        ),
        "annotations": [
            {
                "text": gettext("cosine"),
                "x": 1,
                "xref": "paper",
                "xanchor": "left",
                "xshift": -2,
                "y": top,
                "yref": "paper",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": 11, "color": ink.quiet},
            }
        ],
        "shapes": [rectangle(0, 1, 0.46, 0.97, ink.context) | {"xref": "paper", "yref": "y2"}],
        "meta": {
            "narrowest": 340,
            "lines": [line_of_piece.get(j, len(groups)) for j in range(len(trace.source_pieces))],
            "selection_colour": ink.encoder,
        },
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
    return Spec([running, added_bars, cosine_texts, weight_bar, weight_names], layout, alt, table)
