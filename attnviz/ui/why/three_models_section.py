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
from pathlib import Path
from typing import Any, cast

import numpy as np

from attnviz import AttnvizError, Trace
from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import quote, shorten
from attnviz.analysis.numbers import decimal, percent
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
from attnviz.installed_models import installed_models
from attnviz.languages import gettext, ngettext
from attnviz.lru_cache import LRUCache, size_of
from attnviz.model_folder import EVERY_FILE, architecture, read_config, stamp
from attnviz.trace.parts import GradientNorms
from attnviz.ui.components.chart import EVERY_STEP, caption_payload, chart, fitting_payload
from attnviz.ui.components.side_by_side import lanes, lanes_payload, written_lane
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import cached_for_all, cached_gradient_norms, devices, translate, weights_digest_of
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.view import View
from attnviz.ui.waiting import TURNS

MODELS = ("small-fixed", "small-dot", "small-additive")
"""Names of the model folders, in the order of the page: no attention, general attention, additive attention."""
PREFERRED_REFERENCE = "en-fr"
"""Name of the preferred reference model."""
_BEAM = 5


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


def missing_models_reason() -> str:
    """Return which of the models are not installed, as a sentence; empty where all are."""
    absent = [name for name in MODELS if name not in installed_models()]
    if not absent:
        return ""
    return gettext(
        "This page compares three small models that differ only in their attention: {names}. Models not installed: "
        "{absent}. attnviz supplies the missing models in its folder “models”: copy or symlink them into the folder "
        "of your own models.",
        names=", ".join(MODELS),
        absent=", ".join(absent),
    )


def reference_model() -> str | None:
    """Return the name of the reference model: the preferred one, or the first other one; None where there is none."""
    others = [name for name in installed_models() if name not in MODELS]
    return PREFERRED_REFERENCE if PREFERRED_REFERENCE in others else next(iter(others), None)


def judge_model() -> str | None:
    """Return the name of the model that judges translations, like `reference_model` one of the others.

    None where no other model has one attention distribution a step, which `corpora.judging` needs.
    """
    folders = installed_models()
    others = [name for name in (PREFERRED_REFERENCE, *folders) if name in folders and name not in MODELS]
    return next((name for name in others if _has_one_distribution_per_step(folders[name])), None)


def _has_one_distribution_per_step(folder: Path) -> bool:
    return architecture(folder) == "rnnsearch" and read_config(folder)["attention"] != "none"


def translate_trio(text: str, target: str | None, device: str = "auto", beam: int = _BEAM) -> Trio:
    """Return the three models' translations of `text`, and the translation for forced decoding.

    That is `target`, else the reference, else the reference model's, else that of the last of the three. Callers check
    first that all are installed. Raise AttnvizError on bad input.
    """
    if target is None and text in REFERENCE_TRANSLATIONS:
        target = REFERENCE_TRANSLATIONS[text].french
    folders = installed_models()
    own = tuple(translate(str(folders[name]), device, text, beam, None) for name in MODELS)
    reference_name = reference_model()
    reference = (
        own[-1]
        if target is None and reference_name is None
        else translate(str(folders[reference_name or MODELS[-1]]), device, text, beam, target)
    )
    return Trio(own, reference)


def force_decoded(reference: Trace) -> tuple[Trace, ...]:
    """Return the traces of the three models, force-decoded with the translation in `reference`.

    Raise AttnvizError where that is impossible.
    """
    device = reference.device if reference.device in devices() else "cpu"
    if not reference.translation.strip():
        raise AttnvizError(
            gettext("The translation for forced decoding is empty. Try another sentence or translation.")
        )
    return tuple(
        translate(str(installed_models()[name]), device, reference.source_text, 1, reference.translation)
        for name in MODELS
    )


