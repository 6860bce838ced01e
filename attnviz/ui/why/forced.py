"""One translation that all three models are led through: how likely each finds every word of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from attnviz.analysis.forced_words import ForcedWords, forced_words
from attnviz.figures.forced_words import forced_words_figure, forced_words_table
from attnviz.languages import language, say
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import EVERY_STEP, fitting_record, given_chart
from attnviz.ui.page_state.view import View
from attnviz.ui.pictures import made_once
from attnviz.ui.toolbar.downloads import Picture
from attnviz.ui.why.trio import Trio
from attnviz.wording.why import forgetting_sentences


def forced(view: View, three: Trio, theme: ThemeName) -> None:
    """Draw the probability of each word in each model, with what is seen of it."""
    identity = "-".join(trace.fingerprint for trace in three.forced)
    given_chart(view, _record(three, identity, theme, language()), "forced_words")


@made_once
def _record(_three: Trio, identity: str, theme: ThemeName, code: str) -> dict[str, Any]:  # noqa: ARG001  the key
    found = forced_words(_three.forced)
    told = " ".join(forgetting_sentences(found, len(found.models) - 1))
    figures = [forced_words_figure(found, slanting=slanting, theme=theme) for slanting in (False, True)]
    return fitting_record(figures, {EVERY_STEP: ("", told)})


def forced_tables(three: Trio) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the numbers of the picture."""
    yield _title(), forced_words_table(_found(three))


def forced_pictures(three: Trio) -> Iterator[Picture]:
    """Yield the picture as it is saved."""
    found = _found(three)
    yield Picture(_title(), _title(), "forced-words", forced_words_figure(found), forced_words_table(found))


def _title() -> str:
    return say("One translation, three models")


def _found(three: Trio) -> ForcedWords:
    return forced_words(three.forced)
