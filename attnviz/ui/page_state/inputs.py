"""Store a visitor's request: the sentence, an own translation, the model and the search."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.inbox import hold
from attnviz.ui.page_state.view import Session

SENTENCE = "sentence"
TARGET = "target"
SEARCH = "search"
MODEL = "model"
DEVICE = "device"
REQUEST = (SENTENCE, TARGET, MODEL, SEARCH)
"""The parameters in the address."""
_TARGET_OF = "target_of"
"""Session state key: the sentence that the translation was given for."""


def open_box(session: Session, key: str, linked: Mapping[str, str], otherwise: str = "") -> None:
    """Fill a text box that is drawn for the first time, with the text of the link if it has one."""
    if key not in session:
        session[key] = linked.get(key, otherwise)


def put(session: Session, sentence: str, target: str = "") -> None:
    """Set the text of the sentence's box and that of its translation, which may be empty."""
    put_there = {SENTENCE: sentence, TARGET: target, _TARGET_OF: sentence}
    hold(session, lambda: session.update(put_there), (SENTENCE, TARGET))


def mind_target(session: Session, sentence: str, linked: Mapping[str, str]) -> None:
    """Drop the given translation if it was for another sentence than the current one."""
    if session.get(_TARGET_OF, linked.get(SENTENCE, sentence)) != sentence:
        drop_target(session)
    session[_TARGET_OF] = sentence


def fill_boxes(session: Session, linked: Mapping[str, str], otherwise: str) -> None:
    """Set the text boxes to the texts of a link, or to the sentence `otherwise`: the browser would keep its own."""
    sentence = linked.get(SENTENCE, otherwise)
    session.update({SENTENCE: sentence, TARGET: linked.get(TARGET, ""), _TARGET_OF: sentence})


def forget_choices(session: Session) -> None:
    """Clear the chosen model and search, so that those of the link are used."""
    for key in (MODEL, SEARCH):
        session.pop(key, None)


def drop_target(session: Session) -> None:
    """Clear the given translation: it belongs to the previous sentence, or is no longer wanted."""
    hold(session, lambda: session.update({TARGET: ""}), (TARGET,))


def beam_of(search: str) -> int:
    """Return the beam width of a choice of search: 1 for "greedy", 5 for "beam 5"."""
    return 1 if search == "greedy" else int(search.removeprefix("beam "))
