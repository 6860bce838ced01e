"""Figures of the attention of one step: energies, softmax, weights and posterior as bars, and all of it in one.

Figures with a row for each source piece line up. Their `layout.meta` has `order`, the 0-based source pieces by weight,
largest first, and `selection_colour`, the colour of the selected row. For a long sentence it also has `thinned`: rows
and height when ordered by weight, and the name of the row for the rest (`more`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from attnviz.analysis.diagram import weighted_sum
from attnviz.analysis.labels import shorten, subscript
from attnviz.analysis.measures import weight_order
from attnviz.analysis.numbers import decimal, percent, significant, small
from attnviz.analysis.stages import energy_and_ratio, strongest_pair
from attnviz.figures.spec import (
    LABEL_LENGTH,
    LEFT,
    MOST_ROWS,
    THINNED_ROWS,
    TOP,
    Numbers,
    Part,
    Spec,
    axis_labels,
    bars,
    blank_axis,
    colour_limit,
    emphasise,
    energy_range,
    escape,
    finite_energies,
    in_colour,
    label_axis,
    label_height,
    label_size,
    label_stride,
    label_width,
    numbered_rows,
    numbers,
    piece_names,
    points,
    row_height,
    row_names,
    rows_layout,
    signed_colours,
    sized_layout,
    spaced,
    strip_shapes,
    strips,
    text_at,
    texts_at,
    value_axis,
    width,
)
from attnviz.figures.subject import Subject
from attnviz.languages import format_share, gettext, language
from attnviz.palette import PALE
from attnviz.text import piece_name

_SOURCE_HOVER = "%{{customdata}}<br>{symbol} = %{{x:{form}}}<extra></extra>"
"""Template of the hover texts of source pieces."""
_Column = tuple[Part, list[Part]]
"""An axis of values, and the traces over it."""


def draw_imported(subject: Subject) -> Spec:
    """Draw alpha_ij of another program: a bar in [0, 1] for each source piece."""
    alt = gettext(
        "Weights of step {step}, a bar for each of {count} source pieces. Piece {number}, {name}, has the largest "
        "weight, {weight:.2f}.",
        **_strongest(subject),
    )
    table = _source_table(subject) | {"alpha": subject.attention.alignment[subject.step]}
    return Spec(*_source_rows(subject, _weights(subject)), alt, table)


def draw_energy(subject: Subject) -> Spec:
    """Draw e_ij, a signed bar for each source piece; the axis is the same at every step."""
    alt = gettext(
        "Energies of step {step}, a bar for each of {count} source pieces. Piece {number}, {name}, has the highest "
        "energy, {energy:.2f}.",
        **_strongest(subject),
    )
    table = _source_table(subject) | {gettext("energy"): subject.attention.energies[subject.step]}
    return Spec(*_source_rows(subject, _energies(subject)), alt, table)


def draw_softmax(subject: Subject) -> Spec:
    """Draw e_ij and, on the same rows, alpha_ij in [0, 1]; the axes are the same at every step.

    Where the page lets the user drag the weights, the bars named by `weights` in `layout.meta` are dragged.
    """
    trace, step = subject.attention, subject.step
    energies, alpha = trace.energies[step], trace.alignment[step]
    pieces = [shorten(piece_name(piece), 40) for piece in trace.source_pieces]
    axis, (energy_bars, *_) = _energies(subject, 0.06, domain=[0, 0.36])
    energy_bars["marker"]["opacity"] = PALE
    columns = (axis, [energy_bars]), _weights(subject, domain=[0.44, 1])
    drawn = _source_rows(subject, *columns, weights={"pieces": pieces, "trace": 1, "axis": "xaxis2"})
    alt = gettext(
        "Softmax of step {step}: each energy and its attention weight, side by side. The largest weight, "
        "{weight:.2f}, is that of piece {number}, {name}.",
        **_strongest(subject),
    )
    table = _source_table(subject)
    table |= {gettext("energy"): energies, "exp(e - max)": np.exp(energies - energies.max()), "alpha": alpha}
    return Spec(*drawn, alt, table)


def _weights(subject: Subject, **more: Any) -> _Column:
    """Return the column of the weights in [0, 1], with space for the numbers at the bars."""
    axis = value_axis(gettext("weight α"), [0, 1.16], tickvals=[0, 0.5, 1], **more)
    return axis, _source_bars(subject, subject.attention.alignment[subject.step], "α", "bar")


def _energies(subject: Subject, padding: float = 0.2, **more: Any) -> _Column:
    """Return the column of the energies, whose axis is that of all steps."""
    energies = finite_energies(subject.attention)
    own = energies[subject.step]
    axis = value_axis(gettext("energy e"), energy_range(energies, padding), **more)
    return axis, _source_bars(subject, own, "e", signed_colours(own))


def _source_rows(subject: Subject, *columns: _Column, narrowest: int = 260, **meta: Any) -> tuple[list[Part], Part]:
    """Return data and layout of columns side by side, whose rows are the source pieces, in the order of the sentence.

    Each trace has one point for each source piece, at 0, 1, 2 and so on: the browser reorders the rows by weight where
    the user asks for it. `narrowest` and `meta` are those of `rows_layout`.
    """
    trace, thinned = subject.attention, None
    count = len(trace.source_pieces)
    if count > MOST_ROWS:
        more, height = gettext("{n} more", n=count - THINNED_ROWS), row_height(THINNED_ROWS + 1) * (THINNED_ROWS + 1)
        thinned = {"rows": THINNED_ROWS, "more": more, "height": TOP + height + 8}
    meta |= {"order": weight_order(trace, subject.step), "selection_colour": "encoder", "thinned": thinned}
    rows = label_axis(row_names(trace, subject.longest or LABEL_LENGTH), "encoder", size=label_size(count))
    axes, drawn = zip(*columns, strict=True)
    data = [part | {"xaxis": f"x{k or ''}"} for k, traces in zip((0, 2, 3), drawn, strict=False) for part in traces]
    layout = rows_layout(rows, row_height(count), (LEFT, 8, TOP, 8), narrowest, *axes, **meta)
    return data, layout | {"hovermode": "y"}


def _source_bars(
    subject: Subject,
    values: Numbers,
    symbol: str,
    colour: str | list[str],
    form: str = ".4f",
    text: Callable[[float], str] = decimal,
) -> list[Part]:
    """Return one horizontal bar for each source piece, and the numbers at their ends, but none for long sentences.

    Args:
        subject: The step.
        values: Lengths of the bars, (Tx,).
        symbol: Name of the values in hover texts.
        colour: Colour of all bars, or of each.
        form: D3's format of the numbers in hover texts.
        text: Returns the text of a number.
    """
    texts = [f" {text(value)} " if math.isfinite(value) else " −∞ " for value in values.tolist()]
    hover = _SOURCE_HOVER.format(symbol=symbol, form=form)
    drawn = bars(values, colour, _source_names(subject), hovertemplate=hover)
    return [drawn, *_source_numbers(np.nan_to_num(values), texts)]


def _source_numbers(ends: Numbers, texts: Sequence[str]) -> list[Part]:
    """Return a text for each source piece beside the end of its bar, (Tx,); none for long sentences."""
    return [numbers(ends, texts, label_size(len(texts)) - 1)] if len(texts) <= MOST_ROWS else []


def _source_names(subject: Subject) -> list[str]:
    """Return the name of each source piece in hover texts, escaped."""
    return [*map(escape, piece_names(tuple(subject.attention.source_pieces), 60, language()))]


def _short_source_name(trace: Any, j: int) -> str:
    """Return the label of 0-based source piece j, short enough for a sentence."""
    return shorten(piece_name(trace.source_pieces[j]), 30)


def _strongest(subject: Subject) -> dict[str, Any]:
    """Return what text alternatives say about a step: its number, and the piece of the largest weight."""
    trace, step = subject.attention, subject.step
    best = weight_order(trace, step)[0]
    weight = float(trace.alignment[step][best])
    return {
        "step": step + 1,
        "count": len(trace.source_pieces),
        "number": best + 1,
        "name": _short_source_name(trace, best),
        "weight": weight,
        "share": percent(weight),
        "energy": float(trace.energies[step][best]) if trace.energies.size else None,
    }


def _source_table(subject: Subject) -> dict[str, Any]:
    """Return the first columns of a table with a row for each source piece j (counted from 1)."""
    return numbered_rows({gettext("source piece"): list(subject.attention.source_pieces)}, "j")


_AXIS_LENGTH = 1.5
"""Length of the axes relative to the longest bar, for the numbers at the ends."""
_VISIBLE = 0.02
"""Smallest posterior attention of the heatmap that has a mark."""


def draw_posterior(subject: Subject) -> Spec:
    """Draw alpha_ij of a step, p(y_i | c = h_j) and p(j | y_i), each in [0, 1], on the same rows.

    Only ratios of likelihoods matter: their axis ends at the step's largest. A diamond is the heatmap's posterior
    attention, which normalises over steps too.
    """
    trace, step, found = subject.trace, subject.step, subject.posterior_attention
    prior, likelihood, posterior, heatmap_posterior = (
        values[step] for values in (found.prior, found.likelihood, found.posterior, found.heatmap_posterior)
    )
    # Marks at 0 would carry no information.
    marks = np.where(heatmap_posterior >= _VISIBLE, heatmap_posterior, np.nan)
    largest = _axis_end(float(likelihood.max()))
    largest_label = significant(largest, 1) if largest >= 0.001 else small(largest)
    # The number comes after the mark too.
    texts = [
        f"{'   ' if math.isfinite(mark) else ' '}{decimal(value)} "
        for value, mark in zip(posterior.tolist(), marks.tolist(), strict=True)
    ]
    diamond = {"symbol": "diamond", "size": 9, "color": "paper", "line": {"width": 1.5, "color": "ink"}}
    hover = _SOURCE_HOVER.format(symbol=gettext("α′ of the heatmap"), form=".4f")
    posterior_bars, *_ = _source_bars(subject, posterior, "p(j | y)", "bar")
    on_posteriors = [
        posterior_bars,
        points(marks, list(range(len(marks))), diamond, customdata=_source_names(subject), hovertemplate=hover),
        *_source_numbers(np.fmax(posterior, marks), texts),
    ]
    likelihood_axis = value_axis(
        "× p(y | h)",
        [0, _AXIS_LENGTH * 1.2 * largest],
        domain=[0.33, 0.63],
        tickvals=[0, largest],
        ticktext=["0", largest_label],
    )
    data, layout = _source_rows(
        subject,
        (
            value_axis("α", [0, _AXIS_LENGTH], domain=[0, 0.26], tickvals=[0, 1]),
            _source_bars(subject, prior, "α", "bar"),
        ),
        (likelihood_axis, _source_bars(subject, likelihood, "p(y | h)", "decoder", ".3~g", small)),
        (value_axis("→ p(j | y),  ◇ α′", [0, _AXIS_LENGTH], domain=[0.71, 1], tickvals=[0, 1]), on_posteriors),
        narrowest=300,
    )
    table = _source_table(subject) | {
        "alpha": prior,
        gettext("likelihood p(y | h)"): likelihood,
        gettext("product"): prior * likelihood,
        gettext("posterior p(j | y)"): posterior,
        gettext("α′ of the heatmap"): heatmap_posterior,
    }
    first, last = int(prior.argmax()), int(posterior.argmax())
    alt = gettext(
        "Attention of step {step}, before and after its word is known. The posterior of a source piece is "
        "proportional to its weight α times the likelihood of the word, given the annotation of this piece alone. "
        "{piece} has the largest weight, {weight:.2f}. {other} has the largest posterior, {posterior:.2f}; given its "
        "annotation alone, the word has likelihood {likelihood}.",
        step=step + 1,
        weight=prior[first],
        piece=_short_source_name(trace, first),
        posterior=posterior[last],
        other=_short_source_name(trace, last),
        likelihood=small(float(likelihood[last])),
    )
    return Spec(data, layout, alt, table)


def _axis_end(largest: float) -> float:
    """Return the round number at which the axis of likelihoods ends, for the largest."""
    if largest > 0.5:
        return 1.0
    unit = 10.0 ** np.floor(np.log10(max(largest, 1e-300)))
    return float(unit * np.ceil(largest / unit * (1 - 1e-9)))


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
_STRIP_LABEL, _STRIP_LABEL_WIDTH = 7, 52
"""Characters of the longest name of a piece beside its strip, and its pixels in the widest font: 45 in the page's."""


