"""The link that a visitor follows: the address that the page was opened with or went back to.

After the first run `st.query_params` is of no use here: Streamlit (1.67) goes on sending the address that the page was
opened with, and the browser rewrites its address with every step. So the first address is kept, and the browser sends
another where one is to be followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st

_LINK = "link"
_MOST = 100_000
"""Characters of an address that are read."""


def link() -> Mapping[str, str]:
    """Return the parameters of the link, by name."""
    session = st.session_state
    if _LINK not in session:
        session[_LINK] = st.query_params.to_dict()
    return MappingProxyType(session[_LINK])


def follow_address(query: Any) -> None:
    """Have the `query` of an address, as "?step=3", be the link; what a browser says may be anything."""
    text = query.removeprefix("?") if isinstance(query, str) else ""
    st.session_state[_LINK] = dict(parse_qsl(text[:_MOST], keep_blank_values=True))
