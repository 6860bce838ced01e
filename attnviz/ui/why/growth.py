"""Translate a long sentence of the paper's, or the visitor's, as it grows clause by clause."""

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
from attnviz.languages import gettext, ngettext
from attnviz.lru_cache import LRUCache, cached_in, size_of
from attnviz.model_folder import read_config
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import EVERY_STEP, chart, steady_payload
from attnviz.ui.components.side_by_side.side_by_side import lane, lanes, lanes_payload
from attnviz.ui.concurrency import TURNS
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import devices, models, translations
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError, address
from attnviz.ui.toolbar.downloads import Picture
from attnviz.ui.why.three_models import MODELS, judge, missing_models_reason, trio_stamp
from attnviz.wording.numbers import decimal
from attnviz.wording.why import attention_name, growth_sentence

_BEAM = 5


def growth_panel(view: View, theme: ThemeName) -> None:
    """Draw the growing sentence of `view`, which has the judge's translation of it."""
    stamp = trio_stamp()
    lanes(view, {"at": address(view.trace, "growing", theme, every=True, models=stamp)})
    chart(
        view,
        address(view.trace, "growing-chart", theme, every=True, models=stamp),
        "growth_chart",
        waiting=gettext("Translating…"),
    )


def growth_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the translations of every beginning of the sentence, side by side.

    Raise UnknownPayloadError where there are none.
    """
    growth = _requested(request)
    labels = [
        ngettext("{count} of {all} clauses", "{count} of {all} clauses", place + 1, all=len(growth.clauses))
        + ", "
        + ngettext("{count} word", "{count} words", words)
        for place, words in enumerate(growth.words)
    ]
    drawn = [
        lane(attention_name(kind), model, "", texts=texts, notes=[_note(score) for score in scores])
        for kind, model, texts, scores in zip(
            growth.attentions, growth.models, growth.translations, growth.scores, strict=True
        )
    ]
    measure = gettext("reference for the others")
    drawn.append(lane(gettext("A better model"), growth.judge, "", texts=growth.references, notes=[measure]))
    return lanes_payload(f"{request.trace.fingerprint} growing", labels, drawn, growth.clauses)


def growth_chart_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of their scores; raise UnknownPayloadError where there are none."""
    growth = _requested(request)
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
    """Return the three models' translations of every beginning of the sentence of `trace`, the judge's translation.

    They are cached for all visitors. Raise AttnvizError where a model is not installed.
    """
    judge_name = judge()
    if missing_models_reason() or judge_name is None:
        raise AttnvizError(missing_models_reason() or no_judge_reason())
    device = trace.device if trace.device in devices() else "cpu"
    with TURNS.left():
        return _compute_growth(trace.source_text, judge_name, device, trio_stamp())


def no_judge_reason() -> str:
    """Return the message that no reference model is installed."""
    return gettext(
        "This comparison needs a better model as its reference, but none is installed. Install one, such as en-fr."
    )


def _title() -> str:
    return gettext("A sentence that grows")


def _note(score: float) -> str:
    return f"chrF {decimal(score, 0)}"


def _requested(request: PayloadRequest) -> Growth:
    try:
        return growth_of(request.trace)
    except AttnvizError as error:
        raise UnknownPayloadError("growth") from error


@cached_in(LRUCache(2 << 20, size=size_of))
def _compute_growth(sentence: str, judge_name: str, device: str, stamp: str) -> Growth:
    from attnviz.evaluation.bleu import sentence_chrf  # sacrebleu is slow to import: loaded only when a sentence grows

    parts, folders = clauses(sentence), models()
    texts = list(beginnings(parts))
    references = translations(str(folders[judge_name]), device, texts, _BEAM)
    outputs = [translations(str(folders[name]), device, texts, _BEAM) for name in MODELS]
    baseline = _baseline(sentence, references, _judge_translations(judge_name, device, stamp), sentence_chrf)
    kinds = tuple(str(read_config(folders[name])["attention"]) for name in MODELS)
    scores = [
        [sentence_chrf(output, reference) for output, reference in zip(own, references, strict=True)] for own in outputs
    ]
    return Growth(
        parts, MODELS, kinds, tuple(map(tuple, outputs)), judge_name, tuple(references), np.array(scores), baseline
    )


def _baseline(
    sentence: str, references: Sequence[str], judged: Mapping[str, str], score: Callable[[str, str], float]
) -> NDArray[np.float64]:
    """Return the mean score of unrelated translations against each reference, (N,), as a baseline.

    They are the judge's translations of other sentences (`judged`), cut to as many words as the reference.
    """
    others = [text.split() for source, text in judged.items() if source != sentence]
    return np.array(
        [
            np.mean([score(" ".join(words[: len(reference.split())]), reference) for words in others])
            for reference in references
        ]
    )


@cached_in(LRUCache(1 << 20, size=size_of))
def _judge_translations(judge_name: str, device: str, stamp: str) -> dict[str, str]:  # noqa: ARG001  part of the key
    """Return the judge's translations of the built-in long sentences."""
    sentences = [*TABLE_3, *LONG]
    return dict(zip(sentences, translations(str(models()[judge_name]), device, sentences, _BEAM), strict=True))
