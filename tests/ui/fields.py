"""Helpers for the fields of a page that AppTest ran: read what they show, and set them as a browser does."""

from typing import Any

from streamlit.testing.v1 import AppTest

from attnviz.ui.embedding import in_session
from attnviz.ui.requests import BrowserRequest, inbox
from tests.ui.shown_payloads import mounted


def fields(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return what the fields of a page show, by key, in the order of the page."""
    return {one["key"]: one for one in mounted(app, "field")}


def field(app: AppTest, key: str) -> dict[str, Any]:
    return fields(app)[key]


def options(app: AppTest, key: str) -> list[str]:
    return [label for _, label in field(app, key)["options"]]


def set_field(app: AppTest, key: str, value: str | bool) -> AppTest:
    """Set an enabled field of the page, and run the page."""
    shown = field(app, key)
    assert not shown["disabled"], f"{key} is disabled"
    assert not shown["options"] or value in dict(shown["options"]), f"{key} does not offer {value!r}"
    ask(app, key, value)
    return app.run()


def press(app: AppTest, key: str) -> AppTest:
    assert key in [given["key"] for given in mounted(app, "button")]
    ask(app, key, None)
    return app.run()


def ask(app: AppTest, key: str, value: Any) -> None:
    """Queue a request of the browser, with the key of a control, for the next run of the page."""
    with in_session(app.session_state):
        box = inbox()
    seq = box.received.get("test", 0) + 1
    box.query, box.received["test"] = "", seq
    box.waiting.append(BrowserRequest("test", seq, key, value))
