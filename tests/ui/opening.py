"""Functions that open a page in AppTest, without a browser, from the parameters of a link."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.conftest import REPOSITORY

Run = Callable[..., AppTest]
"""A function that opens a page with the parameters of a link."""
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
