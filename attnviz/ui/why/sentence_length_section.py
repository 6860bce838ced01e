"""Sentence length on *Why attention?*: three models' translations of growing prefixes, and BLEU by length.

A better model judges the translations: it says how probable each word is, and which words are left out. The browser
requests the judged translations; the server caches them for all visitors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from html import escape
from typing import Any

from attnviz import AttnvizError, Trace
from attnviz.analysis.numbers import percent, small
from attnviz.analysis.page_texts import judge_section, length_section
from attnviz.analysis.why_attention import (
    FIRST,
    JudgedTranslation,
    PrefixTranslations,
    attention_name,
    growth_sentence,
    judgement_note,
    length_sentence,
    prefixes,
    shares_by_length_sentence,
)
from attnviz.evaluation.example_sentences import REFERENCE_TRANSLATIONS, TABLE_3, TECHNOLOGY
from attnviz.figures.sentence_length_figure import bleu_by_length, bucket_of, sentence_growth
from attnviz.installed_models import installed_models
from attnviz.languages import gettext, ngettext
from attnviz.lru_cache import LRUCache, cached_in, size_of
from attnviz.model_folder import read_config
from attnviz.text import LONGEST_SENTENCE, LONGEST_TEXT
from attnviz.ui.components.chart import EVERY_STEP, chart, inline_chart, steady_payload
from attnviz.ui.components.component import columns, details, html, plain_text
from attnviz.ui.components.side_by_side import lane, lanes, lanes_payload, version
from attnviz.ui.fields import segmented_control
from attnviz.ui.glossary import text_section
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import LENGTH_FILE, Rows, cached_translations, devices, translator_in
from attnviz.ui.resources import bleu_rows as measured_of
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.view import View
from attnviz.ui.waiting import TURNS
from attnviz.ui.why.three_models_section import MODELS, Trio, judge_model, missing_models_reason, trio_stamp

_BEAM = 5
_LIMITS = (0.5, 0.1, 0.01)
"""Probabilities below which a word has the next darker shade."""

_LONG = "long"
"""Name of the choice in session state and address: `_TECHNOLOGY`, the number of a sentence in `TABLE_3`, or `_OWN`."""
_TECHNOLOGY, _OWN = "technology", "own"
_LABEL_LENGTH = 22
"""Characters of a sentence that its label shows at most."""


def choose_sentence(visitor_sentence: str) -> str:
    """Draw the choice; return the sentence.

    `visitor_sentence` is offered only if it can grow.
    """
    offered = {_TECHNOLOGY: TECHNOLOGY} | {str(number): text for number, text in enumerate(TABLE_3, 1)}
    if len(visitor_sentence.split()) > FIRST:
        offered[_OWN] = visitor_sentence
    names = {value: gettext("Yours") if value == _OWN else _first_words(text) for value, text in offered.items()}
    chosen = segmented_control(
        gettext("Sentence to translate"),
        names,
        key=_LONG,
        default=_TECHNOLOGY,
        label_visibility="collapsed",
        parameter=_LONG,
    )
    return offered[chosen]


def _first_words(sentence: str) -> str:
    """Return the first words of a sentence."""
    return f"{sentence[:_LABEL_LENGTH].rsplit(' ', 1)[0]} …"


def growth_panel(view: View, judge_name: str) -> None:
    """Draw the translations of the prefixes of the sentence of `view`, whose trace is a translation of all of it."""
    stamp = trio_stamp()
    rows_address = address(view.trace, "growing", every=True, version=stamp)
    lanes(view, {"at": rows_address, "waiting": gettext("Translating…")})
    chart_address = address(view.trace, "growing-chart", every=True, version=stamp)
    with details(gettext("Omissions by length, and how they are measured"), view.key("omissions")):
        beside, chart_column = columns([1, 2], gap="medium")
        with beside:
            html(f'<p class="explanation">{escape(judge_section(judge_name))}</p>')
        with chart_column:
            chart(view, chart_address, "growth_chart", waiting=gettext("Translating…"))


@makes_payload("growing")
def length_growth_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the translations of every prefix; raise UnknownPayloadError where there are none."""
    growth = _requested_growth(request)
    total = growth.counts[-1]
    labels = [ngettext("{count} of {all} words", "{count} of {all} words", count, all=total) for count in growth.counts]
    scores = reference_scores(growth)
    rows = [
        lane(
            attention_name(kind),
            model,
            "",
            versions=[_version(one) for one in judged],
            notes=[judgement_note(one, score if one is judged[-1] else None) for one in judged],
        )
        for kind, model, judged, score in zip(
            growth.attentions, growth.models, growth.translations, scores, strict=True
        )
    ]
    if reference := REFERENCE_TRANSLATIONS.get(growth.sentence):
        whole = version([(reference.french, 0, "")])
        rows.append(
            lane(
                gettext("Reference translation"),
                "",
                "",
                versions=[*[version([])] * (len(labels) - 1), whole],
                notes=[
                    *[gettext("The reference translates only the whole sentence.")] * (len(labels) - 1),
                    reference.origin,
                ],
            )
        )
    return lanes_payload(
        f"{request.trace.fingerprint} growing",
        labels,
        rows,
        slider=gettext("Length of the sentence"),
        result=growth_sentence(growth),
        legend=_legend(growth.judge),
    )


