"""Figure of a step's attention in one picture: energies, weights, and the weighted sum that is the context."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attnviz.analysis.diagram import WeightedSum, weighted_sum
from attnviz.analysis.labels import shorten, subscript
from attnviz.analysis.measures import weight_order
from attnviz.analysis.numbers import decimal, percent
from attnviz.analysis.stages import energy_and_ratio, strongest_pair
from attnviz.figures.grammar import (
    LABEL_LENGTH,
    bare_axis,
    bars,
    colour_limit,
    energy_range,
    finite_energies,
    label_axis,
    line,
    names_axis,
    short_source_name,
    signed_colours,
    sized_layout,
    spaced,
    strips,
    text_at,
    texts_at,
)
from attnviz.figures.spec import (
    Numbers,
    Part,
    Spec,
    axis_labels,
    emphasise,
    escape,
    in_colour,
    label_stride,
    label_width,
    rectangle,
)
from attnviz.figures.subject import Subject
from attnviz.languages import format_share, gettext
from attnviz.palette import Palette, letter_colour
from attnviz.text import piece_name

_ENERGIES, _JUMP, _WEIGHTS, _UNITS, _STRIP_ROW = 62, 22, 54, 20, 19
"""Heights in pixels: energies, the line between them and the weights, weights, numbers of units, a strip."""
_TOP, _LEFT, _RIGHT, _FOOT = 12, 92, 14, 18
"""Margins in pixels; those at the sides are the diagram's (`components/diagram/plan.js`), so that columns line up."""
_NUMBERS = 14
"""Largest number of bars of which each has its number."""
_NUMBERED = 0.005
"""Least share whose bar has a number."""
_NARROWEST_COLUMN = 18
"""Width in pixels of the narrowest column of a short sentence, on a phone."""
_STRIP_LABEL = 7
"""Characters of a piece's name beside its strip."""


