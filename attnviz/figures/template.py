"""Templates of figures, with a `Slot` for each value that differs between steps.

A `FigureTemplate` pairs the function that makes the template with the one that makes the values of a step; waterfalls
and numbers at bars are ready-made.

Files and notebooks fill the template here. The page sends the template once and the values of all steps, and fills it
in the browser (`ui/components/chart/template.js`).

Numbers at bars are a trace of their own: Plotly measures the text of bars at every drawing, which takes most of its
time.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.analysis.numbers import signed
from attnviz.figures.build import Spec, base_axis, base_layout, build_figure
from attnviz.figures.figure_input import Subject
from attnviz.palette import Palette, ThemeName

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

    template: Callable[[Subject, ThemeName], Spec]
    """Returns `data` and `layout` of the figure, with a Slot for everything that differs between steps."""
    values: Callable[[Subject, ThemeName], Values]
    """Returns the values of one step."""

    def draw(self, subject: Subject, *, theme: ThemeName = "light") -> go.Figure:
        """Return the figure, with `alt` and `narrowest` in its `layout.meta`."""
        return figure_of(self.template(subject, theme), self.values(subject, theme))


def redrawn_picture(draw: Callable[[Subject, ThemeName], go.Figure]) -> FigureTemplate:
    """Return a `FigureTemplate` that is redrawn at each step."""

    def values(subject: Subject, theme: ThemeName) -> Values:
        figure = draw(subject, theme).to_plotly_json()
        return {"data": list(figure["data"]), "layout": figure["layout"]}

    return FigureTemplate(lambda *_: {"data": Slot("data"), "layout": Slot("layout")}, values)


def figure_of(template: Spec, values: Values) -> go.Figure:
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


FINEST = 32767
"""Largest integer of a quantised strip, in either direction."""
MISSING = -FINEST - 1
"""Integer for nan in a quantised strip."""


def to_json(spec: Spec) -> str:
    """Return a template, or values, as JSON for the browser.

    A Slot becomes its `slot` and `choices`; integers become lists, arrays (n,) Plotly's typed arrays in single
    precision. Arrays (m, n), which are displayed as colours or to three digits, become strips: 16-bit integers and
    a `scale`.
    """
    return orjson.dumps(spec, default=_json_value, option=orjson.OPT_PASSTHROUGH_DATACLASS).decode()


def _json_value(value: object) -> object:
    if isinstance(value, Slot):
        return {"slot": value.name} | ({"choices": value.choices} if value.choices else {})
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
        return {"dtype": "f4", "bdata": _base64(value.astype("<f4"))} if value.ndim == 1 else _strips(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"a picture has no place for a {type(value).__name__}")


def _strips(values: NDArray[np.floating]) -> Spec:
    """Return `values`, (m, n), as 16-bit integers: their `scale`, the row size n (`size`), and the bytes (`strips`)."""
    values = values.astype(np.float64)
    is_finite = np.isfinite(values)
    scale = float(np.abs(values, where=is_finite, out=np.zeros(values.shape)).max()) / FINEST or 1.0
    integers = np.full(values.shape, MISSING, dtype="<i2")
    integers[is_finite] = np.round(values[is_finite] / scale).astype("<i2")
    return {"scale": scale, "size": values.shape[1], "strips": _base64(integers)}


def _base64(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def numbers(size: int, ink: Palette, prefix: str = "number") -> Spec:
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


ROW_HEIGHT = 21
"""Height of a row in pixels."""


def waterfall(ink: Palette) -> list[Spec]:
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


def rows_layout(left: int, ink: Palette) -> Spec:
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


def panel(ink: Palette, domain: Sequence[float], title: str) -> Spec:
    """Return the top axis of one of several panels that share their rows."""
    return base_axis(ink) | {
        "side": "top",
        "domain": list(domain),
        "zerolinecolor": ink.quiet,
        "anchor": "y",
        "title": {"text": title, "font": {"size": 12, "color": ink.quiet}, "standoff": 2},
    }
