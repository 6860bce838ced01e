"""Choose the language of the page: the switch at its top, else the address, else the visitor's browser."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import LANGUAGES, language, set_language
from attnviz.ui.link import link

LANGUAGE = "lang"
"""Name of the choice in the session state and in the address."""


def use_chosen_language() -> None:
    """Set the visitor's language for the current thread.

    The page calls this first, and so does each fragment (`requests.begin_fragment`): Streamlit may run it in a thread
    that last used another visitor's language.
    """
    chosen = st.session_state.get(LANGUAGE) or link().get(LANGUAGE)
    set_language(chosen if chosen in LANGUAGES else _of_browser())


def language_address() -> dict[str, str | None]:
    """Return the address parameter of the language; None for the language of the visitor's browser."""
    return {LANGUAGE: None if language() == _of_browser() else language()}


def key_in_language(key: str) -> str:
    """Return a widget's `key` in the current language, so that late messages about another are ignored."""
    return f"{key}-{language()}"


def _of_browser() -> str:
    code = (st.context.locale or "").lower().partition("-")[0]
    return code if code in LANGUAGES else "en"
