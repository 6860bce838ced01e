"""Draw a file uploader that passes each chosen file to a function at once, and does not list it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.requests import call_in_rerun

Take = Callable[[str, bytes], None]
"""Receives the name and the content of a file."""


def file_box(label: str, take: Take, *, key: str, megabytes: int) -> None:
    """Draw an uploader with `label` for files of at most so many `megabytes`; `take` gets each file once.

    `take` is called at the start of a rerun. Every file type is accepted: where Streamlit rejects a file by its type,
    the previous file stays in the widget. All files use the same widget: if a new one replaced it, a file chosen
    meanwhile would be lost.
    """
    st.html(f"<style>{_translated_css(megabytes)}</style>")
    file = st.file_uploader(label, key=key, max_upload_size=megabytes)
    if file is not None and file.file_id != st.session_state.get(_last_file_key(key)):
        call_in_rerun(partial(_take_file, key, file.file_id, file.name, file.getvalue(), take))


def _last_file_key(key: str) -> str:
    """Return the key of the id of the last file that was taken."""
    return f"{key}_last"


def _translated_css(megabytes: int) -> str:
    """Return CSS that replaces Streamlit's uploader texts, which exist in English only."""
    box, size = "[data-testid='stFileUploaderDropzone", gettext("up to {size} MB", size=megabytes)
    return f"{box}'] ~ * [data-testid='stFileUploaderFile'] {{ display: none; }}" + "".join(
        f"{selector} {{ font-size: 0; }} {selector}::after {{ content: {json.dumps(text, ensure_ascii=False)}; "
        "font-size: 1rem; }"
        for selector, text in ((f"{box}'] button p", gettext("Choose a file")), (f"{box}Instructions'] span", size))
    )


def _take_file(key: str, file_id: str, name: str, content: bytes, take: Take) -> None:
    if st.session_state.get(_last_file_key(key)) != file_id:
        st.session_state[_last_file_key(key)] = file_id
        take(name, content)
