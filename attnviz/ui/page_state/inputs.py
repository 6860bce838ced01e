"""Session state of what a visitor chooses for all pages: the request, the level of detail, and the language.

The request is the sentence, an own translation to force-decode, model, device and search.
"""

from __future__ import annotations

from collections.abc import Collection

from attnviz import lazy_streamlit as st
from attnviz.languages import LANGUAGES, language, set_language
from attnviz.trace.drawing import DetailLevel
from attnviz.ui.embedding import page_session
from attnviz.ui.page_state.linked import SENTENCE_PAGES, is_given, link, linked_entry
from attnviz.ui.view import DETAIL_LEVELS

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
    """Begin the request with the link; `sentence` and the first of the `models`, at least one, are the defaults."""
    session = page_session()
    for name, default, offered in (
        (SENTENCE, sentence, ()),
        (TARGET, "", ()),
        (MODEL, next(iter(models)), models),
        (SEARCH, DEFAULT_SEARCH, SEARCHES),
    ):
        linked_entry(name, default, offered=offered, scope=SENTENCE_PAGES)
    if session[MODEL] not in models:  # its folder is gone
        session[MODEL] = next(iter(models))


def set_request(sentence: str, target: str = "") -> None:
    """Set the sentence and its own translation, which may be empty."""
    page_session().update({SENTENCE: sentence, TARGET: target})


def drop_target() -> None:
    """Clear the own translation: it belongs to the previous sentence, or the visitor cleared it."""
    page_session()[TARGET] = ""


def beam_of(search: str) -> int:
    """Return the beam width of a choice of search: 1 for "greedy", 5 for "beam 5"."""
    return 1 if search == "greedy" else int(search.removeprefix("beam "))


LANGUAGE = "lang"
"""Session state key and address parameter."""


def use_chosen_language() -> None:
    """Set the visitor's language for the current thread.

    The page and each fragment (`requests.begin_fragment`) call this first: Streamlit may run them in a thread that last
    used another visitor's language.
    """
    chosen = st.session_state.get(LANGUAGE) or link().get(LANGUAGE)
    set_language(chosen if chosen in LANGUAGES else _browser_language())


def language_address() -> dict[str, str | None]:
    """Return the address parameter of the language; None for the language of the visitor's browser."""
    return {LANGUAGE: None if language() == _browser_language() else language()}


def _browser_language() -> str:
    code = (st.context.locale or "").lower().partition("-")[0]
    return code if code in LANGUAGES else "en"


DEFAULT_LEVEL: DetailLevel = "idea"
"""Default level of a visitor without a link or a choice."""
DETAIL_LEVEL = "depth"
"""Session state key, widget key of the switch, and address parameter."""
_CHOSEN = "depth_chosen"


def page_detail_level() -> DetailLevel:
    """Return the current level: that of the switch, at first that of the link, else the visitor's last choice.

    A link sets the level, but only the switch makes it the visitor's own choice.
    """
    default = _last_detail_level() or DEFAULT_LEVEL
    level: DetailLevel = linked_entry(DETAIL_LEVEL, default, offered=DETAIL_LEVELS, scope=SENTENCE_PAGES)
    return level


def choose_detail_level() -> None:
    """Make the current level the visitor's own choice."""
    session = page_session()
    session[_CHOSEN] = session[DETAIL_LEVEL]


def chosen_detail_level() -> DetailLevel | None:
    """Return the visitor's last choice in this session, which the browser is to store; None where there is none."""
    level: DetailLevel | None = page_session().get(_CHOSEN)
    return level


def _last_detail_level() -> DetailLevel | None:
    """Return the visitor's last choice, in this session or an earlier one; None where there is none."""
    chosen = chosen_detail_level() or remembered(DETAIL_LEVEL)
    return next((level for level in DETAIL_LEVELS if level == chosen), None)


def detail_level_address() -> dict[str, str | None]:
    """Return the address parameter of the level; None where neither a link nor the visitor chose one."""
    chosen = is_given(DETAIL_LEVEL) or _last_detail_level()
    return {DETAIL_LEVEL: page_session()[DETAIL_LEVEL] if chosen else None}


def cookie(name: str) -> str:
    """Return the name of the cookie in which the browser stores a choice for a year."""
    return f"attnviz_{name}"


def remembered(name: str) -> str | None:
    """Return the choice that the browser had stored when this session began; it may be forged."""
    return st.context.cookies.get(cookie(name))
