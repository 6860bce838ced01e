"""The fields of a page that AppTest ran: what they show, and setting them as a browser does."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from attnviz.ui.inbox import inbox
from tests.ui.shown_payloads import mounted


def fields(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return what the fields of a page show, by key, in the order of the page."""
    return {one["key"]: one for one in mounted(app, "field")}


def field(app: AppTest, key: str) -> dict[str, Any]:
    """Return what the field with this key shows."""
    return fields(app)[key]


def options(app: AppTest, key: str) -> list[str]:
    """Return the labels of the choice with this key."""
    return [label for _, label in field(app, key)["options"]]


def set_field(app: AppTest, key: str, value: str | bool) -> AppTest:
    """Set a field that is on the page, and can be set, and run the page."""
    shown = field(app, key)
    assert not shown["disabled"], f"{key} is disabled"
    assert not shown["options"] or value in dict(shown["options"]), f"{key} does not offer {value!r}"
    ask(app, "set", [key, value])
    return app.run()


def ask(app: AppTest, name: str, value: Any) -> None:
    """Queue a request of the browser for the next run of the page."""
    box = inbox(app.session_state)
    seq = box.taken.get("test", 0) + 1
    box.take_in({"tab": "test", "requests": [{"seq": seq, "name": name, "value": value}]})
