"""Last exhibit of *To the transformer*: translations and heatmaps of five models, BLEU by length, one verification."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from attnviz import AttnvizError
from attnviz import lazy_pandas as pd
from attnviz.analysis.models_side_by_side import (
    ModelFacts,
    bleu_gap_sentence,
    by_length_sentence,
    combined_badge_text,
    facts_text,
    heatmaps_caption,
    misfit_sentence,
    model_name,
    step_caption,
)
from attnviz.analysis.verification import Verification, discrepancy_text, verification_caption
from attnviz.analysis.weight_shapes import MisfitError
from attnviz.architectures import verifier_of
from attnviz.figures.heatmap import heatmap
from attnviz.figures.sentence_length_figure import bleu_by_length, bucket_of
from attnviz.installed_models import installed_models
from attnviz.languages import gettext, ngettext
from attnviz.model_folder import count_parameters
from attnviz.trace import Record
from attnviz.ui.components.chart import EVERY_STEP, inline_chart, steady_payload
from attnviz.ui.components.component import html, plain_text
from attnviz.ui.components.gallery import cell, gallery, group
from attnviz.ui.components.side_by_side import lanes, lanes_payload, written_lane
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import Rows, bleu_rows, translate, weights_of
from attnviz.ui.step.step_controls import view_state
from attnviz.ui.step.verification_badge import verification, verification_rows
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.transformer.exhibit import (
    ADDITIVE_MODEL,
    FIXED_CONTEXT_MODEL,
    GENERAL_MODEL,
    LARGE_MODEL,
    TRANSFORMER_MODEL,
    Exhibit,
    SentenceRequest,
)
from attnviz.ui.view import View


def models_badge(view: View, traces: Iterable[Any], name: str = "verification") -> None:
    """Draw one verification badge for the current step of `traces`; `name` is unique in the view."""
    verifiable = [trace for trace in traces if weights_of(trace) is not None]
    if verifiable:
        at = address(view.trace, "models-verification", every=False, traces=verifiable)
        verification(view, {"at": at}, name)


@makes_payload("models-verification")
def models_verification_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the checks of a step in every model; for shorter translations, of their last step."""
    step, *others = request.steps
    if others:
        raise UnknownPayloadError("models-verification")
    verified: list[tuple[Record, int, Verification]] = []
    for trace in request.shown["traces"]:
        weights, trace_step = weights_of(trace), min(step, len(trace.target_pieces) - 1)
        if weights is None:
            raise UnknownPayloadError("models-verification")
        try:
            verified.append((trace, trace_step, verifier_of(trace, weights).verify(trace_step)))
        except MisfitError:
            return {
                "holds": False,
                "summary": misfit_sentence(trace),
                "wrong": [],
                "about": "",
                "names": [],
                "rows": [],
            }
    return {
        "holds": all(result.holds for _, _, result in verified),
        "summary": combined_badge_text([result for _, _, result in verified], step),
        "about": verification_caption(),
        "wrong": [
            f"{trace.model}: {discrepancy_text(trace, discrepancy, trace_step)}"
            for trace, trace_step, result in verified
            for discrepancy in result.discrepancies
        ],
        "names": [gettext("quantity"), gettext("numbers"), "max |Δ|", ""],
        "rows": [
            (f"{trace.model}: {name}", *rest)
            for trace, _, result in verified
            for name, *rest in verification_rows(result)
        ],
    }


_MODELS = (FIXED_CONTEXT_MODEL, GENERAL_MODEL, ADDITIVE_MODEL, TRANSFORMER_MODEL, LARGE_MODEL)
"""Names of the model folders, in the order of the page."""
_WARM_UP_SENTENCE = "What is computed first takes longer."
"""Translated before the visitor's sentence, so that the warm-up does not count in a model's duration."""


def _make_view(request: SentenceRequest) -> View:
    traces = _all_traces(request)
    if not traces:
        raise AttnvizError(
            gettext(
                "This part of the page compares the models {names}. None of these models is installed: install at "
                "least one of them.",
                names=", ".join(_MODELS),
            )
        )
    return View(FIVE_MODELS.view_id, max(traces, key=lambda trace: len(trace.target_pieces)))


def _all_traces(request: SentenceRequest) -> list[Any]:
    """Return the translations by the installed models; raise AttnvizError on bad input."""
    folders = installed_models()
    traces = []
    for name in _MODELS:
        if name in folders:
            translate(str(folders[name]), request.device, _WARM_UP_SENTENCE, 1, None)
            traces.append(request.trace_by(name))
    return traces


