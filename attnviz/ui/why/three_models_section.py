"""Translations of one sentence by the three models of *Why attention?*, which differ only in attention, in parallel.

Below them are the probabilities of one given translation in each (that of the visitor, else a stored reference, else
that of a reference model), and how far gradients travel: their share at the piece that additive attention attends to
most. The gradients are cached for all visitors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from attnviz import AttnvizError, Trace
from attnviz import lazy_pandas as pd
from attnviz.analysis.measures import word_shares
from attnviz.analysis.page_texts import Origin
from attnviz.analysis.why_attention import (
    ForcedWords,
    attention_name,
    forced_word_probabilities,
    forgetting_sentences,
    gradient_share,
    gradient_share_sentences,
)
from attnviz.evaluation.example_sentences import REFERENCE_TRANSLATIONS
from attnviz.figures.three_models_figure import forced_words_figure, gradient_norms
from attnviz.installed_models import (
    ADDITIVE_MODEL,
    FIXED_CONTEXT_MODEL,
    GENERAL_MODEL,
    check_installed,
    installed_models,
)
from attnviz.languages import gettext
from attnviz.model_folder import EVERY_FILE, architecture, read_config, stamp
from attnviz.trace.parts import GradientNorms
from attnviz.ui.components.chart import caption_payload, fitting_payload
from attnviz.ui.components.side_by_side import translations_payload
from attnviz.ui.embedding import theme_name
from attnviz.ui.payloads import PayloadRequest, makes_payload
from attnviz.ui.resources import cached_analysis, cached_for_all, device_of, translate, translator_of
from attnviz.ui.toolbar.downloads import NamedTables, OfferedFigure

MODELS = (FIXED_CONTEXT_MODEL, GENERAL_MODEL, ADDITIVE_MODEL)
"""Names of the model folders, in the order of the page."""


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

    @property
    def longest(self) -> Trace:
        """The one of the models' own translations with the most steps."""
        return max(self.own, key=lambda trace: len(trace.target_pieces))


def other_models() -> list[str]:
    """Return the names of the installed models except the three, the preferred reference model first."""
    return [name for name in installed_models() if name not in MODELS]


def judge_model() -> str | None:
    """Return the name of the model that judges translations: the first of the others that can.

    None where no other model has one attention distribution a step, which `corpora.judging` needs.
    """
    folders = installed_models()
    recurrent = (name for name in other_models() if architecture(folders[name]) == "rnnsearch")
    return next((name for name in recurrent if read_config(folders[name])["attention"] != "none"), None)


def translate_trio(text: str, target: str | None, device: str = "auto", beam: int = 5) -> Trio:
    """Return the three models' translations of `text`, and the translation for forced decoding.

    That is `target`, else the reference, else the reference model's, else that of the last of the three. Raise
    AttnvizError on bad input, and where a model is not installed.
    """
    check_installed(*MODELS)
    if target is None and text in REFERENCE_TRANSLATIONS:
        target = REFERENCE_TRANSLATIONS[text].french
    folders = installed_models()
    own = tuple(translate(str(folders[name]), device, text, beam, None) for name in MODELS)
    reference_name = next(iter(other_models()), MODELS[-1])
    return Trio(own, translate(str(folders[reference_name]), device, text, beam, target))


def _force_decoded(reference: Trace) -> tuple[Trace, ...]:
    """Return the traces of the three models, force-decoded with the translation in `reference`.

    Raise AttnvizError where that is impossible.
    """
    check_installed(*MODELS)
    if not reference.translation.strip():
        raise AttnvizError(
            gettext("The translation for forced decoding is empty. Try another sentence or translation.")
        )
    folders, device = installed_models(), device_of(reference)
    return tuple(
        translate(str(folders[name]), device, reference.source_text, 1, reference.translation) for name in MODELS
    )


def trio_stamp() -> str:
    """Return a digest of the models' current files, for the addresses of payloads."""
    folders = installed_models()
    names = [*MODELS, *other_models()[:1]]
    text = repr([stamp(str(folders[name]), *EVERY_FILE) for name in names if name in folders])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cached_for_all
def own_translations_payload(own: tuple[Trace, ...]) -> dict[str, Any]:
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


def translation_tables(trio: Trio) -> NamedTables:
    """Yield each translation as a table, a row for each step (counted from 1)."""
    for trace in trio.own:
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
def forced_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the probability of each word in each model, or of an empty figure with the reason."""
    try:
        words = _forced_words(request.trace)
    except AttnvizError as error:  # for example, the models segment it into different words
        return caption_payload(str(error))
    figures = [forced_words_figure(words, slanting=slanting, theme=theme_name()) for slanting in (False, True)]
    return fitting_payload(figures, " ".join(forgetting_sentences(words, len(words.models) - 1)))


def _forced_words(reference: Trace) -> ForcedWords:
    return forced_word_probabilities(_force_decoded(reference))


@makes_payload("gradient-share")
def share_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the share of the gradient that reaches the right piece in each model."""
    share, _ = _sentences(*_gradients(request.trace))
    return caption_payload((share, ""))


@makes_payload("signals")
def signals_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the figure of how far gradients travel in each model."""
    traces, signals = _gradients(request.trace)
    figures = [gradient_norms(traces, signals, across=across, theme=theme_name()) for across in (3, 1)]
    _, right_piece = _sentences(traces, signals)
    return fitting_payload(figures, right_piece)


def trio_pictures(trio: Trio) -> Iterator[OfferedFigure]:
    """Yield the figures of the forced translation as they are saved."""
    words = partial(forced_words_figure, _forced_words(trio.reference))
    yield OfferedFigure(gettext("One translation, three models"), "forced-words", words)
    norms = partial(gradient_norms, *_gradients(trio.reference))
    yield OfferedFigure(gettext("How far gradients travel"), "signals", norms)


def _gradients(reference: Trace) -> tuple[tuple[Trace, ...], list[GradientNorms]]:
    """Return the models' traces of the translation in `reference` with their gradients; raise AttnvizError."""
    traces = _force_decoded(reference)
    return traces, list(map(_gradient_norms, traces))


def _gradient_norms(trace: Trace) -> GradientNorms:
    return cached_analysis("gradient norms", trace, lambda _: translator_of(trace).gradient_norms(trace))


def _sentences(traces: tuple[Trace, ...], signals: list[GradientNorms]) -> tuple[str, str]:
    kinds = [str(trace.config["attention"]) for trace in traces]
    return gradient_share_sentences(kinds, [_shares(one, traces) for one in signals])


def _shares(signals: GradientNorms, traces: tuple[Trace, ...]) -> tuple[float, float] | None:
    """Return the share of the gradient that reaches the piece the last model attends to most, and the uniform share.

    None where another model segments the sentences differently.
    """
    last = traces[-1]
    if not last.attends or signals.whole.shape != last.alignment.shape:
        return None
    return gradient_share(signals, last.alignment.argmax(axis=1))
