"""What a visitor asks for: the sentence, a translation of his own, the model and the search."""

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
"""Those that are in the address."""
_TARGET_OF = "target_of"
"""The sentence that the translation was given for."""


def open_box(session: Session, key: str, linked: Mapping[str, str], otherwise: str = "") -> None:
    """Fill a text box that is drawn for the first time: with the text of the link, if it has one."""
    if key not in session:
        session[key] = linked.get(key, otherwise)


def put(session: Session, sentence: str, target: str = "") -> None:
    """Put a sentence in its box, and a translation of it, or none, in the other."""
    put_there = {SENTENCE: sentence, TARGET: target, _TARGET_OF: sentence}
    hold(session, lambda: session.update(put_there), (SENTENCE, TARGET))


def mind_target(session: Session, sentence: str, linked: Mapping[str, str]) -> None:
    """Drop the translation that was given, where that was for another sentence than now stands in the box."""
    if session.get(_TARGET_OF, linked.get(SENTENCE, sentence)) != sentence:
        drop_target(session)
    session[_TARGET_OF] = sentence


def fill_boxes(session: Session, linked: Mapping[str, str], otherwise: str) -> None:
    """Put the texts of a link into their boxes, or the sentence `otherwise`: a browser keeps what is in them."""
    sentence = linked.get(SENTENCE, otherwise)
    session.update({SENTENCE: sentence, TARGET: linked.get(TARGET, ""), _TARGET_OF: sentence})


def forget_choices(session: Session) -> None:
    """Forget which model and search were chosen: those of a link come next."""
    for key in (MODEL, SEARCH):
        session.pop(key, None)


def drop_target(session: Session) -> None:
    """Forget the translation that a visitor gave: it was one of the sentence before, or is no longer wanted."""
    hold(session, lambda: session.update({TARGET: ""}), (TARGET,))


def beam_of(search: str) -> int:
    """Return the beam width of a choice of search: 1 for "greedy", 5 for "beam 5"."""
    return 1 if search == "greedy" else int(search.removeprefix("beam "))
