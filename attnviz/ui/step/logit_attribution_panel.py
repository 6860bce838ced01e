"""Draw the logit attribution of a word, or its contrast with a foil, source word by source word; choose both words.

By default each step shows the attribution of its own word, and the browser fetches all of these at once. A visitor
chooses one of the likeliest pieces, or types a text, whose first piece is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from attnviz.analysis.labels import quote, shorten
from attnviz.analysis.logit_attribution import (
    Cell,
    LogitAttribution,
    logit_attribution_heading,
    logit_attribution_sentence,
    logit_attributions,
)
from attnviz.analysis.measures import weight_order
from attnviz.analysis.recomputation import Weights
from attnviz.figures.registry import CONTRAST, LOGIT_ATTRIBUTION, StepFigure
from attnviz.figures.subject import Subject
from attnviz.figures.waterfall_figure import contrast_names
from attnviz.languages import gettext, gettexts
from attnviz.lru_cache import LRUCache, cached_in
from attnviz.text import CONTINUES, SPACE, UNK, Tokenizer, piece_name
from attnviz.trace import Trace
from attnviz.ui.blocks import (
    chart,
    columns,
    component,
    figure_payload,
    html,
    plain_text,
    table_box,
    tables_payload,
)
from attnviz.ui.embedding import embedding
from attnviz.ui.payloads import (
    Payload,
    PayloadRequest,
    UnknownPayloadError,
    makes_payload,
    payload_address,
    shown_address,
)
from attnviz.ui.resources import cached_for_all, posterior_attention_of, tokenizer_of, weights_digest_of
from attnviz.ui.selection import source_of
from attnviz.ui.view import View

_FIGURES = (LOGIT_ATTRIBUTION, CONTRAST)


def logit_attribution_panel(view: View, weights: Weights | None) -> None:
    """Draw the choices, the logit attribution of the chosen word at the current step, and the contrast."""
    trace = view.trace
    reason = LOGIT_ATTRIBUTION.missing(Subject(trace, 0, weights))
    if reason or weights is None:
        plain_text(reason)
        return
    if embedding() is None:  # one question: why this word, and not that one
        draw_word_choice(view, gettext("Why"), gettext("and not"))
    for column, figure in zip(columns([1, 1], gap="large"), _FIGURES, strict=True):
        with column:
            chosen_address = shown_address(f"{figure.name}-chosen", {"view": view}, "{selection}")
            chart(view, payload_address(view, figure.name), figure.name, chosen=chosen_address)
    html(f'<p class="explanation">{_legend(trace)}</p>')
    table_box(view, gettext("All entries as a table"), "logit_attribution_table", "logit-attribution-tables")


def _legend(trace: Trace) -> str:
    if not trace.attends:
        return gettext(
            "Each row adds its part of the logit to the running sum: a blue row raises the sum, a red row lowers it."
        )
    if not trace.has_maxout:
        return gettext(
            "Each row adds its part of the logit to the running sum: a blue row raises the sum, a red row lowers "
            'it. The grey bar on the left of a row is the attention weight of the <span class="encoder">source '
            "word</span>. A long grey bar beside a tiny coloured bar means that the attention to this word "
            "hardly affected the logit. The sum is exact: the output layer of this model is linear."
        )
    return gettext(
        "Each row adds its part of the logit to the running sum: a blue row raises the sum, a red row lowers it. "
        'The grey bar on the left of a row is the attention weight of the <span class="encoder">source '
        "word</span>. A long grey bar beside a tiny coloured bar means that the attention to this word hardly "
        "affected the logit. The sum is exact: maxout is linear once the larger of each pair of units is known."
    )


@makes_payload(*(figure.name for figure in _FIGURES), of_step=True)
def logit_attribution_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the logit attributions of the words that the steps wrote, or of their contrasts.

    Raise UnknownPayloadError where the model is not installed, or its logits cannot be attributed.
    """
    trace, tokenizer = request.trace, tokenizer_of(request.trace)
    subject = Subject(trace, 0, _weights(request), spelling=None if tokenizer is None else tokenizer.piece)
    steps = [replace(subject, step=step, source=weight_order(trace, step)[0]) for step in request.steps]
    return _payload(request, steps)