def draw_attention(subject: Subject) -> Spec:
    """Draw how a context is built, downwards: e_ij, alpha_ij, the largest alpha_ij h_j (or v_j) and their sum.

    Energies and weights are upright bars, one column for each source piece. The terms and their sum are strips of a few
    units, whose columns can be added up. `layout.meta` says that source pieces are columns (`upright`), which part of
    the height each stage has (`stages`), which piece each strip is of (`strip_pieces`), and what the browser needs to
    compute the strips of other weights (`mixture`).
    """
    trace, step, longest = subject.attention, subject.step, subject.longest or LABEL_LENGTH
    names = [piece_name(piece) for piece in trace.source_pieces]
    energies, alpha, all_energies = trace.energies[step], trace.alignment[step], finite_energies(trace)
    count, order, found = len(names), weight_order(trace, step), weighted_sum(trace, step)
    jump, pair = energy_and_ratio(trace, step), (strongest_pair(trace, step) or ())[:2]
    short_names, total = [_strip_label(name) for name in names], f"{trace.context_symbol}{subscript(step + 1)}"
    of_strips = [*(short_names[j] for j in found.pieces), gettext("the rest")]
    rows = [f"{format_share(weight)} × {name}" for weight, name in zip(found.weights, of_strips, strict=False)]

    numbered = {order[rank] for rank in spaced(order, count / _NUMBERS)} | {*pair}
    energy_texts = [
        decimal(energy, 2 if j in pair else 1) if j in numbered and math.isfinite(energy) else ""
        for j, energy in enumerate(energies.tolist())
    ]
    shares = [
        format_share(share) if j in numbered and share >= _NUMBERED else "" for j, share in enumerate(alpha.tolist())
    ]
    places = np.arange(count, dtype=np.int32)

    def upright_bars(values: Numbers, texts: list[str], symbol: str, colour: str | list[str], axis: str) -> list[Part]:
        """Return an upright bar for each source piece, and the `texts` at their ends."""
        hover = f"%{{customdata}}<br>{symbol} = %{{y:.4f}}<extra></extra>"
        upright: Part = {"orientation": "v", "x": places, "y": values, "width": min(0.62, count / 10), "yaxis": axis}
        ends, size = np.nan_to_num(values), 11 if count <= 12 else 10
        sides = ["bottom center" if end < 0 else "top center" for end in ends.tolist()]
        return [
            bars((), colour, axis_labels(names, 60), hovertemplate=hover, **upright),
            texts_at(places, ends, texts, size, textposition=sides, cliponaxis=False, yaxis=axis),
        ]

    terms, limit = np.vstack([found.terms, found.total]), colour_limit(trace.contexts[:, found.units])
    in_cells = strips(
        terms,
        limit,
        x0=0,
        xaxis="x2",
        yaxis="y3",
        text=[[decimal(value) for value in row] for row in terms.tolist()],
        texttemplate="%{text}",
        textfont={"size": 11},
        colorscale="numbered_scale",
        customdata=[(found.units + 1).tolist()] * len(terms),
        hovertemplate=gettext("number %{customdata}: %{z:.3f}") + "<extra></extra>",
    )

    rounded = gettext("Each number is rounded, so a sum can differ in its last digit.")
    length = label_width(names, 13, longest)
    angle = -90 if count > 14 else -50 if length > _NARROWEST_COLUMN else 0
    below = label_height(length, 13, angle) + 3
    heights = [_ENERGIES, _JUMP, _WEIGHTS, below, _UNITS, _STRIP_ROW * len(terms)]
    edges = (1 - np.cumsum([0, *heights]) / sum(heights)).tolist()
    spans = {"1": [edges[1], edges[0]], "2": [edges[3], edges[2]], "3": [edges[6], edges[4]]}
    beside: Part = {"yref": "paper", "xshift": 8 - _LEFT, "yanchor": "middle", "align": "left"}
    sum_name = emphasise(gettext("sum = {c}", c=total), "context")
    strips_axis = label_axis(
        [*map(escape, rows), sum_name], "encoder", size=11, domain=[edges[6], edges[5]], anchor="x2"
    )
    layout = sized_layout(
        sum(heights) + _TOP + _FOOT,
        (_LEFT, _RIGHT, _TOP, _FOOT),
        _LEFT + _RIGHT + min(_NARROWEST_COLUMN * count, max(_NARROWEST_COLUMN * _NUMBERS, 8 * count), 4000),
        upright=True,
        order=order,
        peak=order[0],
        selection_colour="encoder",
        stages=spans,
        stage_colour="decoder",
        strip_pieces=[*found.pieces, *[None] * (len(terms) - len(found.pieces))],
        weights={"trace": 2, "axis": "yaxis", "shares": True, "pieces": [shorten(name, 40) for name in names]},
        mixture={"trace": 4, "values": found.values, "names": short_names, "more": gettext("the rest")},
    ) | {
        "barmode": "overlay",
        "xaxis": label_axis(
            axis_labels(names, longest), "encoder", size=13, across=True, stride=label_stride(count), tickangle=angle
        ),
        "yaxis": blank_axis(0, 1.34, domain=spans["2"], zeroline=True),
        "yaxis2": blank_axis(
            *energy_range(all_energies, padding=0.3), domain=spans["1"], zeroline=True, zerolinecolor="quiet"
        ),
        "xaxis2": label_axis([*map(str, found.units + 1)], "quiet", size=10, across=True, side="top", anchor="y3"),
        "yaxis3": strips_axis,
        "annotations": [
            *(
                text_at(f"<b>{stage}</b><br>{in_colour(quantity, 'quiet')}", 0, sum(spans[number]) / 2, **beside)
                for number, stage, quantity in (
                    ("1", gettext("Fit"), gettext("energy e")),
                    ("2", gettext("Share"), gettext("weight α")),
                )
            ),
            text_at(f"<b>{gettext('Mixture')}</b>", 0, (edges[4] + edges[5]) / 2, **beside),
            text_at(rounded, 1, 0, "quiet", 11, yref="paper", xanchor="right", yanchor="top"),
            text_at(escape(jump), 0, edges[2], "ink", 13, yref="paper", xshift=8 - _LEFT),
        ],
        "shapes": strip_shapes(strips_axis, len(rows), "context", 2, "x2", "y3"),
    }

    weights = gettext(
        "Energies and attention weights of step {step} over {count} source pieces. The largest weight, {share}, is on "
        "piece {number}, {name}.",
        **_strongest(subject),
    )
    mixture = gettext(
        "Below them are {shown} of the {units} numbers of {context}, the sum of these strips: {parts}.",
        shown=len(found.units),
        units=trace.contexts.shape[1],
        context=total,
        parts=", ".join(rows),
    )
    weighted = alpha.astype(np.float64)[:, None] * found.values  # (Tx, K)
    table = _source_table(subject) | {gettext("energy"): energies, "alpha": alpha}
    table |= {gettext("α × number {n}", n=unit + 1): weighted[:, k] for k, unit in enumerate(found.units.tolist())}
    data = [
        *upright_bars(energies, energy_texts, "e", signed_colours(energies), "y2"),
        *upright_bars(alpha, shares, "α", "bar", "y"),
        in_cells,
    ]
    alt = " ".join(filter(None, (weights, jump and f"{jump}.", mixture)))
    return Spec(data, layout, alt, table)


def _strip_label(name: str) -> str:
    """Return the name of a piece as it stands beside its strip, shorter where its letters are wide."""
    labels = (shorten(name, longest) for longest in range(_STRIP_LABEL, 1, -1))
    return next((label for label in labels if width(label, 11) <= _STRIP_LABEL_WIDTH), shorten(name, 1))
