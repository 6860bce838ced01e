"""Mount a form field: a text box, a select box, a row of choices or a switch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attnviz.languages import gettext
from attnviz.ui.components.loader import component


def field(key: str, payload: Mapping[str, Any], width: int | Literal["stretch", "content"]) -> None:
    """Draw the field of `payload`, a `FieldPayload` without `helpName` (`field.d.ts`)."""
    help_name = gettext("Help for {name}", name=payload["label"]) if payload["help"] else ""
    component("field", isolate=False)(key=f"field_{key}", data={**payload, "helpName": help_name}, width=width)
