"""Build the address of the page: the parameters that restore everything shown, and its history entry.

The server reads an address with `st.query_params` but never writes it there, since Streamlit would push a history entry
each time. It sends its own parameters to the browser (`components/address.js`), which adds those that it owns, replaces
the history entry, and pushes a new one when another page or translation is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.ui.page_state.linked import PAGE, Session

Parameters = dict[str, str | None]
"""Address parameters by name; None removes one."""

_ADDRESS = "address"


def open_address(session: Session, path: str) -> None:
    """Start the address of the page at `path`, empty for the first; it has its own history entry and parameters."""
    session[_ADDRESS] = {"entry": path or "first", "parameters": {PAGE: path or None}}


def set_page_address(session: Session, entry: str, parameters: Parameters) -> None:
    """Add the page's own address `parameters`, and set the `entry` that identifies its history entry."""
    path = session.get(PAGE) or None
    add_parameters(session, parameters | {PAGE: path})
    session[_ADDRESS]["entry"] = f"{path or 'first'} {entry}"


def add_parameters(session: Session, parameters: Parameters) -> None:
    """Add `parameters` to the address of the page, in this run."""
    page = page_payload(session)
    session[_ADDRESS] = page | {"parameters": page["parameters"] | parameters}


def page_payload(session: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the payload of the page's own address."""
    payload: dict[str, Any] = session.get(_ADDRESS, {"entry": "", "parameters": {}})
    return payload
