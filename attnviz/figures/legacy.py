"""The former templates, until every figure is one function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.analysis.labels import shorten
from attnviz.analysis.measures import weight_order
from attnviz.analysis.numbers import decimal, signed
from attnviz.figures.grammar import (
    LEFT,
    MOST_ROWS,
    ROW_HEIGHT,
    TOP,
    label_size,
    row_height,
    row_names,
    thinned_rows,
)
from attnviz.figures.spec import APART, Part, Spec, base_axis, base_layout, build_figure, escape
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.palette import Palette, ThemeName
from attnviz.text import piece_name
from attnviz.trace.aligned import AttentionMatrix

Values = dict[str, Any]
"""Values of a step, by the names of their slots: numbers, texts, arrays of any shape, and lists of these."""


@dataclass(frozen=True)
class Slot:
    """A place in a template for the value `name`.

    With `choices`, the value is an index into them, or an array of indices.
    """

    name: str
    choices: tuple[Any, ...] = ()


@dataclass(frozen=True)
class FigureTemplate:
    """A figure of a step, as template and values."""

    template: Callable[[Subject, ThemeName], Part]
    """Returns `data` and `layout` of the figure, with a Slot for everything that differs between steps."""
    values: Callable[[Subject, ThemeName], Values]
    """Returns the values of one step."""

    def spec(self, subject: Subject) -> Spec:
        """Return the figure as a `Spec`."""
        whole = fill(self.template(subject, subject.theme), self.values(subject, subject.theme))
        return Spec(list(whole["data"]), dict(whole["layout"]), whole["layout"]["meta"]["alt"])


def redrawn_picture(draw: Callable[[Subject, ThemeName], go.Figure]) -> FigureTemplate:
    """Return a `FigureTemplate` that is redrawn at each step."""

    def values(subject: Subject, theme: ThemeName) -> Values:
        figure = draw(subject, theme).to_plotly_json()
        return {"data": list(figure["data"]), "layout": figure["layout"]}

    return FigureTemplate(lambda *_: {"data": Slot("data"), "layout": Slot("layout")}, values)


def spec_of(template: Part, values: Values) -> Spec:
    """Return the Spec of a template with these `values`."""
    whole = fill(template, values)
    return Spec(list(whole["data"]), dict(whole["layout"]), whole["layout"]["meta"]["alt"])


def figure_of(template: Part, values: Values) -> go.Figure:
    """Return the figure of a template with these `values`."""
    spec = fill(template, values)
    return build_figure(spec["data"], spec["layout"])


def fill(template: Any, values: Values) -> Any:
    """Return `template` with each Slot replaced by its value; raise KeyError where a value is missing."""
    if isinstance(template, Slot):
        value = values[template.name]
        if not template.choices:
            return value
        return [template.choices[index] for index in value] if np.ndim(value) else template.choices[value]
    if isinstance(template, dict):
        return {name: fill(part, values) for name, part in template.items()}
    return [fill(part, values) for part in template] if isinstance(template, list) else template


def numbers(size: int, ink: Palette, prefix: str = "number") -> Part:
    """Return the template of numbers beside the ends of bars at 0, 1, 2 ...; `number_values` fills it.

    `prefix` begins the names of the slots, for figures with several groups of bars.
    """
    return {
        "type": "scatter",
        "mode": "text",
        "x": Slot(f"{prefix}_x"),
        "y": Slot(f"{prefix}_y"),
        "text": Slot(f"{prefix}_text"),
        "textposition": Slot(f"{prefix}_side", ("middle right", "middle left")),
        "cliponaxis": False,
        "textfont": {"size": size, "color": ink.ink},
        "hoverinfo": "skip",
    }


def number_values(
    ends: NDArray[np.floating], texts: list[str], on_left: Sequence[bool] | None = None, prefix: str = "number"
) -> Values:
    """Return `texts` at the `ends` of bars, (n,) each, outside of the bars.

    They are on the left where the end is negative, or where `on_left`.
    """
    sides = ends < 0 if on_left is None else on_left
    return {
        f"{prefix}_x": ends,
        f"{prefix}_y": list(range(len(ends))),
        f"{prefix}_text": texts,
        f"{prefix}_side": [int(side) for side in sides],
    }


def waterfall(ink: Palette) -> list[Part]:
    """Return the template of a waterfall with the sum in the last row; `waterfall_values` fills it.

    The number of each row is beside the end of its bar.
    """
    bars = {
        "type": "waterfall",
        "orientation": "h",
        "name": "sum",
        "y": Slot("rows"),
        "x": Slot("amounts"),
        "measure": Slot("measure", ("relative", "total")),
        "increasing": {"marker": {"color": ink.plus}},
        "decreasing": {"marker": {"color": ink.minus}},
        # Not violet, which looks like the blue of a plus with protanopia.
        "totals": {"marker": {"color": ink.ink}},
        "connector": {"line": {"color": ink.line, "width": 1}},
        "customdata": Slot("hover"),
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    return [bars, numbers(12, ink) | {"name": "numbers"}]


def waterfall_values(values: Sequence[float], hover: Sequence[str]) -> Values:
    """Return the values of a `waterfall` of `values`; `hover` has a text for each of them and for the sum."""
    amounts = [*map(float, values), float(np.sum(values))]
    ends = np.append(np.cumsum(values), amounts[-1])
    texts = [f" {signed(amount)} " for amount in amounts]
    return {
        "amounts": amounts,
        "measure": [0] * len(values) + [1],
        "hover": list(hover),
    } | number_values(ends, texts, [amount < 0 for amount in amounts])


def sum_range(values: Sequence[float]) -> list[float]:
    """Return the range of an axis for all running sums of `values`, with space for the numbers."""
    ends = np.concatenate([[0.0], np.cumsum(values)])
    low, high = float(ends.min()), float(ends.max())
    padding = 0.2 * (high - low or 1.0)
    return [low - padding, high + padding]


def rows_layout(left: int, ink: Palette) -> Part:
    """Return the layout of a figure with a row for each label; `rows_values` fills it."""
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    return base_layout(ink) | {
        "height": Slot("height"),
        "margin": {"l": left, "r": 8, "t": 40, "b": 8},
        "bargap": 0.3,
        "yaxis": axis
        | {
            "range": [Slot("lowest"), -0.6],
            "tickvals": Slot("rows"),
            "ticktext": Slot("labels"),
            "tickfont": {"size": 12, "color": ink.ink},
            "anchor": "free",
            "position": 0,
            "ticklabelstandoff": 6,
        },
        # A line above the sum.
        "shapes": [
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": Slot("rule"),
                "y1": Slot("rule"),
                "line": {"color": ink.quiet, "width": 1},
            }
        ],
    }


def rows_values(labels: Sequence[str]) -> Values:
    """Return the values of a `rows_layout` with these `labels`, which are not escaped."""
    count = len(labels)
    return {
        "height": ROW_HEIGHT * count + 48,
        "lowest": count - 0.4,
        "rule": count - 1.5,
        "rows": list(range(count)),
        "labels": list(labels),
    }


def panel(ink: Palette, domain: Sequence[float], title: str) -> Part:
    """Return the top axis of one of several panels that share their rows."""
    return base_axis(ink) | {
        "side": "top",
        "domain": list(domain),
        "zerolinecolor": ink.quiet,
        "anchor": "y",
        "title": {"text": title, "font": {"size": 12, "color": ink.quiet}, "standoff": 2},
    }


def piece_bars(trace: AttentionMatrix, lengths: Slot, symbol: str, form: str = ".4f") -> Part:
    """Return one horizontal bar for each source piece, of these `lengths`, (Tx,).

    Hover texts have the `symbol` and the number in D3's `form`.
    """
    return {
        "type": "bar",
        "orientation": "h",
        "x": lengths,
        "y": list(range(len(trace.source_pieces))),
        "customdata": [escape(shorten(piece_name(piece), 60)) for piece in trace.source_pieces],
        "hovertemplate": f"%{{customdata}}<br>{symbol} = %{{x:{form}}}<extra></extra>",
    }


def bar_numbers(trace: AttentionMatrix, ink: Palette) -> list[Part]:
    """Return the numbers at the ends of the bars, where there is room; `bar_texts` fills them."""
    count = len(trace.source_pieces)
    return [] if count > MOST_ROWS else [numbers(label_size(count) - 1, ink)]


def bar_texts(values: NDArray[np.float32]) -> Values:
    """Return the values of the `bar_numbers` of bars of these `values`, (Tx,); empty where these are left out."""
    if len(values) > MOST_ROWS:
        return {}
    texts = [f" {decimal(value)} " if math.isfinite(value) else " −∞ " for value in values.tolist()]
    return number_values(np.nan_to_num(values), texts)


def signed_colours(ink: Palette, opacity: float = 1) -> Part:
    """Return the colours of signed bars: blue from 0 up, red below, by `signs`."""
    return {"marker": {"color": Slot("signs", (ink.plus, ink.minus)), "opacity": opacity}}


def signs(values: NDArray[np.float32]) -> Values:
    """Return the `signs` of these `values`, (Tx,): 1 where negative."""
    return {"signs": (values < 0).astype(int).tolist()}


def value_axis(ink: Palette, title: str, limits: list[float]) -> Part:
    """Return the axis of the bars, on top."""
    return base_axis(ink) | {
        "side": "top",
        "range": limits,
        "nticks": 4,
        "zerolinecolor": ink.quiet,
        "title": {"text": title, "font": {"size": 12, "color": ink.quiet}, "standoff": 2},
    }


def source_layout(trace: AttentionMatrix, ink: Palette) -> Part:
    """Return a layout whose rows are the source pieces."""
    count = len(trace.source_pieces)
    return base_layout(ink) | {
        "height": TOP + row_height(count) * count + 8,
        "margin": {"l": LEFT, "r": 8, "t": TOP, "b": 8},
        "bargap": 0.3,
        "hovermode": "y",
        "barmode": "overlay",
        "yaxis": base_axis(ink)
        | APART
        | {
            "range": [count - 0.5, -0.5],
            "tickvals": list(range(count)),
            "ticktext": row_names(trace),
            "tickfont": {"size": label_size(count), "color": ink.encoder},
            "showgrid": False,
            "zeroline": False,
        },
        "meta": {
            "narrowest": 260,
            "order": Slot("order"),
            "selection_colour": ink.encoder,
            "thinned": thinned_rows(count),
            "alt": Slot("alt"),
        },
    }


def source_values(trace: AttentionMatrix, step: int, alt: str) -> Values:
    """Return the values of a `source_layout` at 0-based `step`: the order of the pieces by weight, and `alt`."""
    return {"order": weight_order(trace, step), "alt": alt}


def without_scale(spec: Part) -> Part:
    """Return the template of bars `spec` without its numbers: at the level *Idea* only their lengths count."""
    (bars, *_), layout = spec["data"], spec["layout"]
    layout["xaxis"] |= {"showticklabels": False, "title": layout["xaxis"]["title"] | {"text": gettext("fit")}}
    return {"data": [bars | {"hovertemplate": "%{customdata}<extra></extra>"}], "layout": layout}
