"""The figures in the payloads of charts, filled and unpacked as the browser does."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np


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
        return np.where(integers == -32768, np.nan, integers * part["scale"])
    return {name: filled(each, values) for name, each in part.items()}