@makes_payload(*(f"{figure.name}-chosen" for figure in _FIGURES), needs_server=True)
def chosen_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the logit attribution, or of the contrast, of the chosen words."""
    typed = [choice.typed if choice.message else "" for choice in _choices(request)]
    return _payload(request, [_chosen_subject(request)], typed)


def _weights(request: PayloadRequest) -> Weights:
    """Return the weights; raise UnknownPayloadError where the logits cannot be attributed."""
    weights = request.weights
    if LOGIT_ATTRIBUTION.missing(Subject(request.trace, 0, weights)) or weights is None:
        raise UnknownPayloadError(LOGIT_ATTRIBUTION.name)
    return weights


def _payload(request: PayloadRequest, subjects: Sequence[Subject], typed: Sequence[str] = ("", "")) -> Payload:
    """Return the payload of the requested figure of steps.

    `typed` are the texts for word and foil, each empty unless the model encodes it as several pieces.
    """
    trace, figure = request.trace, next(one for one in _FIGURES if one.name == request.name.removesuffix("-chosen"))
    pieces = tuple((one.step, piece) for one in subjects for piece in {None, one.word_id, one.foil_id})
    known = _attributions(trace, weights_digest_of(trace), pieces, _weights(request))
    subjects = [replace(one, known_logit_attributions=known) for one in subjects]

    def caption(subject: Subject) -> tuple[str, str]:
        word, foil = contrast_names(subject) if figure is CONTRAST else (subject.name(subject.word_id), None)
        headings = piece_heading(word, typed[0]), foil and piece_heading(foil, typed[1])
        sentence = logit_attribution_sentence(trace, _entries(figure, subject), word, foil)
        return logit_attribution_heading(*headings), sentence

    return figure_payload(figure, [one for one in subjects if not figure.missing(one)], caption)


@cached_for_all
def _attributions(
    trace: Trace,
    digest: str | None,  # noqa: ARG001  of the weights, for the key
    pieces: tuple[Cell, ...],
    _weights: Weights,
) -> dict[Cell, LogitAttribution]:
    return dict(zip(pieces, logit_attributions(trace, _weights, pieces), strict=True))


def _entries(figure: StepFigure, subject: Subject) -> LogitAttribution:
    return subject.contrast if figure is CONTRAST else subject.logit_attribution


def piece_heading(piece: str, typed: str) -> str:
    """Return the name of a `piece` in a heading: its own, or the `typed` word whose first piece it is."""
    if not typed:
        return quote(piece)
    return gettext("“{text}” (scored by its first piece, “{piece}”)", text=shorten(typed, 40), piece=piece)


@makes_payload("logit-attribution-tables")
def attribution_tables_payload(request: PayloadRequest) -> Payload:
    """Return the payload of all entries of attribution and contrast as tables."""
    _weights(request), _tokenizer(request)
    subject, tables = _chosen_subject(request), []
    names = gettext("logit minus mean logit"), gettext("difference")
    for figure, name in zip(_FIGURES, names, strict=True):
        if not figure.missing(subject):
            title = gettext(
                "Step {step}: the entries of the {name} add up to {sum:.6f}",
                step=subject.step + 1,
                name=name,
                sum=_entries(figure, subject).logit,
            )
            tables.append((title, figure.draw(subject).frame()))
    return tables_payload(tables)


LIKELIEST_COUNT = 10


def draw_word_choice(view: View, label: str, foil_label: str = "") -> None:
    """Draw the choice of a word with a `label`, and with a `foil_label` that of its foil."""
    note = gettext("Choose one of the ten likeliest pieces, or type any word.")
    words = {"why": label, "not": foil_label, "note": note, **_defaults()}
    at, named = (shown_address(name, {"view": view}, "{selection}") for name in ("word-boxes", "named-piece"))
    data = {"at": at, "named": named, "words": words, "both": bool(foil_label)}
    component("attributed_word", view.key("logit_attribution_choice"), data)


def _defaults() -> dict[str, str]:
    """Return the texts of the default word and the default foil."""
    return gettexts({"own": "the word of this step", "other": "the likeliest other"})


class _Choice(NamedTuple):
    """A visitor's choice of the word or of the foil."""

    piece: int | None = None
    """Id of the piece; None for the default."""
    typed: str = ""
    """Text that was typed for it, whose first piece it is."""
    message: str = ""
    """Says that the model encodes this text as several pieces."""


