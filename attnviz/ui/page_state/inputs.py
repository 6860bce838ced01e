"""Store a visitor's request: the sentence, an own translation, the model and the search."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.page_state.view import Session

SENTENCE = "sentence"
TARGET = "target"
SEARCH = "search"
MODEL = "model"
DEVICE = "device"
REQUEST = (SENTENCE, TARGET, MODEL, SEARCH)
"""The parameters in the address."""


def open_request(session: Session, linked: Mapping[str, str], default: str) -> None:
    """Initialise sentence and own translation from the link; `default` is the sentence where it has none."""
    session.setdefault(SENTENCE, linked.get(SENTENCE, default))
    session.setdefault(TARGET, linked.get(TARGET, ""))


def set_request(session: Session, sentence: str, target: str = "") -> None:
    """Set the sentence and its own translation, which may be empty."""
    session.update({SENTENCE: sentence, TARGET: target})


def forget_request(session: Session) -> None:
    """Clear what was typed and chosen, so that the link's values apply."""
    for key in REQUEST:
        session.pop(key, None)


def drop_target(session: Session) -> None:
    """Clear the given translation: it belongs to the previous sentence, or is no longer wanted."""
    session[TARGET] = ""


def beam_of(search: str) -> int:
    """Return the beam width of a choice of search: 1 for "greedy", 5 for "beam 5"."""
    return 1 if search == "greedy" else int(search.removeprefix("beam "))
