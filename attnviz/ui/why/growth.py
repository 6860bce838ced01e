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
from attnviz.lru_cache import LRUCache, kept_in, size_of
from attnviz.model_folder import read_config
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import EVERY_STEP, chart, steady_payload
from attnviz.ui.components.side_by_side.side_by_side import lane, lanes, lanes_payload
from attnviz.ui.concurrency import TURNS
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import devices, models, translations
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError, address
from attnviz.ui.toolbar.downloads import Picture
from attnviz.ui.why.three_models import MODELS, judge, missing, trio_stamp
from attnviz.wording.numbers import decimal
from attnviz.wording.why import attention_name, growth_sentence

_BEAM = 5


def growing(view: View, theme: ThemeName) -> None:
    """Draw the growing sentence of `view`, which has the judge's translation of it."""
    which = trio_stamp()
    lanes(view, {"at": address(view.trace, "growing", theme, every=True, models=which)})
    chart(
        view,
        address(view.trace, "growing-chart", theme, every=True, models=which),
        "growth_chart",
        waiting=gettext("Translating…"),
    )


def growth_payload(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the translations of every beginning of the sentence, side by side.

    Raise UnknownPayloadError where there are none.
    """
    found = _asked(asked)
    labels = [
        ngettext("{count} of {all} clauses", "{count} of {all} clauses", place + 1, all=len(found.clauses))
        + ", "
        + ngettext("{count} word", "{count} words", words)
        for place, words in enumerate(found.words)
    ]
    drawn = [
        lane(attention_name(kind), model, "", texts=texts, notes=[_note(score) for score in scores])
        for kind, model, texts, scores in zip(
            found.attentions, found.models, found.translations, found.scores, strict=True
        )
    ]
    measure = gettext("reference for the others")
    drawn.append(lane(gettext("A better model"), found.judge, "", texts=found.references, notes=[measure]))
    return lanes_payload(f"{asked.trace.fingerprint} growing", labels, drawn, found.clauses)


def growth_chart_payload(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of their scores; raise UnknownPayloadError where there are none."""
    found = _asked(asked)
    figure = sentence_growth_figure(found, theme=asked.theme)
    return steady_payload(figure.to_json(), {EVERY_STEP: ("", growth_sentence(found))})


def growth_tables(trace: Trace) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the numbers of the figure, with the translations."""
    yield _title(), sentence_growth_table(grown(trace))


def growth_pictures(trace: Trace, theme: ThemeName = "light") -> Iterator[Picture]:
    """Yield the figure as it is saved."""
    found = grown(trace)
    figure, table = sentence_growth_figure(found, theme=theme), sentence_growth_table(found)
    yield Picture(_title(), _title(), "sentence-growth", figure, table, growth_sentence(found))


def grown(trace: Trace) -> Growth:
    """Return the three models' translations of every beginning of the sentence of `trace`, the judge's translation.

    They are cached for all visitors. Raise AttnvizError where a model is missing.
    """
    best = judge()
    if missing() or best is None:
        raise AttnvizError(missing() or no_judge())
    where = trace.device if trace.device in devices() else "cpu"
    with TURNS.left():
        return _grown(trace.source_text, best, where, trio_stamp())


def no_judge() -> str:
    """Return a sentence that there is no judge."""
    return gettext(
        "This comparison needs a better model as its reference, but none is installed. Install one, such as en-fr."
    )


def _title() -> str:
    return gettext("A sentence that grows")


def _note(score: float) -> str:
    return f"chrF {decimal(score, 0)}"


def _asked(asked: PayloadRequest) -> Growth:
    try:
        return grown(asked.trace)
    except AttnvizError as error:
        raise UnknownPayloadError("growth") from error


@kept_in(LRUCache(2 << 20, size=size_of))
def _grown(sentence: str, best: str, device: str, which: str) -> Growth:
    from attnviz.evaluation.bleu import sentence_chrf  # sacrebleu is slow to import: loaded only when a sentence grows

    parts, folders = clauses(sentence), models()
    texts = list(beginnings(parts))
    references = translations(str(folders[best]), device, texts, _BEAM)
    found = [translations(str(folders[name]), device, texts, _BEAM) for name in MODELS]
    floor = _floor(sentence, references, _judged(best, device, which), sentence_chrf)
    kinds = tuple(str(read_config(folders[name])["attention"]) for name in MODELS)
    scores = [[sentence_chrf(one, good) for one, good in zip(own, references, strict=True)] for own in found]
    return Growth(parts, MODELS, kinds, tuple(map(tuple, found)), best, tuple(references), np.array(scores), floor)


def _floor(
    sentence: str, references: Sequence[str], made: Mapping[str, str], score: Callable[[str, str], float]
) -> NDArray[np.float64]:
    """Return the mean score of unrelated translations against each reference, (N,): the chance level.

    They are what the judge `made` of other sentences, cut to as many words as the reference.
    """
    others = [text.split() for source, text in made.items() if source != sentence]
    return np.array(
        [np.mean([score(" ".join(words[: len(good.split())]), good) for words in others]) for good in references]
    )


@kept_in(LRUCache(1 << 20, size=size_of))
def _judged(best: str, device: str, which: str) -> dict[str, str]:  # noqa: ARG001  part of the key
    """Return the judge's translations of the built-in long sentences."""
    sentences = [*TABLE_3, *LONG]
    return dict(zip(sentences, translations(str(models()[best]), device, sentences, _BEAM), strict=True))
