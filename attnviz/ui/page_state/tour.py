"""Where a visitor is on the tour of a translation, and what was on show before it began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from attnviz.ui.page_state.selection import Selection, selection_of, show_selection
from attnviz.ui.page_state.view import Session, View, view_key

TOUR = "tour"
"""What is kept in the session, address parameter, and what the browser remembers."""
STOPS = 8
"""Stops of the tour; they count from 1, as they do in the address."""

Answer = Literal["taken", "declined"]
"""What became of the offer: the browser remembers it, and it is not made again."""
ANSWERS: tuple[Answer, ...] = get_args(Answer)
_ANSWER, _BEGINS = "tour_answer", "tour_begins"


@dataclass(frozen=True)
class Tour:
    """A tour that is under way."""

    identity: str
    """Of the translation it shows."""
    stop: int
    """From 1."""
    before: Selection
    """What was on show when it began, and is again when it ends."""


def can_be_toured(view: View) -> bool:
    """Return whether `view` is of a translation of ours: another program's attention does not say how it came about."""
    return bool(view.trace.translated)


def open_tour(session: Session, view: View, linked: Mapping[str, str]) -> None:
    """Begin the tour where `begin_tour` asked for it, or the link of a visit names a stop; after `open_view`.

    Under way, it goes on with another translation as with the one before.
    """
    key = view.key(TOUR)
    if session.pop(_BEGINS, False):
        go_to(session, view, 1)
    elif key not in session:
        go_to(session, view, _stop(linked.get(key)))
    elif (tour := session[key]) and tour.identity != view.identity:
        session[key] = replace(tour, identity=view.identity, before=selection_of(session, view))


def go_to(session: Session, view: View, stop: Any) -> None:
    """Go to a stop of the tour; None, or what is no stop, ends it, and what was on show before is on show again.

    What asks for a stop may come from a browser.
    """
    key, number, tour = view.key(TOUR), _stop(stop), session.get(view.key(TOUR))
    if number is None:
        if tour and tour.identity == view.identity:
            show_selection(session, view, tour.before)
        session[key] = None
        return
    before = tour.before if tour else selection_of(session, view)
    session[key] = Tour(view.identity, number, before)
    answer(session, "taken")


def begin_tour(session: Session) -> None:
    """Have the tour of the page's own view begin, at its first stop."""
    session[_BEGINS] = True


def tour_of(session: Mapping[Any, Any], view: View) -> Tour | None:
    """Return the tour that is under way in `view`, None where there is none."""
    tour: Tour | None = session.get(view.key(TOUR))
    return tour if tour and tour.identity == view.identity else None


def tour_address(session: Mapping[Any, Any], view: View) -> dict[str, str | None]:
    """Return the address parameter of the tour; None where there is none."""
    tour = tour_of(session, view)
    return {view.key(TOUR): str(tour.stop) if tour else None}


def tour_record(session: Mapping[Any, Any], view: View) -> dict[str, Any] | None:
    """Return what the browser is to know of the tour: its stop, and the step and source piece to go back to."""
    tour = tour_of(session, view)
    if tour is None:
        return None
    return {"stop": tour.stop, "step": tour.before.step, "source": tour.before.source}


def forget_tour(session: Session, view_id: str) -> None:
    """Forget where the tour of a view is: another link is to be followed."""
    session.pop(view_key(view_id, TOUR), None)


def answer(session: Session, how: Answer) -> None:
    """Take down what became of the offer."""
    session[_ANSWER] = how


def answered(session: Mapping[Any, Any]) -> Answer | None:
    """Return what became of the offer in this visit."""
    found: Answer | None = session.get(_ANSWER)
    return found


def _stop(value: Any) -> int | None:
    """Return the stop that a link or the browser names, None where there is none such."""
    text = str(value)
    return int(text) if text in map(str, range(1, STOPS + 1)) else None
