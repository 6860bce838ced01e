"""What of a link cannot be: whatever a parameter says is taken, or told in a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz.ui.page_state.address import forget_view, offered_in_link
from attnviz.ui.page_state.link_problems import link_problems, read_link
from attnviz.ui.page_state.view import MAIN, View
from tests.figures import synthetic
from tests.ui.opening import Run
from tests.ui.shown_payloads import address, mounted

VIEW = View(MAIN, synthetic.trace())
OFFERED = offered_in_link({}, VIEW)

GOOD = {
    "by": "pieces",
    "face": "after",
    "colours": "cividis",
    "root": "1",
    "end": "0",
    "margins": "1",
    "order": "strongest",
    "step": "3",
    "source": "1",
    "stage": "5",
    "word": "7",
    "foil": "8",
    "after_word": "1",
    "tour": "8",
}
"""Something that each can be."""


@given(st.dictionaries(st.sampled_from(sorted(OFFERED)), st.text(max_size=60)))
def test_whatever_a_link_says_is_told_where_it_cannot_be(linked: dict[str, str]) -> None:
    session: dict[str, object] = {}
    read_link(session, VIEW, linked | {"unknown": "?"}, OFFERED)
    told = link_problems(session, {})
    wrong = {name for name, value in linked.items() if OFFERED[name] and not can_be(name, value)}
    assert len(told) == len(wrong)
    assert all(f"“{name}”" in told[name] for name in wrong)
    assert all(sentence.endswith(".") for sentence in told.values())


def can_be(name: str, value: str) -> bool:
    offered = OFFERED[name]
    if isinstance(offered, range):
        return value.isascii() and value.isdigit() and len(value) < 7 and int(value) in offered
    return value in offered


def test_what_can_be_is_not_told_and_what_the_page_writes_can_be() -> None:
    session: dict[str, object] = {}
    assert GOOD.keys() >= {name for name, values in OFFERED.items() if values}
    read_link(session, VIEW, GOOD, OFFERED)
    assert link_problems(session, {}) == {}


def test_it_is_told_until_something_else_is_chosen_and_again_where_another_link_is_followed() -> None:
    session: dict[str, object] = {}
    for _ in range(2):
        read_link(session, VIEW, {"face": "x", "step": "0"}, OFFERED)
        assert len(link_problems(session, {"face": None})) == 2
        assert len(link_problems(session, {"face": None})) == 2
        left = link_problems(session, {"face": "after"})
        assert list(left) == ["step"]
        assert link_problems(session, {"face": None}) == left, "not again"
        read_link(session, VIEW, {"face": "x"}, OFFERED)
        assert link_problems(session, {"face": None}) == left, "a link is read once"
        forget_view(session, MAIN)
        assert link_problems(session, {}) == {}


def told(app: AppTest) -> list[str]:
    """Return what the page says of its link."""
    return [sentence for one in mounted(app, "link_messages") for sentence in one["problems"].values()]


@pytest.mark.parametrize("depth", ["idea", "everything"])
def test_the_first_page_tells_at_every_depth_and_for_models_and_searches_too(
    page: Run, depth: str, snapshot: SnapshotAssertion
) -> None:
    app = page(depth=depth, model="gone", search="beam 7", stage="9", lang="de")
    assert told(app) == snapshot(name="link")
    assert not {"model", "search", "stage", "lang"} & address(app).keys()
