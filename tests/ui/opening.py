"""Open a page in AppTest, without a browser, from the parameters of a link, and set its fields as a browser does."""

from typing import Any

from streamlit.testing.v1 import AppTest

from attnviz.ui.controls import BrowserRequest, inbox
from attnviz.ui.embedding import in_session
from tests.conftest import REPOSITORY
from tests.ui.shown_payloads import mounted

_ALONE = """
from attnviz.ui.chrome import run_pages
from attnviz.ui.pages.{name}_page import {constant}_PAGE
run_pages([{constant}_PAGE])
"""


def first_page() -> AppTest:
    """Return the first page of the app, not run yet."""
    return AppTest.from_file(str(REPOSITORY / "app.py"), default_timeout=60)


def open_page(**linked: str) -> AppTest:
    """Return the first page of the app, opened by a link with these parameters."""
    return followed(first_page(), linked)


def open_alone(name: str, /, **linked: str) -> AppTest:
    """Return the page of one module of `ui/pages`, opened by a link with these parameters."""
    return followed(AppTest.from_string(_ALONE.format(name=name, constant=name.upper()), default_timeout=60), linked)


def followed(app: AppTest, linked: dict[str, str]) -> AppTest:
    """Return a page that is not run yet, opened by a link with these parameters."""
    for name, value in linked.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def upload(app: AppTest, name: str, content: bytes) -> AppTest:
    """Upload a file in the box *More*, and return the page."""
    app.get("file_uploader")[0].set_value((name, content, "application/json")).run()
    assert not app.exception
    return app


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
    box.address, box.received["test"] = "", seq
    box.waiting.append(BrowserRequest("test", seq, key, value))
