"""Templates of figures, the same at every step, with a `Slot` for each value that differs between steps.

Files and notebooks fill the template here. The page sends the template once and the values of all steps, and fills it
in the browser (`ui/components/chart/template.js`).
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.figures.build import Spec, build
from attnviz.figures.figure_input import Subject
from attnviz.palette import ThemeName

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
class Picture:
    """A figure of a step, as template and values."""

    template: Callable[[Subject, ThemeName], Spec]
    """Returns `data` and `layout` of the figure, with a Slot for everything that differs between steps."""
    values: Callable[[Subject, ThemeName], Values]
    """Returns the values of one step."""

    def draw(self, subject: Subject, *, theme: ThemeName = "light") -> go.Figure:
        """Return the figure, with `alt` and `narrowest` in its `layout.meta`."""
        return filled(self.template(subject, theme), self.values(subject, theme))


def redrawn_picture(draw: Callable[[Subject, ThemeName], go.Figure]) -> Picture:
    """Return a `Picture` that is redrawn at each step."""

    def values(subject: Subject, theme: ThemeName) -> Values:
        figure = draw(subject, theme).to_plotly_json()
        return {"data": list(figure["data"]), "layout": figure["layout"]}

    return Picture(lambda *_: {"data": Slot("data"), "layout": Slot("layout")}, values)


def filled(template: Spec, values: Values) -> go.Figure:
    """Return the figure of a template with these `values`."""
    spec = fill(template, values)
    return build(spec["data"], spec["layout"])


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
