"""Draw the list of keyboard shortcuts of the step view."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.display_options import by_unit
from attnviz.ui.resources import has_posterior
from attnviz.ui.step.intervention_controls import slider_labels
from attnviz.ui.view import View


def _column_name(view: View) -> str:
    """Return the name of what a column of the heatmap stands for, as HTML."""
    if not view.trace.translated:
        words, pieces = gettext("source word"), gettext("source piece")
    else:
        words, pieces = gettext("English word"), gettext("English piece")
    return by_unit(words, pieces)


def key_help(view: View, *, stepping_only: bool = False, has_stages: bool = False) -> None:
    """Draw the keyboard shortcuts, or only those that work on every page."""
    shortcuts = {
        "←</kbd><kbd>→": gettext("step"),
        "↑</kbd><kbd>↓": _column_name(view),
        f"{gettext('Home')}</kbd><kbd>{gettext('End')}": gettext("first, last step"),
        "B": gettext("attention before the word, after the word, or the difference"),
        gettext("Space"): gettext("play, pause"),
        gettext("Esc"): gettext("deselect the word and follow the largest weight"),
        gettext("Enter"): gettext("translate"),
        "Tab</kbd> <kbd>←</kbd><kbd>→": gettext("another word of a sentence, or another weight of a bar"),
        "Tab</kbd> <kbd>↑</kbd><kbd>↓": gettext("another bar of weights"),
        "S": gettext("next stage"),
        "L": gettext("lecture mode, for a projector"),
    }
    if not view.trace.attends:
        shortcuts.pop("↑</kbd><kbd>↓")
        shortcuts.pop(gettext("Esc"))
    if slider_labels(view.trace) is None:
        shortcuts["Tab</kbd> <kbd>←</kbd><kbd>→"] = gettext("another word of a sentence")
        shortcuts.pop("Tab</kbd> <kbd>↑</kbd><kbd>↓")
    if not has_stages:
        shortcuts.pop("S")
    if stepping_only or not has_posterior(view.trace):
        shortcuts.pop("B")
    if stepping_only:
        shortcuts.pop(gettext("Enter"))
    spans = "".join(f"<span><kbd>{keys}</kbd> {what}</span>" for keys, what in shortcuts.items())
    click = (
        gettext("or click a cell, a word, a bar or a strip")
        if view.trace.attends
        else gettext("or click a French word")
    )
    st.html(f'<div class="keys">{spans}<span>{click}</span></div>')
