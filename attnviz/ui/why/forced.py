"""Force-decode one translation with all three models: the probability of every word of it in each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from attnviz import AttnvizError, Trace
from attnviz.analysis.forced_words import ForcedWords, forced_words
from attnviz.figures.forced_words import forced_words_figure, forced_words_table
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import EVERY_STEP, chart, fitting_payload, steady_payload
from attnviz.ui.page_state.view import View
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError, address
from attnviz.ui.toolbar.downloads import Picture
from attnviz.ui.why.three_models import Trio, led_through, missing, trio_stamp
from attnviz.wording.why import forgetting_sentences

_NOTHING = {"height": 10, "xaxis": {"visible": False}, "yaxis": {"visible": False}, "meta": {"alt": "", "narrowest": 1}}
"""Layout of an empty figure; the sentence above it gives the reason."""


def forced(view: View, three: Trio, theme: ThemeName) -> None:
    """Draw the probability of each word in each model, with a summary."""
    at = address(three.good, "forced-words", theme, every=True, models=trio_stamp())
    chart(view, at, "forced_words", waiting=gettext("Computing…"))


def forced_payload(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the figure for the requested translation, or of an empty one with the reason.

    Raise UnknownPayloadError where one of the models is missing.
    """
    if missing():
        raise UnknownPayloadError("forced-words")
    try:
        found = _found(asked.trace)
    except AttnvizError as error:  # for example, the models segment it into different words
        return steady_payload(go.Figure(layout=_NOTHING).to_json(), {EVERY_STEP: ("", str(error))})
    told = _told(found)
    figures = [forced_words_figure(found, slanting=slanting, theme=asked.theme) for slanting in (False, True)]
    return fitting_payload(figures, {EVERY_STEP: ("", told)})


def forced_tables(three: Trio) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the numbers of the figure."""
    yield _title(), forced_words_table(_found(three.good))


def forced_pictures(three: Trio, theme: ThemeName = "light") -> Iterator[Picture]:
    """Yield the figure as it is saved."""
    found = _found(three.good)
    figure = forced_words_figure(found, theme=theme)
    yield Picture(_title(), _title(), "forced-words", figure, forced_words_table(found), _told(found))


def _told(found: ForcedWords) -> str:
    return " ".join(forgetting_sentences(found, len(found.models) - 1))


def _title() -> str:
    return gettext("One translation, three models")


def _found(good: Trace) -> ForcedWords:
    return forced_words(led_through(good))
