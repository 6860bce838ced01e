"""Draw the logit attribution of a word, or its contrast with a foil, source word by source word; choose both words.

By default each step shows the attribution of its own word, and the browser fetches all of these at once. A visitor
chooses one of the likeliest pieces, or types a text, whose first piece is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import quote, shorten
from attnviz.analysis.logit_attribution import logit_attribution_heading, logit_attribution_sentence, logit_attributions
from attnviz.analysis.measures import weight_order
from attnviz.analysis.recomputation import Weights
from attnviz.figures.registry import CONTRAST, LOGIT_ATTRIBUTION
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.lru_cache import LRUCache, cached_in
from attnviz.text import CONTINUES, SPACE, UNK, Tokenizer, piece_name
from attnviz.trace import Trace
from attnviz.ui.components.chart import chart, chart_payload
from attnviz.ui.components.component import columns, component, html, plain_text
from attnviz.ui.components.tables import table_box, tables_payload
from attnviz.ui.embedding import embedding
from attnviz.ui.page_state.selection import Selection, selection_of, source_of
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, makes_payload, payload_address, shown_address
from attnviz.ui.resources import cached_for_all, posterior_attention_of, tokenizer_of, weights_digest_of, weights_of
from attnviz.ui.view import View


def logit_attribution_panel(view: View, weights: Weights | None) -> None:
    """Draw the choices, the logit attribution of the chosen word at the current step, and the contrast."""
    trace = view.trace
    reason = LOGIT_ATTRIBUTION.missing(Subject(trace, 0, weights))
    if reason or weights is None:
        plain_text(reason)
        return
    if embedding() is None:
        draw_word_choices(view)
    left, right = columns([1, 1], gap="large")
    for column, name in ((left, LOGIT_ATTRIBUTION.name), (right, CONTRAST.name)):
        with column:
            chosen_address = shown_address(f"{name}-chosen", {"view": view}, "{selection}")
            chart(view, payload_address(view, name), name, chosen_address)
    html(f'<p class="explanation">{_legend(trace)}</p>')
    table_box(view, gettext("All entries as a table"), "logit_attribution_table", "logit-attribution-tables")


@makes_payload(*(f"{figure.name}-chosen" for figure in (LOGIT_ATTRIBUTION, CONTRAST)), needs_server=True)
def chosen_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the logit attribution, or of the contrast, of the chosen words."""
    trace, (weights, tokenizer) = request.trace, _model(request)
    comparison = _current_comparison(request, tokenizer)
    by_step = _figures_by_step(trace, weights_digest_of(trace), (comparison,), weights, tokenizer)
    return _payload(by_step, request.name.removesuffix("-chosen"))


def _model(request: PayloadRequest) -> tuple[Weights, Tokenizer]:
    """Return weights and tokenizer; raise UnknownPayloadError where the logits of other words cannot be attributed."""
    if (tokenizer := tokenizer_of(request.trace)) is None:
        raise UnknownPayloadError(LOGIT_ATTRIBUTION.name)
    return _weights(request), tokenizer


def _weights(request: PayloadRequest) -> Weights:
    """Return the weights; raise UnknownPayloadError where the logits cannot be attributed."""
    weights = request.weights
    if LOGIT_ATTRIBUTION.missing(Subject(request.trace, 0, weights)) or weights is None:
        raise UnknownPayloadError(LOGIT_ATTRIBUTION.name)
    return weights


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


@dataclass(frozen=True)
class _Comparison:
    """The logit to attribute at a step: that of piece `word`, minus that of `foil` if there is one."""

    step: int
    word: int
    foil: int | None
    source: int
    """Current source piece, which always has its own row."""
    typed_word: str | None = None
    """Text typed for `word`, if the model encodes it as several pieces."""
    typed_foil: str | None = None


def _default_comparison(trace: Trace, step: int) -> _Comparison:
    """Return the default comparison at `step`."""
    return _Comparison(step, *word_and_foil(trace, step, None, None), weight_order(trace, step)[0])


def _current_comparison(request: PayloadRequest, tokenizer: Tokenizer) -> _Comparison:
    """Return the current comparison."""
    trace, selection = request.trace, request.selection
    word, foil = chosen_word_and_foil(trace, selection, len(tokenizer))
    return _Comparison(selection.step, word, foil, source_of(selection, trace), *typed_words(selection, tokenizer))