def trio_stamp() -> str:
    """Return a digest of the models' current files, for the addresses of payloads."""
    folders = installed_models()
    names = [*MODELS, *filter(None, [reference_model()])]
    text = repr([stamp(str(folders[name]), *EVERY_FILE) for name in names if name in folders])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def translations_panel(view: View, trio: Trio) -> None:
    """Draw the three translations of `trio` with their step controls."""
    lanes(view, _payload(trio.own))


@cached_for_all
def _payload(own: tuple[Trace, ...]) -> dict[str, object]:
    count, identity = max(len(trace.target_pieces) for trace in own), "-".join(trace.fingerprint for trace in own)
    labels = [gettext("step {step} of {count}", step=step + 1, count=count) for step in range(count)]
    attending = max(trace.contexts.shape[1] for trace in own if trace.attends)
    return lanes_payload(identity, labels, [_lane(trace, count, attending) for trace in own])


def _lane(trace: Trace, count: int, attending: int) -> dict[str, object]:
    """Return the lane of a translation of `count` steps; a context vector with attention has `attending` numbers."""
    attention, units = str(trace.config["attention"]), trace.contexts.shape[1]
    if trace.attends:
        caption = gettext(
            "Before each piece, the model looks at the English sentence again. Every word gets a weight; the "
            "weights add up to 1."
        )
        vector_caption = gettext(
            "The context vector: {units} numbers, different at every step. Half of the numbers come from reading the "
            "sentence forwards, half from reading it backwards.",
            units=units,
        )
    else:
        caption = gettext(
            "The model has compressed the sentence into one vector and cannot look back at the sentence: no word "
            "has a weight."
        )
        vector_caption = gettext(
            "The context vector: {units} numbers, the same at every step. The fixed vector is the encoder’s state "
            "after reading the sentence forwards. With attention, the context vector has {attending} numbers, because "
            "every word also has a state from reading backwards. At the end of the sentence, the backward state has "
            "read almost nothing, so the fixed vector leaves this state out.",
            units=units,
            attending=attending,
        )
    return written_lane(trace, attention_name(attention), caption, vector_caption, _notes(trace, count))


def _notes(trace: Trace, count: int) -> list[str]:
    """Return the note of each of `count` steps, including those after the end of this translation."""
    words, steps = trace.words(), len(trace.target_pieces)
    notes = []
    for step, log_probability in enumerate(trace.log_probabilities):
        probability = gettext(
            "gives the written piece a probability of {share}", share=percent(float(np.exp(log_probability)))
        )
        if trace.attends:
            shares = [float(trace.alignment[step, list(group)].sum()) for group in words.source_groups]
            most_attended = int(np.argmax(shares))
            attention = gettext(
                "looks most at {word} (weight {weight})",
                word=quote(shorten(words.source[most_attended], 20)),
                weight=decimal(shares[most_attended]),
            )
        else:
            attention = gettext("looks nowhere")
        notes.append(gettext("{looks}; {sure}", looks=attention, sure=probability))
    return notes + [
        ngettext("translation finished after {count} step", ("translation finished after {count} steps"), steps)
    ] * (count - steps)


def translation_tables(trio: Trio) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each translation as a table, a row for each step (counted from 1)."""
    for trace in trio.own:
        words = trace.words()
        shares = np.stack([trace.alignment[:, list(group)].sum(axis=1) for group in words.source_groups], axis=1)
        frame: dict[str, object] = {
            gettext("target piece"): list(trace.target_pieces),
            "p": np.exp(trace.log_probabilities),
        }
        if trace.attends:
            frame[gettext("looks most at")] = [words.source[place] for place in shares.argmax(axis=1)]
            frame[gettext("largest weight")] = shares.max(axis=1)
        index = pd.RangeIndex(1, len(trace.target_pieces) + 1, name=gettext("step"))
        yield attention_name(str(trace.config["attention"])), pd.DataFrame(frame, index=index)


def forced_panel(view: View, trio: Trio) -> None:
    """Draw the probability of each word in each model, with a summary."""
    payload_address = address(trio.reference, "forced-words", every=True, version=trio_stamp())
    chart(view, payload_address, "forced_words", waiting=gettext("Computing…"))


@makes_payload("forced-words")
def forced_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the figure for the requested translation, or of an empty one with the reason.

    Raise UnknownPayloadError where one of the models is not installed.
    """
    if missing_models_reason():
        raise UnknownPayloadError("forced-words")
    try:
        words = _forced_words(request.trace)
    except AttnvizError as error:  # for example, the models segment it into different words
        return caption_payload({EVERY_STEP: ("", str(error))})
    sentence = _sentence(words)
    figures = [forced_words_figure(words, slanting=slanting) for slanting in (False, True)]
    return fitting_payload(figures, {EVERY_STEP: ("", sentence)})


