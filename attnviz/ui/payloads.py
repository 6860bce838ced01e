"""Payloads of one visit: what the server makes of what is on show in the browser, fetched when it is wanted.

A run of the page says how each is made; no run is needed when the browser shows another step.
"""

from __future__ import annotations

import gzip
import secrets
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import streamlit as st

from attnviz.languages import language, set_language
from attnviz.ui.page_state.selection import Selection, linked_selection
from attnviz.ui.page_state.view import View

PLACE = "attnviz-payload"
"""What the addresses of payloads begin with, below the page."""
_KEPT = "payloads"

Make = Callable[[Selection], Any]
"""Returns what can be told as JSON, or a file as bytes."""


@dataclass(frozen=True, eq=False)
class Payload:
    """How something is made of what is on show in a view."""

    view: View
    make: Make
    code: str
    """Of the language."""
    name: str
    """What tells it from another; a browser keeps what it fetched of the same name."""
    secret: str
    """Its place in the address: nobody else can know it."""


_OFFERED: weakref.WeakValueDictionary[str, Payload] = weakref.WeakValueDictionary()
"""Those of all visits, by their place in the address, as long as the visits last."""


def payload(view: View, key: str, name: str, make: Make) -> str:
    """Return where the browser finds what `make` returns of what is on show in `view`.

    `key` tells it from others on the page, `name` what it is made of from other things that it was made of before.
    """
    kept: dict[str, Payload] = st.session_state.setdefault(_KEPT, {})
    full, before = f"{view.identity} {name} {language()}", kept.get(view.key(key))
    secret = before.secret if before is not None and before.name == full else secrets.token_urlsafe(12)
    kept[view.key(key)] = _OFFERED[secret] = Payload(view, make, language(), full, secret)
    return f"{PLACE}/{secret}?{{selection}}"


def made(secret: str, asked: Mapping[str, str]) -> tuple[bytes, bool] | None:
    """Return a payload packed by gzip, and whether it is a file and no JSON; None where there is none. `asked` are the
    parameters of its address, which may be anything."""
    found = _OFFERED.get(secret)
    if found is None:
        return None
    set_language(found.code)
    content = found.make(linked_selection(found.view, asked))
    if isinstance(content, bytes):
        return gzip.compress(content, compresslevel=1, mtime=0), True
    text = orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY)
    return gzip.compress(text, compresslevel=1, mtime=0), False
