"""The page *Why attention?*: a growing sentence, BLEU by length, the current sentence in three models.

The three models differ only in attention. A better model judges their translations of growing prefixes: it says how
probable each word is, and which words are left out. Then follow the probabilities of one given translation in each
(that of the visitor, else a stored reference, else that of a reference model), and how far gradients travel: their
share at the piece that additive attention attends to most. What takes long is cached for all visitors. Below are the
tables and the downloads (figures, and the page as a file).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from html import escape

import numpy as np
import streamlit as st

from attnviz import AttnvizError, Trace
from attnviz import lazy_pandas as pd
from attnviz.analysis import page_texts
from attnviz.analysis.labels import percent, small
from attnviz.analysis.measures import word_shares
from attnviz.analysis.page_texts import WHY_REFERENCES, Origin, TextSection, judge_section, length_section
from attnviz.analysis.why_attention import (
    FIRST,
    ForcedWords,
    JudgedTranslation,
    PrefixTranslations,
    attention_name,
    forced_word_probabilities,
    forgetting_sentences,
    gradient_share,
    gradient_share_sentences,
    growth_sentence,
    judgement_note,
    length_sentence,
    prefixes,
    shares_by_length_sentence,
)
from attnviz.evaluation.example_sentences import REFERENCE_TRANSLATIONS, TABLE_3, TECHNOLOGY
from attnviz.export.saved_files import file_name
from attnviz.extras import IMPORTING
from attnviz.figures.why_attention_figure import bucket_of, forced_words_figure, gradient_norms, sentence_growth
from attnviz.installed_models import (
    ADDITIVE_MODEL,
    FIXED_CONTEXT_MODEL,
    GENERAL_MODEL,
    check_installed,
    installed_models,
)
from attnviz.languages import gettext, ngettext
from attnviz.lru_cache import LRUCache, cached_in, stamp
from attnviz.model_folder import EVERY_FILE, architecture, read_config
from attnviz.text import LONGEST_SENTENCE, LONGEST_TEXT
from attnviz.trace.parts import GradientNorms
from attnviz.ui.blocks import (
    Box,
    box,
    caption_payload,
    chart,
    chart_tables,
    columns,
    computed_chart,
    details,
    explanation,
    fitting_payload,
    inline_figure,
    message,
    plain_text,
    steady_payload,
    view_blocks,
)
from attnviz.ui.chrome import Page
from attnviz.ui.controls import segmented_control
from attnviz.ui.embedded_view import drawn_page
from attnviz.ui.glossary import glossary_box, opening, references, text_section
from attnviz.ui.payloads import Payload, PayloadRequest, address, makes_payload
from attnviz.ui.resources import (
    LENGTH_FILE,
    bleu_rows,
    bleu_scores,
    cached_analysis,
    cached_for_all,
    device_of,
    force_decoded,
    translate,
    translator_in,
    translator_of,
)
from attnviz.ui.side_by_side import lane, lanes, lanes_payload, translations_payload, version
from attnviz.ui.step.step_controls import view_state
from attnviz.ui.toolbar.downloads import (
    NamedTables,
    OfferedFigure,
    OfferedPart,
    copy_link,
    offered_bleu,
    offers,
    page_downloads,
)
from attnviz.ui.toolbar.shown_translation import (
    current_request,
    own_translation,
    sentence_box,
    shown_translation,
)
from attnviz.ui.view import View, view_key
from attnviz.ui.waiting import TURNS

MODELS = (FIXED_CONTEXT_MODEL, GENERAL_MODEL, ADDITIVE_MODEL)
"""Names of the model folders, in the order of the page."""
_GROWTH = "length"
"""Id of the view of the growing sentence."""


@dataclass(frozen=True)
class Trio:
    """The three models' translations of a sentence."""

    own: tuple[Trace, ...]
    """The translation that each model chose itself."""
    reference: Trace
    """Translation that all are force-decoded with, as a trace of the reference model; `origin` says whose it is."""

    @property
    def origin(self) -> Origin:
        """Whose translation all are force-decoded with."""
        if self.reference.search.method != "forced":
            return "model"
        given = REFERENCE_TRANSLATIONS.get(self.reference.source_text)
        return "reference" if given and given.french == self.reference.translation else "visitor"


def _other_models() -> list[str]:
    """Return the names of the installed models except the three, the preferred reference model first."""
    return [name for name in installed_models() if name not in MODELS]


def _judge_model() -> str | None:
    """Return the name of the model that judges translations: the first of the others that can.

    None where no other model has one attention distribution a step, which `corpora.judging` needs.
    """
    for name, folder in installed_models().items():
        if name not in MODELS and architecture(folder) == "rnnsearch" and read_config(folder)["attention"] != "none":
            return name
    return None


