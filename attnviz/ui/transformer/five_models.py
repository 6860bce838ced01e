"""Last exhibit of *To the transformer*: translations and heatmaps of five models, BLEU by length, one verification."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from attnviz import lazy_pandas as pd
from attnviz.analysis.models_side_by_side import (
    ModelFacts,
    bleu_gap_sentence,
    by_length_sentence,
    combined_badge_text,
    facts_text,
    heatmaps_caption,
    misfit_sentence,
)
from attnviz.analysis.verification import Verification, discrepancy_text
from attnviz.analysis.weight_shapes import MisfitError
from attnviz.architectures import verifier_of
from attnviz.errors import user_error
from attnviz.figures.heatmap import heatmap
from attnviz.figures.sentence_length_figure import bucket_of
from attnviz.installed_models import (
    ADDITIVE_MODEL,
    LARGE_MODEL,
    SHIPPED_MODELS,
    TRANSFORMER_MODEL,
    installed_models,
)
from attnviz.languages import gettext, ngettext
from attnviz.model_folder import count_parameters
from attnviz.trace import Record
from attnviz.ui.components.chart import inline_figure
from attnviz.ui.components.component import explanation, plain_text, section_heading
from attnviz.ui.components.gallery import cell, gallery, group
from attnviz.ui.components.side_by_side import lanes, translations_payload
from attnviz.ui.payloads import Payload, PayloadRequest, Shown, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import Rows, bleu_rows, bleu_scores, translate, weights_of
from attnviz.ui.step.step_controls import view_state
from attnviz.ui.step.verification_badge import badge_payload, verification, verification_rows
from attnviz.ui.toolbar.downloads import NamedTables, OfferedFigure, OfferedPart, offered_bleu
from attnviz.ui.transformer import Exhibit, SentenceRequest
from attnviz.ui.view import View


def models_badge(view: View, traces: Iterable[Any], name: str = "verification") -> None:
    """Draw one verification badge for the current step of `traces`; `name` is unique in the view."""
    verifiable = [trace for trace in traces if weights_of(trace) is not None]
    if verifiable:
        at = address(view.trace, "models-verification", every=False, traces=verifiable)
        verification(view, {"at": at}, name)


@makes_payload("models-verification")
def models_verification_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the checks of a step in every model; for shorter translations, of their last step."""
    step = request.step
    verified: list[tuple[Record, int, Verification]] = []
    for trace in request.shown["traces"]:
        weights, trace_step = weights_of(trace), min(step, len(trace.target_pieces) - 1)
        if weights is None:
            raise UnknownPayloadError("models-verification")
        try:
            verified.append((trace, trace_step, verifier_of(trace, weights).verify(trace_step)))
        except MisfitError:
            return badge_payload(misfit_sentence(trace), holds=False)
    return badge_payload(
        combined_badge_text([result for _, _, result in verified], step),
        [
            (f"{trace.model}: {name}", *rest)
            for trace, _, result in verified
            for name, *rest in verification_rows(result)
        ],
        [
            f"{trace.model}: {discrepancy_text(trace, discrepancy, trace_step)}"
            for trace, trace_step, result in verified
            for discrepancy in result.discrepancies
        ],
        holds=all(result.holds for _, _, result in verified),
    )


_WARM_UP_SENTENCE = "What is computed first takes longer."
"""Translated before the visitor's sentence, so that the warm-up does not count in a model's duration."""


def _make(request: SentenceRequest) -> tuple[View, Shown]:
    folders, traces = installed_models(), []
    for name in SHIPPED_MODELS:
        if name in folders:
            translate(name, request.device, _WARM_UP_SENTENCE, 1, None)
            traces.append(request.trace_by(name))
    if not traces:
        raise user_error(
            "This part of the page compares the models {names}. None of these models is installed: install at "
            "least one of them.",
            names=", ".join(SHIPPED_MODELS),
        )
    return View("answers", max(traces, key=lambda trace: len(trace.target_pieces))), {"traces": traces}


def _draw(view: View, shown: Shown) -> None:
    traces = shown["traces"]
    if absent := [name for name in SHIPPED_MODELS if name not in installed_models()]:
        plain_text(gettext("Models not installed: {absent}.", absent=", ".join(absent)))
    rows = bleu_rows(SHIPPED_MODELS)
    if sentence := _bleu_gap_sentence(rows):
        explanation(sentence)
    lanes(view, translations_payload(traces, lambda trace: (facts_text(_facts(trace, rows)), "")))
    view_state(view)
    models_badge(view, traces)
    section_heading(gettext("Where the models look"), heatmaps_caption())
    cells = [_cell(trace) for trace in traces if trace.attends]
    gallery(view, [group("", "", cells, len(cells))])
    if rows:
        by_length = offered_bleu(rows, view.trace.source_text)
        section_heading(by_length.title)
        unmeasured = [name for name in SHIPPED_MODELS if name not in bleu_scores(rows)]
        inline_figure(view, "by_length", by_length.draw, by_length_sentence(unmeasured, LARGE_MODEL))


def _facts(trace: Any, rows: Rows) -> ModelFacts:
    """Return the facts about the model that made `trace`, and about this translation."""
    bleu = bleu_scores(rows).get(trace.model, {})
    bucket = bucket_of(len(trace.source_text.split()), list(bleu)) or ""
    return ModelFacts(count_parameters(installed_models()[trace.model]), 1000 * trace.seconds, bucket, bleu.get(bucket))


def _cell(trace: Any) -> Payload:
    words = trace.words()
    label = gettext(
        "{model}: alignment of {target} and {source}",
        model=trace.model,
        target=ngettext("{count} French word", "{count} French words", len(words.target)),
        source=ngettext("{count} English word", "{count} English words", len(words.source)),
    )
    return cell(trace.model, words.alignment, trace.model, "", label, (words.target, words.source))


def _bleu_gap_sentence(rows: Rows) -> str:
    scores, folders = bleu_scores(rows), installed_models()
    if not {ADDITIVE_MODEL, TRANSFORMER_MODEL} <= folders.keys():
        return ""
    parameters = count_parameters(folders[ADDITIVE_MODEL]), count_parameters(folders[TRANSFORMER_MODEL])
    return bleu_gap_sentence(scores.get(ADDITIVE_MODEL, {}), scores.get(TRANSFORMER_MODEL, {}), parameters)


def _pictures(asked: PayloadRequest) -> Iterator[OfferedFigure]:
    for trace in asked.shown["traces"]:
        if trace.attends:
            title, draw = gettext("Heatmap, {model}", model=trace.model), partial(heatmap, trace, end=True)
            yield OfferedFigure(title, f"heatmap-{trace.model}", draw)
    if rows := bleu_rows(SHIPPED_MODELS):
        yield offered_bleu(rows, asked.view.trace.source_text)


def _tables(asked: PayloadRequest) -> NamedTables:
    """Yield the translations as a table, one row for each model."""
    rows = bleu_rows(SHIPPED_MODELS)
    frame = []
    for trace in asked.shown["traces"]:
        facts = _facts(trace, rows)
        frame.append(
            {
                gettext("model"): trace.model,
                gettext("translation"): trace.translation,
                gettext("parameters"): facts.parameters,
                gettext("milliseconds"): facts.milliseconds,
                gettext("BLEU at this sentence length"): facts.bleu,
                gettext("log probability per piece"): float(np.mean(trace.log_probabilities)),
            }
        )
    yield gettext("The translations"), pd.DataFrame(frame).set_index(gettext("model"))


FIVE_MODELS = Exhibit(_make, _draw, OfferedPart(_pictures, _tables))
