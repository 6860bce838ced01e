"""Seats, and the queue for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.ui.admission import IDLE, VISITORS_VARIABLE, Seats, most_visitors


class Hall:
    """Seats with a door that visitors come and go by, and a clock."""

    def __init__(self, most: int) -> None:
        self.present: set[str] = set()
        self.now = 0.0
        self.seats = Seats(most, lambda: self.now)

    def place(self, visitor: str) -> int:
        self.present.add(visitor)
        return self.seats.place(visitor)

    def leave(self, visitor: str) -> None:
        self.present.discard(visitor)
        self.seats.leave(visitor)


def test_first_come_first_served() -> None:
    hall = Hall(2)
    assert [hall.place(name) for name in "abcd"] == [0, 0, 1, 2]
    assert [hall.place(name) for name in "dcba"] == [2, 1, 0, 0]
    hall.leave("a")
    assert [hall.place(name) for name in "dc"] == [1, 0]
    hall.leave("d")  # one who waits may leave too
    assert hall.place("e") == 1


def test_a_seat_that_nobody_uses_goes_to_those_who_wait() -> None:
    hall = Hall(2)
    hall.place("a"), hall.place("b")
    hall.now = IDLE - 1
    assert [hall.place("b"), hall.place("c")] == [0, 1]
    hall.now = IDLE
    assert [hall.place("c"), hall.place("b"), hall.place("a")] == [0, 0, 1]
    hall.now = 10 * IDLE  # where nobody waits, nobody has to go
    hall.leave("a")
    assert [hall.place("b"), hall.place("c")] == [0, 0]


@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["look", "leave", "wait"])), max_size=60),
)
def test_never_more_than_seats_and_none_overtaken(most: int, events: list[tuple[str, str]]) -> None:
    hall = Hall(most)
    before: dict[str, int] = {}
    for visitor, event in events:
        if event == "leave":
            hall.leave(visitor)
            before.pop(visitor, None)
            continue
        hall.now += IDLE / 7 if event == "wait" else 1
        place = hall.place(visitor)
        if before.get(visitor):  # who waits comes no further back
            assert place <= before[visitor]
        before[visitor] = place
    places = {visitor: hall.seats.place(visitor) for visitor in sorted(hall.present)}
    waiting = [place for place in places.values() if place]
    assert len(places) - len(waiting) <= most
    assert not waiting or len(places) > most


@pytest.mark.parametrize(("text", "most"), [("", None), (" ", None), ("1", 1), (" 40 ", 40)])
def test_the_number_of_the_host(monkeypatch: pytest.MonkeyPatch, text: str, most: int | None) -> None:
    monkeypatch.setenv(VISITORS_VARIABLE, text)
    assert most_visitors() == most


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
def test_a_number_that_is_none(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(VISITORS_VARIABLE, text)
    with pytest.raises(ValueError, match="whole number"):
        most_visitors()
