"""Figure and table of one energy as a sum over units: query, key, tanh, v, and the running sum.

When another cell is chosen, the UI component of the same name replaces the numbers in the browser; it finds the
traces of the figure by name.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.energy_equations import SATURATED, EnergyDecomposition, saturated
from attnviz.analysis.numbers import decimal, signed
from attnviz.figures.legacy import figure_of, panel, rows_layout, rows_values, sum_range, waterfall, waterfall_values
from attnviz.figures.spec import Part, base_axis, emphasise
from attnviz.languages import gettext, ngettext
from attnviz.palette import PALE, Palette, ThemeName, palette

OPERANDS_WIDTH = 640
"""Width in pixels from which the operands fit beside the running sum."""

SHOWN_ENERGY_UNITS = 12
"""Number of units with a row of their own, those with the largest |contribution|; the others share one."""

_STRIP, STRIP_GAP = 150, 46
"""Pixels of the strip of all units, and between the rows and the strip."""

SATURATION_MARK = " ▮"
"""Follows the name of a saturated unit."""


def hover_template(decomposition: EnergyDecomposition) -> str:
    """Return the hover text of a unit, with placeholders for query, key, activation, score and contribution."""
    if decomposition.bounded:
        return gettext("unit {k}<br>tanh({q} + {u}) = {a}<br>× {v} (v) = {c}")
    if decomposition.scaled:
        units = len(decomposition.query)
        return gettext("unit {k}<br>{q} × {u} / √{units} = {c}", k="{k}", q="{q}", u="{u}", c="{c}", units=units)
    if _weighted(decomposition):
        return gettext("unit {k}<br>{q} × {u} = {a}<br>× {v} (v) = {c}")
    return gettext("unit {k}<br>{q} × {u} = {c}")


def energy_decomposition_table(decomposition: EnergyDecomposition) -> pd.DataFrame:
    """Return the units of an energy, largest |contribution| first, with the running sum.

    The index is the unit's number, from 1.
    """
    order = decomposition.order
    contributions = decomposition.contributions[order]
    return pd.DataFrame(
        {
            gettext("query"): decomposition.query[order],
            gettext("key"): decomposition.key[order],
            gettext("activation"): decomposition.activation[order],
            "v": decomposition.score[order],
            gettext("contribution"): contributions,
            gettext("running sum"): np.cumsum(contributions),
            gettext("saturated"): saturated(decomposition)[order],
        },
        index=pd.Index(order + 1, name=gettext("unit")),
    )


def energy_decomposition_figure(
    decomposition: EnergyDecomposition, *, operands: bool = True, theme: ThemeName = "light"
) -> go.Figure:
    """Draw an energy as the sum of its units: the largest by name, the rest as one row, the sum, and a strip of all.

    In the strip, the units stand in order of their contribution, the largest positive one first, below their running
    sum, which ends at the energy. With `operands`, which need OPERANDS_WIDTH pixels, each named unit has from left to
    right its query (purple) and key (green) with their sum as a diamond, the tanh of it, v, and its place in the
    running sum.
    """
    ink = palette(theme)
    top, rest = decomposition.order[:SHOWN_ENERGY_UNITS], decomposition.order[SHOWN_ENERGY_UNITS:]
    values = [
        *decomposition.contributions[top].tolist(),
        *([float(decomposition.contributions[rest].sum())] if rest.size else []),
    ]
    is_saturated = saturated(decomposition)
    names = [gettext("unit {k}", k=k + 1) + (SATURATION_MARK if is_saturated[k] else "") for k in top]
    hover = [_hover(decomposition, int(k)) for k in top]
    if rest.size:
        names.append(gettext("{n} more", n=rest.size))
        hover.append(ngettext("{count} more unit: {c}", "{count} more units: {c}", rest.size, c=signed(values[-1], 4)))
    labels = [*names, emphasise(gettext("energy e"), ink.ink)]
    panels, axes = _operand_panels(decomposition, top, hover[: len(top)], ink) if operands else ([], {})
    layout = rows_layout(92, ink) | {"barmode": "group", "xaxis": panel(ink, [0, 1], gettext("running sum"))} | axes
    layout["xaxis"] |= {"range": sum_range(values), "nticks": 5}
    layout["meta"] = {"alt": energy_decomposition_alt(decomposition), "narrowest": OPERANDS_WIDTH if operands else 300}
    hover.append(f"e = {signed(decomposition.energy, 4)}")
    rows = rows_values(labels)
    strip, strip_axes = _strip(decomposition, rows["height"], ink)
    layout["yaxis"] |= {"domain": strip_axes.pop("rows")}
    layout["margin"] |= {"b": 30}
    template = {"data": [*waterfall(ink), *panels, *strip], "layout": layout | strip_axes}
    height = rows["height"] + STRIP_GAP + _STRIP + 22  # the margin below
    return figure_of(template, rows | waterfall_values(values, hover) | {"height": height})


def _strip(decomposition: EnergyDecomposition, height: int, ink: Palette) -> tuple[list[Part], Part]:
    """Return the traces and axes of the strip of all units, and as "rows" the domain of the rows above it.

    `height` is that of the figure without the strip, of which 48 pixels are margins.
    """
    order = np.argsort(-decomposition.contributions, kind="stable")
    contributions = decomposition.contributions[order]
    count = len(order)
    hover = [f"{gettext('unit {k}', k=k + 1)}: {signed(decomposition.contributions[k], 4)}" for k in order]
    # Filled steps instead of bars, which would be an element each.
    steps = {
        "type": "scatter",
        "mode": "lines",
        "xaxis": "x5",
        "yaxis": "y2",
        "x": [place + 0.5 for place in range(count + 1)],
        "line": {"shape": "hv", "width": 0},
        "fill": "tozeroy",
        "customdata": [*hover, hover[-1]],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "running",
        "xaxis": "x5",
        "yaxis": "y3",
        "x": list(range(1, count + 1)),
        "y": np.cumsum(contributions).tolist(),
        "line": {"color": ink.ink, "width": 2},
        "hovertemplate": f"{gettext('running sum')} %{{y:.3f}}<extra></extra>",
    }
    total = height - 48 + STRIP_GAP + _STRIP
    bottom, middle, top = (pixels / total for pixels in (0, 0.45 * _STRIP, _STRIP))
    side = base_axis(ink) | {"nticks": 3, "zerolinecolor": ink.quiet, "anchor": "x5"}
    names = {"y2": gettext("contribution"), "y3": gettext("running sum")}
    titles = {axis: {"text": name, "font": {"size": 11, "color": ink.quiet}} for axis, name in names.items()}
    axes = {
        "rows": [(_STRIP + STRIP_GAP) / total, 1],
        "xaxis5": base_axis(ink)
        | {
            "anchor": "y2",
            "range": [0.5, count + 0.5],
            "showgrid": False,
            "showticklabels": False,
            "title": {
                "text": gettext("all units, sorted by contribution"),
                "font": {"size": 12, "color": ink.quiet},
                "standoff": 4,
            },
        },
        "yaxis2": side | {"domain": [bottom, middle], "title": titles["y2"]},
        "yaxis3": side | {"domain": [middle, top], "title": titles["y3"]},
    }
    outline = [*contributions, contributions[-1]]
    return [
        steps | {"name": "for", "y": np.maximum(outline, 0).tolist(), "fillcolor": ink.plus},
        steps | {"name": "against", "y": np.minimum(outline, 0).tolist(), "fillcolor": ink.minus},
        line,
    ], axes


def energy_decomposition_alt(decomposition: EnergyDecomposition) -> str:
    """Return the text alternative of the figure."""
    largest, count = int(decomposition.order[0]), int(saturated(decomposition).sum())
    saturation = ""
    if decomposition.bounded:
        saturation = ngettext(
            ", of which {count} is saturated (|tanh| at least {least})",
            ", of which {count} are saturated (|tanh| at least {least})",
            count,
            least=SATURATED,
        )
    return gettext(
        "An energy of {energy:.3f} as the sum over {count} units{saturation}. The largest contribution is that "
        "of unit {largest}: {contribution:+.3f}.",
        energy=decomposition.energy,
        count=len(decomposition.query),
        saturation=saturation,
        largest=largest + 1,
        contribution=decomposition.contributions[largest],
    )


def _operand_panels(
    decomposition: EnergyDecomposition, top: np.ndarray, hover: list[str], ink: Palette
) -> tuple[list[Part], Part]:
    """Return the traces of the panels left of the running sum, and the axes of all panels."""
    rows, is_saturated = list(range(len(top))), saturated(decomposition)[top]
    query, key, activation = decomposition.query[top], decomposition.key[top], decomposition.activation[top]
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
    of_query, of_key = decomposition.names
    coloured = _coloured(of_query, ink.decoder), _coloured(of_key, ink.encoder)
    if not decomposition.bounded:
        inputs["title"]["text"] = ", ".join(coloured)
        return traces, {
            "xaxis2": inputs | {"domain": [0, 0.4]},
            "xaxis": panel(ink, [0.46, 1], _products_title(decomposition)),
        }
    inputs["title"]["text"] = f"{' + '.join(coloured)} ◆"
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
    scores = bar | {
        "name": "score",
        "xaxis": "x4",
        "x": decomposition.score[top].tolist(),
        "marker": {"color": ink.quiet},
    }
    score_limit = 1.08 * float(np.abs(decomposition.score).max() or 1)
    return [*traces, diamonds, activations, scores], {
        "xaxis2": inputs,
        "xaxis3": panel(ink, [0.31, 0.45], "→ tanh") | {"range": [-1.08, 1.08], "tickvals": [-1, 0, 1]},
        "xaxis4": panel(ink, [0.49, 0.6], "× vₖ") | {"range": [-score_limit, score_limit], "nticks": 3},
        "xaxis": panel(ink, [0.64, 1], gettext("→ running sum")),
    }


def _hover(decomposition: EnergyDecomposition, k: int) -> str:
    values = {
        "q": decomposition.query[k],
        "u": decomposition.key[k],
        "a": decomposition.activation[k],
        "v": decomposition.score[k],
    }
    numbers = {name: decimal(float(value), 3) for name, value in values.items()}
    return hover_template(decomposition).format(k=k + 1, c=signed(decomposition.contributions[k], 4), **numbers)


def _products_title(decomposition: EnergyDecomposition) -> str:
    """Return the title of the running sum of products."""
    if decomposition.scaled:
        return gettext("→ product / √{units}, running sum", units=len(decomposition.query))
    return gettext("→ product × vₖ, running sum") if _weighted(decomposition) else gettext("→ product, running sum")


def _weighted(decomposition: EnergyDecomposition) -> bool:
    """Return whether a user's own kind multiplies its products by weights."""
    return bool((decomposition.score != 1).any())


def _coloured(text: str, colour: str) -> str:
    return f'<span style="color:{colour}">{text}</span>'
