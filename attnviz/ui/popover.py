"""Draw popovers that the server can close: a new one, closed, takes the place of the old one."""

from __future__ import annotations

from typing import Any

import streamlit as st


def popover(label: str, *, key: str, **arguments: Any) -> Any:
    """Draw the button `label`, which opens a popover, and return the popover; `arguments` are those of `st.popover`.

    A container with this `key` holds the button.
    """
    with st.container(key=key, width="content"):
        return st.popover(label, key=current_key(key), **arguments)


def close_popover(key: str) -> None:
    """Replace the popover by a new one in the next rerun: it is closed, and its widgets have no value.

    If the server set whether the popover is open, a visitor who opened or closed it at the same moment would find the
    opposite.
    """
    st.session_state[_count_key(key)] = st.session_state.get(_count_key(key), 0) + 1


def current_key(key: str) -> str:
    """Return the key of the popover that is drawn now; keys of its widgets begin with it."""
    return f"{key}_{st.session_state.get(_count_key(key), 0)}"


def _count_key(key: str) -> str:
    return f"{key}_count"
