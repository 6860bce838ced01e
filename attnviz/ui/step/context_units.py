"""The context vector made visible: the units in which this step's is itself, added up word by word."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.analysis.context_units import context_units
from attnviz.figures.context_units import context_units_template, context_units_values
from attnviz.figures.template import to_json
from attnviz.ui.components.chart.chart import AtStep, chart, chart_record
from attnviz.ui.page_state.view import View
from attnviz.ui.records import Asked
from attnviz.wording.context_units import context_sentence, units_rule

NAME = "units"
"""Of the picture and of its record."""


def context_units_panel(view: View, at: str) -> None:
    """Draw what each source word adds to the context of the step on show, from what lies at the address `at`; `view` is
    of a model with attention."""
    chart(view, at, NAME)
    st.caption(units_rule(view.trace))


def context_units_record(asked: Asked) -> dict[str, Any]:
    """Return the picture of each step that is asked for, and what is said of it."""
    trace, theme = asked.trace, asked.theme
    drawn = {}
    for step in asked.steps:
        found = context_units(trace, step)
        values = to_json(context_units_values(trace, found, step))
        drawn[step] = AtStep(values, "", context_sentence(trace, found, step))
    return chart_record(to_json(context_units_template(trace, theme)), drawn)
