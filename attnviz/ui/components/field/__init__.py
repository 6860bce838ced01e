"""Mount a form field: a text box, a select box, a row of choices, a switch, or a button that opens a section.

`field` only sends the payload to the browser and returns nothing. `attnviz.ui.fields` makes the payloads and returns
the values, which the browser sends as requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.languages import gettext
from attnviz.ui.components.component import Width, box, component, view_blocks

_DEFAULTS = {
    "value": "",
    "labelled": False,
    "help": "",
    "disabled": False,
    "options": [],
    "placeholder": "",
    "height": 0,
    "button": "",
    "singleLine": False,
    "option": "",
}
"""Payload of a field, except for what each field has of its own."""


def field(key: str, payload: Mapping[str, Any], width: Width) -> None:
    """Draw the field of `payload`, a `FieldPayload` without `key` and `helpName`; what it lacks has its default.

    Streamlit stores a component's state under its key, so that the component of a field outside a view has another one.
    """
    help_name = gettext("Help for {name}", name=payload["label"]) if payload.get("help") else ""
    data = _DEFAULTS | {"key": key, "helpName": help_name} | dict(payload)
    with view_blocks(f"field_{key}", width=width), box(key, width=width):
        component("field", "", data)
