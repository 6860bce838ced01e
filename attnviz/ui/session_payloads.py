"""Register functions that make payloads of a session, which depend on the browser's selection, and call them.

A run of the page registers a function for each payload, and the server (`ui.server`) calls it when the browser fetches
its address: showing another step then needs no rerun.
"""

from __future__ import annotations

import gzip
import secrets
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
import streamlit as st

from attnviz.languages import language, set_language
from attnviz.ui.page_state.selection import Selection, linked_selection
from attnviz.ui.queue_notice import current_notice, translating_for
from attnviz.ui.view import View

SESSION_PAYLOAD_PREFIX = "attnviz-session-payload"
"""Prefix of the addresses of payloads, below the page."""
JSON, FILE, HTML = "application/json", "application/octet-stream", "text/html"
"""Media types of payloads."""
_PAYLOADS = "payloads"


class HtmlPage(str):
    """A payload that is a whole HTML page, to be shown in a frame."""


Make = Callable[[Selection], Any]
"""Returns a JSON-serialisable value, a file as bytes, or an `HtmlPage`."""


@dataclass(frozen=True, eq=False)
class Payload:
    """A function of the parameters of an address, registered under that address."""

    make: Callable[[Mapping[str, str]], Any]
    code: str
    """Language code."""
    name: str
    """Cache key in the browser: payloads of the same name have the same content."""
    secret: str
    """Unguessable part of its address."""
    visitor: str | None
    """Random id of the visitor whose page registered it, for fair turns of its translations; None without a page."""


_BY_SECRET: weakref.WeakValueDictionary[str, Payload] = weakref.WeakValueDictionary()
"""Payloads of all sessions by their `secret`, as long as the sessions last."""


def register_payload(
    view: View, key: str, name: str, make: Make, follows: Literal["selection", "options"] = "selection"
) -> str:
    """Register `make`, which returns a payload of the current selection in `view`, and return its address.

    `key` distinguishes it from other payloads on the page, `name` the data that it is made from. A payload that
    `follows` the display options does not depend on the rest of the selection.
    """

    def make_of(parameters: Mapping[str, str]) -> Any:
        return make(linked_selection(view, parameters))

    return f"{register_content(view.key(key), f'{view.identity} {name}', make_of)}?{{{follows}}}"


def register_content(
    key: str, name: str, make: Callable[[Mapping[str, str]], Any], *, in_every_language: bool = False
) -> str:
    """Register `make`, which returns a payload for the parameters of its address, and return the address without them.

    `key` distinguishes it from other payloads on the page, `name` the data that it is made from. A payload
    `in_every_language` keeps its address when the language changes.
    """
    payloads: dict[str, Payload] = st.session_state.setdefault(_PAYLOADS, {})
    full_name, previous = name if in_every_language else f"{name} {language()}", payloads.get(key)
    secret = previous.secret if previous is not None and previous.name == full_name else secrets.token_urlsafe(12)
    notice = current_notice()
    visitor = None if notice is None else notice.visitor
    payloads[key] = _BY_SECRET[secret] = Payload(make, language(), full_name, secret, visitor)
    return f"{SESSION_PAYLOAD_PREFIX}/{secret}"


def payload_content(secret: str, parameters: Mapping[str, str]) -> tuple[bytes, str] | None:
    """Return a payload, compressed by gzip, and its media type; None where there is none. A file is only bytes.

    `parameters` are the parameters of its address, which may be anything.
    """
    registered = _BY_SECRET.get(secret)
    if registered is None:
        return None
    set_language(registered.code)
    with translating_for(registered.visitor):
        content = registered.make(parameters)
    if isinstance(content, bytes):
        return gzip.compress(content, compresslevel=1, mtime=0), FILE
    if isinstance(content, HtmlPage):
        return gzip.compress(content.encode("utf-8"), compresslevel=1, mtime=0), HTML
    text = orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY)
    return gzip.compress(text, compresslevel=1, mtime=0), JSON
