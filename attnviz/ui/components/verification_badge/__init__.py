"""Mount the badge that says whether the numbers of a step match a recomputation; it opens the list of checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View


def inline_verification(view: View, payload: Mapping[str, Any], name: str = "verification") -> None:
    """Draw a badge that is the same at every step, from a payload that is sent with the page."""
    component("verification_badge", isolate=False)(key=view.key(name), data={**payload, "steps": view.steps})


def verification(view: View, at: str, name: str = "verification") -> None:
    """Draw the badge of the current step from the payload at the address `at`; `name` is unique in the view."""
    component("verification_badge", isolate=False)(key=view.key(name), data={"at": at, "steps": view.steps})
