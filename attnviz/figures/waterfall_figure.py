"""Figures of sums as waterfalls: an energy over its units, and a logit over its terms, also against a foil.

When another cell is chosen, the UI component `energy_decomposition` replaces the numbers of an energy in the
browser; it finds the traces of the figure by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.analysis.energy_equations import SATURATED, EnergyDecomposition, saturated
from attnviz.analysis.labels import decimal, shorten, signed
from attnviz.analysis.logit_attribution import LogitAttribution, logit_attribution_title
from attnviz.analysis.measures import ranked
from attnviz.figures.spec import (
    HOVER,
    Part,
    Spec,
    Table,
    axis_labels,
    bars,
    emphasise,
    escape,
    in_colour,
    label_axis,
    line,
    numbered_rows,
    numbers,
    points,
    rows_layout,
    titled_axis,
    value_axis,
)
from attnviz.figures.subject import Subject
from attnviz.languages import gettext, ngettext
from attnviz.palette import PALE
from attnviz.text import piece_name

_OPERANDS_WIDTH = 640
"""Width in pixels from which the operands fit beside the running sum."""

SHOWN_ENERGY_UNITS = 12
"""Number of units with a row of their own, those with the largest |contribution|; the others share one."""

_STRIP, _GAP, _BELOW = 150, 46, 30
"""Pixels of the strip of all units, between the rows and the strip, and below the strip."""

SATURATION_MARK = " ▮"
"""Follows the name of a saturated unit."""


def draw_energy_decomposition(subject: Subject, *, operands: bool = True) -> Spec:
    """Draw an energy as the sum of its units: the largest by name, the rest as one row, the sum, and a strip of all.

    In the strip, the units stand in order of their contribution, the largest positive one first, below their running
    sum, which ends at the energy. With `operands`, which need _OPERANDS_WIDTH pixels, each named unit has from left to
    right its query (purple) and key (green) with their sum as a diamond, the tanh of it, v, and its place in the
    running sum.
    """
    units = subject.energy_decomposition
    order, contributions, is_saturated = ranked(np.abs(units.contributions)), units.contributions, saturated(units)
    parts = {"q": units.query, "u": units.key, "a": units.activation, "v": units.score}
    hover_text, sum_title = unit_texts(units)
    names = [gettext("unit {k}", k=k + 1) for k in range(len(order))]
    amounts = [signed(amount, 4) for amount in contributions]

    top, rest = order[:SHOWN_ENERGY_UNITS], order[SHOWN_ENERGY_UNITS:]
    values = contributions[top].tolist()
    labels = [names[k] + (SATURATION_MARK if is_saturated[k] else "") for k in top]
    hover = [
        hover_text.format(k=k + 1, c=amounts[k], **{name: decimal(part[k], 3) for name, part in parts.items()})
        for k in top
    ]
    traces, start, title, axes = [], 0.0, gettext("running sum"), {}
    if operands:
        query, key, activation, score = (part[top] for part in parts.values())
        of_query, of_key = in_colour(units.names[0], "decoder"), in_colour(units.names[1], "encoder")
        end, start, title, inputs = 0.4, 0.46, sum_title, f"{of_query}, {of_key}"
        traces = [
            bars(query, "decoder", hover, name="query", xaxis="x2"),
            bars(key, "encoder", hover, name="key", xaxis="x2"),
        ]
        if units.bounded:
            end, start, inputs = 0.27, 0.64, f"{of_query} + {of_key} ◆"
            diamond = {"symbol": "diamond", "size": 7, "color": "ink"}
            shades = {"opacity": [1 if is_saturated[k] else PALE for k in top]}
            traces += [
                points(query + key, list(range(len(top))), diamond, name="together", xaxis="x2", hoverinfo="skip"),
                bars(activation, "bar", hover, marker=shades, name="activation", xaxis="x3"),
                bars(score, "quiet", hover, name="score", xaxis="x4"),
            ]
            axes["xaxis3"] = value_axis("→ tanh", [-1.08, 1.08], domain=[0.31, 0.45], tickvals=[-1, 0, 1])
            axes["xaxis4"] = _signed_axis("× vₖ", units.score, [0.49, 0.6])
        axes["xaxis2"] = _signed_axis(inputs, [query, key, query + key], [0, end])
    if rest:
        values.append(contributions[rest].sum())
        labels.append(gettext("{n} more", n=len(rest)))
        c = signed(values[-1], 4)
        hover.append(ngettext("{count} more unit: {c}", "{count} more units: {c}", len(rest), c=c))
    labels.append(emphasise(gettext("energy e"), "ink"))
    hover.append(f"e = {signed(units.energy, 4)}")
    running, layout = _waterfall(values, hover, labels, title, start, 92, _OPERANDS_WIDTH if operands else 300)
    layout |= axes

    largest = ranked(contributions)
    outline = [*largest, largest[-1]]  # the last step has an end
    hovered, places = [f"{names[k]}: {amounts[k]}" for k in outline], np.arange(len(outline))
    strip: Part = {"mode": "lines", "xaxis": "x5"}
    # Filled steps instead of bars, which would be an element each.
    steps = strip | {"yaxis": "y2", "line": {"shape": "hv", "width": 0}, "fill": "tozeroy"}
    for name, colour, ends in (("for", "plus", (0, None)), ("against", "minus", (None, 0))):
        heights, shown = contributions.clip(*ends)[outline], {"customdata": hovered, "hovertemplate": HOVER}
        traces.append(points(places + 0.5, heights, {}, name=name, fillcolor=colour, **steps | shown))
    whole_line = strip | {"yaxis": "y3", "line": {"color": "ink", "width": 2}}
    hover_sum = f"{gettext('running sum')} %{{y:.3f}}<extra></extra>"
    sums = np.cumsum(contributions[largest])
    traces.append(points(places[1:], sums, {}, name="running", hovertemplate=hover_sum, **whole_line))

    layout["height"] += _GAP + _STRIP + _BELOW - layout["margin"]["b"]
    layout["margin"]["b"] = _BELOW
    inside = layout["height"] - layout["margin"]["t"] - _BELOW
    half, whole, above = (pixels / inside for pixels in (0.45 * _STRIP, _STRIP, _STRIP + _GAP))
    side: Part = {"nticks": 3, "zerolinecolor": "quiet", "anchor": "x5"}
    units_axis: Part = {"range": [0.5, len(largest) + 0.5], "anchor": "y2", "showgrid": False, "showticklabels": False}
    layout["yaxis"]["domain"] = [above, 1]
    layout |= {
        "xaxis5": titled_axis(gettext("all units, sorted by contribution"), standoff=4, **units_axis),
        "yaxis2": titled_axis(gettext("contribution"), 11, domain=[0, half], **side),
        "yaxis3": titled_axis(gettext("running sum"), 11, domain=[half, whole], **side),
    }

    saturation = ""
    if units.bounded:
        saturation = ngettext(
            ", of which {count} is saturated (|tanh| at least {least})",
            ", of which {count} are saturated (|tanh| at least {least})",
            int(is_saturated.sum()),
            least=SATURATED,
        )
    alt = gettext(
        "An energy of {energy:.3f} as the sum over {count} units{saturation}. The largest contribution is that of unit "
        "{largest}: {contribution:+.3f}.",
        energy=units.energy,
        count=len(order),
        saturation=saturation,
        largest=top[0] + 1,
        contribution=contributions[top[0]],
    )
    columns = {
        gettext("query"): units.query,
        gettext("key"): units.key,
        gettext("activation"): units.activation,
        "v": units.score,
        gettext("contribution"): contributions,
    }
    table: Table = {
        gettext("unit"): [k + 1 for k in order],
        **{name: column[order] for name, column in columns.items()},
        gettext("running sum"): np.cumsum(contributions[order]),
        gettext("saturated"): is_saturated[order],
    }
    return Spec([*running, *traces], layout, alt, table)


def _signed_axis(title: str, values: Any, domain: list[float]) -> Part:
    """Return the axis of signed `values`, with 0 in its middle."""
    limit = 1.08 * (np.abs(values).max() or 1)
    return value_axis(title, [-limit, limit], domain=domain, nticks=3)


def unit_texts(units: EnergyDecomposition) -> tuple[str, str]:
    """Return the hover text of a unit and the title of the running sum.

    The hover text has placeholders for query, key, activation, score and contribution.
    """
    if units.bounded:
        return gettext("unit {k}<br>tanh({q} + {u}) = {a}<br>× {v} (v) = {c}"), gettext("→ running sum")
    if units.scaled:
        named = {name: f"{{{name}}}" for name in "kquc"} | {"units": len(units.query)}
        return (
            gettext("unit {k}<br>{q} × {u} / √{units} = {c}", **named),
            gettext("→ product / √{units}, running sum", units=len(units.query)),
        )
    if (units.score != 1).any():  # a user's own kind
        return gettext("unit {k}<br>{q} × {u} = {a}<br>× {v} (v) = {c}"), gettext("→ product × vₖ, running sum")
    return gettext("unit {k}<br>{q} × {u} = {c}"), gettext("→ product, running sum")


SOURCES = 12
"""Number of source pieces with a bar of their own, those with the largest contributions; the others share one."""
_LABEL, _COMPARED = 15, 9
"""Characters of a row's label, the same at every step, so that the bars begin at one position; of a piece in the last.
"""


def draw_logit_attribution(subject: Subject) -> Spec:
    """Draw what each term adds to the logit of the word, minus the mean logit: see `_attribution`."""
    return _attribution(subject, subject.logit_attribution, (subject.name(subject.word_id),))


def draw_contrast(subject: Subject) -> Spec:
    """Draw what each term adds to the logit of the word, minus that of the foil: see `_attribution`."""
    return _attribution(subject, subject.contrast, contrast_names(subject))


def contrast_names(subject: Subject) -> tuple[str, str]:
    """Return the labels of the word and of the foil."""
    assert subject.foil_id is not None  # the requirement FOIL ensures it
    return subject.name(subject.word_id), subject.name(subject.foil_id)


def _attribution(subject: Subject, attribution: LogitAttribution, compared: tuple[str, ...]) -> Spec:
    """Draw a logit from the bias down to the sum, whose label has the `compared` pieces, the word and any foil.

    A source piece has a row with its contribution, and on the left its alpha_ij as a bar, which shows attention without
    effect; small contributions share a row. Without attention, one row is the whole sentence. For marks and clicks,
    `layout.meta` has the row of each piece, None where it shares one (`entries`), and the mark's colour
    (`selection_colour`).
    """
    trace, source = subject.trace, attribution.source
    alpha, pieces = trace.alignment[subject.step], [piece_name(piece) for piece in trace.source_surfaces]
    own = _own_rows(subject) if trace.attends else []
    others = [j for j in range(len(source)) if j not in own]
    rest = ngettext("{count} other", "{count} others", len(others)) if own else gettext("c, the sentence")
    groups = [[j] for j in own] + [others] * bool(others)
    title = logit_attribution_title(*compared, longest=subject.longest or _COMPARED)
    terms = [attribution.bias, attribution.state, attribution.previous_word]
    values = [*terms, *(source[group].sum() for group in groups)]
    weights, of_source = [alpha[group].sum() for group in groups], "encoder" if own else "context"
    rows = [
        (gettext("bias"), "quiet"),
        (gettext("through sᵢ" if trace.reads_new_state else "state sᵢ₋₁"), "decoder"),
        (gettext("after {piece}", piece=piece_name(trace.previous_pieces[subject.step])), "decoder"),
        *((rest if group is others else pieces[group[0]], of_source) for group in groups),
        (title, "ink"),
    ]
    hover = [
        gettext("{name}: {amount}", name=escape(shorten(name, 60)), amount=signed(amount, 4))
        for (name, _), amount in zip(rows, [*values, attribution.logit], strict=True)
    ]
    if own:
        hover[3:-1] = [f"{text}<br>α = {decimal(weight, 4)}" for text, weight in zip(hover[3:-1], weights, strict=True)]
    labels = axis_labels((name for name, _ in rows), subject.longest or _LABEL)
    labels[-1] = f"<b>{labels[-1]}</b>"
    labels = [in_colour(label, colour) for label, (_, colour) in zip(labels, rows, strict=True)]

    entries = [3 + own.index(j) if j in own else None for j in range(len(source))] if own else None
    data, layout = _waterfall(
        values,
        hover,
        labels,
        gettext("running sum"),
        0.19 if own else 0,
        118,
        320,
        selection_colour="encoder",
        entries=entries,
    )
    if own:
        places = list(range(3, len(values)))
        data.append(bars(weights, "bar", hover[3:-1], name="alpha", xaxis="x2", y=places))
        layout["xaxis2"] = value_axis("α", [0, 1], domain=[0, 0.14], tickvals=[0, 1])

    largest = np.abs(source).argmax()
    alt = gettext(
        "{title}: what each term of step {step} adds to the total of {logit:.2f}. The largest source term, "
        "{entry:+.2f}, is that of {piece}, whose attention weight is {weight:.2f}."
        if own
        else "{title}: what each term of step {step} adds to the total of {logit:.2f}.",
        title=shorten(title, 60),
        step=subject.step + 1,
        logit=attribution.logit,
        entry=source[largest],
        piece=shorten(pieces[largest]),
        weight=alpha[largest],
    )
    state = gettext("through s_i" if trace.reads_new_state else "state s_{i-1}")
    columns = {
        gettext("entry"): [gettext("bias"), state, gettext("previous word"), *pieces, gettext("sum")],
        gettext("adds"): [*terms, *source, attribution.logit],
        "alpha": [None, None, None, *alpha, None],
    }
    return Spec(data, layout, alt, numbered_rows(columns))


def _own_rows(subject: Subject) -> list[int]:
    """Return the source pieces with a row of their own, in sentence order: the largest contributions, and the chosen.

    They are the largest in attribution or contrast, so that both have the same rows.
    """
    contrast = [] if subject.foil_id is None else [subject.contrast]
    amounts = np.max([np.abs(each.source) for each in [subject.logit_attribution, *contrast]], axis=0)
    # A piece without weight contributes nothing and gets no bar.
    count = min(SOURCES, max(int(np.count_nonzero(amounts)), 1))
    rows = np.argsort(-amounts, kind="stable")[:count].tolist()
    if subject.source_piece not in rows:
        rows = [*rows[: SOURCES - 1], subject.source_piece]
    return sorted(rows)


def _waterfall(
    values: Sequence[float],
    hover: Sequence[str],
    labels: Sequence[str],
    title: str,
    start: float,
    margin: int,
    narrowest: int,
    **meta: Any,
) -> tuple[list[Part], Part]:
    """Return data and layout of a waterfall of `values`, (n,), with the sum in the last row, below a line.

    The number of each row is at the end of its bar. `hover` and `labels`, already escaped, have a text for each term
    and for the sum. The axis of the running sum has a title and begins at `start`, a share of the width. `margin` are
    the pixels of the labels; `narrowest` and `meta` are as for `rows_layout`.
    """
    sums = np.cumsum(values)
    amounts, low, high = [*values, sums[-1]], sums.min(initial=0), sums.max(initial=0)
    # The sum is not violet, which looks like the blue of a plus with protanopia.
    colours = {"increasing": "plus", "decreasing": "minus", "totals": "ink"}
    floating = {
        "type": "waterfall",
        "orientation": "h",
        "name": "sum",
        "y": list(range(len(amounts))),
        "x": amounts,
        "measure": ["relative"] * len(values) + ["total"],
        **{part: {"marker": {"color": colour}} for part, colour in colours.items()},
        "connector": {"line": {"color": "line", "width": 1}},
        "customdata": list(hover),
        "hovertemplate": HOVER,
    }
    texts = [f" {signed(amount)} " for amount in amounts]
    padding = 0.2 * (high - low or 1)
    layout = rows_layout(
        label_axis(labels, "ink", anchor="free", position=0, ticks="", ticklabelstandoff=6),
        21,
        (margin, 8, 40, 8),
        narrowest,
        value_axis(title, [low - padding, high + padding], domain=[start, 1], nticks=5),
        **meta,
    ) | {"shapes": [line((0, 1), [len(values) - 0.5] * 2, "quiet")]}
    return [floating, numbers(amounts, texts, name="numbers", x=np.append(sums, amounts[-1]))], layout