def translate_trio(text: str, target: str | None, device: str = "auto", beam: int = 5) -> Trio:
    """Return the three models' translations of `text`, and the translation for forced decoding.

    That is `target`, else the reference, else the reference model's, else that of the last of the three. Raise
    AttnvizError on bad input, and where a model is not installed.
    """
    check_installed(*MODELS)
    if target is None and text in REFERENCE_TRANSLATIONS:
        target = REFERENCE_TRANSLATIONS[text].french
    own = tuple(translate(name, device, text, beam, None) for name in MODELS)
    reference_name = next(iter(_other_models()), MODELS[-1])
    return Trio(own, translate(reference_name, device, text, beam, target))


def _force_decoded(reference: Trace) -> tuple[Trace, ...]:
    """Return the traces of the three models, forced to write the translation in `reference`; raise AttnvizError."""
    return force_decoded(MODELS, device_of(reference), reference.source_text, reference.translation)


def _trio_stamp() -> str:
    """Return a digest of the models' current files, for the addresses of payloads."""
    folders = installed_models()
    names = [*MODELS, *_other_models()[:1]]
    stamps = [stamp(str(folders[name]), *EVERY_FILE) for name in names if name in folders]
    return hashlib.sha256(repr(stamps).encode()).hexdigest()[:12]


@cached_for_all
def _own_translations_payload(own: tuple[Trace, ...]) -> Payload:
    """Return the payload of the three translations side by side."""
    attending = max(trace.contexts.shape[1] for trace in own if trace.attends)

    def describe(trace: Trace) -> tuple[str, str]:
        units = trace.contexts.shape[1]
        if trace.attends:
            return gettext(
                "Before each piece, the model looks at the English sentence again. Every word gets a weight; the "
                "weights add up to 1."
            ), gettext(
                "The context vector: {units} numbers, different at every step. Half of the numbers come from reading "
                "the sentence forwards, half from reading it backwards.",
                units=units,
            )
        return gettext(
            "The model has compressed the sentence into one vector and cannot look back at the sentence: no word "
            "has a weight."
        ), gettext(
            "The context vector: {units} numbers, the same at every step. The fixed vector is the encoder’s state "
            "after reading the sentence forwards. With attention, the context vector has {attending} numbers, because "
            "every word also has a state from reading backwards. At the end of the sentence, the backward state has "
            "read almost nothing, so the fixed vector leaves this state out.",
            units=units,
            attending=attending,
        )

    return translations_payload(own, describe)


def _translation_tables(request: PayloadRequest) -> NamedTables:
    """Yield each translation as a table, a row for each step (counted from 1)."""
    for trace in request.shown["trio"].own:
        steps = len(trace.target_pieces)
        frame: dict[str, object] = {
            gettext("target piece"): list(trace.target_pieces),
            "p": np.exp(trace.log_probabilities),
        }
        if trace.attends:
            shares = np.stack([word_shares(trace, step) for step in range(steps)])
            frame[gettext("looks most at")] = [trace.words().source[place] for place in shares.argmax(axis=1)]
            frame[gettext("largest weight")] = shares.max(axis=1)
        index = pd.RangeIndex(1, steps + 1, name=gettext("step"))
        yield attention_name(str(trace.config["attention"])), pd.DataFrame(frame, index=index)


@makes_payload("forced-words")
def forced_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the probability of each word in each model, or of an empty figure with the reason."""
    try:
        words = _forced_words(request.trace)
    except AttnvizError as error:  # for example, the models segment it into different words
        return caption_payload(str(error))
    figures = [forced_words_figure(words, slanting=slanting) for slanting in (False, True)]
    return fitting_payload(figures, " ".join(forgetting_sentences(words, len(words.models) - 1)))


def _forced_words(reference: Trace) -> ForcedWords:
    return forced_word_probabilities(_force_decoded(reference))


@makes_payload("gradient-share")
def share_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the share of the gradient that reaches the right piece in each model."""
    share, _ = _sentences(*_gradients(request.trace))
    return caption_payload((share, ""))


@makes_payload("signals")
def signals_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the figure of how far gradients travel in each model."""
    traces, signals = _gradients(request.trace)
    figures = [gradient_norms(traces, signals, across=across) for across in (3, 1)]
    _, right_piece = _sentences(traces, signals)
    return fitting_payload(figures, right_piece)


def _gradients(reference: Trace) -> tuple[tuple[Trace, ...], list[GradientNorms]]:
    """Return the models' traces of the translation in `reference` with their gradients; raise AttnvizError."""
    traces = _force_decoded(reference)
    return traces, list(map(_gradient_norms, traces))


