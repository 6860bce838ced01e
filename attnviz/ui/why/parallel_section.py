"""The three models' translations on *Why attention?* in parallel, and their probabilities of one given translation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from attnviz import AttnvizError, Trace
from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import quote, shorten
from attnviz.analysis.numbers import decimal, percent
from attnviz.analysis.why_attention import ForcedWords, attention_name, forced_word_probabilities, forgetting_sentences
from attnviz.figures.three_models_figure import forced_words_figure
from attnviz.languages import gettext, ngettext
from attnviz.palette import ThemeName
from attnviz.ui.components.chart import EVERY_STEP, caption_payload, chart, fitting_payload
from attnviz.ui.components.side_by_side import lanes, lanes_payload, written_lane
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import cached_for_all
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.view import View
from attnviz.ui.why.three_models_section import Trio, force_decoded, missing_models_reason, trio_stamp


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


def forced_panel(view: View, trio: Trio, theme: ThemeName) -> None:
    """Draw the probability of each word in each model, with a summary."""
    payload_address = address(trio.reference, "forced-words", theme, every=True, version=trio_stamp())
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
    figures = [forced_words_figure(words, slanting=slanting, theme=request.theme) for slanting in (False, True)]
    return fitting_payload(figures, {EVERY_STEP: ("", sentence)})


def forced_pictures(trio: Trio, theme: ThemeName = "light") -> Iterator[OfferedFigure]:
    """Yield the figure as it is saved."""
    words = _forced_words(trio.reference)
    draw = partial(forced_words_figure, words, theme=theme)
    yield OfferedFigure(_title(), _title(), "forced-words", draw, note=_sentence(words))


def _sentence(words: ForcedWords) -> str:
    return " ".join(forgetting_sentences(words, len(words.models) - 1))


def _title() -> str:
    return gettext("One translation, three models")


def _forced_words(reference: Trace) -> ForcedWords:
    return forced_word_probabilities(force_decoded(reference))
