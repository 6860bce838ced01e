"""Upload a saved trace or imported attention, choose its sentence, and add a file to compare with or of gold links.

The opened file replaces the translation until the request changes. An uploaded lesson opens as a lesson.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from attnviz.errors import AttnvizError, user_error
from attnviz.evaluation.two_files import (
    check_pair_counts,
    check_same_pair,
    gold_of_pair,
    has_no_place,
    missing_sides,
    pair_place,
    pair_with_words_of,
    with_tokens_of,
)
from attnviz.importing.attention_reader import read_bytes
from attnviz.importing.records import AttentionRecords
from attnviz.languages import gettext, gettexts
from attnviz.lessons.lesson_file import FORMAT_FIELD
from attnviz.trace import Attention, WhatIfs
from attnviz.trace.tokens import is_escaped
from attnviz.ui.blocks import message
from attnviz.ui.controls import call_in_rerun, request_button, switch, text_box
from attnviz.ui.embedding import page_session
from attnviz.ui.inputs import clear_with_link
from attnviz.ui.selection import set_problem, take_links
from attnviz.ui.toolbar.open_lesson import open_lesson
from attnviz.ui.view import Compared, FilePair, GoldFile, View

LARGEST_MEGABYTES = 64
"""Largest size of an uploaded file; the longest sentence that can be translated makes a file of about 30 MB."""

MOST_OPENED_PIECES = 4000
"""Largest number of source or target pieces; figures with more freeze the browser."""

_OPENED = "reopened"
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
    pair: FilePair | None = None
    """The pair of the file that is shown, where it has attention."""
    refused: FilePair | None = None
    """A pair, of this or another file, that was chosen since and cannot be read; it has the reason."""

    @property
    def trace(self) -> Any:
        """The translation in the file, or its imported attention."""
        return self.what_ifs.first if self.what_ifs else None


def open_file(name: str, content: bytes) -> None:
    """Open the trace in `content`; on an error keep the open file, and store the message."""
    session = page_session()
    session[_COUNT] = session.get(_COUNT, 0) + 1
    session.pop(_REQUEST, None)
    try:
        if FORMAT_FIELD.encode() in content[:2000]:
            open_lesson(name, content)
            return
        file = attention_in(content, name)
        if file is not None:
            choose_attention(FilePair(name, file, opening=session[_COUNT]))
            return
        session[_OPENED] = OpenedFile(name, read_what_ifs(content))
    except AttnvizError as error:
        _change(problem=f"{gettext('{name} was not opened.', name=name)} {error}")


def attention_in(content: bytes, name: str = "") -> AttentionRecords | None:
    """Return the imported attention in the bytes of a file; None if they are a saved trace.

    Raise AttnvizError if they are neither.
    """
    head = content[:200]
    if b'"attnviz-' in head and b'"attnviz-attention"' not in head:
        return None
    return read_bytes(content, name)


def choose_attention(pair: FilePair) -> None:
    """Open the chosen pair of a file; on an error keep the open file, and the form with the message."""
    try:
        attention = pair.attention(pair.number)
    except AttnvizError as error:
        _change(problem="", refused=replace(pair, problem=str(error)))
        return
    compared, problem = _compared(pair, attention)
    pair = replace(pair, problem="")
    problem = problem or _gold_problem(pair)
    page_session()[_OPENED] = OpenedFile(pair.name, WhatIfs(attention), problem, compared, pair)


def _opened() -> OpenedFile:
    """Return the open file; one without a name or a trace where there is none."""
    opened: OpenedFile = page_session().get(_OPENED, OpenedFile("", None))
    return opened


def _change(**changes: Any) -> None:
    """Change fields of the open file."""
    page_session()[_OPENED] = replace(_opened(), **changes)


def _gold_problem(pair: FilePair) -> str:
    """Return why the file of gold links has none for the pair; empty where it has them, or there is no such file."""
    if pair.gold is None:
        return ""
    try:
        if pair.own_gold is not None:
            return ""
    except AttnvizError as error:
        return f"{pair.gold.name}: {error}"
    return gettext("{name} has no links for the sentence pair shown.", name=pair.gold.name)


def _compared(pair: FilePair, shown: Attention) -> tuple[Compared | None, str]:
    """Return the pair of the other file that is the one `shown`, or why there is none."""
    if pair.other is None:
        return None, ""
    name, records = pair.other
    tokens = pair.file.tokens(pair.number - 1)
    typed = [given.split() or own for given, own in zip((pair.source, pair.target), tokens, strict=True)]
    try:
        place = pair_place(records, pair.number, pair.file, shown)
        if place is None:
            raise AttnvizError(_other_pair_message(records, pair))
        record = records.attention(
            place,
            *missing_sides(records, place, typed),
            normalise=pair.normalise,
            unescape=pair.unescape,
        )
        check_same_pair(record, shown)
    except AttnvizError as error:
        return None, _not_compared(name, error)
    return Compared((pair.name, name), record), ""


def _other_pair_message(records: AttentionRecords, pair: FilePair) -> str:
    """Return which pair of the open file a file of other pairs has, if it has one with tokens."""
    if len(records) > 1:
        return gettext("No sentence pair of the file has the words of the pair shown.")
    if (number := records.pairs.first) is None:
        place = pair_with_words_of(pair.file, records[0])
        number = None if place is None else place + 1
    if number is None:
        return gettext("No sentence pair of {name} has the words of this file.", name=pair.name)
    return gettext("This file has the links of sentence pair {number}. Go to that pair to compare them.", number=number)


def _not_compared(name: str, error: AttnvizError) -> str:
    """Return the message that a file cannot be compared, and why."""
    return f"{gettext('{name} cannot be compared with the open file.', name=name)} {error}"


def compare_with(name: str, content: bytes) -> None:
    """Compare the open attention with that of another file; on an error store the message."""
    if (pair := _opened().pair) is None:
        return
    try:
        records = _links_in(content, name)
        check_pair_counts(records, pair.file)
    except AttnvizError as error:
        _change(problem=_not_compared(name, error))
        return
    choose_attention(replace(pair, other=(name, with_tokens_of(records, pair.file))))


def _links_in(content: bytes, name: str) -> AttentionRecords:
    """Return the attention or links in the bytes of a file; raise AttnvizError for another file, or a saved trace."""
    records = attention_in(content, name)
    if records is None:
        raise user_error("Give a file of attention or word links.")
    return records


def open_gold_file(view: View, name: str, content: bytes) -> None:
    """Mark the links in `content` as gold links: of the file that `view` shows a pair of, else of its words.

    A single pair without words or number is taken as the pair in view. On an error store the message.
    """
    pair = _opened().pair
    try:
        records = _links_in(content, name)
        if pair is None or view.file is None or has_no_place(records):
            links = gold_of_pair(records, 1, None, view.trace)
            if links is None:
                raise user_error("No sentence pair of the file has the words of the pair shown.")
            take_links(view, links)
            return
        check_pair_counts(records, pair.file)
        records = with_tokens_of(records, pair.file)
    except AttnvizError as error:
        set_problem(view, f"{gettext('{name} was not opened.', name=name)} {error}")
        return
    gold = GoldFile(
        name,
        lambda number, record: gold_of_pair(records, number, pair.file, record),
        records.pairs.digest,
        records.pairs.size,
    )
    choose_attention(replace(pair, gold=gold))


def show_without(field: str) -> None:
    """Show the open attention without the file of "gold" links, or the "other" that it is compared with."""
    left_out: dict[str, Any] = {field: None}
    if pair := _opened().pair:
        choose_attention(replace(pair, **left_out))


def read_what_ifs(content: bytes) -> WhatIfs:
    """Return the trace in the bytes of a file with its what-ifs.

    Raise AttnvizError for an invalid trace, or one that is too long to be drawn.
    """
    try:
        what_ifs = WhatIfs.from_json(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise user_error("This is not a text file, so it cannot be a trace file.") from error
    for trace in (what_ifs.first, *what_ifs.traces):
        most = max(len(trace.source_pieces), len(trace.target_pieces))
        if most > MOST_OPENED_PIECES:
            raise user_error(
                "The longest sentence in this file has {count} pieces; at most {most} can be shown.",
                count=most,
                most=MOST_OPENED_PIECES,
            )
    return what_ifs


def current_file(request: object) -> OpenedFile | None:
    """Return the open file; close it and return None if `request` has changed since it was opened."""
    session = page_session()
    clear_with_link(_OPENED, _REQUEST)
    if session.setdefault(_REQUEST, request) != request:
        close()
    file: OpenedFile | None = session.get(_OPENED)
    return file


def close() -> None:
    """Close the file and return to translating."""
    session = page_session()
    session.pop(_OPENED, None)
    session.pop(_REQUEST, None)


_FIELDS = ("number", "source", "target", "normalise", "unescape")
"""Fields of the form."""


def attention_form() -> None:
    """Draw the form if the open file of attention has several sentences, escapes, or an error."""
    pair, sentence = _opened().refused or _opened().pair, None
    if pair is None:
        return
    with suppress(AttnvizError):  # the form has the message
        sentence = pair.file.pair_numbered(pair.number)
    sides = [getattr(pair, side).split() or (sentence and sentence.tokens(side)) for side in ("source", "target")]
    has_escapes = any(is_escaped(tokens or ()) for tokens in sides)
    if len(pair.file) == 1 and not pair.problem and not has_escapes:
        return
    with st.container(key="attention_form", border=bool(pair.problem)):
        if (count := len(pair.file)) > 1:
            label = gettext("Sentence (1 to {count}) in {name}", count=count, name=pair.name)
            key = _field_key(pair, "number")
            if st.number_input(label, 1, count, pair.number, key=key, width=420) != pair.number:
                call_in_rerun(partial(_open_sentence, pair))
        if has_escapes:
            switch(
                gettext("Decode the escape sequences of Moses’ tokenizer, such as &apos; and @-@"),
                key=_field_key(pair, "unescape"),
                default=pair.unescape,
                then=partial(_open_sentence, pair),
            )
        if pair.problem:
            message(gettext("{name} was not opened.", name=pair.name) + " " + pair.problem, "attention_problem")
            if sentence:
                labels = gettexts(
                    {
                        "source": "Source tokens, separated by spaces",
                        "target": "Target tokens, separated by spaces",
                    }
                )
                for side, label in labels.items():  # for missing tokens
                    own = " ".join(sentence.tokens(side) or ())
                    text_box(label, key=_field_key(pair, side), default=getattr(pair, side) or own)
                label, key = gettext("Scale every row to add up to 1"), _field_key(pair, "normalise")
                switch(label, key=key, default=pair.normalise)
            with st.container(horizontal=True):
                if sentence:
                    request_button(gettext("Open"), partial(_open_sentence, pair), type="primary", key="attention_open")
                # back to the file that is shown, else to translating
                cancel = partial(_change, refused=None) if _opened().pair else close
                request_button(gettext("Cancel"), cancel, key="attention_cancel")


def _field_key(pair: FilePair, name: str) -> str:
    """Return the key of a field, unique for the opened file and the sentence, since tokens belong to one sentence."""
    return f"attention_{name}_{pair.opening}" + (f"_{pair.number}" if name != "number" else "")


def _open_sentence(pair: FilePair) -> None:
    """Open the sentence that the fields select, with the tokens typed for it."""
    values = {name: page_session().get(_field_key(pair, name)) for name in _FIELDS}
    number = int(values["number"] or pair.number)
    if number != pair.number:
        choose_attention(replace(pair, number=number, source="", target="", normalise=False, unescape=False))
        return
    chosen = replace(
        pair,
        source=str(pair.source if values["source"] is None else values["source"]).strip(),
        target=str(pair.target if values["target"] is None else values["target"]).strip(),
        normalise=bool(values["normalise"]),
        unescape=bool(values["unescape"]),
    )
    choose_attention(chosen)
