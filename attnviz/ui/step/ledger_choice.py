"""Which word the logit ledger accounts for, and which it is held against: chosen from the likeliest, or typed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

import streamlit as st

from attnviz.languages import say
from attnviz.text import CONTINUES, SPACE, UNK, Tokenizer, piece_name
from attnviz.trace import Trace
from attnviz.ui.language import key_in_language
from attnviz.ui.page_state import selection
from attnviz.ui.resources import trace_identity
from attnviz.wording.labels import shorten

RIVAL = "rival"
"""Id of the piece that the word is held against, or None: then it is the likeliest other one, step by step. In the
session and, if chosen, in the address."""
LIKELIEST = 10

OWN = "the word of the step"
NEXT_BEST = "the likeliest other"
"""The first choice of either box; shown in the visitor's language."""
_WORD_BOX, _RIVAL_BOX, _TYPED = "ledger_word", "ledger_rival", "ledger_typed"
Words = tuple[str | None, str | None]
"""What was typed in either box, where the model writes it in several pieces."""


def chosen_pair(trace: Trace, step: int, pieces: int) -> tuple[int, int | None]:
    """Return the pieces compared on the page at 1-based `step`, of a vocabulary of `pieces`: the chosen ones, or else
    those of `pair`."""
    where, rival = cast("tuple[Any, int | None]", st.session_state.get(RIVAL, (None, None)))
    held = rival is not None and where == (trace_identity(trace), step) and rival < pieces
    return pair(trace, step, word_chosen(pieces), rival if held else None)


def pair(trace: Trace, step: int, word: int | None, rival: int | None) -> tuple[int, int | None]:
    """Return the pieces to compare at 1-based `step`: the given ones, or for None the step's own and the likeliest
    other; the second is None where there is no other, for none is held against itself."""
    word = int(trace.target_ids[step - 1]) if word is None else word
    if rival is None:
        rival = next((int(index) for index in trace.top_ids[step - 1] if index != word), None)
    return word, None if rival == word else rival


def word_chosen(pieces: int) -> int | None:
    """Return the word chosen, of a vocabulary of `pieces`, or None: then it is the step's own."""
    word = st.session_state.get(selection.WORD)
    return None if word is None or int(word) >= pieces else int(word)


def rival_chosen(trace: Trace, step: int, pieces: int) -> int | None:
    """Return the rival chosen at 1-based `step`, of a vocabulary of `pieces`, and keep it in the address; it goes with
    the step."""
    here, linked = (trace_identity(trace), step), st.query_params.get(RIVAL, "")
    first = int(linked) if re.fullmatch("[0-9]{1,6}", linked) else None
    where, rival = cast("tuple[Any, int | None]", st.session_state.get(RIVAL, (here, first)))
    if rival is not None and (where != here or rival >= pieces):
        rival = None
    st.session_state[RIVAL] = (here, rival)
    if rival is None:
        st.query_params.pop(RIVAL, None)
    elif linked != str(rival):
        st.query_params[RIVAL] = str(rival)
    return rival


def typed_words(trace: Trace, tokenizer: Tokenizer, step: int, word: int | None, rival: int | None) -> Words:
    """Forget what was typed for another step, or is no longer chosen; return the words of several pieces."""
    here, kept = (trace_identity(trace), step), st.session_state.setdefault(_TYPED, {})
    for box, chosen in ((_WORD_BOX, word), (_RIVAL_BOX, rival)):
        where, index, _ = kept.get(box, (None, None, ""))
        if where != here or index != chosen:
            kept.pop(box, None)
    words = (kept[box][2] if box in kept else "" for box in (_WORD_BOX, _RIVAL_BOX))
    several = [word if word and all(piece_of(word, tokenizer)) else None for word in words]
    return several[0], several[1]


