"""Draw a file uploader in a popover; each chosen file is passed to a function at once, and the popover closed."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.popover import close_popover, current_key
from attnviz.ui.requests import call_in_rerun

Take = Callable[[str, bytes], None]
"""Receives the name and the content of a file."""


def uploader(label: str, take: Take, *, key: str, megabytes: int) -> None:
    """Draw the uploader of the popover `key`, for files of at most so many `megabytes`; `take` gets each file once.

    `take` is called at the start of a rerun. Every file type is accepted: Streamlit's message about a wrong type exists
    in English only.
    """
    st.html(f"<style>{_translated_css(megabytes)}</style>")
    widget = f"{current_key(key)}_file"
    if (file := st.file_uploader(label, key=widget, max_upload_size=megabytes)) is not None:
        call_in_rerun(partial(_take_file, key, file.name, file.getvalue(), take))


def _take_file(key: str, name: str, content: bytes, take: Take) -> None:
    close_popover(key)
    take(name, content)


def _translated_css(megabytes: int) -> str:
    """Return CSS that replaces Streamlit's uploader texts, which exist in English only."""
    box, size = "[data-testid='stFileUploaderDropzone", gettext("up to {size} MB", size=megabytes)
    return "".join(
        f"{selector} {{ font-size: 0; }} {selector}::after {{ content: {json.dumps(text, ensure_ascii=False)}; "
        "font-size: 1rem; }"
        for selector, text in ((f"{box}'] button p", gettext("Choose a file")), (f"{box}Instructions'] span", size))
    )
