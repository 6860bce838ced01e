"""Energy decomposition as a figure: one energy, unit by unit, from its operands to the running sum.

The component of the same name fills this figure with the numbers of other cells, by the names of the traces.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.energy_decomposition import SATURATED, EnergyDecomposition, saturated
from attnviz.figures.build import Spec, emphasise
from attnviz.figures.template import filled
from attnviz.figures.waterfall import panel, rows_layout, rows_values, sum_range, waterfall, waterfall_values
from attnviz.languages import gettext, ngettext
from attnviz.palette import PALE, Palette, ThemeName, palette
from attnviz.wording.numbers import decimal, signed

OPERANDS_WIDTH = 640
"""Width in pixels from which the operands fit beside the running sum."""

UNITS = 12
"""Number of units with a row of their own, those with the largest |contribution|; the others share one."""

MARK = " ▮"
"""Follows the name of a saturated unit."""


def hover_template(bounded: bool) -> str:
    """Return the hover text of a unit, with placeholders for query, key, activation, score and contribution."""
    if bounded:
        return gettext("unit {k}<br>tanh({q} + {u}) = {a}<br>× v = {v} gives {c}")
    return gettext("unit {k}<br>{q} × {u} = {c}")


def head_hover(units: int) -> str:
    """Return the hover text of a unit of a transformer's head with `units` units, with placeholders."""
    return gettext("unit {k}<br>{q} × {u} / √{units} = {c}", k="{k}", q="{q}", u="{u}", c="{c}", units=units)


def energy_decomposition_table(units: EnergyDecomposition) -> pd.DataFrame:
    """Return the units of an energy, largest |contribution| first, with the running sum.

    The index is the unit's number, from 1.
    """
    order = units.order
    contributions = units.contributions[order]
    return pd.DataFrame(
        {
            gettext("query"): units.query[order],
            gettext("key"): units.key[order],
            gettext("activation"): units.activation[order],
            "v": units.score[order],
            gettext("contribution"): contributions,
            gettext("running sum"): np.cumsum(contributions),
            gettext("saturated"): saturated(units)[order],
        },
        index=pd.Index(order + 1, name=gettext("unit")),
    )


def energy_decomposition_figure(
    units: EnergyDecomposition, *, operands: bool = True, theme: ThemeName = "light"
) -> go.Figure:
    """Draw an energy as the sum of its units: the largest by name, the rest as one row, the sum below.

    With `operands`, which need OPERANDS_WIDTH pixels, each named unit has from left to right its query (purple) and key
    (green) with their sum as a diamond, the tanh of it, v, and its place in the running sum.
    """
    ink = palette(theme)
    top, rest = units.order[:UNITS], units.order[UNITS:]
    values = [*units.contributions[top].tolist(), *([float(units.contributions[rest].sum())] if rest.size else [])]
    is_saturated = saturated(units)
    names = [gettext("unit {k}", k=k + 1) + (MARK if is_saturated[k] else "") for k in top]
    hover = [_hover(units, int(k)) for k in top]
    if rest.size:
        names.append(gettext("{n} more", n=rest.size))
        hover.append(ngettext("{count} more unit: {c}", "{count} more units: {c}", rest.size, c=signed(values[-1], 4)))
    labels = [*names, emphasise(gettext("energy e"), ink.ink)]
    panels, axes = _operands(units, top, hover[: len(top)], ink) if operands else ([], {})
    layout = rows_layout(92, ink) | {"barmode": "group", "xaxis": panel(ink, [0, 1], gettext("running sum"))} | axes
    layout["xaxis"] |= {"range": sum_range(values), "nticks": 5}
    layout["meta"] = {"alt": energy_decomposition_alt(units), "narrowest": OPERANDS_WIDTH if operands else 300}
    hover.append(f"e = {signed(units.energy, 4)}")
    template = {"data": [*waterfall(ink), *panels], "layout": layout}
    return filled(template, rows_values(labels) | waterfall_values(values, hover))


