"""Write figures as JSON for the browser: the part that several of them share once, then what differs.

They are figures of several steps. The browser fills the common part with the values of one of them
(`ui/components/chart/template.js`).
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from attnviz.figures.spec import Numbers, Part


def common_part(figures: Sequence[Any]) -> tuple[Any, list[list[Any]]]:
    """Return what `figures` have in common, and what is different in each.

    Args:
        figures: Plotly's JSON of several figures (`Spec.plotly`), with NumPy arrays.

    Returns:
        The common part, with `{"slot": k}` at the k-th place where the figures differ, and for each figure its values
        of these places.
    """
    values: list[list[Any]] = [[] for _ in figures]

    def compare(parts: Sequence[Any]) -> Any:
        first = parts[0]
        if all(part is first for part in parts):  # as most texts are
            return first
        if all(type(part) is type(first) for part in parts):
            if isinstance(first, dict) and all(part.keys() == first.keys() for part in parts):
                return {name: compare([part[name] for part in parts]) for name in first}
            if _is_nested(first) and all(len(part) == len(first) for part in parts):
                return [compare([part[k] for part in parts]) for k in range(len(first))]
            if all(_equal(first, part) for part in parts):
                return first
        for own, part in zip(values, parts, strict=True):
            own.append(part)
        return {"slot": len(values[0]) - 1}

    return compare(figures), values


_CONTAINERS = frozenset((dict, list, tuple, np.ndarray))


def _is_nested(part: Any) -> bool:
    return isinstance(part, list | tuple) and not _CONTAINERS.isdisjoint(map(type, part))


def _equal(one: Any, other: Any) -> bool:
    """Return whether two parts of one type, whose entries are not compared one by one, are equal."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if type(one) in _CONTAINERS and (isinstance(one, dict) or _is_nested(one) or _is_nested(other)):
        return False
    return bool(one == other)


FINEST = 32767
"""Largest integer of a quantised strip, in either direction."""
MISSING = -FINEST - 1
"""Integer for nan in a quantised strip."""


def to_json(part: Any) -> str:
    """Return a part of a figure, or a list of values, as JSON for the browser.

    Integers become lists, arrays (n,) Plotly's typed arrays in single precision. Arrays (m, n), which are displayed as
    colours or to three digits, become strips: 16-bit integers and a `scale`.
    """
    return orjson.dumps(part, default=_json_value).decode()


def _json_value(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
        return {"dtype": "f4", "bdata": _base64(value.astype("<f4"))} if value.ndim == 1 else _strips(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"a picture has no place for a {type(value).__name__}")


def _strips(values: Numbers) -> Part:
    """Return `values`, (m, n), as 16-bit integers: their `scale`, the row size n (`size`), and the bytes (`strips`)."""
    values = values.astype(np.float64)
    is_finite = np.isfinite(values)
    scale = float(np.abs(values, where=is_finite, out=np.zeros(values.shape)).max()) / FINEST or 1.0
    integers = np.full(values.shape, MISSING, dtype="<i2")
    integers[is_finite] = np.round(values[is_finite] / scale).astype("<i2")
    return {"scale": scale, "size": values.shape[1], "strips": _base64(integers)}


def _base64(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
