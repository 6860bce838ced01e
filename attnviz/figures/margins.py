"""Margins of the heatmap: column sums below, row entropies on the right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.grid import Face, Grid
from attnviz.figures.build import Spec, base_axis, rectangle
from attnviz.figures.labels import literal
from attnviz.languages import gettext, ngettext
from attnviz.palette import Palette
from attnviz.wording.attention_variants import SYMBOLS
from attnviz.wording.labels import shorten
from attnviz.wording.numbers import decimal, signed

SEAM = "#3b3935"
"""Colour between cells: too dark for a weight, light enough to separate two black cells."""

_BELOW, _GAP, _SHARE = 44, 8, 0.87
"""Pixels of the bars below the heatmap and of the gap; share of the width that the heatmap keeps."""


def seam(cells: Grid, ink: Palette) -> str:
    """Return the colour between cells; in a difference, a line colour, since cells of 0 have the background's."""
    return ink.line if cells.face == "difference" else SEAM


def margin_bars(cells: Grid, positions: int, ink: Palette) -> list[Spec]:
    """Return the bars of the margins: on `y2` below the columns, on `x2` right of the rows."""
    sums = [
        _sum(cells.face, literal(shorten(name, 60)), amount)
        for name, amount in zip(cells.source, cells.covered.tolist(), strict=True)
    ]
    spreads = [
        _spread(cells.face, literal(shorten(name, 60)), bits, positions)
        + (gettext("<br>mean of its {count} pieces", count=len(steps)) if len(steps) > 1 else "")
        for name, bits, steps in zip(cells.target, cells.entropies.tolist(), cells.steps, strict=True)
    ]
    bar = {"type": "bar", "hovertemplate": "%{customdata}<extra></extra>"}
    return [
        bar
        | {
            "name": "coverage",
            "x": list(range(len(sums))),
            "y": cells.covered.tolist(),
            "yaxis": "y2",
            "customdata": sums,
            "marker": {"color": _colours(cells, cells.covered, ink.encoder, ink)},
        },
        bar
        | {
            "name": "entropy",
            "orientation": "h",
            "x": cells.entropies.tolist(),
            "y": list(range(len(spreads))),
            "xaxis": "x2",
            "customdata": spreads,
            "marker": {"color": _colours(cells, cells.entropies, ink.decoder, ink)},
        },
    ]


def _sum(face: Face, name: str, amount: float) -> str:
    """Return the hover text of the bar below a column."""
    if face == "difference":
        return gettext(
            "{name}: attention changes by {amount} in total after the word (Σ (α′ − α) over the rows)",
            name=name,
            amount=signed(amount),
        )
    if face == "after":
        return ngettext(
            "{name}: posterior attention {count:.2f} in total (Σ α′ over the rows)",
            "{name}: posterior attention {count:.2f} in total (Σ α′ over the rows)",
            amount,
            name=name,
        )
    return gettext("{name}: attention {amount:.2f} in total (Σ α over the rows)", name=name, amount=amount)


def _spread(face: Face, name: str, bits: float, positions: int) -> str:
    """Return the hover text of the bar beside a row."""
    if face == "difference":
        return ngettext(
            "{name}: entropy changes by {bits} bits (α′ minus α)",
            "{name}: entropy changes by {bits} bits (α′ minus α)",
            round(bits, 2),
            name=name,
            bits=signed(bits),
        )
    most, alike = np.log2(positions), 2**bits
    if face == "after":
        wide = ngettext(
            "like a weight spread evenly over {count:.1f} pieces",
            "like a weight spread evenly over {count:.1f} pieces",
            alike,
        )
        return ngettext(
            "{name}: entropy H of α′ = {count:.2f} bits (at most {most:.2f}), {wide}",
            "{name}: entropy H of α′ = {count:.2f} bits (at most {most:.2f}), {wide}",
            bits,
            name=name,
            most=most,
            wide=wide,
        )
    wide = ngettext(
        "like a weight spread evenly over {count:.1f} pieces",
        "like a weight spread evenly over {count:.1f} pieces",
        alike,
    )
    return ngettext(
        "{name}: entropy H = {count:.2f} bits (at most {most:.2f}), {wide}",
        "{name}: entropy H = {count:.2f} bits (at most {most:.2f}), {wide}",
        bits,
        name=name,
        most=most,
        wide=wide,
    )


def _axes(cells: Grid, positions: int) -> tuple[Spec, Spec]:
    """Return range and labels of the axes of sums, downwards, and of entropies, both from 0.

    In a difference they extend to both sides of 0, gains upwards.
    """
    if cells.face != "difference":
        most, largest = float(cells.covered.max()), float(np.log2(positions)) or 1.0
        below = {
            "range": [most * 1.04, 0],
            "tickvals": [0, most],
            "ticktext": [f"Σ {SYMBOLS[cells.face]}  0", decimal(most, 1)],
        }
        return below, {"range": [0, largest], "tickvals": [0, largest], "ticktext": ["0", decimal(largest, 1)]}
    most = max(float(np.abs(cells.covered).max()), 0.1) * 1.04
    largest = max(float(np.abs(cells.entropies).max()), 0.1) * 1.04
    below = {
        "range": [-most, most],
        "tickvals": [-most, 0, most],
        "ticktext": [signed(-most, 1), "Σ Δ  0", signed(most, 1)],
    }
    return below, {"range": [-largest, largest], "tickvals": [0, largest], "ticktext": ["0", signed(largest, 1)]}


def add_margin_axes(layout: Spec, cells: Grid, positions: int, ink: Palette) -> None:
    """Shrink the heatmap of `layout`, and add the axes of the margins in the free space."""
    inner = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    bottom = (_BELOW + _GAP) / (inner + _BELOW + _GAP)
    layout["height"] += _BELOW + _GAP
    for bound in ("narrowest", "widest"):
        layout["meta"][bound] = round(layout["meta"][bound] / _SHARE)
    layout["xaxis"]["domain"], layout["yaxis"]["domain"] = [0, _SHARE], [bottom, 1]
    below, beside = _axes(cells, positions)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": True}
    title = {"font": {"size": 11, "color": ink.quiet}, "standoff": 3}
    layout["yaxis2"] = (
        axis
        | {
            "domain": [0, bottom * _BELOW / (_BELOW + _GAP)],
            "anchor": "x",
        }
        | below
    )
    layout["xaxis2"] = (
        axis
        | {
            "domain": [_SHARE + 0.02, 1],
            "anchor": "y",
            "side": "bottom",
            "title": title | {"text": ("Δ" if cells.face == "difference" else "") + gettext("H, bits")},
        }
        | beside
    )
    layout["xaxis"]["anchor"], layout["bargap"] = "y", 0.25
    # A plot background covers every panel; the colour between cells must cover the heatmap only.
    rows, columns = cells.alpha.shape
    colour = seam(cells, ink)
    ground = rectangle(-0.5, columns - 0.5, -0.5, rows - 0.5, colour, 0) | {"fillcolor": colour, "layer": "below"}
    layout["plot_bgcolor"], layout["shapes"] = "rgba(0,0,0,0)", [ground]


def _colours(cells: Grid, amounts: NDArray[np.float64], colour: str, ink: Palette) -> str | list[str]:
    """Return the colour of the bars, or one for each bar where a difference has signs."""
    if cells.face != "difference":
        return colour
    return [ink.plus if amount >= 0 else ink.minus for amount in amounts.tolist()]
