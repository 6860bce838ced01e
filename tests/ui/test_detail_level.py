"""The three depths of the page: what each shows, what is remembered, and what a link says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.ui.page_state import detail_level
from attnviz.ui.page_state.detail_level import (
    DETAIL_LEVEL,
    DETAIL_LEVELS,
    DetailLevel,
    choose_detail_level,
    chosen_detail_level,
    detail_level_address,
    forget_detail_level,
    open_detail_level,
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
    assert open_detail_level(session, {} if linked is None else {DETAIL_LEVEL: linked}, remembered) == expected
    assert chosen_detail_level(session) is None


def test_nothing_is_in_the_address_until_somebody_chooses() -> None:
    session: dict[Any, Any] = {}
    open_detail_level(session, {}, None)
    assert detail_level_address(session, None) == {DETAIL_LEVEL: None}
    session[DETAIL_LEVEL] = "numbers"
    choose_detail_level(session)
    assert detail_level_address(session, None) == {DETAIL_LEVEL: "numbers"}
    session[DETAIL_LEVEL] = "idea"
    choose_detail_level(session)
    assert detail_level_address(session, None) == {DETAIL_LEVEL: "idea"}
    assert detail_level_address({DETAIL_LEVEL: "numbers"}, "numbers") == {DETAIL_LEVEL: "numbers"}


def test_what_a_link_shows_is_not_taken_for_a_choice() -> None:
    session: dict[Any, Any] = {}
    open_detail_level(session, {DETAIL_LEVEL: "everything"}, "idea")
    assert detail_level_address(session, "idea") == {DETAIL_LEVEL: "everything"}
    forget_detail_level(session)
    assert open_detail_level(session, {}, "idea") == "idea"


@given(
    st.lists(st.sampled_from(DETAIL_LEVELS)),
    st.sampled_from([None, *DETAIL_LEVELS]),
    st.sampled_from([None, *DETAIL_LEVELS]),
)
def test_the_last_turn_of_the_dial_is_remembered(
    turns: list[DetailLevel], linked: DetailLevel | None, remembered: DetailLevel | None
) -> None:
    session: dict[Any, Any] = {}
    open_detail_level(session, {DETAIL_LEVEL: linked} if linked else {}, remembered)
    for turn in turns:
        session[DETAIL_LEVEL] = turn
        choose_detail_level(session)
        assert open_detail_level(session, {DETAIL_LEVEL: "everything"}, remembered) == turn
    assert chosen_detail_level(session) == (turns[-1] if turns else None)
    forget_detail_level(session)
    assert open_detail_level(session, {}, remembered) == (chosen_detail_level(session) or remembered or "idea")


def test_a_newcomer_sees_pictures_and_no_equations(page: Run) -> None:
    app = page()
    assert not shown_equations(app)
    assert not mounted(app, "energy_decomposition")
    assert not mounted(app, "verification_badge")
    assert mounted(app, "chart")
    assert "depth" not in address(app)


def test_each_depth_has_what_the_one_before_it_has(page: Run) -> None:
    idea, numbers, everything = (page(depth=name) for name in DETAIL_LEVELS)
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
    assert [address(app)["depth"] for app in (idea, numbers, everything)] == list(DETAIL_LEVELS)


def test_the_dial_shows_more_and_loses_nothing(page: Run) -> None:
    app = page(step="3", source="2", what_ifs="0.o.2.1", what_if="1", by="pieces")
    before = address(app)
    set_field(app, "depth", "everything")
    assert address(app) == before | {"depth": "everything"}
    assert mounted(app, "stored_choice")[0]["value"] == "everything"
    set_field(app, "depth", "idea")
    assert not mounted(app, "energy_decomposition")
    assert address(app) == before | {"depth": "idea"}
