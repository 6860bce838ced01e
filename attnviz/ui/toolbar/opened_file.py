"""Upload and open a saved trace or imported attention; it replaces the translation until the visitor closes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from attnviz import AttnvizError
from attnviz.evaluation.link_agreement import with_tokens_of
from attnviz.evaluation.scoring import different_pairs
from attnviz.importing.reading import read_bytes
from attnviz.importing.records import AttentionRecords
from attnviz.languages import gettext
from attnviz.lessons.reading import MARK
from attnviz.trace import WhatIfs
from attnviz.ui.file_uploader import uploader as file_uploader
from attnviz.ui.page_state.linked import SENTENCE_PAGES, Session, clear_with_link
from attnviz.ui.toolbar.lesson import open_lesson
from attnviz.ui.view import Compared

LARGEST_MEGABYTES = 64
"""Largest size of an uploaded file; the longest sentence that can be translated makes a file of about 30 MB."""

MOST_PIECES = 4000
"""Largest number of source or target pieces; figures with more freeze the browser."""

_OPENED = "reopened"
_CHOICE = "reopened_attention"
_REQUEST = "reopened_beside"
"""The request when the file was opened; a different request closes the file."""
_COUNT = "reopened_count"
BOX = "more"
"""Key of the box with the file uploader."""


@dataclass(frozen=True)
class OpenedFile:
    """An uploaded file with its trace, or with an error message."""

    name: str
    what_ifs: WhatIfs | None
    """The translation in the file and its what-ifs."""
    problem: str = ""
    compared: Compared | None = None
    """The same pair in another file."""

    @property
    def trace(self) -> Any:
        """The translation in the file, or its imported attention."""
        return self.what_ifs.first if self.what_ifs else None


@dataclass(frozen=True)
class Choice:
    """The visitor's choices for a file of imported attention."""

    name: str
    file: AttentionRecords
    number: int = 1
    """Number of the sentence, from 1."""
    source: str = ""
    """Tokens, separated by blanks, that replace the file's own; empty to use those."""
    target: str = ""
    normalise: bool = False
    unescape: bool = False
    """Whether the escapes of Moses' tokenizer are undone."""
    other: tuple[str, AttentionRecords] | None = None
    """Name and attention of a file that it is compared with."""
    problem: str = ""
    """Error message, empty where the file was opened."""
    opening: int = 0
    """Number of the opened file in this session: text typed for one file does not apply to the next."""


def uploader() -> None:
    """Draw the file uploader."""
    file_uploader(
        gettext(
            "Open a trace file (JSON) saved by attnviz; no model is needed. You can also open the attention or "
            "the word links of another program: the output of a toolkit or aligner, or a JSON, CSV, NumPy, "
            "PyTorch or Parquet file. A lesson file (YAML) opens as a lesson."
        ),
        partial(open_file, st.session_state),
        key=BOX,
        megabytes=LARGEST_MEGABYTES,
    )


def open_file(session: Session, name: str, content: bytes) -> None:
    """Open the trace in `content`; on an error keep the open file, and store the message."""
    session[_COUNT] = session.get(_COUNT, 0) + 1
    previous = session.get(_OPENED, OpenedFile("", None))
    session.pop(_REQUEST, None)
    try:
        if MARK.encode() in content[:2000]:
            open_lesson(session, content)
            return
        file = attention_in(content, name)
        if file is not None:
            choose_attention(session, Choice(name, file, opening=session[_COUNT]))
            return
        session[_OPENED] = OpenedFile(name, read_what_ifs(content))
        session.pop(_CHOICE, None)
    except AttnvizError as error:
        session[_OPENED] = replace(previous, problem=f"{gettext('{name} was not opened.', name=name)} {error}")