def _chosen(piece: int | None, typed: str, tokenizer: Tokenizer) -> _Choice:
    """Return the choice of a link, which may have any piece and any text."""
    if piece is None or piece >= len(tokenizer):
        return _Choice()
    first, message = parse_piece(typed, tokenizer) if typed else (None, "")
    return _Choice(piece, typed, message) if first == piece else _Choice(piece)


def _choices(request: PayloadRequest) -> tuple[_Choice, _Choice]:
    """Return the choices of the word and of the foil."""
    selection, tokenizer = request.selection, _tokenizer(request)
    word, foil = (selection.word, selection.typed_word), (selection.foil, selection.typed_foil)
    return _chosen(*word, tokenizer), _chosen(*foil, tokenizer)


@makes_payload("word-boxes", needs_server=True)
def words_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the boxes: current values, options, and messages about typed text."""
    trace, step, tokenizer, choices = request.trace, request.selection.step, _tokenizer(request), _choices(request)
    shown = {
        part: choice.typed or (default if choice.piece is None else piece_name(tokenizer.piece(choice.piece)))
        for part, choice, default in zip(("word", "foil"), choices, _defaults().values(), strict=True)
    }
    likeliest = zip(trace.top_pieces[step][:LIKELIEST_COUNT], trace.top_ids[step], strict=False)
    return {
        "likeliest": [{"name": piece_name(piece), "piece": int(index)} for piece, index in likeliest],
        **shown,
        "feedback": [choice.message for choice in choices if choice.message],
    }


@makes_payload("named-piece", needs_server=True)
def named_piece_payload(request: PayloadRequest) -> Payload:
    """Return the piece of a typed text, None where there is none, and a message about it."""
    piece, message = parse_piece(request.selection.typed_word, _tokenizer(request))
    return {"piece": piece, "feedback": message}


def _tokenizer(request: PayloadRequest) -> Tokenizer:
    if (tokenizer := tokenizer_of(request.trace)) is None:
        raise UnknownPayloadError("word-boxes")
    return tokenizer


def parse_piece(text: str, tokenizer: Tokenizer) -> tuple[int | None, str]:
    """Return the id of the piece that a visitor typed, or None, and a message about it, which may be empty.

    A piece may be named as in the figures, `·cycle` for one that continues a word; other text is tokenized, and its
    first piece is taken.
    """
    typed = text.strip()
    index = _ids_by_name(tokenizer, tokenizer.model).get(typed)
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
    if len(ids) == 1:
        return ids[0], ""
    names = [piece_name(tokenizer.piece(index)) for index in ids]
    return ids[0], gettext(
        "The model writes “{text}” in {count} pieces: {pieces}. Only the first piece is shown: {first}.",
        text=shorten(typed, 40),
        count=len(ids),
        pieces=shorten(" ".join(names), 60),
        first=names[0],
    )


@cached_in(LRUCache(2, size=lambda _: 1))
def _ids_by_name(_tokenizer: Tokenizer, model: bytes) -> dict[str, int]:  # noqa: ARG001  part of the key
    """Return the ids of all pieces by their names in the figures."""
    return {piece_name(_tokenizer.piece(index)): index for index in range(len(_tokenizer))}


def _chosen_subject(request: PayloadRequest) -> Subject:
    """Return the current step with its source piece, word and foil, and the weights if the model is installed."""
    trace, selection, tokenizer = request.trace, request.selection, tokenizer_of(request.trace)
    source, parent = source_of(selection, trace), request.view.parent
    subject = Subject(trace, selection.step, request.weights, source, parent=parent)
    if tokenizer is None:
        return subject
    word, foil = (_chosen(piece, "", tokenizer).piece for piece in (selection.word, selection.foil))
    return replace(subject, word=word, foil=foil, spelling=tokenizer.piece)


def subject_of(request: PayloadRequest) -> Subject:
    """Return the same subject with its posterior attention, which is cached."""
    return replace(_chosen_subject(request), known_posterior=posterior_attention_of(request.trace))
