"""A saved trace, or attention of another program, opened on the page: shown instead of a translation until the visitor
leaves it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from attnviz import AttnvizError
from attnviz.importing.reading import read_bytes
from attnviz.importing.records import AttentionRecords
from attnviz.languages import gettext
from attnviz.trace import Branches
from attnviz.ui.file_box import file_box
from attnviz.ui.page_state.view import Session

LARGEST_FILE = 64
"""Megabytes. The longest sentence that is translated makes a file of some 30."""

MOST_PIECES = 4000
"""On a side; the pictures of more would stop the browser."""

_OPENED = "reopened"
_CHOICE = "reopened_attention"
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
    def trace(self) -> Any:
        """The translation of the file, or its attention."""
        return self.branches.first if self.branches else None


@dataclass(frozen=True)
class Choice:
    """What of a file of another program's attention is asked for."""

    name: str
    file: AttentionRecords
    number: int = 1
    """Which of its sentences, from 1."""
    source: str = ""
    """Tokens with blanks between them, in the place of the file's own; empty for those."""
    target: str = ""
    normalise: bool = False
    unescape: bool = False
    """Whether the escapes of Moses' tokenizer are undone."""
    problem: str = ""
    """Why it could not be opened."""
    opening: int = 0
    """Tells one opening of a file from another: what was typed for one is not for the next."""


def opener() -> None:
    """Draw the place that takes a file."""
    file_box(
        gettext(
            "Open a trace that was saved here as JSON, with every number and without a model; or another program’s "
            "attention or links: what toolkits and aligners write, JSON, CSV, NumPy, PyTorch."
        ),
        _take,
        key="file",
        megabytes=LARGEST_FILE,
    )


def _take(name: str, content: bytes) -> None:
    open_file(st.session_state, name, content)
    st.session_state[BOX] = False


def open_file(session: Session, name: str, content: bytes) -> None:
    """Open the trace in `content`; where it is none, keep what is open and a sentence that says so."""
    session[_COUNT] = session.get(_COUNT, 0) + 1
    before = session.get(_OPENED, Reopened("", None))
    session.pop(_REQUEST, None)
    try:
        file = attention_in(content, name)
        if file is not None:
            choose_attention(session, Choice(name, file, opening=session[_COUNT]))
            return
        session[_OPENED] = Reopened(name, read_branches(content))
        session.pop(_CHOICE, None)
    except AttnvizError as error:
        session[_OPENED] = replace(before, problem=f"{gettext('{name} was not opened.', name=name)} {error}")


def attention_in(content: bytes, name: str = "") -> AttentionRecords | None:
    """Return the attention of another program in the bytes of a file; None where they are a saved trace.

    Raise AttnvizError where they are neither.
    """
    head = content[:200]
    if b'"attnviz-' in head and b'"attnviz-attention"' not in head:
        return None
    return read_bytes(content, name)


def choose_attention(session: Session, choice: Choice) -> None:
    """Open what is asked for of a file; where that cannot be, keep what is open, and the question with what is
    wrong."""
    try:
        found = choice.file.attention(
            choice.number - 1, choice.source, choice.target, normalise=choice.normalise, unescape=choice.unescape
        )
    except AttnvizError as error:
        session[_CHOICE] = replace(choice, problem=str(error))
        session[_OPENED] = replace(session.get(_OPENED, Reopened("", None)), problem="")
        return
    session[_OPENED] = Reopened(choice.name, Branches(found))
    session[_CHOICE] = replace(choice, problem="")


def chosen_attention(session: Session) -> Choice | None:
    """Return what is asked for of a file that is open, or is to be; None where no such file is."""
    choice: Choice | None = session.get(_CHOICE)
    return choice


def read_branches(content: bytes) -> Branches:
    """Return the trace in the bytes of a file with its branches; raise AttnvizError where there is none, or one that is
    too long to be drawn."""
    try:
        branches = Branches.from_json(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise AttnvizError(gettext("It is not a text file, so not a saved trace.")) from error
    for trace in (branches.first, *branches.traces):
        most = max(len(trace.source_pieces), len(trace.target_pieces))
        if most > MOST_PIECES:
            raise AttnvizError(
                gettext("It holds {count} pieces; at most {most} can be shown.", count=most, most=MOST_PIECES)
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
    session.pop(_CHOICE, None)
    session.pop(_REQUEST, None)
