"""The pages as Streamlit runs them, without a browser: each opened as a link opens it."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.conftest import REPOSITORY

Run = Callable[..., AppTest]
"""Opens a page as a link with these parameters does."""

_ALONE = """
from attnviz.ui.chrome import run_pages
from attnviz.ui.pages import {name}
run_pages([{name}.page])
"""


def first_page() -> AppTest:
    """Return the page that the program opens with, not run yet."""
    return AppTest.from_file(str(REPOSITORY / "app.py"), default_timeout=60)


def open_page(**linked: str) -> AppTest:
    """Return the page that the program opens with as a link with these parameters opens it."""
    return _followed(first_page(), linked)


def open_lab(**linked: str) -> AppTest:
    """Return the lab as a link with these parameters opens it."""
    return open_alone("lab", **linked)


def open_alone(name: str, /, **linked: str) -> AppTest:
    """Return the one page that a module of `ui/pages` makes as a link with these parameters opens it."""
    return _followed(AppTest.from_string(_ALONE.format(name=name), default_timeout=60), linked)


def _followed(app: AppTest, linked: dict[str, str]) -> AppTest:
    for name, value in linked.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app
