"""Bars in the margins of the heatmap: column sums below, row entropies on the right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.grid import Face, Grid
from attnviz.figures.build import Spec, base_axis, rectangle
from attnviz.figures.labels import literal
from attnviz.languages import gettext, ngettext
from attnviz.palette import Palette
from attnviz.wording.attention_forms import SYMBOLS
from attnviz.wording.labels import shorten
from attnviz.wording.numbers import decimal, signed

CELL_GAP_COLOUR = "#3b3935"
"""Colour between cells: too dark for a weight, light enough to separate two black cells."""

_BAR_HEIGHT, _GAP, _HEATMAP_SHARE = 44, 8, 0.87
"""Pixels of the bars below the heatmap and of the gap above them; share of the width for the heatmap."""


def cell_gap_colour(cells: Grid, ink: Palette) -> str:
    """Return the colour between cells; in a difference, a line colour, since cells of 0 have the background's."""
    return ink.line if cells.face == "difference" else CELL_GAP_COLOUR


def margin_bars(cells: Grid, positions: int, ink: Palette) -> list[Spec]:
    """Return the bars of the margins: on `y2` below the columns, on `x2` right of the rows."""
    sum_texts = [
        _sum_text(cells.face, literal(shorten(name, 60)), amount)
        for name, amount in zip(cells.source, cells.covered.tolist(), strict=True)
    ]
    entropy_texts = [
        _entropy_text(cells.face, literal(shorten(name, 60)), bits, positions)
        + (gettext("<br>mean of its {count} pieces", count=len(steps)) if len(steps) > 1 else "")
        for name, bits, steps in zip(cells.target, cells.entropies.tolist(), cells.steps, strict=True)
    ]
    bar = {"type": "bar", "hovertemplate": "%{customdata}<extra></extra>"}
    return [
        bar
        | {
            "name": "coverage",
            "x": list(range(len(sum_texts))),
            "y": cells.covered.tolist(),
            "yaxis": "y2",
            "customdata": sum_texts,
            "marker": {"color": _bar_colours(cells, cells.covered, ink.encoder, ink)},
        },
        bar
        | {
            "name": "entropy",
            "orientation": "h",
            "x": cells.entropies.tolist(),
            "y": list(range(len(entropy_texts))),
            "xaxis": "x2",
            "customdata": entropy_texts,
            "marker": {"color": _bar_colours(cells, cells.entropies, ink.decoder, ink)},
        },
    ]


def _sum_text(face: Face, name: str, amount: float) -> str:
    """Return the hover text of the bar below a column."""
    if face == "difference":
        return gettext(
            "{name}: once the words are known, attention changes by {amount} in total (Σ (α′ − α) over the rows)",
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


def _entropy_text(face: Face, name: str, bits: float, positions: int) -> str:
    """Return the hover text of the bar beside a row."""
    if face == "difference":
        return ngettext(
            "{name}: entropy changes by {bits} bits (α′ minus α)",
            "{name}: entropy changes by {bits} bits (α′ minus α)",
            round(bits, 2),
            name=name,
            bits=signed(bits),
        )
    maximum, equivalent = np.log2(positions), 2**bits
    if face == "after":
        comparison = ngettext(
            "like a weight spread evenly over {count:.1f} pieces",
            "like a weight spread evenly over {count:.1f} pieces",
            equivalent,
        )
        return ngettext(
            "{name}: entropy H of α′ = {count:.2f} bits (at most {most:.2f}), {wide}",
            "{name}: entropy H of α′ = {count:.2f} bits (at most {most:.2f}), {wide}",
            bits,
            name=name,
            most=maximum,
            wide=comparison,
        )
    comparison = ngettext(
        "like a weight spread evenly over {count:.1f} pieces",
        "like a weight spread evenly over {count:.1f} pieces",
        equivalent,
    )
    return ngettext(
        "{name}: entropy H = {count:.2f} bits (at most {most:.2f}), {wide}",
        "{name}: entropy H = {count:.2f} bits (at most {most:.2f}), {wide}",
        bits,
        name=name,
        most=maximum,
        wide=comparison,
    )


def _axes(cells: Grid, positions: int) -> tuple[Spec, Spec]:
    """Return range and labels of the axes of sums, downwards, and of entropies, both from 0.

    In a difference they extend to both sides of 0, gains upwards.
    """
    if cells.face != "difference":
        largest_sum, largest_entropy = float(cells.covered.max()), float(np.log2(positions)) or 1.0
        sum_axis = {
            "range": [largest_sum * 1.04, 0],
            "tickvals": [0, largest_sum],
            "ticktext": [f"Σ {SYMBOLS[cells.face]}  0", decimal(largest_sum, 1)],
        }
        return sum_axis, {
            "range": [0, largest_entropy],
            "tickvals": [0, largest_entropy],
            "ticktext": ["0", decimal(largest_entropy, 1)],
        }
    largest_sum = max(float(np.abs(cells.covered).max()), 0.1) * 1.04
    largest_entropy = max(float(np.abs(cells.entropies).max()), 0.1) * 1.04
    sum_axis = {
        "range": [-largest_sum, largest_sum],
        "tickvals": [-largest_sum, 0, largest_sum],
        "ticktext": [signed(-largest_sum, 1), "Σ Δ  0", signed(largest_sum, 1)],
    }
    return sum_axis, {
        "range": [-largest_entropy, largest_entropy],
        "tickvals": [0, largest_entropy],
        "ticktext": ["0", signed(largest_entropy, 1)],
    }


def add_margin_axes(layout: Spec, cells: Grid, positions: int, ink: Palette) -> None:
    """Shrink the heatmap of `layout`, and add the axes of the margins in the free space."""
    inner = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    bottom = (_BAR_HEIGHT + _GAP) / (inner + _BAR_HEIGHT + _GAP)
    layout["height"] += _BAR_HEIGHT + _GAP
    for bound in ("narrowest", "widest"):
        layout["meta"][bound] = round(layout["meta"][bound] / _HEATMAP_SHARE)
    layout["xaxis"]["domain"], layout["yaxis"]["domain"] = [0, _HEATMAP_SHARE], [bottom, 1]
    sum_axis, entropy_axis = _axes(cells, positions)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": True}
    title = {"font": {"size": 11, "color": ink.quiet}, "standoff": 3}
    layout["yaxis2"] = (
        axis
        | {
            "domain": [0, bottom * _BAR_HEIGHT / (_BAR_HEIGHT + _GAP)],
            "anchor": "x",
        }
        | sum_axis
    )
    layout["xaxis2"] = (
        axis
        | {
            "domain": [_HEATMAP_SHARE + 0.02, 1],
            "anchor": "y",
            "side": "bottom",
            "title": title | {"text": ("Δ" if cells.face == "difference" else "") + gettext("H, bits")},
        }
        | entropy_axis
    )
    layout["xaxis"]["anchor"], layout["bargap"] = "y", 0.25
    # A plot background covers every panel; the colour between cells must cover the heatmap only.
    rows, columns = cells.alpha.shape
    colour = cell_gap_colour(cells, ink)
    background = rectangle(-0.5, columns - 0.5, -0.5, rows - 0.5, colour, 0) | {"fillcolor": colour, "layer": "below"}
    layout["plot_bgcolor"], layout["shapes"] = "rgba(0,0,0,0)", [background]


def _bar_colours(cells: Grid, amounts: NDArray[np.float64], colour: str, ink: Palette) -> str | list[str]:
    """Return the colour of the bars, or one for each bar where a difference has signs."""
    if cells.face != "difference":
        return colour
    return [ink.plus if amount >= 0 else ink.minus for amount in amounts.tolist()]
