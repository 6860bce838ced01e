"""Draw the units that distinguish the context vector of the current step, each as a sum over source words."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.analysis.context_units import context_units
from attnviz.figures.context_units import context_units_template, context_units_values
from attnviz.figures.template import to_json
from attnviz.ui.components.chart import AtStep, chart, chart_payload
from attnviz.ui.shared_payloads import PayloadRequest
from attnviz.ui.view import View
from attnviz.wording.context_units import context_sentence, displayed_units_caption

NAME = "units"
"""Name of the figure and of its payload."""


def context_units_panel(view: View, address: str) -> None:
    """Draw what each source word adds to the context of the current step, from the payload at `address`.

    The model of `view` must have attention.
    """
    chart(view, address, NAME)
    st.caption(displayed_units_caption(view.trace))


def context_units_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload with the figure and the caption of each requested step."""
    trace, theme = request.trace, request.theme
    by_step = {}
    for step in request.steps:
        step_units = context_units(trace, step)
        values = to_json(context_units_values(trace, step_units, step))
        by_step[step] = AtStep(values, "", context_sentence(trace, step_units, step))
    return chart_payload(to_json(context_units_template(trace, theme)), by_step)
