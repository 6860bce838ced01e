"""Figures of the attention of one step: energies, weights and posterior as bars, the context, and all of it in one.

Figures with a row for each source piece line up. Their `layout.meta` has `order`, the 0-based source pieces by weight,
largest first, and `selection_colour`, the colour of the selected row. For a long sentence it also has `thinned`: rows
and height when ordered by weight, and the name of the row for the rest (`more`).
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.analysis.diagram import context_sentence, context_units, weighted_sum
from attnviz.analysis.labels import decimal, percent, shorten, significant, small, subscript
from attnviz.analysis.measures import weight_order
from attnviz.analysis.stages import energy_and_ratio, strongest_pair
from attnviz.figures.heads_figure import draw_all_heads
from attnviz.figures.heatmap import colour_bar
from attnviz.figures.spec import (
    LABEL_LENGTH,
    STRIP,
    TOP,
    Numbers,
    Part,
    Spec,
    Table,
    axis_labels,
    bars,
    blank_axis,
    colour_limit,
    emphasise,
    escape,
    in_colour,
    label_axis,
    label_height,
    label_size,
    label_stride,
    label_width,
    numbered_rows,
    numbers,
    points,
    rectangle,
    row_height,
    rows_layout,
    signed_colours,
    sized_layout,
    spaced,
    strip_shapes,
    strips,
    text_at,
    texts_at,
    units_table,
    value_axis,
    width,
)
from attnviz.figures.subject import Subject
from attnviz.languages import format_share, gettext, language, ngettext
from attnviz.palette import PALE
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.trace.aligned import AttentionMatrix
from attnviz.trace.parts import FloatArray
from attnviz.trace.transformer_trace import Head

LEFT = 96
"""Pixels left of the bars, for labels."""
MOST_ROWS = 48
"""Number of source pieces up to which each has a row in any order.

In longer sentences ordered by weight, THINNED_ROWS pieces have a row.
"""
THINNED_ROWS = 30
"""Rows of a long sentence ordered by weight; the other pieces share one more row."""
_Column = tuple[Part, list[Part]]
"""An axis of values, and the traces over it."""


def draw_imported(subject: Subject) -> Spec:
    """Draw alpha_ij of another program: a bar in [0, 1] for each source piece."""
    alt = gettext(
        "Weights of step {step}, a bar for each of {count} source pieces. Piece {number}, {name}, has the largest "
        "weight, {weight:.2f}.",
        **_strongest(subject),
    )
    return _source_rows(subject, alt, {"alpha": subject.attention.alignment[subject.step]}, _weights(subject))


def draw_energy(subject: Subject) -> Spec:
    """Draw e_ij, a signed bar for each source piece; the axis is the same at every step."""
    alt = gettext(
        "Energies of step {step}, a bar for each of {count} source pieces. Piece {number}, {name}, has the highest "
        "energy, {energy:.2f}.",
        **_strongest(subject),
    )
    table = {gettext("energy"): subject.attention.energies[subject.step]}
    return _source_rows(subject, alt, table, _energies(subject))


def draw_softmax(subject: Subject) -> Spec:
    """Draw e_ij and, on the same rows, alpha_ij in [0, 1]; the axes are the same at every step.

    Where the page lets the user drag the weights, the bars named by `weights` in `layout.meta` are dragged.
    """
    trace, step = subject.attention, subject.step
    energies, alpha = trace.energies[step], trace.alignment[step]
    axis, (energy_bars, *_) = _energies(subject, 0.06, domain=[0, 0.36])
    energy_bars["marker"]["opacity"] = PALE
    alt = gettext(
        "Softmax of step {step}: each energy and its attention weight, side by side. The largest weight, "
        "{weight:.2f}, is that of piece {number}, {name}.",
        **_strongest(subject),
    )
    return _source_rows(
        subject,
        alt,
        {gettext("energy"): energies, "exp(e - max)": np.exp(energies - energies.max()), "alpha": alpha},
        (axis, [energy_bars]),
        _weights(subject, domain=[0.44, 1]),
        weights={"pieces": _names(subject, 40), "trace": 1, "axis": "xaxis2"},
    )


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


def _source_rows(
    subject: Subject, alt: str, numbers: Table, *columns: _Column, narrowest: int = 260, **meta: Any
) -> Spec:
    """Return columns side by side, whose rows are the source pieces, in the order of the sentence.

    Each trace has one point for each source piece, at 0, 1, 2 and so on: the browser reorders the rows by weight where
    the user asks for it. The table has the `numbers` of each source piece. `narrowest` and `meta` are those of
    `rows_layout`.
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
    layout = rows_layout(rows, row_height(count), (LEFT, 8, TOP, 8), narrowest, *axes, **meta) | {"hovermode": "y"}
    return Spec(data, layout, alt, _source_table(subject, numbers))