def forced_pictures(trio: Trio) -> Iterator[OfferedFigure]:
    """Yield the figure as it is saved."""
    words = _forced_words(trio.reference)
    draw = partial(forced_words_figure, words)
    title = gettext("One translation, three models")
    yield OfferedFigure(title, title, "forced-words", draw, note=_sentence(words))


def _sentence(words: ForcedWords) -> str:
    return " ".join(forgetting_sentences(words, len(words.models) - 1))


def _forced_words(reference: Trace) -> ForcedWords:
    return forced_word_probabilities(force_decoded(reference))


_CACHE: LRUCache[object] = LRUCache(4 << 20, size=size_of)


def share_panel(view: View, trio: Trio) -> None:
    """Draw the share of the gradient that reaches the right piece in each model."""
    payload_address = address(trio.reference, "gradient-share", every=True, version=trio_stamp())
    chart(view, payload_address, "gradient_share", waiting=gettext("Computing…"))


@makes_payload("gradient-share")
def share_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the shares; raise UnknownPayloadError where there are none."""
    share, _ = _sentences(*_requested(request))
    return caption_payload({EVERY_STEP: (share, "")})


def signals_panel(view: View, trio: Trio) -> None:
    """Draw how far gradients travel in each model."""
    payload_address = address(trio.reference, "signals", every=True, version=trio_stamp())
    chart(view, payload_address, "signals", waiting=gettext("Computing…"))


@makes_payload("signals")
def signals_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the figure for the requested translation; raise UnknownPayloadError where there is none."""
    traces, signals = _requested(request)
    figures = [gradient_norms(traces, signals, across=across) for across in (3, 1)]
    _, right_piece = _sentences(traces, signals)
    return fitting_payload(figures, {EVERY_STEP: ("", right_piece)})


def _requested(request: PayloadRequest) -> tuple[tuple[Trace, ...], list[GradientNorms]]:
    """Return the models' traces with their signals; raise UnknownPayloadError where there are none."""
    if missing_models_reason():
        raise UnknownPayloadError("signals")
    try:
        traces = force_decoded(request.trace)
        return traces, [_cached_signals(trace) for trace in traces]
    except AttnvizError as error:
        raise UnknownPayloadError("signals") from error


def signals_pictures(trio: Trio) -> Iterator[OfferedFigure]:
    """Yield the figure as it is saved."""
    traces = force_decoded(trio.reference)
    signals = [_cached_signals(trace) for trace in traces]
    draw = partial(gradient_norms, traces, signals)
    title = gettext("How far gradients travel")
    yield OfferedFigure(title, title, "signals", draw, note=" ".join(_sentences(traces, signals)))


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


def _cached_signals(trace: Trace) -> GradientNorms:
    """Return the signals of `trace`, cached for all visitors; raise AttnvizError if its model is not installed."""

    def compute() -> GradientNorms:
        signals = cached_gradient_norms(trace)
        if signals is None:
            raise AttnvizError(
                gettext(
                    "The model {model}, which made this translation, is not installed: install it first.",
                    model=trace.model,
                )
            )
        return signals

    with TURNS.released():
        return cast("GradientNorms", _CACHE.get((trace.fingerprint, weights_digest_of(trace)), compute))