def _gradient_norms(trace: Trace) -> GradientNorms:
    return cached_analysis("gradient norms", trace, lambda _: translator_of(trace).gradient_norms(trace))


def _sentences(traces: tuple[Trace, ...], signals: list[GradientNorms]) -> tuple[str, str]:
    """Return the sentences about the share of the gradient at the piece that the last model attends to most.

    A model that segments the sentences differently from the last one has no share.
    """
    last, kinds = traces[-1], [str(trace.config["attention"]) for trace in traces]
    shares = [
        gradient_share(one, last.alignment.argmax(axis=1))
        if last.attends and one.whole.shape == last.alignment.shape
        else None
        for one in signals
    ]
    return gradient_share_sentences(kinds, shares)


_LIMITS = (0.5, 0.1, 0.01)
"""Probabilities below which a word has the next darker shade."""

_LONG = "long"
"""Name of the choice in session state and address: `_TECHNOLOGY`, the number of a sentence in `TABLE_3`, or `_OWN`."""
_TECHNOLOGY, _OWN = "technology", "own"
_LABEL_LENGTH = 22
"""Characters of a sentence that its label shows at most."""


def _choose_sentence(visitor_sentence: str) -> str:
    """Draw the choice; return the sentence.

    `visitor_sentence` is offered only if it can grow.
    """
    offered = {_TECHNOLOGY: TECHNOLOGY} | {str(number): text for number, text in enumerate(TABLE_3, 1)}
    if len(visitor_sentence.split()) > FIRST:
        offered[_OWN] = visitor_sentence
    names = {value: f"{text[:_LABEL_LENGTH].rsplit(' ', 1)[0]} …" for value, text in offered.items()}
    if _OWN in names:
        names[_OWN] = gettext("Yours")
    return offered[segmented_control(gettext("Sentence to translate"), names, key=_LONG, parameter=_LONG)]


def _growing_sentence(trace: Trace) -> None:
    """Draw the view of the translations of the prefixes of the sentence of `trace`, a translation of all of it."""
    count = len(prefixes(trace.source_text))
    view = View(_GROWTH, trace, first_step=count - 1, step_count=count)
    lanes_address, chart_address = (
        address(trace, name, version=_trio_stamp()) for name in ("growing", "growing-chart")
    )
    lanes(view, {"at": lanes_address, "waiting": gettext("Translating…")})
    with details(gettext("Omissions by length, and how they are measured"), view.key("omissions")):
        beside, chart_column = columns([1, 2], gap="medium")
        with beside:
            explanation(escape(judge_section(str(_judge_model()))))
        with chart_column:
            chart(view, chart_address, "growth_chart", waiting=gettext("Translating…"))
    view_state(view)


@makes_payload("growing")
def length_growth_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the translations of every prefix."""
    with IMPORTING:
        from attnviz.evaluation.bleu import sentence_chrf  # imports sacrebleu

    growth = _growth_of(request.trace)
    total, reference, rows = growth.counts[-1], REFERENCE_TRANSLATIONS.get(growth.sentence), []
    labels = [ngettext("{count} of {all} words", "{count} of {all} words", count, all=total) for count in growth.counts]
    for kind, model, judged in zip(growth.attentions, growth.models, growth.translations, strict=True):
        scores: list[float | None] = [None] * len(judged)
        if reference:
            scores[-1] = sentence_chrf(judged[-1].text, reference.french)
        versions, notes = list(map(_version, judged)), list(map(judgement_note, judged, scores))
        rows.append(lane(attention_name(kind), model, versions=versions, notes=notes))
    if reference:
        shorter = len(labels) - 1
        versions = [version([])] * shorter + [version([(reference.french, 0, "")])]
        notes = [gettext("The reference translates only the whole sentence.")] * shorter + [reference.origin()]
        rows.append(lane(gettext("Reference translation"), versions=versions, notes=notes))
    return lanes_payload(
        f"{request.trace.fingerprint} growing",
        labels,
        rows,
        slider=gettext("Length of the sentence"),
        result=growth_sentence(growth),
        legend=_legend(growth.judge),
    )


@makes_payload("growing-chart")
def growth_chart_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the words left out at each length."""
    spec = sentence_growth(_growth_of(request.trace))
    caption = gettext(
        "Share of the English content words that each model leaves out, by the number of words given. The first few "
        "words are rarely a whole sentence, so models find them hard to translate. Section 2 compares whole "
        "sentences. Press a point to see the translations of its words."
    )
    return steady_payload(spec, caption)


