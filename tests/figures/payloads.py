"""The figures in the payloads of charts and exported pages, filled and unpacked as the browser does."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.figures.encoding import MISSING


def figure_at(payload: Mapping[str, Any], step: int | str) -> dict[str, Any]:
    """Return Plotly's JSON of the figure at a step, with NumPy arrays for packed numbers."""
    return dict(filled(json.loads(payload["template"]), json.loads(payload["values"][str(step)])))


def fitting_figures(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return Plotly's JSON of each layout of a figure, the widest first."""
    return [filled(json.loads(payload["template"]), json.loads(one["values"])) for one in payload["fits"]]


def one_of(shared: Mapping[str, Any], name: object, slot: str = "slot") -> Any:
    """Return one of several figures, or pages, that share a part, as the scripts of exported pages do."""
    return filled(shared["template"], shared["values"][str(name)], slot)


def in_variant(shared: Mapping[str, Any], language: str, theme: str) -> Any:
    """Return the pictures of an exported page in a language and a theme."""
    return one_of(one_of(shared, theme, "theme"), language, "language")


def filled(part: Any, values: list[Any], slot: str = "slot") -> Any:
    """Return a part of a figure with its slots filled, and with the last of them its arrays unpacked."""
    if isinstance(part, list):
        return [filled(each, values, slot) for each in part]
    if not isinstance(part, dict):
        return part
    if slot in part:
        return filled(values[part[slot]], values, slot)
    if slot == "slot" and "bdata" in part:
        return np.frombuffer(base64.b64decode(part["bdata"]), f"<{part['dtype']}")
    if slot == "slot" and "strips" in part:
        integers = np.frombuffer(base64.b64decode(part["strips"]), "<i2").reshape(-1, part["size"])
        return np.where(integers == MISSING, np.nan, integers * part["scale"])
    return {name: filled(each, values, slot) for name, each in part.items()}
