"""A saved trace, opened again on the page: shown instead of a translation until the visitor leaves it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import streamlit as st

from attnviz import AttnvizError, Trace
from attnviz.languages import say
from attnviz.trace import Branches
from attnviz.ui.language import speak_as_chosen
from attnviz.ui.page_state.view import Session

LARGEST_FILE = 64
"""Megabytes. The longest sentence that is translated makes a file of some 30."""

MOST_PIECES = 4000
"""On a side; the pictures of more would stop the browser."""

_OPENED = "reopened"
_REQUEST = "reopened_beside"
"""What the page was asked for when the file was opened: another wish closes it."""
_COUNT = "reopened_count"
BOX = "downloads"
"""Key of the box that holds the place for a file."""


@dataclass(frozen=True)
class Reopened:
    """A file that was given, with its trace, or with a sentence that says why it has none."""

    name: str
    branches: Branches | None
    """The translation of the file, and what was tried on it by hand."""
    problem: str = ""

    @property
    def trace(self) -> Trace | None:
        """The translation of the file."""
        return self.branches.first if self.branches else None


def opener() -> None:
    """Draw the place that takes a file."""
    count = st.session_state.get(_COUNT, 0)  # another after each file, ready for the same one again
    st.html(f"<style>{_own_words()}</style>")
    st.file_uploader(
        say("Open a trace that was saved here as JSON: it opens with every number, and needs no model."),
        key=f"file_{count}", max_upload_size=LARGEST_FILE, on_change=_take_file, args=(f"file_{count}",),
    )  # fmt: skip


def _own_words() -> str:
    """Return the style that writes our words over Streamlit's, which knows those of its box in English only."""
    box, size = "[data-testid='stFileUploaderDropzone", say("up to {size} MB", size=LARGEST_FILE)
    return "".join(
        f"{where} {{ font-size: 0; }} {where}::after {{ content: {json.dumps(words, ensure_ascii=False)}; "
        "font-size: 1rem; }"
        for where, words in ((f"{box}'] button p", say("Choose a file")), (f"{box}Instructions'] span", size))
    )


def _take_file(key: str) -> None:
    speak_as_chosen()  # called before the page runs
    file = st.session_state[key]
    if file is not None:
        open_file(st.session_state, file.name, file.getvalue())
        st.session_state[BOX] = False
        st.rerun()


def open_file(session: Session, name: str, content: bytes) -> None:
    """Open the trace in `content`; where it is none, keep what is open and a sentence that says so."""
    session[_COUNT] = session.get(_COUNT, 0) + 1
    before = session.get(_OPENED, Reopened("", None))
    session.pop(_REQUEST, None)
    try:
        session[_OPENED] = Reopened(name, read_branches(content))
    except AttnvizError as error:
        session[_OPENED] = replace(before, problem=f"{say('{name} was not opened.', name=name)} {error}")


def read_branches(content: bytes) -> Branches:
    """Return the trace in the bytes of a file with its branches; raise AttnvizError where there is none, or one that is
    too long to be drawn."""
    try:
        branches = Branches.from_json(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise AttnvizError(say("It is not a text file, so not a saved trace.")) from error
    for trace in (branches.first, *branches.traces):
        most = max(len(trace.source_pieces), len(trace.target_pieces))
        if most > MOST_PIECES:
            raise AttnvizError(
                say("It holds {count} pieces; at most {most} can be shown.", count=most, most=MOST_PIECES)
            )
    return branches


def reopened(session: Session, request: object) -> Reopened | None:
    """Return the file that is open, or None where none is or `request` is no longer what it was at the opening."""
    if session.setdefault(_REQUEST, request) != request:
        close(session)
    opened: Reopened | None = session.get(_OPENED)
    return opened


def close(session: Session) -> None:
    """Go back to translating."""
    session.pop(_OPENED, None)
    session.pop(_REQUEST, None)
