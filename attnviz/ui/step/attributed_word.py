"""Choose the word whose logit is attributed, and its foil: from the likeliest pieces, or typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attnviz.languages import gettext
from attnviz.text import CONTINUES, SPACE, UNK, Tokenizer, piece_name
from attnviz.trace import Trace
from attnviz.ui.components.attributed_word.attributed_word import logit_attribution_choice
from attnviz.ui.page_state.selection import Selection
from attnviz.ui.page_state.view import View
from attnviz.ui.session_payloads import payload
from attnviz.wording.labels import shorten

LIKELIEST = 10


def chosen_pair(trace: Trace, selection: Selection, pieces: int) -> tuple[int, int | None]:
    """Return the chosen pieces at the current step, in a vocabulary of `pieces`, with the defaults of `pair`."""
    word, foil = (None if i is None or i >= pieces else i for i in (selection.word, selection.foil))
    return pair(trace, selection.step, word, foil)


def pair(trace: Trace, step: int, word: int | None, foil: int | None) -> tuple[int, int | None]:
    """Return the pieces to compare at `step`; None stands for the step's own and for the likeliest other one.

    The second is None where there is no other piece, since a piece is not compared with itself.
    """
    word = int(trace.target_ids[step]) if word is None else word
    if foil is None:
        foil = next((int(index) for index in trace.top_ids[step] if index != word), None)
    return word, None if foil == word else foil


def typed_words(selection: Selection, tokenizer: Tokenizer) -> tuple[str | None, str | None]:
    """Return the texts typed for the word and its foil, each only where the model encodes it as several pieces."""
    chosen = ((selection.typed_word, selection.word), (selection.typed_foil, selection.foil))
    word, foil = (
        typed if _is_typed(typed, index, tokenizer) and all(piece_of(typed, tokenizer)) else None
        for typed, index in chosen
    )
    return word, foil


def word_choices(view: View, tokenizer: Tokenizer) -> None:
    """Draw both choices as one question: why this word, and not that one."""
    _boxes(view, tokenizer, gettext("Why"), gettext("and not"), both=True)


def word_choice(view: View, tokenizer: Tokenizer, label: str) -> None:
    """Draw the choice of the word alone, with a `label`."""
    _boxes(view, tokenizer, label, "", both=False)


def _boxes(view: View, tokenizer: Tokenizer, why: str, other: str, *, both: bool) -> None:
    words = {
        "why": why,
        "not": other,
        "own": gettext("the word of the step"),
        "other": gettext("the likeliest other"),
        "note": gettext("Choose one of the ten likeliest pieces, or type any word."),
    }
    at = payload(view, "word_boxes", str(both), lambda chosen: words_payload(view.trace, tokenizer, chosen, words))
    named = payload(view, "named_piece", "", lambda typed: named_piece(typed.typed_word, tokenizer))
    logit_attribution_choice(view, at, named, words, both=both)


def words_payload(trace: Trace, tokenizer: Tokenizer, chosen: Selection, words: Mapping[str, str]) -> dict[str, Any]:
    """Return the payload of the boxes: current values, options, and messages about typed text.

    `chosen` is the current selection; `words` has the labels of the default options.
    """
    choices = {"word": (chosen.word, chosen.typed_word), "foil": (chosen.foil, chosen.typed_foil)}
    shown: dict[str, str] = {}
    messages: list[str] = []
    for part, default in (("word", words["own"]), ("foil", words["other"])):
        index, typed = choices[part]
        index = None if index is None or index >= len(tokenizer) else index
        shown[part] = default if index is None else piece_name(tokenizer.piece(index))
        if index is not None and _is_typed(typed, index, tokenizer):
            shown[part] = typed
            messages += filter(None, [piece_of(typed, tokenizer)[1]])
    likeliest = [
        {"name": piece_name(piece), "piece": int(index)}
        for piece, index in zip(
            trace.top_pieces[chosen.step][:LIKELIEST], trace.top_ids[chosen.step][:LIKELIEST], strict=True
        )
    ]
    return {"likeliest": likeliest, **shown, "feedback": messages}


def named_piece(text: str, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the piece of a typed text, None where there is none, and a message about it."""
    piece, message = piece_of(text, tokenizer)
    return {"piece": piece, "feedback": message}


def _is_typed(typed: str, index: int | None, tokenizer: Tokenizer) -> bool:
    """Return whether the piece `index` was chosen by the text `typed`, which may come from a link."""
    return bool(typed) and piece_of(typed, tokenizer)[0] == index


def piece_of(text: str, tokenizer: Tokenizer) -> tuple[int | None, str]:
    """Return the id of the piece that a visitor typed, or None, and a message about it, which may be empty.

    A piece may be named as in the figures, `·cycle` for one that continues a word; other text is tokenized, and its
    first piece is taken.
    """
    typed = text.strip()
    index = _piece_ids(tokenizer).get(typed)
    if index is not None:
        return index, ""
    ids = [] if typed.startswith(CONTINUES) else tokenizer.encode(typed)
    if ids and tokenizer.piece(ids[0]) == SPACE and len(ids) > 1:
        ids = ids[1:]
    if not ids:
        return None, gettext("“{text}” is not a piece of this model’s vocabulary.", text=shorten(typed, 40))
    if ids[0] == UNK:
        return None, gettext("The model has never seen “{text}”, and so has no logit for it.", text=shorten(typed, 40))
    names = [piece_name(tokenizer.piece(index)) for index in ids]
    if len(ids) == 1:
        return ids[0], ""
    return ids[0], gettext(
        "The model writes “{text}” in {count} pieces: {pieces}. Only the first piece is shown: {first}.",
        text=shorten(typed, 40),
        count=len(ids),
        pieces=shorten(" ".join(names), 60),
        first=names[0],
    )


@st.cache_data(max_entries=2, show_spinner=False, hash_funcs={Tokenizer: lambda tokenizer: tokenizer.model})
def _piece_ids(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the ids of all pieces by their names in the figures."""
    return {piece_name(tokenizer.piece(index)): index for index in range(len(tokenizer))}
