"""Fields that are in the address: a link sets them, an invalid value is reported, another link clears them."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.fields import ask, field, set_field
from tests.ui.shown_payloads import address, mounted

TWO_PAGES = """
from attnviz.ui.chrome import Page, run_pages
from attnviz.ui.fields import segmented_control, select_box, switch, text_box


def draw():
    text_box("Text", key="text", default="as it was", parameter="text")
    segmented_control("Choice", {"a": "A", "b": "B"}, key="chosen", default="a", parameter="choice")
    switch("On", key="on", parameter="on")


def draw_other():
    select_box("Size", {"1": "one", "2": "two"}, key="size", default="1", parameter="size")


run_pages([Page("", lambda: "Test", draw), Page("other", lambda: "Other", draw_other)])
"""


def opened(**linked: str) -> AppTest:
    """Return the first page, opened by a link with these parameters."""
    app = AppTest.from_string(TWO_PAGES, default_timeout=60)
    app.query_params.update(linked)
    return run(app)


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def follow(app: AppTest, query: str) -> AppTest:
    """Follow another link, as Back does."""
    ask(app, "follow", query)
    return run(app)


def values(app: AppTest, *names: str) -> list[object]:
    return [field(app, name)["value"] for name in names]


def test_link_sets_fields_and_the_address_has_what_differs_from_the_default() -> None:
    assert address(opened()) == {}
    app = opened(text="other", choice="b", on="1")
    assert values(app, "text", "chosen", "on") == ["other", "b", True]
    assert address(app) == {"text": "other", "choice": "b", "on": "1"}
    set_field(app, "chosen", "a")
    set_field(app, "text", "as it was")
    assert address(app) == {"on": "1"}


@pytest.mark.parametrize(("name", "value"), [("choice", "c"), ("choice", ""), ("on", "2"), ("on", "")])
def test_invalid_value_is_reported_and_the_default_drawn(name: str, value: str) -> None:
    app = opened(text="other", **{name: value})
    assert values(app, "text", "chosen", "on") == ["other", "a", False]
    assert address(app) == {"text": "other"}
    ((problem, stated),) = mounted(app, "link_messages")[0]["problems"].items()
    assert (problem, stated["value"]) == (name, value)


def test_another_link_clears_the_fields_of_its_page_only() -> None:
    app = opened(text="other", choice="b", on="2")
    follow(app, "?page=other&size=2")
    assert values(app, "size") == ["2"]
    assert mounted(app, "link_messages")[0]["problems"] == {}, "the problem was of the previous link"
    ask(app, "page", "")
    run(app)
    assert values(app, "text", "chosen", "on") == ["other", "b", False], "what was chosen survives another page"
    follow(app, "?choice=c")
    assert values(app, "text", "chosen", "on") == ["as it was", "a", False]
    assert list(mounted(app, "link_messages")[0]["problems"]) == ["choice"]
    ask(app, "page", "other")
    run(app)
    assert values(app, "size") == ["2"]
    assert mounted(app, "link_messages")[0]["problems"] == {}


def test_link_is_read_once() -> None:
    app = opened(choice="b")
    set_field(app, "chosen", "a")
    run(app)
    assert values(app, "chosen") == ["a"]
