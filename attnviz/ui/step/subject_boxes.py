"""Boxes that choose the attributed word and its foil, pieces of typed text, and the `Subject` of a step's figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.analysis.labels import shorten
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.lru_cache import LRUCache, cached_in
from attnviz.text import CONTINUES, SPACE, UNK, Tokenizer, piece_name
from attnviz.trace import Trace
from attnviz.ui.components.component import component
from attnviz.ui.page_state.selection import Selection, selection_of, source_of
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, makes_payload, shown_address
from attnviz.ui.resources import posterior_attention_of, tokenizer_of, weights_of
from attnviz.ui.view import View

LIKELIEST_COUNT = 10


def logit_attribution_choice(view: View, at: str, piece_at: str, words: Mapping[str, str], *, both: bool) -> None:
    """Draw the boxes, with suggestions from the payload at the address `at`; the foil only with `both`.

    The address `piece_at` returns the first piece of a typed text.
    """
    payload = {"at": at, "named": piece_at, "words": dict(words), "both": both}
    component("attributed_word", key=view.key("logit_attribution_choice"), data=payload)


def chosen_word_and_foil(trace: Trace, selection: Selection, pieces: int) -> tuple[int, int | None]:
    """Return the chosen word and foil in a vocabulary of so many `pieces`, with the defaults of `word_and_foil`."""
    word, foil = (None if i is None or i >= pieces else i for i in (selection.word, selection.foil))
    return word_and_foil(trace, selection.step, word, foil)


def word_and_foil(trace: Trace, step: int, word: int | None, foil: int | None) -> tuple[int, int | None]:
    """Return word and foil at `step`: by default the piece that the step wrote, and the likeliest other piece.

    The foil is None if it would be the word itself.
    """
    word = int(trace.target_ids[step]) if word is None else word
    if foil is None:
        foil = next((int(index) for index in trace.top_ids[step] if index != word), None)
    return word, None if foil == word else foil


def typed_words(selection: Selection, tokenizer: Tokenizer) -> tuple[str | None, str | None]:
    """Return the texts typed for the word and its foil, each only where the model encodes it as several pieces."""
    chosen = ((selection.typed_word, selection.word), (selection.typed_foil, selection.foil))
    word, foil = (
        typed if _is_typed(typed, index, tokenizer) and all(parse_piece(typed, tokenizer)) else None
        for typed, index in chosen
    )
    return word, foil


def draw_word_choices(view: View) -> None:
    """Draw the choices of word and foil as one question: why this word, and not that one."""
    _boxes(view, gettext("Why"), gettext("and not"), both=True)


def draw_word_choice(view: View, label: str) -> None:
    """Draw the choice of the word alone, with a `label`."""
    _boxes(view, label, "", both=False)


def _boxes(view: View, word_label: str, foil_label: str, *, both: bool) -> None:
    note = gettext("Choose one of the ten likeliest pieces, or type any word.")
    labels = {"why": word_label, "not": foil_label, "note": note, **_defaults()}
    at, piece_at = (shown_address(name, {"view": view}, "{selection}") for name in ("word-boxes", "named-piece"))
    logit_attribution_choice(view, at, piece_at, labels, both=both)


def _defaults() -> dict[str, str]:
    """Return the texts of the default word and the default foil."""
    return {"own": gettext("the word of this step"), "other": gettext("the likeliest other")}


@makes_payload("word-boxes", needs_server=True)
def words_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the boxes: current values, options, and messages about typed text."""
    trace, tokenizer, selection, labels = request.trace, _tokenizer(request), request.selection, _defaults()
    choices = {"word": (selection.word, selection.typed_word), "foil": (selection.foil, selection.typed_foil)}
    shown: dict[str, str] = {}
    messages: list[str] = []
    for part, default in (("word", labels["own"]), ("foil", labels["other"])):
        index, typed = choices[part]
        index = None if index is None or index >= len(tokenizer) else index
        shown[part] = default if index is None else piece_name(tokenizer.piece(index))
        if index is not None and _is_typed(typed, index, tokenizer):
            shown[part] = typed
            messages += filter(None, [parse_piece(typed, tokenizer)[1]])
    likeliest = [
        {"name": piece_name(piece), "piece": int(index)}
        for piece, index in zip(
            trace.top_pieces[selection.step][:LIKELIEST_COUNT],
            trace.top_ids[selection.step][:LIKELIEST_COUNT],
            strict=True,
        )
    ]
    return {"likeliest": likeliest, **shown, "feedback": messages}


@makes_payload("named-piece", needs_server=True)
def named_piece_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the piece of a typed text, None where there is none, and a message about it."""
    piece, message = parse_piece(request.selection.typed_word, _tokenizer(request))
    return {"piece": piece, "feedback": message}


def _tokenizer(request: PayloadRequest) -> Tokenizer:
    if (tokenizer := tokenizer_of(request.trace)) is None:
        raise UnknownPayloadError("word-boxes")
    return tokenizer


def _is_typed(typed: str, index: int | None, tokenizer: Tokenizer) -> bool:
    """Return whether the piece `index` was chosen by the text `typed`, which may come from a link."""
    return bool(typed) and parse_piece(typed, tokenizer)[0] == index


def parse_piece(text: str, tokenizer: Tokenizer) -> tuple[int | None, str]:
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
        return None, gettext(
            "The model has never seen “{text}”, and so has no logit for this text.", text=shorten(typed, 40)
        )
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


def _piece_ids(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the ids of all pieces by their names in the figures."""
    return _ids_by_name(tokenizer, tokenizer.model)


@cached_in(LRUCache(2, size=lambda _: 1))
def _ids_by_name(_tokenizer: Tokenizer, model: bytes) -> dict[str, int]:  # noqa: ARG001  part of the key
    return {piece_name(_tokenizer.piece(index)): index for index in range(len(_tokenizer))}


def subject_of(view: View) -> Subject:
    """Return the current step with its source piece, word and foil, and the weights if the model is installed."""
    trace, selection = view.trace, selection_of(view)
    source = source_of(selection, trace)
    weights, tokenizer, posterior = weights_of(trace), tokenizer_of(trace), posterior_attention_of(trace)
    if tokenizer is None:
        return Subject(trace, selection.step, weights, source, known_posterior=posterior, parent=view.parent)
    word, foil = chosen_word_and_foil(trace, selection, len(tokenizer))
    foil = word if foil is None else foil  # a piece is not compared with itself
    return Subject(
        trace,
        selection.step,
        weights,
        source,
        word,
        foil,
        spelling=tokenizer.piece,
        parent=view.parent,
        known_posterior=posterior,
    )
