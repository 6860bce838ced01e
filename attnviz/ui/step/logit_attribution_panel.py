"""Draw the logit attribution of a word, or its contrast with a foil, source word by source word.

By default each step shows the attribution of its own word, and the browser fetches all of these at once.
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
from attnviz.palette import ThemeName
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.ui.components.chart import chart, chart_payload
from attnviz.ui.components.component import columns, html, plain_text
from attnviz.ui.components.tables import tables_payload
from attnviz.ui.embedding import embedding
from attnviz.ui.page_state.selection import source_of
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, makes_payload, payload_address, shown_address
from attnviz.ui.resources import cached_for_all, tokenizer_of, weights_digest_of
from attnviz.ui.step.subject_boxes import chosen_word_and_foil, draw_word_choices, typed_words, word_and_foil
from attnviz.ui.step.tables_box import table_box
from attnviz.ui.view import View


def logit_attribution_panel(view: View, weights: Weights | None, theme: ThemeName) -> None:
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
            chosen_address = shown_address(f"{name}-chosen", {"view": view}, "{selection}", theme=theme)
            chart(view, payload_address(view, name, theme), name, chosen_address)
    html(f'<p class="explanation">{_legend(trace)}</p>')
    table_box(view, gettext("All entries as a table"), "logit_attribution_table", "logit-attribution-tables")


@makes_payload(*(f"{figure.name}-chosen" for figure in (LOGIT_ATTRIBUTION, CONTRAST)), needs_server=True)
def chosen_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the logit attribution, or of the contrast, of the chosen words."""
    trace, (weights, tokenizer) = request.trace, _model(request)
    comparison = _current_comparison(request, tokenizer)
    by_step = _figures_by_step(trace, weights_digest_of(trace), (comparison,), request.theme, weights, tokenizer)
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
    return _payload(_figures_by_step(trace, digest, comparisons, request.theme, weights, tokenizer), request.name)


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
    theme: ThemeName,
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
        subject = replace(
            _subject(trace, _weights, _tokenizer, comparison), theme=theme, known_logit_attributions=attributions
        )
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
