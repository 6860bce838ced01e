"""Choose the language of the page: the switch at its top, else the address, else the visitor's browser.

Streamlit identifies an option by its label, also in messages from the browser. A widget whose labels are translated
therefore has a widget key for each language; `localised` draws such widgets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attnviz.languages import LANGUAGES, gettext, language, set_language
from attnviz.ui.link import link

LANGUAGE = "lang"
"""Name of the choice in the session state and in the address."""


def use_chosen_language() -> None:
    """Set the visitor's language for the current thread.

    The page calls this first, and so does each fragment: Streamlit may run it in a thread that last used another
    visitor's language.
    """
    chosen = st.session_state.get(LANGUAGE) or link().get(LANGUAGE)
    set_language(chosen if chosen in LANGUAGES else _of_browser())
    _take_choices()


def language_switch() -> None:
    """Draw the language switch."""
    st.session_state.setdefault(LANGUAGE, language())
    st.segmented_control(
        gettext("Language"), list(LANGUAGES), required=True, key=LANGUAGE, label_visibility="collapsed", width="content"
    )


def language_address() -> dict[str, str | None]:
    """Return the address parameter of the language; None for the language of the visitor's browser."""
    return {LANGUAGE: None if language() == _of_browser() else language()}


def key_in_language(key: str) -> str:
    """Return a widget's `key` in the current language, so that late messages about another are ignored."""
    return f"{key}-{language()}"


@dataclass
class _Drawn:
    """A widget that was drawn in some language."""

    key: str
    """Key of the choice, the same in all languages."""
    value: str
    """Value of the widget when the server last read it."""
    then: Callable[[], object] | None


def _drawn() -> dict[str, _Drawn]:
    """Return the widgets that `localised` has drawn in this session, by their own keys."""
    found: dict[str, _Drawn] = st.session_state.setdefault("localised", {})
    return found


def _take_choices() -> None:
    """Copy values that changed since the widget was drawn to their choice.

    Streamlit loses a callback whose run another supersedes (streamlit #9100), but sends widget values with every
    message.
    """
    kept = st.session_state
    for own, one in tuple(_drawn().items()):
        value = kept.get(own)
        if value is not None and value != one.value:
            kept[one.key] = value
            if one.then is not None:
                one.then()
            one.value = value


def localised(
    widget: Callable[..., Any],
    label: str,
    options: Mapping[str, str],
    *,
    key: str,
    default: str,
    then: Callable[[], object] | None = None,
    **more: Any,
) -> str:
    """Draw a select box or segmented control with translated labels; return the selected value.

    `options` maps values to labels in the current language, `default` is one of the values, and `more` are arguments of
    `widget`. The session state has the value under `key`, in whichever language it was chosen. When a visitor chooses
    another, `then` is called before the page is drawn again.
    """
    kept, own, drawn = st.session_state, key_in_language(key), _drawn()
    if kept.get(key) not in options:
        kept[key] = default
    if own in drawn and kept.get(own) != kept[key]:
        kept[own] = kept[key]
    # A browser that mounts the widget late, in a popover that was closed, starts with the widget's default and sends it
    # to the server, so the default must be the stored value. After a restart of the server, the browser's values take
    # precedence over the address.
    first = {"index": list(options).index(kept[key])} if widget == st.selectbox else {"default": kept[key]}
    value = widget(
        label,
        list(options),
        format_func=lambda value: options.get(value, value),
        key=own,
        persist_state="session",
        **first,
        **more,
    )
    if value not in options:
        value = kept[key]
    drawn[own] = _Drawn(key, value, then)
    if value != kept[key]:
        kept[key] = value
        st.rerun()
    return str(value)


def _of_browser() -> str:
    code = (st.context.locale or "").lower().partition("-")[0]
    return code if code in LANGUAGES else "en"
