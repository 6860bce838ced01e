"""Figure of word probabilities on *Why attention?*: one translation, force-decoded by all three models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from attnviz import AttnvizError, Trace
from attnviz.analysis.forced_words import ForcedWords, forced_words
from attnviz.figures.forced_words import forced_words_figure, forced_words_table
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.components.chart import EVERY_STEP, caption_payload, chart, fitting_payload
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError, address
from attnviz.ui.toolbar.downloads import Picture
from attnviz.ui.view import View
from attnviz.ui.why.three_models import Trio, force_decoded, missing_models_reason, trio_stamp
from attnviz.wording.why import forgetting_sentences


def forced_panel(view: View, trio: Trio, theme: ThemeName) -> None:
    """Draw the probability of each word in each model, with a summary."""
    payload_address = address(trio.reference, "forced-words", theme, every=True, models=trio_stamp())
    chart(view, payload_address, "forced_words", waiting=gettext("Computing…"))


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


def forced_tables(trio: Trio) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the numbers of the figure."""
    yield _title(), forced_words_table(_forced_words(trio.reference))


def forced_pictures(trio: Trio, theme: ThemeName = "light") -> Iterator[Picture]:
    """Yield the figure as it is saved."""
    words = _forced_words(trio.reference)
    figure = forced_words_figure(words, theme=theme)
    yield Picture(_title(), _title(), "forced-words", figure, forced_words_table(words), _sentence(words))


def _sentence(words: ForcedWords) -> str:
    return " ".join(forgetting_sentences(words, len(words.models) - 1))


def _title() -> str:
    return gettext("One translation, three models")


def _forced_words(reference: Trace) -> ForcedWords:
    return forced_words(force_decoded(reference))