def _draw(view: View, request: SentenceRequest) -> None:
    traces = _all_traces(request)
    if absent := [name for name in _MODELS if name not in installed_models()]:
        plain_text(gettext("Models not installed: {absent}.", absent=", ".join(absent)))
    rows = _bleu_rows()
    if sentence := _bleu_gap_sentence(rows):
        html(f'<p class="explanation">{sentence}</p>')
    lanes(view, _lanes(view, traces, rows))
    view_state(view)
    models_badge(view, traces)
    html(f'<h2 class="section">{gettext("Where the models look")}</h2><p class="explanation">{heatmaps_caption()}</p>')
    cells = [_cell(trace) for trace in traces if trace.attends]
    gallery(view, [group("", "", cells, len(cells))])
    if rows:
        _by_length(view, request, rows)


def _bleu_rows() -> Rows:
    return bleu_rows(_MODELS, require_all=False)


def _lanes(view: View, traces: list[Any], rows: Rows) -> dict[str, Any]:
    labels = [gettext("step {step} of {count}", step=step + 1, count=view.steps) for step in range(view.steps)]
    lane_payloads = []
    for trace in traces:
        notes = [step_caption(trace, step) for step in range(len(trace.target_pieces))]
        notes += [
            ngettext("translation finished after {count} step", "translation finished after {count} steps", len(notes))
        ] * (view.steps - len(notes))
        lane_payloads.append(written_lane(trace, model_name(trace), facts_text(_facts(trace, rows)), "", notes))
    return lanes_payload("-".join(trace.fingerprint for trace in traces), labels, lane_payloads)


def _facts(trace: Any, rows: Rows) -> ModelFacts:
    """Return the facts about the model that made `trace`, and about this translation."""
    bleu = {row["words"]: float(row["bleu"]) for row in rows if row["model"] == trace.model}
    bucket = bucket_of(len(trace.source_text.split()), list(bleu)) or ""
    return ModelFacts(count_parameters(installed_models()[trace.model]), 1000 * trace.seconds, bucket, bleu.get(bucket))


def _cell(trace: Any) -> dict[str, Any]:
    words = trace.words()
    label = gettext(
        "{model}: alignment of {target} and {source}",
        model=trace.model,
        target=ngettext("{count} French word", "{count} French words", len(words.target)),
        source=ngettext("{count} English word", "{count} English words", len(words.source)),
    )
    return cell(trace.model, words.alignment, trace.model, "", label, (words.target, words.source))


def _by_length(view: View, request: SentenceRequest, rows: Rows) -> None:
    word_count = len(request.sentence.split())
    spec = bleu_by_length(rows, marked_length=word_count)
    html(f'<h2 class="section">{_length_title()}</h2>')
    inline_chart(view, steady_payload(spec, {EVERY_STEP: ("", _length_sentence(rows))}), "by_length")


def _length_sentence(rows: Rows) -> str:
    return by_length_sentence([name for name in _MODELS if name not in {row["model"] for row in rows}], LARGE_MODEL)


def _bleu_gap_sentence(rows: Rows) -> str:
    scores = {name: {row["words"]: float(row["bleu"]) for row in rows if row["model"] == name} for name in _MODELS}
    folders = installed_models()
    if not {ADDITIVE_MODEL, TRANSFORMER_MODEL} <= folders.keys():
        return ""
    parameters = count_parameters(folders[ADDITIVE_MODEL]), count_parameters(folders[TRANSFORMER_MODEL])
    return bleu_gap_sentence(scores[ADDITIVE_MODEL], scores[TRANSFORMER_MODEL], parameters)


def _length_title() -> str:
    return gettext("BLEU by the length of the sentence")


def _pictures(asked: PayloadRequest) -> Iterator[OfferedFigure]:
    request: SentenceRequest = asked.shown["request"]
    for trace in _all_traces(request):
        if trace.attends:
            title, draw = gettext("Heatmap, {model}", model=trace.model), partial(heatmap, trace, end=True)
            yield OfferedFigure(title, title, f"heatmap-{trace.model}", draw, note=trace.translation)
    if rows := _bleu_rows():
        title, words = _length_title(), len(request.sentence.split())
        note = f"{_length_sentence(rows)} {_bleu_gap_sentence(rows)}".strip()
        yield OfferedFigure(
            title, title, "bleu-by-length", partial(bleu_by_length, rows, marked_length=words), note=note
        )


def _tables(asked: PayloadRequest) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the translations as a table, one row for each model."""
    rows = _bleu_rows()
    frame = []
    for trace in _all_traces(asked.shown["request"]):
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


FIVE_MODELS = Exhibit(_make_view, _draw, _pictures, "answers", _tables)