def _version(judged: JudgedTranslation) -> Payload:
    words = []
    for word, log in zip(judged.words, judged.log_probabilities.tolist(), strict=True):
        probability = math.exp(log)
        words.append((word, sum(probability < limit for limit in _LIMITS), f"p = {small(probability)}"))
    omitted = set(judged.omitted)
    return version(words, [(word, place in omitted) for place, word in enumerate(judged.source_words)])


def _legend(judge_name: str) -> list[tuple[str, str]]:
    judge = gettext(
        "Probability of a French word under {model}, a better model than the three compared:", model=judge_name
    )
    return [
        (judge, ""),
        (gettext("at least {share}", share=percent(_LIMITS[0])), "level-0"),
        *((gettext("below {share}", share=percent(limit)), f"level-{level}") for level, limit in enumerate(_LIMITS, 1)),
        (gettext("English word"), "omitted"),
        (gettext("left out: no French word translates this English word"), ""),
    ]


def _growth_of(trace: Trace) -> PrefixTranslations:
    """Return the three models' translations of every prefix of the source sentence of `trace`, cached for all visitors.

    Raise AttnvizError where a model is not installed.
    """
    check_installed(*MODELS)
    if (judge_name := _judge_model()) is None:
        raise AttnvizError(_no_judge_reason())
    with TURNS.released():
        return _compute_growth(trace.source_text, judge_name, device_of(trace), _trio_stamp())


def _no_judge_reason() -> str:
    """Return the message that no judge is installed."""
    return gettext(
        "A model better than the three compared must judge their translations, but no better model is installed. "
        "Install a better model, such as en-fr."
    )


@cached_in(LRUCache(8 << 20))
def _compute_growth(sentence: str, judge_name: str, device: str, stamp: str) -> PrefixTranslations:  # noqa: ARG001  part of the key
    with IMPORTING:
        from attnviz.corpora.judging import judge

    texts, folders = prefixes(sentence), installed_models()
    outputs = [translator_in(str(folders[name]), device).translate_batch(texts, beam=5) for name in MODELS]
    # A model that repeats itself may write more than can be forced.
    starts = [" ".join(one.split()[:LONGEST_SENTENCE])[:LONGEST_TEXT] for translated in outputs for one in translated]
    pairs = list(zip(texts * len(MODELS), starts, strict=True))
    judged = judge(translator_in(str(folders[judge_name]), device), pairs)
    count = len(texts)
    return PrefixTranslations(
        texts,
        MODELS,
        tuple(str(read_config(folders[name])["attention"]) for name in MODELS),
        judge_name,
        tuple(tuple(judged[place * count : (place + 1) * count]) for place in range(len(MODELS))),
    )


def _by_length_panel(view: View, trio: Trio) -> None:
    """Draw the section of BLEU by sentence length: its texts and the figure, or a message without measured BLEU."""
    rows, section = bleu_rows(MODELS), length_section()
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
    models = {str(trace.config["attention"]): bleu_scores(rows).get(trace.model, {}) for trace in trio.own}
    buckets = list(dict.fromkeys(row["words"] for row in rows))
    ends = buckets[0], buckets[-1]
    fixed, additive = (
        (models[kind].get(ends[0], 0.0), models[kind].get(ends[1], 0.0)) for kind in ("none", "additive")
    )
    lead, harder = shares_by_length_sentence(ends, fixed, additive)
    with details(section.heading, view.key("section_lengths"), lead=lead, wide=True):
        beside, chart_column = columns([1, 2], gap="medium")
        with beside:
            for text in filter(None, (*section.paragraphs, harder)):
                explanation(escape(text))
        with chart_column:
            sentence = trio.reference.source_text
            word_count = len(sentence.split())
            bucket = bucket_of(word_count, buckets)
            scores = {kind: bleu[bucket] for kind, bleu in models.items() if bucket in bleu}
            caption = length_sentence(word_count, bucket, scores) if bucket else ""
            inline_figure(view, "by_length", offered_bleu(rows, sentence).draw, caption)


def _why_pictures(request: PayloadRequest) -> Iterator[OfferedFigure]:
    """Yield the figures of the page as they are saved, the first of the growing sentence, if any."""
    trio, growth = request.shown["trio"], request.shown["growth"]
    if growth is not None:
        omissions = partial(sentence_growth, _growth_of(growth))
        yield OfferedFigure(gettext("Omissions by length"), "sentence-growth", omissions)
    if rows := bleu_rows(MODELS):
        yield offered_bleu(rows, trio.reference.source_text)
    words = partial(forced_words_figure, _forced_words(trio.reference))
    yield OfferedFigure(gettext("One translation, three models"), "forced-words", words)
    norms = partial(gradient_norms, *_gradients(trio.reference))
    yield OfferedFigure(gettext("How far gradients travel"), "signals", norms)


