"""Mount the component that draws a field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attnviz.languages import gettext
from attnviz.ui.components.loader import component


def field(key: str, record: Mapping[str, Any], width: int | Literal["stretch", "content"]) -> None:
    """Mount the field of `record`, as `FieldRecord` in `field.d.ts` declares it."""
    named = gettext("Help for {name}", name=record["label"]) if record["help"] else ""
    component("field", isolate=False)(key=f"field_{key}", data={**record, "helpName": named}, width=width)
