"""Translations and chrF scores of a long sentence that grows clause by clause, on *Why attention?*."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from attnviz import AttnvizError, Trace
from attnviz.analysis.clauses import Growth, beginnings, clauses
from attnviz.evaluation.sentences import LONG, TABLE_3
from attnviz.figures.sentence_growth import sentence_growth_figure, sentence_growth_table
from attnviz.installed_models import installed_models
from attnviz.languages import gettext, ngettext
from attnviz.lru_cache import LRUCache, cached_in, size_of
from attnviz.model_folder import read_config
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import EVERY_STEP, chart, steady_payload
from attnviz.ui.components.side_by_side.side_by_side import lane, lanes, lanes_payload
from attnviz.ui.concurrency import TURNS
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import devices, translations
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError, address
from attnviz.ui.toolbar.downloads import Picture
from attnviz.ui.why.three_models import MODELS, missing_models_reason, reference_model, trio_stamp
from attnviz.wording.numbers import decimal
from attnviz.wording.why import attention_name, growth_sentence

_BEAM = 5


def growth_panel(view: View, theme: ThemeName) -> None:
    """Draw the growing sentence of `view`, whose trace is the reference model's translation of all of it."""
    stamp = trio_stamp()
    lanes(view, {"at": address(view.trace, "growing", theme, every=True, models=stamp)})
    chart(
        view,
        address(view.trace, "growing-chart", theme, every=True, models=stamp),
        "growth_chart",
        waiting=gettext("Translating…"),
    )


def growth_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the translations of every prefix of the sentence (whole clauses), side by side.

    Raise UnknownPayloadError where there are none.
    """
    growth = _requested_growth(request)
    labels = [
        ngettext("{count} of {all} clauses", "{count} of {all} clauses", index + 1, all=len(growth.clauses))
        + ", "
        + ngettext("{count} word", "{count} words", words)
        for index, words in enumerate(growth.words)
    ]
    lane_payloads = [
        lane(attention_name(kind), model, "", texts=texts, notes=[_note(score) for score in scores])
        for kind, model, texts, scores in zip(
            growth.attentions, growth.models, growth.translations, growth.scores, strict=True
        )
    ]
    note = gettext("reference for the others")
    lane_payloads.append(
        lane(gettext("A better model"), growth.reference_model, "", texts=growth.references, notes=[note])
    )
    return lanes_payload(f"{request.trace.fingerprint} growing", labels, lane_payloads, growth.clauses)


def growth_chart_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the translations' scores; raise UnknownPayloadError where there are none."""
    growth = _requested_growth(request)
    figure = sentence_growth_figure(growth, theme=request.theme)
    return steady_payload(figure.to_json(), {EVERY_STEP: ("", growth_sentence(growth))})


def growth_tables(trace: Trace) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the numbers of the figure, with the translations."""
    yield _title(), sentence_growth_table(growth_of(trace))


def growth_pictures(trace: Trace, theme: ThemeName = "light") -> Iterator[Picture]:
    """Yield the figure as it is saved."""
    growth = growth_of(trace)
    figure, table = sentence_growth_figure(growth, theme=theme), sentence_growth_table(growth)
    yield Picture(_title(), _title(), "sentence-growth", figure, table, growth_sentence(growth))


def growth_of(trace: Trace) -> Growth:
    """Return the three models' translations of every prefix of the source sentence of `trace`.

    `trace` is the reference model's translation. The result is cached for all visitors.
    Raise AttnvizError where a model is not installed.
    """
    reference_name = reference_model()
    if missing_models_reason() or reference_name is None:
        raise AttnvizError(missing_models_reason() or no_reference_model_reason())
    device = trace.device if trace.device in devices() else "cpu"
    with TURNS.released():
        return _compute_growth(trace.source_text, reference_name, device, trio_stamp())


def no_reference_model_reason() -> str:
    """Return the message that no reference model is installed."""
    return gettext(
        "This comparison needs a better model as its reference, but no better model is installed. Install a "
        "better model, such as en-fr."
    )


def _title() -> str:
    return gettext("A sentence that grows")


def _note(score: float) -> str:
    return f"chrF {decimal(score, 0)}"


def _requested_growth(request: PayloadRequest) -> Growth:
    try:
        return growth_of(request.trace)
    except AttnvizError as error:
        raise UnknownPayloadError("growth") from error


@cached_in(LRUCache(2 << 20, size=size_of))
def _compute_growth(sentence: str, reference_name: str, device: str, stamp: str) -> Growth:
    from attnviz.evaluation.bleu import sentence_chrf  # sacrebleu is slow to import: loaded only when a sentence grows

    parts, folders = clauses(sentence), installed_models()
    texts = list(beginnings(parts))
    references = translations(str(folders[reference_name]), device, texts, _BEAM)
    outputs = [translations(str(folders[name]), device, texts, _BEAM) for name in MODELS]
    baseline = _baseline(sentence, references, _reference_translations(reference_name, device, stamp), sentence_chrf)
    kinds = tuple(str(read_config(folders[name])["attention"]) for name in MODELS)
    scores = [
        [sentence_chrf(output, reference) for output, reference in zip(translated, references, strict=True)]
        for translated in outputs
    ]
    return Growth(
        parts, MODELS, kinds, tuple(map(tuple, outputs)), reference_name, tuple(references), np.array(scores), baseline
    )


def _baseline(
    sentence: str,
    references: Sequence[str],
    reference_translations: Mapping[str, str],
    score: Callable[[str, str], float],
) -> NDArray[np.float64]:
    """Return the mean score of unrelated translations against each reference, as a baseline.

    They are the `reference_translations` of other sentences, cut to as many words as the reference.
    """
    others = [text.split() for source, text in reference_translations.items() if source != sentence]
    return np.array(
        [
            np.mean([score(" ".join(words[: len(reference.split())]), reference) for words in others])
            for reference in references
        ]
    )


@cached_in(LRUCache(1 << 20, size=size_of))
def _reference_translations(reference_name: str, device: str, stamp: str) -> dict[str, str]:  # noqa: ARG001  part of the cache key
    """Return the reference model's translations of the built-in long sentences, by sentence."""
    sentences = [*TABLE_3, *LONG]
    return dict(
        zip(sentences, translations(str(installed_models()[reference_name]), device, sentences, _BEAM), strict=True)
    )
