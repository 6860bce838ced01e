"""Draw the logit attribution of a word, or its contrast with a foil, source word by source word.

By default each step shows the attribution of its own word, and the browser fetches all of these at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from attnviz.analysis.logit_attribution import logit_attributions
from attnviz.analysis.measures import weight_order
from attnviz.analysis.recomputation import Weights
from attnviz.figures.figure_input import Subject
from attnviz.figures.logit_attribution import logit_attribution_table, logit_attribution_template
from attnviz.figures.registry import CONTRAST, LOGIT_ATTRIBUTION, STEP_FIGURES
from attnviz.figures.template import to_json
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.text import Tokenizer
from attnviz.trace import Seq2SeqTrace, Trace
from attnviz.ui.components.chart.chart import AtStep, chart, chart_payload
from attnviz.ui.figure_cache import made_once
from attnviz.ui.page_state.selection import Selection, source_of
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import tokenizer_of, weights_digest_of
from attnviz.ui.session_payloads import payload
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError
from attnviz.ui.step.attributed_word import chosen_pair, pair, typed_words, word_choices
from attnviz.ui.step.data_tables import table_box
from attnviz.ui.step.payload_addresses import place_of
from attnviz.wording.labels import quote, shorten
from attnviz.wording.logit_attribution import logit_attribution_heading, logit_attribution_sentence


def logit_attribution_panel(view: View, weights: Weights | None, theme: ThemeName) -> None:
    """Draw the choices, the logit attribution of the chosen word at the current step, and the contrast."""
    trace, tokenizer = view.trace, tokenizer_of(view.trace)
    missing = STEP_FIGURES["logit-attribution"].missing(Subject(trace, 0, weights))
    if missing or weights is None or tokenizer is None:
        st.text(missing)
        return
    word_choices(view, tokenizer)
    left, right = st.columns(2, gap="large")
    for column, name in ((left, "logit-attribution"), (right, "contrast")):

        def chosen(selection: Selection, name: str = name) -> dict[str, Any]:
            return chosen_payload(name, view, weights, tokenizer, selection, theme)

        with column:
            at = payload(view, f"{name}_chosen", f"{theme} {weights_digest_of(trace)}", chosen)
            chart(view, place_of(view, name, theme), name, at)
    st.html(f'<p class="reading">{_legend(trace)}</p>')
    _tables(view, weights, tokenizer)


def chosen_payload(
    name: str, view: View, weights: Weights, tokenizer: Tokenizer, selection: Selection, theme: ThemeName
) -> dict[str, Any]:
    """Return the payload "logit attribution" (logit attribution) of the chosen words, or "contrast"."""
    here, trace = _on_show(view, tokenizer, selection), view.trace
    key = trace.fingerprint, theme, language(), weights_digest_of(trace)
    drawn = _chosen_words(trace, weights, tokenizer, here, key)
    steps = {here.step: drawn[name]} if name in drawn else {}
    return chart_payload(to_json(logit_attribution_template(trace, theme)), steps)


def _legend(trace: Trace | Seq2SeqTrace) -> str:
    if not trace.attends:
        return gettext("Each row adds its part of the logit to the running sum: blue raises it, red lowers it.")
    if trace.imported:
        return gettext(
            "Each row adds its part of the logit to the running sum: blue raises it, red lowers it. The grey bar "
            'on its left is the attention weight of the <span class="encoder">source word</span>. A long grey '
            "bar beside a tiny coloured bar is attention without effect. The sum is exact: the output layer of "
            "this model is linear."
        )
    return gettext(
        "Each row adds its part of the logit to the running sum: blue raises it, red lowers it. The grey bar on "
        'its left is the attention weight of the <span class="encoder">source word</span>. A long grey bar '
        "beside a tiny coloured bar is attention without effect. The sum is exact: maxout is linear once the "
        "winner of each pair is known."
    )


@dataclass(frozen=True)
class Compared:
    """The logit that is attributed at a step: that of piece `word`, minus that of the foil `foil` if there is one."""

    step: int
    word: int
    foil: int | None
    source: int
    """Current source piece, which always has a row of its own."""
    typed_word: str | None = None
    """Text that was typed for the piece, where the model encodes it as several pieces."""
    typed_foil: str | None = None


def _own(trace: Trace, step: int) -> Compared:
    """Return the default comparison at `step`."""
    return Compared(step, *pair(trace, step, None, None), weight_order(trace, step)[0])


def _on_show(view: View, tokenizer: Tokenizer, selection: Selection) -> Compared:
    """Return the current comparison."""
    trace = view.trace
    word, foil = chosen_pair(trace, selection, len(tokenizer))
    return Compared(selection.step, word, foil, source_of(selection, trace), *typed_words(selection, tokenizer))


def logit_attribution_payload(name: str, asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload "logit-attribution" of the words that the steps wrote, or "contrast" with their likeliest foils.

    Raise UnknownPayloadError where the model is not installed, or its logits cannot be attributed.
    """
    tokenizer = tokenizer_of(asked.trace)
    missing = STEP_FIGURES["logit-attribution"].missing(Subject(asked.trace, 0, asked.weights))
    if missing or asked.weights is None or tokenizer is None:
        raise UnknownPayloadError(name)
    key = asked.trace.fingerprint, asked.theme, language(), weights_digest_of(asked.trace)
    template, told = _own_words(asked.trace, asked.weights, tokenizer, asked.steps, key)
    return chart_payload(template, {step: one[name] for step, one in told.items() if name in one})


