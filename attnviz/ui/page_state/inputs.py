"""Session state of the translation request: sentence, own translation to force-decode, model, device and search."""

from __future__ import annotations

from collections.abc import Collection

from attnviz.ui.embedding import page_session
from attnviz.ui.page_state.linked import SENTENCE_PAGES, linked_entry

SENTENCE = "sentence"
TARGET = "target"
SEARCH = "search"
MODEL = "model"
DEVICE = "device"
REQUEST = (SENTENCE, TARGET, MODEL, SEARCH)
"""Session state keys that are also address parameters."""
SEARCHES = ("greedy", *(f"beam {width}" for width in (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)))
DEFAULT_SEARCH = "beam 5"
"""It translates better than greedy search and takes a few milliseconds more."""
_PAIR = "listed_pair"


def open_listed_pair(source: str, target: str) -> None:
    """Request the forced translation of a pair of the list."""
    session = page_session()
    set_request(source, target)
    session[_PAIR] = source, target


def is_listed_pair() -> bool:
    """Return whether the request is still the pair that was opened from the list."""
    session = page_session()
    return session.get(_PAIR) == (session.get(SENTENCE), session.get(TARGET))


def open_request(sentence: str, models: Collection[str]) -> None:
    """Begin the request with the link; `sentence` and the first of the `models` are the defaults."""
    for name, default, offered in (
        (SENTENCE, sentence, ()),
        (TARGET, "", ()),
        (MODEL, next(iter(models), ""), models),
        (SEARCH, DEFAULT_SEARCH, SEARCHES),
    ):
        linked_entry(name, default, offered=offered, scope=SENTENCE_PAGES)


def set_request(sentence: str, target: str = "") -> None:
    """Set the sentence and its own translation, which may be empty."""
    page_session().update({SENTENCE: sentence, TARGET: target})


def drop_target() -> None:
    """Clear the own translation: it belongs to the previous sentence, or the visitor cleared it."""
    page_session()[TARGET] = ""


def beam_of(search: str) -> int:
    """Return the beam width of a choice of search: 1 for "greedy", 5 for "beam 5"."""
    return 1 if search == "greedy" else int(search.removeprefix("beam "))