def draw_attention(subject: Subject) -> Spec:
    """Draw how a context is built, downwards: e_ij, alpha_ij, the largest alpha_ij h_j (or v_j) and their sum.

    Energies and weights are upright bars, one column for each source piece. The terms and their sum are strips of a few
    units, whose columns can be added up. `layout.meta` says that source pieces are columns (`upright`), which part of
    the height each stage has (`stages`), which piece each strip is of (`strip_pieces`), and what the browser needs to
    compute the strips of other weights (`mixture`).
    """
    trace, step, ink = subject.attention, subject.step, subject.ink
    names = [piece_name(piece) for piece in trace.source_pieces]
    alpha, all_energies = trace.alignment[step], finite_energies(trace)
    count, order, found = len(names), weight_order(trace, step), weighted_sum(trace, step)
    jump, pair = energy_and_ratio(trace, step), (strongest_pair(trace, step) or ())[:2]
    others, labels, size = count - len(found.pieces), axis_labels(names, subject.longest or LABEL_LENGTH), 13
    rounded = gettext("Each number is rounded, so a sum can differ in its last digit.")
    rows, total = _row_names(found, names), f"{trace.context_symbol}{subscript(step + 1)}"

    numbered = {order[rank] for rank in spaced(order, count / _NUMBERS)} | {*pair}
    energy_texts = [
        decimal(energy, 2 if j in pair else 1) if j in numbered and math.isfinite(energy) else ""
        for j, energy in enumerate(all_energies[step].tolist())
    ]
    shares = [
        format_share(share) if j in numbered and share >= _NUMBERED else "" for j, share in enumerate(alpha.tolist())
    ]

    # Slanted by 50 degrees, whose sine is 0.77; from 15 pieces on upright.
    length = label_width(names, size, subject.longest or LABEL_LENGTH)
    slanted = length > _NARROWEST_COLUMN
    below = round(length + 10 if count > 14 else length * 0.77 + 16 if slanted else 20)
    heights = [_ENERGIES, _JUMP, _WEIGHTS, below, _UNITS, _STRIP_ROW * (len(rows) + 1)]
    edges = (1 - np.cumsum([0, *heights]) / sum(heights)).tolist()
    spans = {"1": [edges[1], edges[0]], "2": [edges[3], edges[2]], "3": [edges[6], edges[4]]}
    strip_axes = {"xref": "x2", "yref": "y3"}
    ends = [-0.5, len(found.units) - 0.5]
    layout = sized_layout(
        ink,
        sum(heights) + _TOP + _FOOT,
        (_LEFT, _RIGHT, _TOP, _FOOT),
        _LEFT + _RIGHT + min(_NARROWEST_COLUMN * count, max(_NARROWEST_COLUMN * _NUMBERS, 8 * count), 4000),
        upright=True,
        order=order,
        peak=order[0],
        selection_colour=ink.encoder,
        stages=spans,
        stage_colour=ink.decoder,
        strip_pieces=[*found.pieces, *[None] * (1 + (others > 0))],
        weights={"trace": 2, "axis": "yaxis", "shares": True, "pieces": [shorten(name, 40) for name in names]},
        mixture={
            "trace": 4,
            "values": found.values,
            "names": [shorten(name, _STRIP_LABEL) for name in names],
            "more": gettext("the rest"),
        },
    ) | {
        "barmode": "overlay",
        "hovermode": "closest",
        "xaxis": names_axis(
            labels,
            ink.encoder,
            size,
            ink,
            label_stride(count),
            framed=False,
            tickangle=-90 if count > 14 else -50 if slanted else 0,
            anchor="y",
        ),
        "yaxis": bare_axis(ink, domain=spans["2"], range=[0, 1.34], showticklabels=False, zeroline=True),
        "yaxis2": bare_axis(
            ink,
            domain=spans["1"],
            range=energy_range(all_energies, padding=0.3),
            showticklabels=False,
            zeroline=True,
            zerolinecolor=ink.quiet,
        ),
        "xaxis2": label_axis(
            [str(unit) for unit in (found.units + 1).tolist()],
            ink,
            ink.quiet,
            size=10,
            range=ends,
            side="top",
            ticks="",
            anchor="y3",
        ),
        "yaxis3": label_axis(
            [*map(escape, rows), emphasise(gettext("sum = {c}", c=total), ink.context)],
            ink,
            ink.encoder,
            size=11,
            domain=[edges[6], edges[5]],
            anchor="x2",
        ),
        "annotations": [
            _beside(gettext("Fit"), gettext("energy e"), sum(spans["1"]) / 2, ink),
            _beside(gettext("Share"), gettext("weight α"), sum(spans["2"]) / 2, ink),
            _beside(gettext("Mixture"), "", (edges[4] + edges[5]) / 2, ink),
            text_at(rounded, 1, 0, ink.quiet, 11, xref="paper", yref="paper", xanchor="right", yanchor="top"),
            text_at(escape(jump), 0, edges[2], ink.ink, 13, yref="paper", xshift=8 - _LEFT),
        ],
        "shapes": [
            *(line(ends, (row + 0.5, row + 0.5), ink.paper, 3) | strip_axes for row in range(len(rows))),
            rectangle(ends[0], ends[1], len(rows) - 0.46, len(rows) + 0.46, ink.context) | strip_axes,
        ],
    }
    data = [
        *_upright_bars(all_energies[step], energy_texts, names, "e", signed_colours(all_energies[step], ink), ink),
        *_upright_bars(alpha, shares, names, "α", ink.bar, ink),
        _strips(found, colour_limit(trace.contexts[:, found.units]), ink),
    ]
    data[:2] = [part | {"yaxis": "y2"} for part in data[:2]]
    return Spec(data, layout, _alt(subject, jump, rows, total, found), _table(subject, found))


