"""The what-if bench in the step room: what can be changed by hand at the step on show, where the model is at hand."""

from __future__ import annotations

from typing import Any

from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.trace import Record
from attnviz.ui.components.bench.bench import bench, bench_record
from attnviz.ui.components.other_word.other_word import other_word, rivals_record
from attnviz.ui.page_state.view import View
from attnviz.ui.records import Asked, address
from attnviz.ui.resources import knows_after, tokenizer_of
from attnviz.ui.step.borrowed import lenders


def can_be_changed(trace: Record) -> bool:
    """Return whether the model that made `trace` is here to translate anew."""
    return tokenizer_of(trace) is not None


def hand_words(trace: Record) -> dict[str, str] | None:
    """Return what the sliders of the bars of weights are called, or None where no bar can be pulled."""
    return {"weight": gettext("weight of {name}")} if can_be_changed(trace) and trace.attends_once else None


def bench_panel(view: View, theme: ThemeName) -> None:
    """Draw what can be tried on the look of the step on show; nothing where there is no hand on its bars."""
    if hand_words(view.trace) is not None:
        bench(view, address(view.trace, "bench", theme, every=True), lenders(view.trace))


def other_word_panel(view: View, at: str) -> None:
    """Draw the choice of another word, which lies at `at`, where one can be written."""
    if can_be_changed(view.trace):
        other_word(view, at)


def changes_record(asked: Asked) -> dict[str, Any]:
    """Return what the bench is drawn from, for all steps."""
    return bench_record(asked.trace, knows_after(asked.trace))


def other_words_record(asked: Asked) -> dict[str, Any]:
    """Return what is offered at each step that is asked for."""
    return rivals_record(asked.trace, asked.steps)
