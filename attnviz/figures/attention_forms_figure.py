"""Figures of forms of attention: a row of weights in one form, and the multiplications for all energies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnviz.analysis.attention_forms import AttentionForm, Multiplications
from attnviz.analysis.numbers import decimal, thousands
from attnviz.figures.grammar import (
    APART,
    bare_axis,
    bars,
    cells,
    label_axis,
    legend_above,
    rows_layout,
    sized_layout,
    text_at,
    titled_axis,
)
from attnviz.figures.spec import Spec, Table, axis_labels, numbered
from attnviz.languages import format_share, gettext
from attnviz.palette import GREYS, colour_at, letter_colour
from attnviz.text import piece_name

_CELL, _ROW, _LEFT, _LINE, _EDGE = 74, 44, 84, 24, 12
"""Pixels of a cell, of a row, of the margin with its names, of a line of labels, and of the other margins."""
_LONGEST = 10
"""Characters of the label of a piece."""


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
    labels, energies = axis_labels(names, _LONGEST), {}
    if form.energies is not None:
        energies = {gettext("energy e"): form.energies[step]}
        labels = [
            f"{label}<br>{decimal(energy, 1)}"
            for label, energy in zip(labels, form.energies[step].tolist(), strict=True)
        ]
    top, middle = _EDGE + _LINE * (1 + len(energies)), {"xref": "x", "xanchor": "center", "yanchor": "middle"}
    layout = rows_layout(
        label_axis(list(rows), "quiet", size=11, ticks=""),
        _ROW,
        (_LEFT, _EDGE, top, _EDGE),
        330,
        label_axis(labels, "encoder", size=13, across=True, side="top"),
    ) | {
        "width": _LEFT + _CELL * len(pieces) + _EDGE,
        "annotations": [
            text_at(format_share(weight), j, row, letter_colour(colour_at(GREYS, weight)), **middle)
            for row, weights in enumerate(rows.values())
            for j, weight in enumerate(weights.tolist())
        ],
    }
    table = numbered({gettext("piece"): names} | energies | rows, gettext("position"))
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
            total=thousands(work.total),
            tanh=thousands(work.tanh),
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
