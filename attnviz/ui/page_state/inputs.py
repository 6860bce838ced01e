"""Store what a visitor wants translated: sentence, own translation to force-decode, model, device and search."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.page_state.view import Session

SENTENCE = "sentence"
TARGET = "target"
SEARCH = "search"
MODEL = "model"
DEVICE = "device"
REQUEST = (SENTENCE, TARGET, MODEL, SEARCH)
"""Session state keys that are also address parameters."""


def open_request(session: Session, linked: Mapping[str, str], default: str) -> None:
    """Initialise sentence and own translation from the link; `default` is the sentence if the link has none."""
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
    """Clear the own translation: it belongs to the previous sentence, or the visitor cleared it."""
    session[TARGET] = ""


def beam_of(search: str) -> int:
    """Return the beam width of a choice of search: 1 for "greedy", 5 for "beam 5"."""
    return 1 if search == "greedy" else int(search.removeprefix("beam "))
