"""Which word the logit ledger takes apart, and which it is compared with: chosen from the likeliest, or typed."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import gettext
from attnviz.text import CONTINUES, SPACE, UNK, Tokenizer, piece_name
from attnviz.trace import Trace
from attnviz.ui.language import key_in_language
from attnviz.ui.page_state.parts import INSIDE_WORD, TRANSPORT, run_again
from attnviz.ui.page_state.selection import LONGEST_TYPED, Selection, choose, selection_of
from attnviz.ui.page_state.view import View
from attnviz.wording.labels import shorten

LIKELIEST = 10

OWN = "the word of the step"
NEXT_BEST = "the likeliest other"
"""The first choice of either box; shown in the visitor's language."""


def chosen_pair(trace: Trace, selection: Selection, pieces: int) -> tuple[int, int | None]:
    """Return the pieces compared at the step on show, of a vocabulary of `pieces`: the chosen ones, or else those of
    `pair`."""
    word, rival = (None if i is None or i >= pieces else i for i in (selection.word, selection.rival))
    return pair(trace, selection.step, word, rival)


def pair(trace: Trace, step: int, word: int | None, rival: int | None) -> tuple[int, int | None]:
    """Return the pieces to compare at `step`: the given ones, or for None the step's own and the likeliest other; the
    second is None where there is no other, for none is compared with itself."""
    word = int(trace.target_ids[step]) if word is None else word
    if rival is None:
        rival = next((int(index) for index in trace.top_ids[step] if index != word), None)
    return word, None if rival == word else rival


def typed_words(selection: Selection, tokenizer: Tokenizer) -> tuple[str | None, str | None]:
    """Return what was typed for the word and for its rival, where the model writes it in several pieces."""
    chosen = ((selection.typed_word, selection.word), (selection.typed_rival, selection.rival))
    word, rival = (
        typed if _is_typed(typed, index, tokenizer) and all(piece_of(typed, tokenizer)) else None
        for typed, index in chosen
    )
    return word, rival


def word_choices(view: View, tokenizer: Tokenizer) -> None:
    """Draw both choices as one question: why this word, and not which other?"""
    selection = selection_of(st.session_state, view)
    note = gettext("Choose one of the ten likeliest pieces, or type any word.")
    with st.container(horizontal=True, vertical_alignment="bottom", key=view.key("ledger_choices")):
        _box(view, tokenizer, "word", OWN, gettext("Why"), gettext("the word of the step"), note)
        _box(view, tokenizer, "rival", NEXT_BEST, gettext("and not"), gettext("the likeliest other"))
    _tell(tokenizer, (selection.typed_word, selection.word), (selection.typed_rival, selection.rival))


def word_choice(view: View, tokenizer: Tokenizer, label: str) -> None:
    """Draw the choice of the word alone, under a `label`."""
    note = gettext("Choose one of the ten likeliest pieces, or type any word.")
    _box(view, tokenizer, "word", OWN, label, gettext("the word of the step"), note)
    selection = selection_of(st.session_state, view)
    _tell(tokenizer, (selection.typed_word, selection.word))


def _tell(tokenizer: Tokenizer, *chosen: tuple[str, int | None]) -> None:
    """Say what there is to say of what was typed for pieces."""
    for typed, index in chosen:
        if typed and _is_typed(typed, index, tokenizer) and (told := piece_of(typed, tokenizer)[1]):
            st.text(told)


def _box(
    view: View, tokenizer: Tokenizer, what: str, first: str, label: str, first_shown: str, note: str | None = None
) -> None:
    """Draw the box of the `word` or of the `rival`, with what is chosen in it; its first choice is shown as
    `first_shown`."""
    selection, session = selection_of(st.session_state, view), st.session_state
    key = key_in_language(view.key(f"ledger_{what}"))
    index, typed = getattr(selection, what), getattr(selection, f"typed_{what}")
    if index is not None and index >= len(tokenizer):
        index = None
    names = [piece_name(piece) for piece in view.trace.top_pieces[selection.step][:LIKELIEST]]
    shown = first if index is None else piece_name(tokenizer.piece(index))
    if index is not None and _is_typed(typed, index, tokenizer):
        shown = typed
    session[key] = shown

    def take() -> None:
        text = str(session[key]).strip()[:LONGEST_TYPED]
        chosen = None if text == first else piece_of(text, tokenizer)[0]
        choose(session, view, {what: chosen, f"typed_{what}": "" if text == first else text})
        run_again(view, [INSIDE_WORD, TRANSPORT])

    offered = list(dict.fromkeys([first, *names, shown]))
    st.selectbox(
        label,
        offered,
        key=key,
        width=220,
        accept_new_options=True,
        on_change=take,
        help=note,
        format_func=lambda name: first_shown if name == first else name,
    )


def _is_typed(typed: str, index: int | None, tokenizer: Tokenizer) -> bool:
    """Return whether `typed`, which may come from a link, is what the piece `index` was chosen by."""
    return bool(typed) and piece_of(typed, tokenizer)[0] == index


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
        return None, gettext("“{text}” is no piece of this model’s vocabulary.", text=shorten(typed, 40))
    if ids[0] == UNK:
        return None, gettext("The model has never seen “{text}”, and so has no logit for it.", text=shorten(typed, 40))
    names = [piece_name(tokenizer.piece(index)) for index in ids]
    if len(ids) == 1:
        return ids[0], ""
    return ids[0], gettext(
        "The model writes “{text}” in {count} pieces, {pieces}; shown is the first, {first}.",
        text=shorten(typed, 40),
        count=len(ids),
        pieces=shorten(" ".join(names), 60),
        first=names[0],
    )


@st.cache_data(max_entries=2, show_spinner=False, hash_funcs={Tokenizer: lambda tokenizer: tokenizer.model})
def _names(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the ids of all pieces by the names that the pictures give them."""
    return {piece_name(tokenizer.piece(index)): index for index in range(len(tokenizer))}