@makes_payload("growing-chart")
def growth_chart_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the words left out at each length; raise UnknownPayloadError where there are none."""
    spec = sentence_growth(_requested_growth(request))
    caption = gettext(
        "Share of the English content words that each model leaves out, by the number of words given. The first few "
        "words are rarely a whole sentence, so models find them hard to translate. Section 2 compares whole "
        "sentences. Press a point to see the translations of its words."
    )
    return steady_payload(spec, {EVERY_STEP: ("", caption)})


def _requested_growth(request: PayloadRequest) -> PrefixTranslations:
    try:
        return growth_of(request.trace)
    except AttnvizError as error:
        raise UnknownPayloadError("growth") from error


def reference_scores(growth: PrefixTranslations) -> list[float | None]:
    """Return the chrF2 of each model's translation of the whole sentence against the reference; None without one."""
    reference = REFERENCE_TRANSLATIONS.get(growth.sentence)
    if reference is None:
        return [None] * len(growth.models)
    from attnviz.evaluation.bleu import sentence_chrf

    return [sentence_chrf(judged[-1].text, reference.french) for judged in growth.translations]


def _version(judged: JudgedTranslation) -> dict[str, Any]:
    words = []
    for word, log in zip(judged.words, judged.log_probabilities.tolist(), strict=True):
        probability = math.exp(log)
        words.append((word, sum(probability < limit for limit in _LIMITS), f"p = {small(probability)}"))
    omitted = set(judged.omitted)
    return version(words, [(word, place in omitted) for place, word in enumerate(judged.source_words)])


def _legend(judge_name: str) -> list[tuple[str, str]]:
    first, second, third = map(percent, _LIMITS)
    return [
        (
            gettext(
                "Probability of a French word under {model}, a better model than the three compared:", model=judge_name
            ),
            "",
        ),
        (gettext("at least {share}", share=first), "level-0"),
        (gettext("below {share}", share=first), "level-1"),
        (gettext("below {share}", share=second), "level-2"),
        (gettext("below {share}", share=third), "level-3"),
        (gettext("English word"), "omitted"),
        (gettext("left out: no French word translates this English word"), ""),
    ]


def growth_pictures(trace: Trace) -> Iterator[OfferedFigure]:
    """Yield the figure as it is saved."""
    growth = growth_of(trace)
    draw = partial(sentence_growth, growth)
    yield OfferedFigure(_title(), _title(), "sentence-growth", draw, note=growth_sentence(growth))


def growth_of(trace: Trace) -> PrefixTranslations:
    """Return the three models' translations of every prefix of the source sentence of `trace`, cached for all visitors.

    Raise AttnvizError where a model is not installed.
    """
    judge_name = judge_model()
    if missing_models_reason() or judge_name is None:
        raise AttnvizError(missing_models_reason() or no_judge_reason())
    device = trace.device if trace.device in devices() else "cpu"
    with TURNS.released():
        return _compute_growth(trace.source_text, judge_name, device, trio_stamp())


def no_judge_reason() -> str:
    """Return the message that no judge is installed."""
    return gettext(
        "A model better than the three compared must judge their translations, but no better model is installed. "
        "Install a better model, such as en-fr."
    )


