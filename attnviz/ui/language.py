"""The language of the page: chosen at its top, kept in the address, and at first that of the visitor's browser.

Streamlit knows an option by its label, also in what a browser sends it; whatever offers options that are called
differently in each language therefore has a widget key for each, as `localised` draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attnviz.languages import LANGUAGES, gettext, language, set_language
from attnviz.ui.link import link

LANGUAGE = "lang"
"""The choice, in the session and in the address."""


def use_chosen_language() -> None:
    """Use the visitor's language from here on.

    The page calls this when it begins, and so does each fragment: Streamlit may run it in a thread that used another
    visitor's language last.
    """
    chosen = st.session_state.get(LANGUAGE) or link().get(LANGUAGE)
    set_language(chosen if chosen in LANGUAGES else _of_browser())
    _take_choices()


def language_switch() -> None:
    """Draw the switch."""
    st.session_state.setdefault(LANGUAGE, language())
    st.segmented_control(
        gettext("Language"), list(LANGUAGES), required=True, key=LANGUAGE, label_visibility="collapsed", width="content"
    )


def language_address() -> dict[str, str | None]:
    """Return the address parameter of the language; None for that of the visitor's browser."""
    return {LANGUAGE: None if language() == _of_browser() else language()}


def key_in_language(key: str) -> str:
    """Return a widget's `key` in the language in use: what a browser says of the widget in another, perhaps late, is
    never taken for this one's."""
    return f"{key}-{language()}"


@dataclass
class _Drawn:
    """A widget that was drawn."""

    key: str
    """Of the choice, whatever the language."""
    value: str
    """What it had when the server heard of it last."""
    then: Callable[[], object] | None


def _drawn() -> dict[str, _Drawn]:
    """Return the widgets of `localised` that this visit has drawn, by their own keys."""
    found: dict[str, _Drawn] = st.session_state.setdefault("localised", {})
    return found


def _take_choices() -> None:
    """Take over what was chosen in a widget since it was drawn. A callback would be lost where Streamlit supersedes its
    run (streamlit #9100); the value of a widget comes with every message."""
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
    """Draw `widget`, a select box or a segmented control, over `options`, from value to name in the language in use;
    return the value chosen, at first `default`, which is one of them. `more` is for the widget.

    The value is kept in the session under `key`, whichever language it was chosen in. When a visitor chooses another,
    `then` is called, before the page is drawn anew.
    """
    kept, own, drawn = st.session_state, key_in_language(key), _drawn()
    if kept.get(key) not in options:
        kept[key] = default
    if own in drawn and kept.get(own) != kept[key]:
        kept[own] = kept[key]
    # A browser that draws the widget late, in a box that was closed until now, begins with the widget's own first
    # choice and says so to the server: it must be the one that is kept. After the server has begun again, what the
    # browser says goes before what is in the address.
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
