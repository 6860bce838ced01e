"""Figure of one energy as a sum over units: query, key, tanh, v, and the running sum.

When another cell is chosen, the UI component of the same name replaces the numbers in the browser; it finds the
traces of the figure by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.analysis.energy_equations import SATURATED, EnergyDecomposition, saturated
from attnviz.analysis.measures import ranked
from attnviz.analysis.numbers import decimal, signed
from attnviz.figures.grammar import HOVER, bars, points, sum_range, titled_axis, value_axis, waterfall, waterfall_layout
from attnviz.figures.spec import Numbers, Part, Spec, Table, emphasise, in_colour
from attnviz.figures.subject import Subject
from attnviz.languages import gettext, ngettext
from attnviz.palette import PALE

OPERANDS_WIDTH = 640
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
    sum, which ends at the energy. With `operands`, which need OPERANDS_WIDTH pixels, each named unit has from left to
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
        values.append(float(contributions[rest].sum()))
        labels.append(gettext("{n} more", n=len(rest)))
        c = signed(values[-1], 4)
        hover.append(ngettext("{count} more unit: {c}", "{count} more units: {c}", len(rest), c=c))
    labels.append(emphasise(gettext("energy e"), "ink"))
    hover.append(f"e = {signed(units.energy, 4)}")
    axes["xaxis"] = value_axis(title, sum_range(values), domain=[start, 1], nticks=5)
    layout = waterfall_layout(labels, 92, OPERANDS_WIDTH if operands else 300) | axes

    largest = ranked(contributions)
    outline = [*largest, largest[-1]]  # the last step has an end
    # Filled steps instead of bars, which would be an element each.
    for name, colour, part in (
        ("for", "plus", contributions.clip(0)),
        ("against", "minus", contributions.clip(None, 0)),
    ):
        steps = {"line": {"shape": "hv", "width": 0}, "fill": "tozeroy", "fillcolor": colour, "hovertemplate": HOVER}
        hovered = [f"{names[k]}: {amounts[k]}" for k in outline]
        x = [place + 0.5 for place in range(len(outline))]
        traces.append(_strip(x, part[outline], "y2", name=name, customdata=hovered, **steps))
    running = f"{gettext('running sum')} %{{y:.3f}}<extra></extra>"
    whole_line = {"line": {"color": "ink", "width": 2}, "hovertemplate": running}
    x = list(range(1, len(outline)))
    traces.append(_strip(x, np.cumsum(contributions[largest]), "y3", name="running", **whole_line))
    layout["height"] += _GAP + _STRIP + _BELOW - layout["margin"]["b"]
    layout["margin"]["b"] = _BELOW
    inside = layout["height"] - layout["margin"]["t"] - _BELOW
    half, whole, above = (pixels / inside for pixels in (0.45 * _STRIP, _STRIP, _STRIP + _GAP))
    side: Part = {"nticks": 3, "zerolinecolor": "quiet", "anchor": "x5"}
    ends: Part = {"range": [0.5, len(largest) + 0.5], "anchor": "y2", "showgrid": False, "showticklabels": False}
    layout["yaxis"]["domain"] = [above, 1]
    layout |= {
        "barmode": "group",
        "xaxis5": titled_axis(gettext("all units, sorted by contribution"), standoff=4, **ends),
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
    return Spec([*waterfall(values, hover), *traces], layout, alt, table)


def _signed_axis(title: str, values: Any, domain: list[float]) -> Part:
    """Return the axis of signed `values`, with 0 in its middle."""
    limit = 1.08 * float(np.abs(values).max() or 1)
    return value_axis(title, [-limit, limit], domain=domain, nticks=3)


def _strip(x: list[float], y: Numbers, axis: str, **more: Any) -> Part:
    """Return a line in the strip of all units."""
    return {"type": "scatter", "mode": "lines", "xaxis": "x5", "yaxis": axis, "x": x, "y": y} | more


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
