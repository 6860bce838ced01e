"""Store the parameters of the link that a visitor follows: the opened address, or that of Back or Forward.

`st.query_params` is used in the first run only: Streamlit (1.67) keeps sending the address that was opened first, while
the browser rewrites its address at every step. So the first address is stored, and the browser sends each further one
that the visitor follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import parse_qsl

from attnviz import lazy_streamlit as st
from attnviz.ui.embedding import embedding, page_session

_LINK = "link"
_MOST = 100_000
"""Largest length of an address that is read, in characters."""


def link() -> Mapping[str, str]:
    """Return the parameters of the link, by name."""
    session = page_session()
    if embedding() is not None:
        return {}
    if _LINK not in session:
        session[_LINK] = st.query_params.to_dict()
    return MappingProxyType(session[_LINK])


def follow_link(parameters: Mapping[str, str]) -> None:
    """Make these `parameters` of an address those of the link."""
    st.session_state[_LINK] = dict(parameters)


def parse_query(query: str) -> dict[str, str]:
    """Return the parameters in the `query` of an address, by name; the browser may send anything."""
    return dict(parse_qsl(query[:_MOST], keep_blank_values=True))
