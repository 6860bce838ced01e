"""Draw a file uploader in a popover; each chosen file is passed to a function at once, and the popover closed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.popover import close_popover, current_key
from attnviz.ui.requests import call_in_rerun

Take = Callable[[str, bytes], None]
"""Receives the name and the content of a file."""
TakeAll = Callable[[Sequence[tuple[str, bytes]]], None]
"""Receives the names and contents of files that were chosen together."""


def uploader(label: str, take: Take, *, key: str, megabytes: int) -> None:
    """Draw the uploader of the popover `key`, for files of at most so many `megabytes`; `take` gets each file once.

    `take` is called at the start of a rerun. Every file type is accepted: Streamlit's message about a wrong type exists
    in English only.
    """
    st.html(f"<style>{_translated_css(megabytes, gettext('Choose a file'))}</style>")
    if (file := st.file_uploader(label, key=_widget_key(key), max_upload_size=megabytes)) is not None:
        call_in_rerun(partial(_take, key, partial(take, file.name, file.getvalue())))


def multiple_uploader(label: str, take: TakeAll, *, key: str, megabytes: int) -> None:
    """Draw the uploader as `uploader` does, for one or several files, which `take` gets together."""
    st.html(f"<style>{_translated_css(megabytes, gettext('Choose files'))}</style>")
    files = st.file_uploader(label, key=_widget_key(key), max_upload_size=megabytes, accept_multiple_files=True)
    if files:
        call_in_rerun(partial(_take, key, partial(take, [(file.name, file.getvalue()) for file in files])))


def _widget_key(key: str) -> str:
    return f"{current_key(key)}_file"


def _take(key: str, take: Callable[[], None]) -> None:
    close_popover(key)
    take()


def _translated_css(megabytes: int, button: str) -> str:
    """Return CSS that replaces Streamlit's uploader texts, which exist in English only."""
    box, size = "[data-testid='stFileUploaderDropzone", gettext("up to {size} MB", size=megabytes)
    return "".join(
        f"{selector} {{ font-size: 0; }} {selector}::after {{ content: {json.dumps(text, ensure_ascii=False)}; "
        "font-size: 1rem; }"
        for selector, text in ((f"{box}'] button p", button), (f"{box}Instructions'] span", size))
    )