@makes_payload(LOGIT_ATTRIBUTION.name, CONTRAST.name, of_step=True)
def logit_attribution_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the logit attributions of the words that the steps wrote, or of their contrasts.

    Raise UnknownPayloadError where the model is not installed, or its logits cannot be attributed.
    """
    trace, weights = request.trace, _weights(request)
    comparisons = tuple(_default_comparison(trace, step) for step in request.steps)
    digest, tokenizer = weights_digest_of(trace), tokenizer_of(trace)
    return _payload(_figures_by_step(trace, digest, comparisons, weights, tokenizer), request.name)


_Captioned = tuple[Spec, tuple[str, str]]
"""A figure with its heading and its sentence."""


def _payload(by_step: Mapping[int, Mapping[str, _Captioned]], name: str) -> dict[str, Any]:
    """Return the payload of the figures called `name`."""
    figures = {step: figures[name] for step, figures in by_step.items() if name in figures}
    return chart_payload(
        {step: spec for step, (spec, _) in figures.items()}, {step: caption for step, (_, caption) in figures.items()}
    )


@cached_for_all
def _figures_by_step(
    trace: Trace,
    digest: str | None,  # noqa: ARG001  of the weights, for the key
    comparisons: tuple[_Comparison, ...],
    _weights: Weights,
    _tokenizer: Tokenizer | None,
) -> dict[int, dict[str, _Captioned]]:
    """Return, by step, the "logit-attribution" of each comparison and, if it has a foil, the "contrast"."""
    step_pieces = [
        (comparison.step, piece) for comparison in comparisons for piece in {None, comparison.word, comparison.foil}
    ]
    attributions = dict(zip(step_pieces, logit_attributions(trace, _weights, step_pieces), strict=True))
    by_step: dict[int, dict[str, _Captioned]] = {}
    for comparison in comparisons:
        subject = replace(_subject(trace, _weights, _tokenizer, comparison), known_logit_attributions=attributions)
        name = subject.name(comparison.word)
        heading = logit_attribution_heading(piece_heading(name, comparison.typed_word), None)
        sentence = logit_attribution_sentence(trace, subject.logit_attribution, name, None)
        by_step[comparison.step] = {LOGIT_ATTRIBUTION.name: (LOGIT_ATTRIBUTION.draw(subject), (heading, sentence))}
        if comparison.foil is not None:
            foil_name = subject.name(comparison.foil)
            heading = logit_attribution_heading(
                piece_heading(name, comparison.typed_word), piece_heading(foil_name, comparison.typed_foil)
            )
            sentence = logit_attribution_sentence(trace, subject.contrast, name, foil_name)
            by_step[comparison.step][CONTRAST.name] = CONTRAST.draw(subject), (heading, sentence)
    return by_step


def _subject(trace: Trace, weights: Weights, tokenizer: Tokenizer | None, comparison: _Comparison) -> Subject:
    foil = comparison.word if comparison.foil is None else comparison.foil
    return Subject(
        trace,
        comparison.step,
        weights,
        comparison.source,
        comparison.word,
        foil,
        spelling=None if tokenizer is None else tokenizer.piece,
    )


def piece_heading(piece: str, typed: str | None) -> str:
    """Return the name of a `piece` in a heading: its own, or the `typed` word whose first piece it is."""
    if typed is None:
        return quote(piece)
    return gettext("“{text}” (scored by its first piece, “{piece}”)", text=shorten(typed, 40), piece=piece)


@makes_payload("logit-attribution-tables")
def attribution_tables_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of all entries of attribution and contrast as tables."""
    return tables_payload(_attribution_tables(request))


def _attribution_tables(request: PayloadRequest) -> Iterator[tuple[str, pd.DataFrame]]:
    weights, tokenizer = _model(request)
    comparison = _current_comparison(request, tokenizer)
    subject = _subject(request.trace, weights, tokenizer, comparison)
    for figure, name in ((LOGIT_ATTRIBUTION, gettext("logit minus mean logit")), (CONTRAST, gettext("difference"))):
        if figure.missing(subject):
            continue
        entries = subject.contrast if figure is CONTRAST else subject.logit_attribution
        title = gettext(
            "Step {step}: the entries of the {name} add up to {sum:.6f}",
            step=comparison.step + 1,
            name=name,
            sum=entries.logit,
        )
        yield title, figure.draw(subject).frame()


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
