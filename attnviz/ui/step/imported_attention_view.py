"""Draw the step view of attention that another program computed, and say which panels are missing."""

from __future__ import annotations

import streamlit as st

from attnviz.architectures import step_texts
from attnviz.figures.figure_input import Subject
from attnviz.figures.registry import STEP_FIGURES
from attnviz.languages import gettext
from attnviz.ui.components.chart import chart
from attnviz.ui.components.findings import findings_panel
from attnviz.ui.components.player import SentencePair
from attnviz.ui.components.step_summary import step_summary, summary_payload
from attnviz.ui.page_state.view import View
from attnviz.ui.step.heatmap import heatmap_with_columns
from attnviz.ui.step.key_help import key_help
from attnviz.ui.step.payload_addresses import all_at_once, payload_address
from attnviz.ui.step.stages import narration
from attnviz.ui.step.step_controls import step_controls
from attnviz.ui.step.tables import chart_tables
from attnviz.ui.style import theme_name
from attnviz.wording.imported_attention import missing_values_reason

PICTURES = ("look", "energy", "softmax")
"""Figures of a step, each drawn if the attention contains its numbers."""


def imported_attention_view(view: View) -> None:
    """Draw the panels of `view`, whose trace is an `Attention`, and say which are missing."""
    with st.container(key=view.key("room")):  # components/view.js stores the view's state on this element
        step_controls(view, SentencePair((gettext("Source"), gettext("Target")), ("und", "und")))
        left, right = heatmap_with_columns(view, theme_name())
        if view.shows("numbers"):
            with left:
                findings_panel(view)
        with right, st.container(key=view.key("step_panel")):
            _step(view)
        chart_tables(view)


def _step(view: View) -> None:
    """Draw the current step: its summary, attention, and imported energies."""
    trace, theme, subject = view.trace, theme_name(), Subject(view.trace, 0)
    if all_at_once(view):
        steps = tuple(range(view.steps))
        facts = summary_payload(trace, narration(trace, steps), step_texts(trace).step_sentence)
    else:
        facts = {"at": payload_address(view, "facts", theme)}
    step_summary(view, step_texts(trace).stage_titles(trace), facts)
    key_help(view, stepping_only=not view.shows("numbers"))
    for name in PICTURES[: None if view.shows("numbers") else 1]:
        if not STEP_FIGURES[name].missing(subject):
            if name != "look":  # the stage above has the same title
                st.html(f'<h2 class="section">{STEP_FIGURES[name].title(subject)}</h2>')
            chart(view, payload_address(view, name, theme), name)
    with st.container(key=view.key("missing_values_reason")):
        st.text(missing_values_reason())
