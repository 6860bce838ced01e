"""The figures in the payloads of charts and exported pages, filled and unpacked as the browser does."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.figures.encoding import FINEST, MISSING


def figure_at(payload: Mapping[str, Any], step: int | str) -> dict[str, Any]:
    """Return Plotly's JSON of the figure at a step, with NumPy arrays for packed numbers."""
    return dict(filled(json.loads(payload["template"]), json.loads(payload["values"][str(step)])))


def fitting_figures(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return Plotly's JSON of each layout of a figure, the widest first."""
    return [filled(json.loads(payload["template"]), json.loads(one["values"])) for one in payload["fits"]]


def filled(part: Any, values: list[Any]) -> Any:
    """Return a part of a figure with its slots filled and its arrays unpacked."""
    if isinstance(part, list):
        return [filled(each, values) for each in part]
    if not isinstance(part, dict):
        return part
    if "slot" in part:
        return filled(values[part["slot"]], values)
    if "bdata" in part:
        return np.frombuffer(base64.b64decode(part["bdata"]), f"<{part['dtype']}")
    if "strips" in part:
        integers = np.frombuffer(base64.b64decode(part["strips"]), "<i2").reshape(-1, part["size"])
        return np.where(integers == MISSING, np.nan, integers * part["scale"])
    return {name: filled(each, values) for name, each in part.items()}


def unpacked(value: Any) -> Any:
    """Return JSON with Plotly's typed arrays as lists."""
    if isinstance(value, dict) and "bdata" in value:
        array = np.frombuffer(base64.b64decode(value["bdata"]), dtype=f"<{value['dtype']}")
        shape = [int(size) for size in value["shape"].split(",")] if "shape" in value else [-1]
        return unpacked(array.astype(float).reshape(shape).tolist())
    if isinstance(value, dict):
        return {name: unpacked(part) for name, part in value.items()}
    if isinstance(value, list):
        return [unpacked(part) for part in value]
    return None if isinstance(value, float) and np.isnan(value) else value


def is_strip(value: Any) -> bool:
    """Return whether the value is a list of rows of numbers."""
    rows = isinstance(value, list) and bool(value) and all(isinstance(row, list) for row in value)
    return rows and all(isinstance(number, float | None) for row in value for number in row)


def close(one: Any, other: Any) -> bool:
    """Return whether two figures agree up to single precision, and up to 16 bits in a strip."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[name], other[name]) for name in one)
    if is_strip(other):
        made, expected = (np.array(rows, dtype=float) for rows in (one, other))
        return np.allclose(made, expected, rtol=0, atol=float(np.nanmax(np.abs(expected))) / FINEST, equal_nan=True)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return one == other or (None not in (one, other) and bool(np.isclose(one, other, rtol=1e-6, atol=1e-7)))
    return bool(one == other)


def plain(part: Any) -> Any:
    """Return a figure with lists instead of arrays, and None instead of nan."""
    if isinstance(part, np.ndarray):
        return plain(part.tolist())
    if isinstance(part, np.generic):
        return plain(part.item())
    if isinstance(part, dict):
        return {name: plain(each) for name, each in part.items()}
    if isinstance(part, list | tuple):
        return [plain(each) for each in part]
    return None if isinstance(part, float) and np.isnan(part) else part
