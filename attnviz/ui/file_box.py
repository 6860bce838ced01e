"""Draw a box with a file uploader that passes each chosen file to a function at once; the box is closed then."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.requests import call_in_rerun

Take = Callable[[str, bytes], None]
"""Receives the name and the content of a file."""


def upload_box(label: str, *, key: str, **arguments: Any) -> Any:
    """Draw the button `label`, which opens a box, and return the box; `uploader` draws its uploader.

    After each file, a new box, closed and without a file, replaces it. If the server closed the box instead, a visitor
    who opened or closed it at the same moment would find the opposite. `arguments` are those of `st.popover`.
    """
    with st.container(key=key, width="content"):
        return st.popover(label, key=_current_key(key), **arguments)


def uploader(label: str, take: Take, *, key: str, megabytes: int) -> None:
    """Draw the uploader of the box `key`, for files of at most so many `megabytes`; `take` gets each file once.

    `take` is called at the start of a rerun. Every file type is accepted: Streamlit's message about a wrong type exists
    in English only.
    """
    st.html(f"<style>{_translated_css(megabytes)}</style>")
    widget = f"{_current_key(key)}_file"
    if (file := st.file_uploader(label, key=widget, max_upload_size=megabytes)) is not None:
        call_in_rerun(partial(_take_file, key, file.name, file.getvalue(), take))


def _current_key(key: str) -> str:
    """Return the key of the box that is drawn now, which has the number of files taken."""
    return f"{key}_{st.session_state.get(_count_key(key), 0)}"


def _count_key(key: str) -> str:
    return f"{key}_count"


def _take_file(key: str, name: str, content: bytes, take: Take) -> None:
    st.session_state[_count_key(key)] = st.session_state.get(_count_key(key), 0) + 1
    take(name, content)


def _translated_css(megabytes: int) -> str:
    """Return CSS that replaces Streamlit's uploader texts, which exist in English only."""
    box, size = "[data-testid='stFileUploaderDropzone", gettext("up to {size} MB", size=megabytes)
    return "".join(
        f"{selector} {{ font-size: 0; }} {selector}::after {{ content: {json.dumps(text, ensure_ascii=False)}; "
        "font-size: 1rem; }"
        for selector, text in ((f"{box}'] button p", gettext("Choose a file")), (f"{box}Instructions'] span", size))
    )
