"""Draw the form of an opened file of imported attention: its sentence, missing tokens, normalisation, escapes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from attnviz import AttnvizError
from attnviz.languages import gettext
from attnviz.trace.tokens import is_escaped
from attnviz.ui.fields import switch, text_box
from attnviz.ui.requests import call_in_rerun, request_button
from attnviz.ui.toolbar.opened_file import Choice, cancel, choose_attention, chosen_attention

_FIELDS = ("number", "source", "target", "normalise", "unescape")
"""Fields of the form."""


def attention_form() -> None:
    """Draw the form if the open file of attention has several sentences, escapes, or an error."""
    choice = chosen_attention(st.session_state)
    if choice is None or (len(choice.file) == 1 and not choice.problem and not _has_escapes(choice)):
        return
    with st.container(key="attention_form", border=bool(choice.problem)):
        if len(choice.file) > 1:
            number = st.number_input(
                gettext("Sentence (1 to {count}) in {name}", count=len(choice.file), name=choice.name),
                1,
                len(choice.file),
                choice.number,
                key=_field_key(choice, "number"),
                width=420,
            )
            if number != choice.number:
                call_in_rerun(partial(_open_sentence, choice))
        if _has_escapes(choice):
            switch(
                gettext("Decode the escape sequences of Moses’ tokenizer, such as &apos; and @-@"),
                key=_field_key(choice, "unescape"),
                default=choice.unescape,
                then=partial(_open_sentence, choice),
            )
        if choice.problem:
            with st.container(key="attention_problem"):
                st.text(gettext("{name} was not opened.", name=choice.name) + " " + choice.problem)
            _token_boxes(choice)


def _has_escapes(choice: Choice) -> bool:
    """Return whether the tokens of the sentence contain escapes of Moses' tokenizer."""
    try:
        sentence = choice.file.sentence(choice.number)
    except AttnvizError:
        return False
    return is_escaped(
        " ".join(getattr(choice, side) or sentence.tokens(side) or "" for side in ("source", "target")).split()
    )


def _token_boxes(choice: Choice) -> None:
    """Draw the boxes for missing tokens, and the buttons that open or close the file."""
    try:
        sentence = choice.file.sentence(choice.number)
    except AttnvizError:  # the form shows this error already
        request_button(gettext("Cancel"), partial(cancel, st.session_state), key="attention_cancel")
        return
    labels = {
        "source": gettext("Source tokens, separated by spaces"),
        "target": gettext("Target tokens, separated by spaces"),
    }
    for side, label in labels.items():
        text_box(label, key=_field_key(choice, side), default=getattr(choice, side) or sentence.tokens(side) or "")
    switch(gettext("Scale every row to add up to 1"), key=_field_key(choice, "normalise"), default=choice.normalise)
    with st.container(horizontal=True):
        request_button(gettext("Open"), partial(_open_sentence, choice), type="primary", key="attention_open")
        request_button(gettext("Cancel"), partial(cancel, st.session_state), key="attention_cancel")


def _field_key(choice: Choice, name: str) -> str:
    """Return the key of a field, unique for the opened file and the sentence, since tokens belong to one sentence."""
    return f"attention_{name}_{choice.opening}" + (f"_{choice.number}" if name != "number" else "")


def _open_sentence(choice: Choice) -> None:
    """Open the sentence that the fields select, with the tokens typed for it."""
    values = {name: st.session_state.get(_field_key(choice, name)) for name in _FIELDS}
    number = int(values["number"] or choice.number)
    if number != choice.number:
        again = Choice(choice.name, choice.file, number, other=choice.other, gold=choice.gold, opening=choice.opening)
        choose_attention(st.session_state, again)
        return
    chosen = replace(
        choice,
        source=str(choice.source if values["source"] is None else values["source"]).strip(),
        target=str(choice.target if values["target"] is None else values["target"]).strip(),
        normalise=bool(values["normalise"]),
        unescape=bool(values["unescape"]),
    )
    choose_attention(st.session_state, chosen)
