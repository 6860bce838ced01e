"""The link that a visitor follows, the session state entries that it initialises, its invalid values, the page address.

`st.query_params` is used at first, and after Back or Forward to another page: otherwise Streamlit (1.67) keeps sending
the address that was opened first, while the browser rewrites its address at every step.

Each link is read once. Before another one is followed, the entries initialised from it are cleared.

The server reads an address with `st.query_params` but never writes it there, since Streamlit would push a history entry
each time. It sends its own parameters to the browser (`components/address.js`), which adds those that it owns, replaces
the history entry, and pushes a new one when another page or translation is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from attnviz import lazy_streamlit as st
from attnviz.ui.embedding import embedding, page_session

_LINK = "link"
_MOST = 100_000
"""Largest length of an address that is read, in characters."""


ValidValues = range | Collection[str]
"""Valid values of a parameter: whole numbers, or words; empty if only its own module validates it."""

PAGE = "page"
"""Session state key of the path of the current page."""
SENTENCE_PAGES = "sentence pages"
"""Scope of the entries that all pages with the visitor's sentence share."""
_ENTRIES, _SUBJECTS, _READ, _NOTED = "linked_entries", "subjects", "link_read", "link_noted"


class _Entry(NamedTuple):
    """An entry that is cleared before another link of its scope is followed."""

    scope: str
    """Path of a page, or `SENTENCE_PAGES`."""
    given: bool = False
    """Whether its value began as that of the link."""


def link() -> Mapping[str, str]:
    """Return the parameters of the link, by name."""
    if embedding() is not None:
        return {}
    session = page_session()
    if _LINK not in session:
        session[_LINK] = st.query_params.to_dict()
    return MappingProxyType(session[_LINK])


def follow_link(parameters: Mapping[str, str]) -> None:
    """Make these `parameters` of an address those of the link."""
    page_session()[_LINK] = dict(parameters)


def parse_query(query: str) -> dict[str, str]:
    """Return the parameters in the `query` of an address, by name; the browser may send anything."""
    return dict(parse_qsl(query[:_MOST], keep_blank_values=True))


def linked_entry(
    key: str,
    default: Any,
    *,
    parameter: str = "",
    offered: Collection[str] = (),
    parse: Callable[[str], Any] = str,
    scope: str | None = None,
    noted: bool = False,
) -> Any:
    """Return the entry `key`, which begins with the value of the `parameter` (by default `key`) of the link.

    It begins with `default` if the link has none, or one that is not among the `offered` ones. `parse` converts the
    value. Another link of the `scope`, by default to the current page, clears the entry. If `noted`, an invalid value
    is reported; those of `read_link` are anyway.
    """
    session, entries = page_session(), _entries()
    text = None if key in entries or key in session else link().get(parameter or key)
    given = text is not None and is_valid(text, offered)
    if noted:
        note_if_invalid(parameter or key, text, offered)
    if key not in session:
        session[key] = parse(str(text)) if given else default
    entries.setdefault(key, _Entry(str(session.get(PAGE, "")) if scope is None else scope, given))
    return session[key]


def clear_with_link(*keys: str) -> None:
    """Clear these entries before another link to a page with the visitor's sentence is followed."""
    for key in keys:
        _entries().setdefault(key, _Entry(SENTENCE_PAGES))


def keep_for(key: str, subject: str) -> None:
    """Keep the entry `key` for one `subject`: for another, it begins with its default again."""
    session = page_session()
    subjects: dict[str, str] = session.setdefault(_SUBJECTS, {})
    if subjects.get(key, subject) != subject:
        session.pop(key, None)
    subjects[key] = subject


def is_given(key: str) -> bool:
    """Return whether the entry `key` began with a value of the link."""
    entry = _entries().get(key)
    return entry is not None and entry.given


def _entries() -> dict[str, _Entry]:
    entries: dict[str, _Entry] = page_session().setdefault(_ENTRIES, {})
    return entries


def begin_link(*scopes: str) -> None:
    """Clear the entries of these scopes and the invalid values, before another link is read."""
    clear_entries(*scopes)
    drop_link_problems()
    page_session().pop(_READ, None)


def clear_entries(*scopes: str, kept: Collection[str] = ()) -> None:
    """Clear the entries of these scopes, except the `kept` ones, so that they begin with the next link."""
    entries = _entries()
    for key in [key for key, entry in entries.items() if entry.scope in scopes and key not in kept]:
        del entries[key]
        page_session().pop(key, None)


def read_link(offered: Mapping[str, ValidValues]) -> None:
    """Note the invalid values of the link, once for each link, given the valid ones of each parameter."""
    session = page_session()
    if not session.get(_READ):
        session[_READ] = True
        for name, values in offered.items():
            note_if_invalid(name, link().get(name), values)


def note_if_invalid(name: str, value: str | None, offered: ValidValues) -> None:
    """Store the `value` that a link gives the parameter `name`, if invalid; if `offered` is empty, any is valid."""
    if value is not None and offered and not is_valid(value, offered):
        page_session().setdefault(_NOTED, {})[name] = value, offered


def is_valid(value: str, offered: ValidValues) -> bool:
    """Return whether a link may have this value."""
    if isinstance(offered, range):
        return bool(re.fullmatch("[0-9]{1,6}", value)) and int(value) in offered
    return not offered or value in offered


def link_problems() -> dict[str, dict[str, Any]]:
    """Return each invalid value with the valid ones, by the name of its parameter (`InvalidParameter`)."""
    noted = page_session().get(_NOTED, {})
    return {name: {"value": value} | values_payload(offered) for name, (value, offered) in noted.items()}


def values_payload(offered: ValidValues) -> dict[str, Any]:
    """Return the valid values of a parameter for the browser."""
    numbers = offered if isinstance(offered, range) else range(0)
    values = [] if isinstance(offered, range) else [*offered]
    return {"first": numbers.start, "last": numbers.stop - 1, "values": values}


def drop_link_problems() -> None:
    """Drop the invalid values, when the visitor goes to another page."""
    page_session().pop(_NOTED, None)


Parameters = dict[str, str | None]
"""Address parameters by name; None removes one."""

_ADDRESS = "address"


def open_address(path: str, asked: str | None = None) -> None:
    """Start the address of the page at `path`, empty for the first; it has its own history entry and parameters.

    The browser requests the page that is `asked` for, if it is another: the server does not know its address.
    """
    other = None if asked == path else asked
    page_session()[_ADDRESS] = {"path": path, "other": other, "entry": path or "first", "parameters": {}}


def set_page_address(entry: str, parameters: Parameters) -> None:
    """Add the page's own address `parameters`, and set the `entry` that identifies its history entry."""
    add_parameters(parameters)
    session = page_session()
    session[_ADDRESS]["entry"] = f"{session.get(PAGE) or 'first'} {entry}"


def add_parameters(parameters: Parameters) -> None:
    """Add `parameters` to the address of the page, in this run."""
    page = page_payload()
    page_session()[_ADDRESS] = page | {"parameters": page["parameters"] | parameters}


def page_payload() -> dict[str, Any]:
    """Return the payload of the page's own address."""
    payload: dict[str, Any] = page_session().get(_ADDRESS, {"path": "", "other": None, "entry": "", "parameters": {}})
    return payload
