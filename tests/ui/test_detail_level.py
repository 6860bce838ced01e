"""The three depths of the page: what each shows, what is remembered, and what a link says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.ui.page_state import detail_level
from attnviz.ui.page_state.detail_level import (
    DEPTH,
    DEPTHS,
    DetailLevel,
    choose_depth,
    chosen_depth,
    depth_address,
    forget_depth,
    open_depth,
)
from tests.ui.fields import set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import address, mounted, shown_equations


@pytest.fixture(autouse=True)
def _newcomer(_everything: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detail_level, "NEWCOMER", "idea")


@pytest.mark.parametrize(
    ("linked", "remembered", "expected"),
    [
        (None, None, "idea"),
        ("numbers", None, "numbers"),
        (None, "numbers", "numbers"),
        ("idea", "everything", "idea"),
        ("deep", "numbers", "numbers"),
        ("", "<b>", "idea"),
    ],
)
def test_a_link_comes_before_what_is_remembered(
    linked: str | None, remembered: str | None, expected: DetailLevel
) -> None:
    session: dict[Any, Any] = {}
    assert open_depth(session, {} if linked is None else {DEPTH: linked}, remembered) == expected
    assert chosen_depth(session) is None


def test_nothing_is_in_the_address_until_somebody_chooses() -> None:
    session: dict[Any, Any] = {}
    open_depth(session, {}, None)
    assert depth_address(session, None) == {DEPTH: None}
    session[DEPTH] = "numbers"
    choose_depth(session)
    assert depth_address(session, None) == {DEPTH: "numbers"}
    session[DEPTH] = "idea"
    choose_depth(session)
    assert depth_address(session, None) == {DEPTH: "idea"}
    assert depth_address({DEPTH: "numbers"}, "numbers") == {DEPTH: "numbers"}


def test_what_a_link_shows_is_not_taken_for_a_choice() -> None:
    session: dict[Any, Any] = {}
    open_depth(session, {DEPTH: "everything"}, "idea")
    assert depth_address(session, "idea") == {DEPTH: "everything"}
    forget_depth(session)
    assert open_depth(session, {}, "idea") == "idea"


@given(st.lists(st.sampled_from(DEPTHS)), st.sampled_from([None, *DEPTHS]), st.sampled_from([None, *DEPTHS]))
def test_the_last_turn_of_the_dial_is_remembered(
    turns: list[DetailLevel], linked: DetailLevel | None, remembered: DetailLevel | None
) -> None:
    session: dict[Any, Any] = {}
    open_depth(session, {DEPTH: linked} if linked else {}, remembered)
    for turn in turns:
        session[DEPTH] = turn
        choose_depth(session)
        assert open_depth(session, {DEPTH: "everything"}, remembered) == turn
    assert chosen_depth(session) == (turns[-1] if turns else None)
    forget_depth(session)
    assert open_depth(session, {}, remembered) == (chosen_depth(session) or remembered or "idea")


def test_a_newcomer_sees_pictures_and_no_equations(page: Run) -> None:
    app = page()
    assert not shown_equations(app)
    assert not mounted(app, "energy_decomposition")
    assert not mounted(app, "verification_badge")
    assert mounted(app, "chart")
    assert "depth" not in address(app)


def test_each_depth_has_what_the_one_before_it_has(page: Run) -> None:
    idea, numbers, everything = (page(depth=name) for name in DEPTHS)
    assert len(shown_equations(numbers)) == 5
    assert not mounted(numbers, "energy_decomposition")
    assert not mounted(numbers, "verification_badge")
    assert len(shown_equations(everything)) == 5
    assert mounted(everything, "energy_decomposition")
    assert mounted(everything, "verification_badge")
    kept = [
        {
            name
            for name in ("chart", "player", "equation", "verification_badge", "energy_decomposition")
            if mounted(app, name)
        }
        for app in (idea, numbers, everything)
    ]
    assert kept[0] < kept[1] < kept[2]
    assert [address(app)["depth"] for app in (idea, numbers, everything)] == list(DEPTHS)


def test_the_dial_shows_more_and_loses_nothing(page: Run) -> None:
    app = page(step="3", source="2", what_ifs="0.o.2.1", what_if="1", by="pieces")
    before = address(app)
    set_field(app, "depth", "everything")
    assert address(app) == before | {"depth": "everything"}
    assert mounted(app, "stored_choice")[0]["value"] == "everything"
    set_field(app, "depth", "idea")
    assert not mounted(app, "energy_decomposition")
    assert address(app) == before | {"depth": "idea"}
