"""What a visitor asks for: the sentence, a translation of his own, the model and the search."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.carried import carry
from attnviz.ui.page_state.view import Session

SENTENCE = "sentence"
TARGET = "target"
SEARCH = "search"
MODEL = "model"
DEVICE = "device"


def open_box(session: Session, key: str, linked: Mapping[str, str], otherwise: str = "") -> None:
    """Fill a text box that is drawn for the first time: with the text of the link, if it has one."""
    carry(session, key)
    if key not in session:
        session[key] = linked.get(key, otherwise)


def take_example(session: Session, sentence: str) -> None:
    """Put an example in the sentence box; a translation given for another sentence goes."""
    session[SENTENCE] = sentence
    drop_target(session)


def drop_target(session: Session) -> None:
    """Forget the translation that a visitor gave: it was one of the sentence before, or is no longer wanted."""
    session[TARGET] = ""


def beam_of(search: str) -> int:
    """Return the beam width of a choice of search: 1 for "greedy", 5 for "beam 5"."""
    return 1 if search == "greedy" else int(search.removeprefix("beam "))