def _title() -> str:
    return gettext("Omissions by length")


def _start(translation: str) -> str:
    """Return as much of a translation as can be forced: a model that repeats itself may write more."""
    return " ".join(translation.split()[:LONGEST_SENTENCE])[:LONGEST_TEXT]


@cached_in(LRUCache(8 << 20, size=size_of))
def _compute_growth(sentence: str, judge_name: str, device: str, stamp: str) -> PrefixTranslations:  # noqa: ARG001  part of the key
    from attnviz.corpora.judging import judge

    texts, folders = prefixes(sentence), installed_models()
    outputs = [cached_translations(str(folders[name]), device, texts, _BEAM) for name in MODELS]
    pairs = [(text, _start(output)) for translated in outputs for text, output in zip(texts, translated, strict=True)]
    judged = judge(translator_in(str(folders[judge_name]), device), pairs)
    count = len(texts)
    return PrefixTranslations(
        texts,
        MODELS,
        tuple(str(read_config(folders[name])["attention"]) for name in MODELS),
        judge_name,
        tuple(tuple(judged[place * count : (place + 1) * count]) for place in range(len(MODELS))),
    )


def by_length_panel(view: View, trio: Trio) -> None:
    """Draw the section of BLEU by sentence length: its texts and the figure, or a message without measured BLEU."""
    rows, section = three_models_bleu(), length_section()
    if not rows:
        text_section(section)
        plain_text(
            gettext(
                "The folder of models has no usable file {file}, which stores the BLEU of the three models by "
                "sentence length.",
                file=LENGTH_FILE,
            )
        )
        return
    word_count = len(trio.reference.source_text.split())
    spec = bleu_by_length(rows, marked_length=word_count)
    lead, harder = _shares_sentences(rows, trio)
    with details(section.heading, view.key("section_lengths"), lead=lead, wide=True):
        beside, chart_column = columns([1, 2], gap="medium")
        with beside:
            for text in filter(None, (*section.paragraphs, harder)):
                html(f'<p class="explanation">{escape(text)}</p>')
        with chart_column:
            payload = steady_payload(spec, {EVERY_STEP: ("", _sentence(rows, word_count, trio))})
            inline_chart(view, payload, "by_length")


def three_models_bleu() -> Rows:
    """Return the measured BLEU of the three models, a row for each length bucket; empty if absent or damaged."""
    return measured_of(MODELS)


def _buckets(rows: Rows) -> list[str]:
    """Return the names of the length buckets, from short to long."""
    return list(dict.fromkeys(row["words"] for row in rows))


def _shares_sentences(rows: Rows, trio: Trio) -> tuple[str, str]:
    """Return how much of the BLEU of additive attention a fixed vector reaches on short and on long sentences."""
    models = {str(trace.config["attention"]): trace.model for trace in trio.own}
    buckets = _buckets(rows)
    scores = {(row["model"], row["words"]): float(row["bleu"]) for row in rows}
    ends = buckets[0], buckets[-1]
    fixed, additive = (
        (scores.get((models[kind], ends[0]), 0.0), scores.get((models[kind], ends[1]), 0.0))
        for kind in ("none", "additive")
    )
    return shares_by_length_sentence(ends, fixed, additive)


def _sentence(rows: Rows, word_count: int, trio: Trio) -> str:
    bucket = bucket_of(word_count, _buckets(rows))
    if bucket is None:
        return ""
    kinds = {trace.model: str(trace.config["attention"]) for trace in trio.own}
    scores = {kinds[row["model"]]: float(row["bleu"]) for row in rows if row["words"] == bucket}
    return length_sentence(word_count, bucket, {kind: scores[kind] for kind in kinds.values() if kind in scores})


def by_length_pictures(trio: Trio) -> Iterator[OfferedFigure]:
    """Yield the figure as it is saved."""
    if rows := three_models_bleu():
        word_count = len(trio.reference.source_text.split())
        title, draw = _length_curve_title(), partial(bleu_by_length, rows, marked_length=word_count)
        yield OfferedFigure(title, title, "bleu-by-length", draw, note=_sentence(rows, word_count, trio))


def _length_curve_title() -> str:
    return gettext("BLEU by the length of the sentence")
