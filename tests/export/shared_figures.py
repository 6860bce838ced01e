"""Figures of exported pages, which share a part: made again from the payload, as the pages' scripts do."""

from __future__ import annotations

from typing import Any

from attnviz.figures.spec import Spec
from tests.figures.test_encoding import close, plain, unpacked


def one_of(shared: dict[str, Any], name: object, slot: str = "slot") -> Any:
    """Return one of several that share a part (see `figures.encoding`); figures have lists of numbers."""
    values = shared["values"][str(name)]

    def filled(part: Any) -> Any:
        if isinstance(part, list):
            return [filled(entry) for entry in part]
        if not isinstance(part, dict):
            return part
        return filled(values[part[slot]]) if slot in part else {key: filled(entry) for key, entry in part.items()}

    whole = filled(shared["template"])
    return unpacked(whole) if slot == "slot" else whole


def in_variant(shared: dict[str, Any], language: str, theme: str) -> Any:
    """Return the pictures of a page in a language and a theme."""
    return one_of(one_of(shared, theme, "theme"), language, "language")


def draws(shared: dict[str, Any], name: object, spec: Spec) -> bool:
    """Return whether the figure of this name is `spec`, up to the precision of a page."""
    return close(one_of(shared, name), unpacked(plain(spec.plotly)))
