"""Set the language of the page: that of the language switch, else of the address, else of the visitor's browser."""

from __future__ import annotations

from attnviz import lazy_streamlit as st
from attnviz.languages import LANGUAGES, language, set_language
from attnviz.ui.page_state.linked import link

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