def choices(trace: Trace, tokenizer: Tokenizer, step: int, word: int | None, rival: int | None, typed: Words) -> None:
    """Draw both choices as one question: why this word, and not which other?"""
    here = (trace_identity(trace), step)
    names = [piece_name(piece) for piece in trace.top_pieces[step - 1][:LIKELIEST]]
    kept, word_box, rival_box = st.session_state, key_in_language(_WORD_BOX), key_in_language(_RIVAL_BOX)
    kept[word_box] = OWN if word is None else typed[0] or piece_name(tokenizer.piece(word))
    kept[rival_box] = NEXT_BEST if rival is None else typed[1] or piece_name(tokenizer.piece(rival))
    first = {OWN: say("the word of the step"), NEXT_BEST: say("the likeliest other")}
    note = say("Choose one of the ten likeliest pieces, or type any word.")
    with st.container(horizontal=True, vertical_alignment="bottom", key="ledger_choices"):
        st.selectbox(
            say("Why"), _options([OWN, *names], kept[word_box]), key=word_box, width=220, accept_new_options=True,
            format_func=lambda name: first.get(name, name), on_change=_take_word, args=(tokenizer, here, word_box),
            help=note,
        )  # fmt: skip
        st.selectbox(
            say("and not"), _options([NEXT_BEST, *names], kept[rival_box]), key=rival_box, width=220,
            accept_new_options=True, format_func=lambda name: first.get(name, name), on_change=_take_rival,
            args=(tokenizer, here, rival_box),
        )  # fmt: skip
    notes = [piece_of(text, tokenizer)[1] for _, _, text in kept[_TYPED].values()]
    for told in dict.fromkeys(filter(None, notes)):
        st.text(told)


def piece_of(text: str, tokenizer: Tokenizer) -> tuple[int | None, str]:
    """Return the id of the piece that a visitor typed, or None, and what there is to say about it, if anything.

    A piece may be named as the pictures do, `·cycle` for one that continues a word; other text is cut into pieces, of
    which the first is taken.
    """
    typed = text.strip()
    index = _names(tokenizer).get(typed)
    if index is not None:
        return index, ""
    ids = [] if typed.startswith(CONTINUES) else tokenizer.encode(typed)
    if ids and tokenizer.piece(ids[0]) == SPACE and len(ids) > 1:
        ids = ids[1:]
    if not ids:
        return None, say("“{text}” is no piece of this model’s vocabulary.", text=shorten(typed, 40))
    if ids[0] == UNK:
        return None, say("The model has never seen “{text}”, and so has no logit for it.", text=shorten(typed, 40))
    names = [piece_name(tokenizer.piece(index)) for index in ids]
    if len(ids) == 1:
        return ids[0], ""
    return ids[0], say(
        "The model writes “{text}” in {count} pieces, {pieces}; shown is the first, {first}.", text=shorten(typed, 40),
        count=len(ids), pieces=shorten(" ".join(names), 60), first=names[0],
    )  # fmt: skip


def _options(offered: Iterable[str], shown: str) -> list[str]:
    return list(dict.fromkeys([*offered, shown]))


def _take_word(tokenizer: Tokenizer, here: tuple[Any, int], widget: str) -> None:
    st.session_state[selection.WORD] = _take(tokenizer, here, widget, _WORD_BOX, OWN)


def _take_rival(tokenizer: Tokenizer, here: tuple[Any, int], widget: str) -> None:
    st.session_state[RIVAL] = (here, _take(tokenizer, here, widget, _RIVAL_BOX, NEXT_BEST))


def _take(tokenizer: Tokenizer, here: tuple[Any, int], widget: str, box: str, first: str) -> int | None:
    """Return the piece chosen in the `widget` of a box, None for its first choice, and keep what was typed for it."""
    text, kept = str(st.session_state[widget]).strip(), st.session_state.setdefault(_TYPED, {})
    kept.pop(box, None)
    if text == first:
        return None
    index = piece_of(text, tokenizer)[0]
    kept[box] = (here, index, text)
    return index


@st.cache_data(max_entries=2, show_spinner=False, hash_funcs={Tokenizer: lambda tokenizer: tokenizer.model})
def _names(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the ids of all pieces by the names that the pictures give them."""
    return {piece_name(tokenizer.piece(index)): index for index in range(len(tokenizer))}