def _source_bars(
    subject: Subject,
    values: Numbers,
    symbol: str,
    colour: str | list[str],
    form: str = ".4f",
    text: Callable[[float], str] = decimal,
) -> list[Part]:
    """Return a horizontal bar for each of the `values`, (Tx,), and the numbers at their ends; none for long sentences.

    Hover texts have the `symbol` and D3's format (`form`) of a number; `text` returns the text at the end of a bar.
    """
    texts = [f" {text(value)} " if math.isfinite(value) else " −∞ " for value in values]
    hover = f"%{{customdata}}<br>{symbol} = %{{x:{form}}}<extra></extra>"
    drawn = bars(values, colour, list(map(escape, _names(subject, 60))), hovertemplate=hover)
    return [drawn, *_source_numbers(np.nan_to_num(values), texts)]


def _source_numbers(ends: Numbers, texts: Sequence[str]) -> list[Part]:
    """Return a text for each source piece beside the end of its bar, (Tx,); none for long sentences."""
    return [numbers(ends, texts, label_size(len(texts)) - 1)] if len(texts) <= MOST_ROWS else []


def _names(subject: Subject, longest: int) -> Sequence[str]:
    """Return the name of each source piece, of at most `longest` letters."""
    return _piece_names(tuple(subject.attention.source_surfaces), longest, language())


def _strongest(subject: Subject) -> dict[str, Any]:
    """Return what text alternatives say about a step: its number, and the piece of the largest weight."""
    trace, step = subject.attention, subject.step
    best = weight_order(trace, step)[0]
    weight = trace.alignment[step][best]
    return {
        "step": step + 1,
        "count": len(trace.source_pieces),
        "number": best + 1,
        "name": _names(subject, 30)[best],
        "weight": weight,
        "share": percent(weight),
        "energy": trace.energies[step][best] if trace.energies.size else None,
    }


def _source_table(subject: Subject, numbers: Table) -> Table:
    """Return a table of these `numbers` with a row for each source piece j (counted from 1)."""
    return numbered_rows({gettext("source piece"): list(subject.attention.source_surfaces), **numbers}, "j")


def row_names(trace: AttentionMatrix, longest: int = LABEL_LENGTH) -> list[str]:
    """Return a label for each source piece, of at most `longest` letters and its number where a label occurs twice."""
    names = _piece_names(tuple(trace.source_surfaces), longest, language())
    counts = Counter(names)
    return [escape(name) + (subscript(j) if counts[name] > 1 else "") for j, name in enumerate(names, 1)]


@functools.lru_cache(64)
def _piece_names(pieces: tuple[str, ...], longest: int, _: str) -> tuple[str, ...]:
    """Return the names of pieces, of at most so many letters, in the current language; each step has the same."""
    return tuple(shorten(piece_name(piece), longest) for piece in pieces)


def finite_energies(attention: Any) -> FloatArray:
    """Return the energies of all steps of a record or head, (Ty, Tx), with nan in place of -inf, which has no bar."""
    return np.where(np.isfinite(attention.energies), attention.energies, np.float32(np.nan))