offers("why", {"": OfferedPart(_why_pictures, _translation_tables)})


def _trio_sections(view: View, trio: Trio) -> None:
    """Draw the sections about three translations of one sentence."""
    computed = partial(computed_chart, view, trio.reference, version=_trio_stamp())
    _by_length_panel(view, trio)
    with _opened(view, "translations", page_texts.translations_section()):
        lanes(view, _own_translations_payload(trio.own))
    section = page_texts.forced_section(trio.reference.model, trio.origin)
    with _opened(view, "forced", section, trio.reference.translation):
        computed("forced-words", "forced_words")
    with _opened(view, "gradients", page_texts.gradient_section()):
        computed("gradient-share", "gradient_share")
        paths = page_texts.gradient_paths_section()
        with details(paths.heading, view.key("signal_paths")):
            text_section(paths, heading=False)
            computed("signals")
    view_state(view)


def _opened(view: View, name: str, section: TextSection, french: str = "") -> Box:
    """Draw a box that a visitor opens by the heading of `section`, with its text; return it."""
    opened = details(section.heading, view.key(f"section_{name}"), lead=section.lead)
    with opened:
        text_section(section, french, heading=False)
    return opened


def _growth_section(trio: Trio) -> Trace | None:
    """Draw the growing sentence; return a model's translation of it, or None where there is no judge."""
    if _judge_model() is None:
        plain_text(_no_judge_reason())
        return None
    text_section(page_texts.growth_section())
    room = box(view_key(_GROWTH, "room"))  # the choice of the sentence is below, but decides what is in it
    sentence = _choose_sentence(trio.reference.source_text)
    with st.spinner(gettext("Translating…")):
        trace = translate(MODELS[-1], trio.reference.device, sentence, 5, None)
    with room:
        _growing_sentence(trace)
    return trace


@makes_payload("why-lecture")
def why_lecture(request: PayloadRequest) -> bytes:
    """Return the page as a file."""
    trio, growth = request.shown["trio"], request.shown["growth"]

    def draw() -> None:
        opening("why", page_texts.why_introduction())
        if growth is not None and _judge_model():
            with box("why_growth"):
                text_section(page_texts.growth_section())
                with box(view_key(_GROWTH, "room")):
                    _growing_sentence(growth)
        with box(request.view.key("room")):
            _trio_sections(request.view, trio)
        references(WHY_REFERENCES)

    title, name = f"attnviz: {gettext('Why attention?')}", f"why-{trio.reference.fingerprint[:16]}"
    return drawn_page(title, name, draw, request.view.steps)


def _draw() -> None:
    available = installed_models()
    opening("why", page_texts.why_introduction())
    result = st.container(key="why_result")
    if available:
        with st.container(key="why_sentence"):
            st.html(f'<h2 class="section">{gettext("Your sentence")}</h2>')
            sentence_box(available)
    with st.container(horizontal=True, key="why_ways"):
        if available:
            with st.popover(gettext("Force another translation"), type="tertiary", key="own"):
                own_translation()
        request = current_request()
        with view_blocks("terms", width="content"):
            glossary_box("signs", "attention", "learning", "scores")
    main, _ = shown_translation(request)
    if main is None:
        return
    trace, settings = main.trace, (request.device, request.beam) if request else ()
    forced = main.number == 0 and trace.search.method == "forced"
    try:
        with st.spinner(gettext("Translating…")):
            trio = translate_trio(trace.source_text, trace.translation if forced else None, *settings)
    except AttnvizError as error:
        message(str(error), "why_problem")
        return
    view = View("why", max(trio.own, key=lambda one: len(one.target_pieces)), main=main)
    with result, view_blocks("why_growth_view"), box("why_growth"):
        growth = _growth_section(trio)
    with view_blocks(view.key("view")), box(view.key("room")):  # components/view.js stores its state on this element
        _trio_sections(view, trio)
        shown_here = {"trio": trio, "growth": growth, "trace": trio.reference}
        with box("why_foot", row=True):
            page_downloads(view, "why", shown_here, lecture=file_name(trio.reference, "why.html"))
            copy_link(view.key("copy_link"))
        chart_tables(view, "why-tables", shown_here, "")
        references(WHY_REFERENCES)


WHY_PAGE = Page("why", lambda: gettext("Why attention?"), _draw, shows_sentence=True)