def energy_decomposition_alt(units: EnergyDecomposition) -> str:
    """Return the text alternative of the figure."""
    largest, count = int(units.order[0]), int(saturated(units).sum())
    saturation = ""
    if units.bounded:
        saturation = ngettext(
            ", of which {count} is saturated (|tanh| at least {least})",
            ", of which {count} are saturated (|tanh| at least {least})",
            count,
            least=SATURATED,
        )
    return gettext(
        "An energy of {energy:.3f} as the sum over {count} units{saturation}. The largest contribution is that "
        "of unit {largest}: {contribution:+.3f}.",
        energy=units.energy,
        count=len(units.query),
        saturation=saturation,
        largest=largest + 1,
        contribution=units.contributions[largest],
    )


def _operands(units: EnergyDecomposition, top: np.ndarray, hover: list[str], ink: Palette) -> tuple[list[Spec], Spec]:
    """Return the panels left of the running sum, and their axes."""
    rows, is_saturated = list(range(len(top))), saturated(units)[top]
    query, key, activation = units.query[top], units.key[top], units.activation[top]
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": rows,
        "customdata": hover,
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    traces = [
        bar | {"name": "query", "xaxis": "x2", "x": query.tolist(), "marker": {"color": ink.decoder}},
        bar | {"name": "key", "xaxis": "x2", "x": key.tolist(), "marker": {"color": ink.encoder}},
    ]
    limit = 1.08 * float(np.abs([query, key, query + key]).max() or 1)
    inputs = panel(ink, [0, 0.27], "") | {"range": [-limit, limit], "nticks": 3}
    if not units.bounded:
        inputs["title"]["text"] = f"{_tint(units.names[0], ink.decoder)}, {_tint(units.names[1], ink.encoder)}"
        sums = (
            gettext("→ product / √{units}, running sum", units=len(units.query))
            if _scaled(units)
            else gettext("→ product, running sum")
        )
        return traces, {"xaxis2": inputs | {"domain": [0, 0.4]}, "xaxis": panel(ink, [0.46, 1], sums)}
    inputs["title"]["text"] = f"{_tint('(Wₐ s)ₖ', ink.decoder)} + {_tint('(Uₐ h)ₖ', ink.encoder)} ◆"
    diamonds = {
        "type": "scatter",
        "mode": "markers",
        "name": "together",
        "xaxis": "x2",
        "y": rows,
        "x": (query + key).tolist(),
        "marker": {"symbol": "diamond", "size": 7, "color": ink.ink},
        "hoverinfo": "skip",
    }
    fills = [1 if saturates else PALE for saturates in is_saturated]
    activations = bar | {
        "name": "activation",
        "xaxis": "x3",
        "x": activation.tolist(),
        "marker": {"color": ink.bar, "opacity": fills},
    }
    scores = bar | {"name": "score", "xaxis": "x4", "x": units.score[top].tolist(), "marker": {"color": ink.quiet}}
    most = 1.08 * float(np.abs(units.score).max() or 1)
    return [*traces, diamonds, activations, scores], {
        "xaxis2": inputs,
        "xaxis3": panel(ink, [0.31, 0.45], "→ tanh") | {"range": [-1.08, 1.08], "tickvals": [-1, 0, 1]},
        "xaxis4": panel(ink, [0.49, 0.6], "× vₖ") | {"range": [-most, most], "nticks": 3},
        "xaxis": panel(ink, [0.64, 1], gettext("→ running sum")),
    }


def _hover(units: EnergyDecomposition, k: int) -> str:
    numbers = {"q": units.query[k], "u": units.key[k], "a": units.activation[k], "v": units.score[k]}
    written = {name: decimal(float(value), 3) for name, value in numbers.items()}
    template = head_hover(len(units.query)) if _scaled(units) else hover_template(units.bounded)
    return template.format(k=k + 1, c=signed(units.contributions[k], 4), **written)


def _scaled(units: EnergyDecomposition) -> bool:
    """Return whether each product is divided by the square root of their number."""
    return not units.bounded and bool(units.score[0] != 1)


def _tint(text: str, colour: str) -> str:
    return f'<span style="color:{colour}">{text}</span>'