def energy_range(energies: FloatArray, padding: float = 0.2) -> list[float]:
    """Return the range of an axis for the `energies` (Ty, Tx) of all steps, with `padding` at both ends for numbers."""
    low, high = min(0.0, float(np.nanmin(energies))), max(0.0, float(np.nanmax(energies)))
    spread = (high - low) or 1.0
    return [low - padding * spread * (low < 0), high + padding * spread * (high > 0)]


def draw_posterior(subject: Subject) -> Spec:
    """Draw alpha_ij of a step, p(y_i | c = h_j) and p(j | y_i), each in [0, 1], on the same rows.

    Only ratios of likelihoods matter: their axis ends at the step's largest. A diamond is the heatmap's posterior
    attention, which normalises over steps too.
    """
    step, found = subject.step, subject.posterior_attention
    prior, likelihood, posterior, heatmap_posterior = (
        values[step] for values in (found.prior, found.likelihood, found.posterior, found.heatmap_posterior)
    )
    # Marks at 0 would carry no information.
    marks = np.where(heatmap_posterior >= 0.02, heatmap_posterior, np.nan)
    # The axis of likelihoods ends at a round number.
    highest = likelihood.max()
    unit = 10 ** np.floor(np.log10(max(highest, 1e-300)))
    largest = 1.0 if highest > 0.5 else float(unit * np.ceil(highest / unit * (1 - 1e-9)))
    largest_label = significant(largest, 1) if largest >= 0.001 else small(largest)
    # The number comes after the mark too.
    texts = [
        f"{'   ' if math.isfinite(mark) else ' '}{decimal(value)} "
        for value, mark in zip(posterior, marks, strict=True)
    ]
    diamond = {"symbol": "diamond", "size": 9, "color": "paper", "line": {"width": 1.5, "color": "ink"}}
    of_heatmap = gettext("α′ of the heatmap")
    hover = f"%{{customdata}}<br>{of_heatmap} = %{{x:.4f}}<extra></extra>"
    posterior_bars, *_ = _source_bars(subject, posterior, "p(j | y)", "bar")
    on_posteriors = [
        posterior_bars,
        points(marks, list(range(len(marks))), diamond, customdata=posterior_bars["customdata"], hovertemplate=hover),
        *_source_numbers(np.fmax(posterior, marks), texts),
    ]
    # Each axis is longer than its bars, for the numbers at their ends.
    likelihood_axis = value_axis(
        "× p(y | h)",
        [0, 1.8 * largest],
        domain=[0.33, 0.63],
        tickvals=[0, largest],
        ticktext=["0", largest_label],
    )
    first, last, names = prior.argmax(), posterior.argmax(), _names(subject, 30)
    alt = gettext(
        "Attention of step {step}, before and after its word is known. The posterior of a source piece is "
        "proportional to its weight α times the likelihood of the word, given the annotation of this piece alone. "
        "{piece} has the largest weight, {weight:.2f}. {other} has the largest posterior, {posterior:.2f}; given its "
        "annotation alone, the word has likelihood {likelihood}.",
        step=step + 1,
        weight=prior[first],
        piece=names[first],
        posterior=posterior[last],
        other=names[last],
        likelihood=small(likelihood[last]),
    )
    table = {
        "alpha": prior,
        gettext("likelihood p(y | h)"): likelihood,
        gettext("product"): prior * likelihood,
        gettext("posterior p(j | y)"): posterior,
        of_heatmap: heatmap_posterior,
    }
    return _source_rows(
        subject,
        alt,
        table,
        (
            value_axis("α", [0, 1.5], domain=[0, 0.26], tickvals=[0, 1]),
            _source_bars(subject, prior, "α", "bar"),
        ),
        (likelihood_axis, _source_bars(subject, likelihood, "p(y | h)", "decoder", ".3~g", small)),
        (value_axis("→ p(j | y),  ◇ α′", [0, 1.5], domain=[0.71, 1], tickvals=[0, 1]), on_posteriors),
        narrowest=300,
    )


_LEFT, _RIGHT = 92, 14
"""Margins in pixels: those of the diagram (`components/diagram/plan.js`), so that columns line up."""
_NUMBERS = 14
"""Largest number of bars of which each has its number."""
_NARROWEST_COLUMN = 18
"""Width in pixels of the narrowest column of a short sentence, on a phone."""


