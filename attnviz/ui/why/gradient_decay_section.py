"""Draw on *Why attention?* how far gradients travel in its three models, and their share at the right piece.

The right piece is the one that additive attention attends to most. The module also makes the payloads, the table and
the figure to save; the gradients are cached for all visitors.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, cast

from attnviz import AttnvizError, Trace
from attnviz.analysis.why_attention import gradient_share, gradient_share_sentences
from attnviz.figures.three_models_figure import gradient_norms
from attnviz.languages import gettext
from attnviz.lru_cache import LRUCache, size_of
from attnviz.palette import ThemeName
from attnviz.trace.parts import GradientNorms
from attnviz.ui.components.chart import EVERY_STEP, caption_payload, chart, fitting_payload
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import cached_gradient_norms, weights_digest_of
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.view import View
from attnviz.ui.waiting import TURNS
from attnviz.ui.why.three_models_section import Trio, force_decoded, missing_models_reason, trio_stamp

_CACHE: LRUCache[object] = LRUCache(4 << 20, size=size_of)


def share_panel(view: View, trio: Trio, theme: ThemeName) -> None:
    """Draw the share of the gradient that reaches the right piece in each model."""
    payload_address = address(trio.reference, "gradient-share", theme, every=True, version=trio_stamp())
    chart(view, payload_address, "gradient_share", waiting=gettext("Computing…"))


@makes_payload("gradient-share")
def share_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the shares; raise UnknownPayloadError where there are none."""
    share, _ = _sentences(*_requested(request))
    return caption_payload({EVERY_STEP: (share, "")})


def signals_panel(view: View, trio: Trio, theme: ThemeName) -> None:
    """Draw how far gradients travel in each model."""
    payload_address = address(trio.reference, "signals", theme, every=True, version=trio_stamp())
    chart(view, payload_address, "signals", waiting=gettext("Computing…"))


@makes_payload("signals")
def signals_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the figure for the requested translation; raise UnknownPayloadError where there is none."""
    traces, signals = _requested(request)
    figures = [gradient_norms(traces, signals, across=across, theme=request.theme) for across in (3, 1)]
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


def signals_pictures(trio: Trio, theme: ThemeName = "light") -> Iterator[OfferedFigure]:
    """Yield the figure as it is saved."""
    traces = force_decoded(trio.reference)
    signals = [_cached_signals(trace) for trace in traces]
    draw = partial(gradient_norms, traces, signals, theme=theme)
    yield OfferedFigure(_title(), _title(), "signals", draw, note=" ".join(_sentences(traces, signals)))


def _sentences(traces: tuple[Trace, ...], signals: list[GradientNorms]) -> tuple[str, str]:
    kinds = [str(trace.config["attention"]) for trace in traces]
    return gradient_share_sentences(kinds, [_shares(one, traces) for one in signals])


def _title() -> str:
    return gettext("How far gradients travel")


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
