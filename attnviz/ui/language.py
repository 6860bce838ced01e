"""The language of the page: chosen at its top, kept in the address, and at first that of the visitor's browser."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import LANGUAGES, language, say, speak

LANGUAGE = "lang"
"""The choice, in the session and in the address."""


def speak_as_chosen() -> None:
    """Speak the visitor's language from here on.

    The page says so when it begins, and so do its fragments and whatever else Streamlit runs on its own: in a thread
    that has spoken another visitor's language last.
    """
    chosen = st.session_state.get(LANGUAGE) or st.query_params.get(LANGUAGE)
    speak(chosen if chosen in LANGUAGES else _of_browser())


def language_switch() -> None:
    """Draw the switch."""
    st.session_state.setdefault(LANGUAGE, language())
    st.segmented_control(
        say("Language"), list(LANGUAGES), required=True, key=LANGUAGE, label_visibility="collapsed", width="content"
    )


def language_address() -> dict[str, str | None]:
    """Return the address parameter of the language; None for that of the visitor's browser."""
    return {LANGUAGE: None if language() == _of_browser() else language()}


def _of_browser() -> str:
    code = (st.context.locale or "").lower().partition("-")[0]
    return code if code in LANGUAGES else "en"