def _row_names(found: WeightedSum, names: list[str]) -> list[str]:
    """Return the labels of the terms: weight and piece of each, and of all others together."""
    rows = [shorten(names[j], _STRIP_LABEL) for j in found.pieces]
    rows = [f"{format_share(weight)} × {name}" for weight, name in zip(found.weights, rows, strict=False)]
    if len(found.weights) > len(rows):
        rows.append(f"{format_share(found.weights[-1])} × {gettext('the rest')}")
    return rows


def _upright_bars(
    values: Numbers, texts: list[str], names: list[str], symbol: str, colour: str | list[str], ink: Palette
) -> list[Part]:
    """Return an upright bar for each source piece, and the `texts` at their ends."""
    ends, places = np.nan_to_num(values), np.arange(len(values), dtype=np.int32)
    sides = ["bottom center" if end < 0 else "top center" for end in ends.tolist()]
    upright: Part = {"orientation": "v", "x": places, "y": values, "width": min(0.62, len(values) / 10)}
    size = 11 if len(values) <= 12 else 10
    return [
        bars(
            (),
            {"color": colour},
            axis_labels(names, 60),
            hovertemplate=f"%{{customdata}}<br>{symbol} = %{{y:.4f}}<extra></extra>",
            **upright,
        ),
        texts_at(places, ends, texts, size, ink.ink, textposition=sides, cliponaxis=False),
    ]


def _strips(found: WeightedSum, limit: float, ink: Palette) -> Part:
    """Return the terms and their sum as strips, with a number in each cell."""
    rows = np.vstack([found.terms, found.total])
    if letter_colour(ink.plus) != "#ffffff":
        limit *= 3  # the dark theme's colours are so light that white numbers would not be legible on them
    return strips(
        rows,
        limit,
        ink,
        x0=0,
        xaxis="x2",
        yaxis="y3",
        text=[[decimal(value) for value in row] for row in rows.tolist()],
        texttemplate="%{text}",
        textfont={"size": 11},
        customdata=[(found.units + 1).tolist()] * len(rows),
        hovertemplate=gettext("number %{customdata}: %{z:.3f}") + "<extra></extra>",
    )


def _beside(name: str, quantity: str, y: float, ink: Palette) -> Part:
    """Return the name of a stage and its quantity, left of its bars."""
    text = f"<b>{name}</b>" + (f"<br>{in_colour(quantity, ink.quiet)}" if quantity else "")
    return text_at(text, 0, y, ink.ink, 12, yref="paper", xshift=8 - _LEFT, yanchor="middle", align="left")


def _alt(subject: Subject, jump: str, rows: list[str], total: str, found: WeightedSum) -> str:
    trace, step = subject.attention, subject.step
    best = weight_order(trace, step)[0]
    weights = gettext(
        "Energies and attention weights of step {step} over {count} source pieces. The largest weight, {share}, is on "
        "piece {number}, {name}.",
        step=step + 1,
        count=len(trace.source_pieces),
        share=percent(float(trace.alignment[step][best])),
        number=best + 1,
        name=short_source_name(trace, best),
    )
    mixture = gettext(
        "Below them are {shown} of the {units} numbers of {context}, the sum of these strips: {parts}.",
        shown=len(found.units),
        units=trace.contexts.shape[1],
        context=total,
        parts=", ".join(rows),
    )
    return " ".join(filter(None, (weights, jump and f"{jump}.", mixture)))


def _table(subject: Subject, found: WeightedSum) -> dict[str, Any]:
    """Return energy, weight and weighted numbers of each source piece j (counted from 1)."""
    trace, step = subject.attention, subject.step
    weighted = trace.alignment[step].astype(np.float64)[:, None] * found.values  # (Tx, K)
    return {
        "j": np.arange(1, len(trace.source_pieces) + 1),
        gettext("source piece"): list(trace.source_pieces),
        gettext("energy"): trace.energies[step],
        "alpha": trace.alignment[step],
        **{gettext("α × number {n}", n=unit + 1): weighted[:, k] for k, unit in enumerate(found.units.tolist())},
    }
