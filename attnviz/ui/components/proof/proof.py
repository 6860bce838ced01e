"""The badge of a step, which opens on what was proved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View


def given_proof(view: View, record: Mapping[str, Any], name: str = "proof") -> None:
    """Draw a badge that is the same at every step, from a record that goes along with the page."""
    component("proof", isolate=False)(key=view.key(name), data={**record, "steps": view.steps})


def proof(view: View, at: str, name: str = "proof") -> None:
    """Draw the badge of the step on show; what it says lies at the address `at`. `name` tells it from others of the
    view."""
    component("proof", isolate=False)(key=view.key(name), data={"at": at, "steps": view.steps})
