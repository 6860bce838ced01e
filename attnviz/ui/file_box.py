"""Draw a file uploader that hands over each chosen file at once and is empty again."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.requests import take_soon

Take = Callable[[str, bytes], None]
"""Receives the name and the content of a file."""


def file_box(label: str, take: Take, *, key: str, megabytes: int) -> None:
    """Draw an uploader with `label` for files of at most so many `megabytes`; `take` gets each file.

    `take` is called at the start of a rerun. Every file type is accepted: where Streamlit rejects a file by its type,
    the previous file stays in the widget.
    """
    own = _place(key)
    st.html(f"<style>{_own_words(megabytes)}</style>")
    file = st.file_uploader(label, key=own, max_upload_size=megabytes)
    if file is not None:
        take_soon(partial(_take_file, key, files_taken(key), file.name, file.getvalue(), take))


def _place(key: str) -> str:
    """Return the current widget key: a new one after each file, so that the uploader is empty again."""
    return f"{key}_{files_taken(key)}"


def files_taken(key: str) -> int:
    """Return how many files the uploader with this `key` has taken in this session."""
    return int(st.session_state.get(_count(key), 0))


def _count(key: str) -> str:
    return f"{key}_files_taken"


def _own_words(megabytes: int) -> str:
    """Return CSS that replaces Streamlit's uploader texts, which exist in English only."""
    box, size = "[data-testid='stFileUploaderDropzone", gettext("up to {size} MB", size=megabytes)
    return "".join(
        f"{where} {{ font-size: 0; }} {where}::after {{ content: {json.dumps(words, ensure_ascii=False)}; "
        "font-size: 1rem; }"
        for where, words in ((f"{box}'] button p", gettext("Choose a file")), (f"{box}Instructions'] span", size))
    )


def _take_file(key: str, count: int, name: str, content: bytes, take: Take) -> None:
    if files_taken(key) == count:
        st.session_state[_count(key)] = count + 1
        take(name, content)
