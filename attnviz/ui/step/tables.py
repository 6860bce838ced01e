"""Every chart as a table."""

from __future__ import annotations

import streamlit as st

from attnviz import figures
from attnviz.figures.state import state_table
from attnviz.languages import say
from attnviz.trace import Trace
from attnviz.ui.step.heatmap import heatmap_choices
from attnviz.ui.step.subject import subject_of


def chart_tables(trace: Trace, step: int) -> None:
    """Offer every chart as a table, made only when opened."""
    by, _, _, end, margins = heatmap_choices()
    box = st.expander(say("The charts as tables"), key="tables", on_change="rerun")
    if not box.open:
        return
    subject = subject_of(trace, step)
    with box:
        for name, table in (
            (say("Alignment"), figures.heatmap_table(trace, by=by, end=end, margins=margins)),
            (say("Energies and weights of step {step}", step=step), figures.attention_table(trace, step - 1)),
            (say("Context vector of step {step}, unit by unit", step=step), figures.context_table(trace, step - 1)),
            (say("State of step {step}, unit by unit", step=step), state_table(trace, step - 1)),
            (say("Maxout of step {step}", step=step), figures.STEP_FIGURES["maxout"].table(subject)),
            (say("Likeliest pieces of step {step}", step=step), figures.candidates_table(trace, step - 1)),
        ):
            st.markdown(f"**{name}**")
            st.dataframe(table, height="content" if len(table) <= 12 else 420)