def draw_attention(subject: Subject) -> Spec:
    """Draw how a context is built, downwards: e_ij, alpha_ij, the largest alpha_ij h_j (or v_j) and their sum.

    Energies and weights are upright bars, one column for each source piece. The terms and their sum are strips of a few
    units, whose columns can be added up. `layout.meta` says that source pieces are columns (`upright`), which part of
    the height each stage has (`stages`), which piece each strip is of (`strip_pieces`), and what the browser needs to
    compute the strips of other weights (`mixture`).
    """
    trace, step, longest = subject.attention, subject.step, subject.longest or LABEL_LENGTH
    names = [piece_name(piece) for piece in trace.source_surfaces]
    energies, alpha, all_energies = trace.energies[step], trace.alignment[step], finite_energies(trace)
    count, order, found = len(names), weight_order(trace, step), weighted_sum(trace, step)
    jump, pair = energy_and_ratio(trace, step), (strongest_pair(trace, step) or ())[:2]
    # Beside its strip, a name is at most 52 pixels wide in the widest font: 45 in the page's.
    shortened = ((shorten(name, letters) for letters in range(7, 0, -1)) for name in names)
    short_names = [next((label for label in labels if width(label, 11) <= 52), "…") for labels in shortened]
    total = f"{trace.context_symbol}{subscript(step + 1)}"
    of_strips = [*(short_names[j] for j in found.pieces), gettext("the rest")]
    rows = [f"{format_share(weight)} × {name}" for weight, name in zip(found.weights, of_strips, strict=False)]

    numbered = {order[rank] for rank in spaced(order, count / _NUMBERS)} | {*pair}
    energy_texts = [
        decimal(energy, 2 if j in pair else 1) if j in numbered and math.isfinite(energy) else ""
        for j, energy in enumerate(energies)
    ]
    shares = [format_share(share) if j in numbered and share >= 0.005 else "" for j, share in enumerate(alpha)]
    places, hover_names = np.arange(count, dtype=np.int32), list(map(escape, _names(subject, 60)))

    def upright_bars(values: Numbers, texts: list[str], symbol: str, colour: str | list[str], axis: str) -> list[Part]:
        """Return an upright bar for each source piece, and the `texts` at their ends."""
        hover = f"%{{customdata}}<br>{symbol} = %{{y:.4f}}<extra></extra>"
        upright: Part = {"orientation": "v", "x": places, "y": values, "width": min(0.62, count / 10), "yaxis": axis}
        ends, size = np.nan_to_num(values), 11 if count <= 12 else 10
        sides = ["bottom center" if end < 0 else "top center" for end in ends]
        return [
            bars((), colour, hover_names, hovertemplate=hover, **upright),
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
    # Energies, the line between them and the weights, weights, names, numbers of units, strips.
    heights = [62, 22, 54, below, 20, 19 * len(terms)]
    edges = (1 - np.cumsum([0, *heights]) / sum(heights)).tolist()
    spans = {"1": [edges[1], edges[0]], "2": [edges[3], edges[2]], "3": [edges[6], edges[4]]}
    beside: Part = {"yref": "paper", "xshift": 8 - _LEFT, "yanchor": "middle", "align": "left"}
    sum_name = emphasise(gettext("sum = {c}", c=total), "context")
    strips_axis = label_axis(
        [*map(escape, rows), sum_name], "encoder", size=11, domain=[edges[6], edges[5]], anchor="x2"
    )
    layout = sized_layout(
        sum(heights) + 30,
        (_LEFT, _RIGHT, 12, 18),
        _LEFT + _RIGHT + min(_NARROWEST_COLUMN * count, max(_NARROWEST_COLUMN * _NUMBERS, 8 * count), 4000),
        upright=True,
        order=order,
        peak=order[0],
        selection_colour="encoder",
        stages=spans,
        stage_colour="decoder",
        strip_pieces=[*found.pieces, *[None] * (len(terms) - len(found.pieces))],
        weights={"trace": 2, "axis": "yaxis", "shares": True, "pieces": _names(subject, 40)},
        mixture={"trace": 4, "values": found.values, "names": short_names, "more": gettext("the rest")},
    ) | {
        "barmode": "overlay",
        "xaxis": label_axis(
            list(map(escape, _names(subject, longest))),
            "encoder",
            size=13,
            across=True,
            stride=label_stride(count),
            tickangle=angle,
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
    table = {gettext("energy"): energies, "alpha": alpha}
    table |= {gettext("α × number {n}", n=unit + 1): weighted[:, k] for k, unit in enumerate(found.units)}
    data = [
        *upright_bars(energies, energy_texts, "e", signed_colours(energies), "y2"),
        *upright_bars(alpha, shares, "α", "bar", "y"),
        in_cells,
    ]
    alt = " ".join(filter(None, (weights, jump and f"{jump}.", mixture)))
    return Spec(data, layout, alt, _source_table(subject, table))


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
        pieces = [shorten(piece_name(piece), subject.longest or 14) for piece in attention.source_surfaces]
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


def context_frame(attention: Trace | Head, *, thinned: bool = False) -> Spec:
    """Return the figure of the growing context, (units,), without its numbers, which the browser computes.

    Rows are the source pieces, or if `thinned` THINNED_ROWS of them and one for the rest; below them is the running
    sum, on an axis of its own. `layout.meta` has the pieces' `names`, the number of `rows`, and the unit after which
    the second part begins (`hidden`).
    """
    count = THINNED_ROWS + 1 if thinned else len(attention.source_pieces)
    units, unit_axis = attention.contexts.shape[1], _unit_axis(attention)
    rows_height, sum_height = row_height(count) * count, STRIP + 4
    inner = rows_height + 12 + sum_height
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


_LINE, _WEIGHT_BAR, _UNIT_LABELS = 38, 42, 46
"""Pixels: height of a line, of the bar of weights above, and of the unit labels below."""
_WEIGHTS_Y = 0.715
"""Vertical position of the bar of weights, downwards from 0 to 1."""


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
    cosines = [found.cosines[list(group)].max() for group in groups]
    if lines > own:
        names.append(ngettext("{count} other", "{count} others", len(words.source) - own))
        columns.append(gettext("other words"))
        cosines.append(np.nan)
    weights, units = found.weights.tolist(), (found.units + 1).tolist()
    named = list(zip(names, weights, strict=True))

    before = np.vstack([found.partial_sums, np.zeros(count)])  # (lines + 1, units)
    added = np.vstack([found.terms, found.context])
    # Lines are numbered downwards; positive values extend upwards from their line.
    scale = -0.46 / (np.abs([before + added, before]).max() or 1.0)
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
        escape(f"{percent(share)} {shorten(name, max(3, int(share * 34)))}") if share >= 0.12 else ""
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
    names_above = numbers(ends - found.weights / 2, texts, 13, y=[0.2] * lines, textposition="middle center", **above)
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
    inner = _WEIGHT_BAR + 26 + _LINE * (lines + 1)
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
    largest = np.abs(found.context - found.mean).argmax()
    alt = gettext(
        "What each source word adds to the units of the context vector of step {step}. {told} Unit {unit} "
        "differs most from its mean over all steps: {value} instead of {mean}.",
        step=step + 1,
        told=context_sentence(trace, found, step),
        unit=units[largest],
        value=decimal(found.context[largest]),
        mean=decimal(found.mean[largest]),
    )
    table: dict[str, list[Any]] = {gettext("unit"): [gettext("weight"), gettext("cosine"), *map(str, units)]}
    for column, weight, cosine, term in zip(columns, weights, cosines, found.terms, strict=True):
        table[column] = [weight, cosine, *term]
    table |= {symbol: [sum(weights), 1.0, *found.context], gettext("mean of all steps"): [np.nan, np.nan, *found.mean]}
    return Spec(data, layout, alt, table)
