"""Link parameters of the page: each value is used, or reported in a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from attnviz.ui.page_state.linked import begin_link, drop_link_problems, link_problems, read_link
from attnviz.ui.page_state.selection import offered_in
from attnviz.ui.view import MAIN, View
from tests.figures import synthetic
from tests.ui.opening import Run
from tests.ui.shown_payloads import address, mounted

VIEW = View(MAIN, synthetic.trace())
OFFERED = offered_in(VIEW) | {"update": range(1, 10)}

VALID_VALUES = {
    "update": "3",
    "depth": "numbers",
    "lesson": "attention",
    "lang": "fr",
    "model": "en-fr",
    "search": "greedy",
}
"""A valid value of each parameter."""


@given(st.dictionaries(st.sampled_from(sorted(OFFERED)), st.text(max_size=60)))
def test_every_invalid_link_value_is_reported(linked: dict[str, str]) -> None:
    session: dict[str, object] = {}
    read_link(session, linked | {"unknown": "?"}, OFFERED)
    problems = link_problems(session)
    wrong = {name for name, value in linked.items() if OFFERED[name] and not is_valid(name, value)}
    assert len(problems) == len(wrong)
    assert all(problems[name]["value"] == linked[name] for name in wrong)


def is_valid(name: str, value: str) -> bool:
    offered = OFFERED[name]
    if isinstance(offered, range):
        return value.isascii() and value.isdigit() and len(value) < 7 and int(value) in offered
    return value in offered


def test_valid_link_values_are_not_reported() -> None:
    session: dict[str, object] = {}
    assert VALID_VALUES.keys() >= {name for name, values in OFFERED.items() if values}
    read_link(session, VALID_VALUES, OFFERED)
    assert link_problems(session) == {}


def test_problems_are_dropped_on_another_page_and_return_with_a_new_link() -> None:
    session: dict[str, object] = {}
    for _ in range(2):
        read_link(session, {"lang": "x", "update": "0"}, OFFERED)
        assert len(link_problems(session)) == 2
        assert len(link_problems(session)) == 2
        drop_link_problems(session)
        read_link(session, {"lang": "x"}, OFFERED)
        assert link_problems(session) == {}, "a link is read once"
        begin_link(session)


def shown_link_problems(app: AppTest) -> dict[str, str]:
    """Return the invalid values of the link that the page reports, by parameter."""
    (messages,) = mounted(app, "link_messages")
    return {name: problem["value"] for name, problem in messages["problems"].items()}


@pytest.mark.parametrize("depth", ["idea", "everything"])
def test_first_page_reports_invalid_links_at_every_level(page: Run, depth: str) -> None:
    app = page(depth=depth, model="gone", search="beam 7", lang="de")
    assert shown_link_problems(app) == {"model": "gone", "search": "beam 7", "lang": "de"}
    assert not {"model", "search", "lang"} & address(app).keys()
