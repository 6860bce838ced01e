"""Level of detail: what each of the three levels shows, which is remembered, and what a link selects."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.trace.drawing import DetailLevel
from attnviz.trace.interventions import ExcludePosition
from attnviz.ui.page_state import detail_level
from attnviz.ui.page_state.detail_level import (
    DETAIL_LEVEL,
    choose_detail_level,
    chosen_detail_level,
    detail_level_address,
    open_detail_level,
)
from attnviz.ui.page_state.linked import SENTENCE_PAGES, clear_entries
from attnviz.ui.view import DETAIL_LEVELS
from tests.ui.fields import set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import address, mounted, shown_equations
from tests.what_if_links import link


@pytest.fixture(autouse=True)
def _default_level(_show_everything: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detail_level, "DEFAULT_LEVEL", "idea")


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
def test_linked_level_overrides_the_remembered_level(
    linked: str | None, remembered: str | None, expected: DetailLevel
) -> None:
    session: dict[Any, Any] = {}
    assert open_detail_level(session, {} if linked is None else {DETAIL_LEVEL: linked}, remembered) == expected
    assert chosen_detail_level(session) is None


def test_level_is_in_the_address_only_after_a_choice() -> None:
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


def test_linked_level_is_not_stored_as_a_choice() -> None:
    session: dict[Any, Any] = {}
    open_detail_level(session, {DETAIL_LEVEL: "everything"}, "idea")
    assert detail_level_address(session, "idea") == {DETAIL_LEVEL: "everything"}
    clear_entries(session, SENTENCE_PAGES)
    assert open_detail_level(session, {}, "idea") == "idea"


@given(
    st.lists(st.sampled_from(DETAIL_LEVELS)),
    st.sampled_from([None, *DETAIL_LEVELS]),
    st.sampled_from([None, *DETAIL_LEVELS]),
)
def test_last_chosen_level_is_remembered(
    turns: list[DetailLevel], linked: DetailLevel | None, remembered: DetailLevel | None
) -> None:
    session: dict[Any, Any] = {}
    open_detail_level(session, {DETAIL_LEVEL: linked} if linked else {}, remembered)
    for turn in turns:
        session[DETAIL_LEVEL] = turn
        choose_detail_level(session)
        assert open_detail_level(session, {DETAIL_LEVEL: "everything"}, remembered) == turn
    assert chosen_detail_level(session) == (turns[-1] if turns else None)
    clear_entries(session, SENTENCE_PAGES)
    assert open_detail_level(session, {}, remembered) == (chosen_detail_level(session) or remembered or "idea")


def test_default_level_shows_charts_without_equations(page: Run) -> None:
    app = page()
    assert not shown_equations(app)
    assert not mounted(app, "energy_decomposition")
    assert not mounted(app, "verification_badge")
    assert mounted(app, "chart")
    assert "depth" not in address(app)


def test_each_level_includes_the_components_of_the_previous_one(page: Run) -> None:
    idea, numbers, everything = (page(depth=name) for name in DETAIL_LEVELS)
    assert len(shown_equations(numbers)) == 5
    assert not mounted(numbers, "energy_decomposition")
    assert not mounted(numbers, "verification_badge")
    assert len(shown_equations(everything)) == 5
    assert mounted(everything, "energy_decomposition")
    assert mounted(everything, "verification_badge")
    mounted_names = [
        {
            name
            for name in ("chart", "player", "equation", "verification_badge", "energy_decomposition")
            if mounted(app, name)
        }
        for app in (idea, numbers, everything)
    ]
    assert mounted_names[0] < mounted_names[1] < mounted_names[2]
    assert [address(app)["depth"] for app in (idea, numbers, everything)] == list(DETAIL_LEVELS)


def test_changing_the_level_keeps_the_other_parameters(page: Run) -> None:
    app = page(what_ifs=link(ExcludePosition(0, 1)), what_if="1")
    before = address(app)
    set_field(app, "depth", "everything")
    assert address(app) == before | {"depth": "everything"}
    assert mounted(app, "stored_choice")[0]["value"] == "everything"
    set_field(app, "depth", "idea")
    assert not mounted(app, "energy_decomposition")
    assert address(app) == before | {"depth": "idea"}
