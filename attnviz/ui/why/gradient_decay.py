"""Draw how far gradients travel in the three models, force-decoded with one translation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pandas as pd

from attnviz import AttnvizError, Trace
from attnviz.analysis.gradient_decay import focus, reach
from attnviz.figures.gradient_decay import signals_figure, signals_table
from attnviz.languages import gettext
from attnviz.lru_cache import LRUCache, size_of
from attnviz.palette import ThemeName
from attnviz.trace.attributions import Signals
from attnviz.ui.components.chart.chart import EVERY_STEP, chart, fitting_payload
from attnviz.ui.concurrency import TURNS
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import signals_of, weights_digest_of
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError, address
from attnviz.ui.toolbar.downloads import Picture
from attnviz.ui.why.three_models import Trio, led_through, missing, trio_stamp
from attnviz.wording.why import reach_sentences

_RECKONED: LRUCache[object] = LRUCache(4 << 20, size=size_of)


def signals(view: View, three: Trio, theme: ThemeName) -> None:
    """Draw how far gradients travel in each model."""
    at = address(three.good, "signals", theme, every=True, models=trio_stamp())
    chart(view, at, "signals", waiting=gettext("Computing…"))


def signals_payload(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the figure for the requested translation; raise UnknownPayloadError where there is none."""
    if missing():
        raise UnknownPayloadError("signals")
    try:
        traces = led_through(asked.trace)
        found = [_reckoned(trace) for trace in traces]
    except AttnvizError as error:
        raise UnknownPayloadError("signals") from error
    kinds, told = _kinds(traces), _told(traces, found)
    figures = [signals_figure(kinds, found, across=across, theme=asked.theme) for across in (3, 1)]
    return fitting_payload(figures, {EVERY_STEP: ("", told)})


def signals_tables(three: Trio) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the numbers of the figure."""
    yield _title(), _table(led_through(three.good))


def signals_pictures(three: Trio, theme: ThemeName = "light") -> Iterator[Picture]:
    """Yield the figure as it is saved."""
    traces = led_through(three.good)
    found = [_reckoned(trace) for trace in traces]
    figure = signals_figure(_kinds(traces), found, theme=theme)
    yield Picture(_title(), _title(), "signals", figure, _table(traces), _told(traces, found))


def _told(traces: tuple[Trace, ...], found: list[Signals]) -> str:
    return reach_sentences(_kinds(traces), [reach(one) for one in found], [_shares(one, traces) for one in found])


def _title() -> str:
    return gettext("How far learning signals travel")


def _table(traces: tuple[Trace, ...]) -> pd.DataFrame:
    """Return the numbers of all models that segment the sentences like the last one."""
    alike = [trace for trace in traces if trace.target_pieces == traces[-1].target_pieces]
    alike = [trace for trace in alike if trace.source_pieces == traces[-1].source_pieces]
    return signals_table(alike[-1], [trace.model for trace in alike], [_reckoned(trace) for trace in alike])


def _kinds(traces: tuple[Trace, ...]) -> list[str]:
    return [str(trace.config["attention"]) for trace in traces]


def _shares(found: Signals, traces: tuple[Trace, ...]) -> tuple[float, float] | None:
    """Return the share of the gradient that reaches the piece the last model attends to most, and the uniform share.

    None where another model segments the sentences differently.
    """
    looking = traces[-1]
    if not looking.attends or found.whole.shape != looking.alignment.shape:
        return None
    return focus(found, looking.alignment.argmax(axis=1))


def _reckoned(trace: Trace) -> Signals:
    """Return the signals of `trace`, cached for all visitors; raise AttnvizError where its model is missing."""

    def reckon() -> Signals:
        found = signals_of(trace)
        if found is None:
            raise AttnvizError(
                gettext(
                    "The model {model} made this translation, but it is not installed. Install it first.",
                    model=trace.model,
                )
            )
        return found

    with TURNS.left():
        return cast("Signals", _RECKONED.get((trace.fingerprint, weights_digest_of(trace)), reckon))