@made_once
def _own_words(
    _trace: Trace,
    _weights: Weights,
    _tokenizer: Tokenizer,
    steps: tuple[int, ...],
    key: tuple[str, ThemeName, str, str | None],  # cache key: trace, theme, language and weights
) -> tuple[str, dict[int, dict[str, AtStep]]]:
    """Return the template of all attributions, as JSON, and those of the words that the `steps` wrote."""
    own, theme = [_own(_trace, step) for step in steps], key[1]
    return to_json(logit_attribution_template(_trace, theme)), _told(_trace, _weights, _tokenizer, own, theme)


@made_once
def _chosen_words(
    _trace: Trace,
    _weights: Weights,
    _tokenizer: Tokenizer,
    here: Compared,
    key: tuple[str, ThemeName, str, str | None],  # cache key, as above
) -> dict[str, AtStep]:
    """Return the "logit attribution" and the "contrast" of the words that a visitor chose."""
    return _told(_trace, _weights, _tokenizer, [here], key[1])[here.step]


def _told(
    trace: Trace, weights: Weights, tokenizer: Tokenizer, several: Sequence[Compared], theme: ThemeName
) -> dict[int, dict[str, AtStep]]:
    """Return, by step, the "logit attribution" of each of `several` and, where it has a foil, the "contrast"."""
    cells = [(one.step, piece) for one in several for piece in (one.word, one.foil) if piece is not None]
    known = dict(zip(cells, logit_attributions(trace, weights, cells), strict=True))
    told: dict[int, dict[str, AtStep]] = {}
    for one in several:
        foil = one.word if one.foil is None else one.foil
        subject = Subject(
            trace, one.step, weights, one.source, one.word, foil, tokenizer.piece, known_logit_attributions=known
        )
        name = subject.name(one.word)
        heading = logit_attribution_heading(called(name, one.typed_word), None)
        sentence = logit_attribution_sentence(trace, subject.logit_attribution, name, None)
        told[one.step] = {
            "logit-attribution": AtStep(to_json(LOGIT_ATTRIBUTION.values(subject, theme)), heading, sentence)
        }
        if one.foil is not None:
            against = subject.name(one.foil)
            heading = logit_attribution_heading(called(name, one.typed_word), called(against, one.typed_foil))
            sentence = logit_attribution_sentence(trace, subject.contrast, name, against)
            told[one.step]["contrast"] = AtStep(to_json(CONTRAST.values(subject, theme)), heading, sentence)
    return told


def called(piece: str, typed: str | None) -> str:
    """Return the name of a `piece` in a heading: its own, or the `typed` word whose first piece it is."""
    if typed is None:
        return quote(piece)
    return gettext("“{text}” (scored by its first piece, “{piece}”)", text=shorten(typed, 40), piece=piece)


def _tables(view: View, weights: Weights, tokenizer: Tokenizer) -> None:
    """Offer every entry of both as tables, computed only while the box is open."""

    def made(selection: Selection) -> Iterator[tuple[str, pd.DataFrame]]:
        one = _on_show(view, tokenizer, selection)
        for name, against in ((gettext("logit"), None), (gettext("difference"), one.foil)):
            if against is None and name == gettext("difference"):
                continue
            subject = Subject(view.trace, one.step, weights, None, one.word, against)
            entries = subject.logit_attribution if against is None else subject.contrast
            told = gettext(
                "Step {step}: the entries of the {name} add up to {sum:.6f}",
                step=one.step + 1,
                name=name,
                sum=entries.logit,
            )
            yield told, logit_attribution_table(view.trace, entries)

    table_box(
        view, gettext("All entries as a table"), "logit_attribution_table", weights_digest_of(view.trace) or "", made
    )