def attention_in(content: bytes, name: str = "") -> AttentionRecords | None:
    """Return the imported attention in the bytes of a file; None if they are a saved trace.

    Raise AttnvizError if they are neither.
    """
    head = content[:200]
    if b'"attnviz-' in head and b'"attnviz-attention"' not in head:
        return None
    return read_bytes(content, name)


def choose_attention(session: Session, choice: Choice) -> None:
    """Open the chosen sentence of a file; on an error keep the open file, and the form with the message."""
    try:
        attention = choice.file.attention(
            choice.number - 1, choice.source, choice.target, normalise=choice.normalise, unescape=choice.unescape
        )
    except AttnvizError as error:
        session[_CHOICE] = replace(choice, problem=str(error))
        session[_OPENED] = replace(session.get(_OPENED, OpenedFile("", None)), problem="")
        return
    compared, problem = _compared(choice)
    session[_OPENED] = OpenedFile(choice.name, WhatIfs(attention), problem, compared)
    session[_CHOICE] = replace(choice, problem="")


def _compared(choice: Choice) -> tuple[Compared | None, str]:
    """Return the chosen pair in the other file, or why it cannot be read."""
    if choice.other is None:
        return None, ""
    name, records = choice.other
    try:
        records.sentence(choice.number)
        record = with_tokens_of(records, choice.file).attention(
            choice.number - 1, normalise=choice.normalise, unescape=choice.unescape
        )
    except AttnvizError as error:
        return None, _not_compared(name, error)
    return Compared((choice.name, name), record), ""


def _not_compared(name: str, error: AttnvizError) -> str:
    """Return the message that a file cannot be compared, and why."""
    return f"{gettext('{name} cannot be compared.', name=name)} {error}"


def compare_with(session: Session, name: str, content: bytes) -> None:
    """Compare the open attention with that of another file; on an error store the message."""
    choice, opened = chosen_attention(session), session.get(_OPENED)
    if choice is None or opened is None:
        return
    try:
        records = attention_in(content, name)
        if records is None:
            raise AttnvizError(gettext("Give a file of attention or word links."))
        if len(records) != len(choice.file):
            raise different_pairs(len(choice.file), len(records))
    except AttnvizError as error:
        session[_OPENED] = replace(opened, problem=_not_compared(name, error))
        return
    choose_attention(session, replace(choice, other=(name, records)))


def stop_comparing(session: Session) -> None:
    """Show the open attention alone."""
    if choice := chosen_attention(session):
        choose_attention(session, replace(choice, other=None))


def chosen_attention(session: Session) -> Choice | None:
    """Return the choices for the file of imported attention that is open or about to be; None where there is none."""
    choice: Choice | None = session.get(_CHOICE)
    return choice


def read_what_ifs(content: bytes) -> WhatIfs:
    """Return the trace in the bytes of a file with its what-ifs.

    Raise AttnvizError for an invalid trace, or one that is too long to be drawn.
    """
    try:
        what_ifs = WhatIfs.from_json(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise AttnvizError(gettext("This is not a text file, so it cannot be a trace file.")) from error
    for trace in (what_ifs.first, *what_ifs.traces):
        most = max(len(trace.source_pieces), len(trace.target_pieces))
        if most > MOST_PIECES:
            raise AttnvizError(
                gettext(
                    "The longest sentence in this file has {count} pieces; at most {most} can be shown.",
                    count=most,
                    most=MOST_PIECES,
                )
            )
    return what_ifs


def current_file(session: Session, request: object) -> OpenedFile | None:
    """Return the open file; close it and return None if `request` has changed since it was opened."""
    clear_with_link(session, _OPENED, _CHOICE, _REQUEST, scope=SENTENCE_PAGES)
    if session.setdefault(_REQUEST, request) != request:
        close(session)
    file: OpenedFile | None = session.get(_OPENED)
    return file


def close(session: Session) -> None:
    """Close the file and return to translating."""
    session.pop(_OPENED, None)
    session.pop(_CHOICE, None)
    session.pop(_REQUEST, None)
