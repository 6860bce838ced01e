"""Draw the architecture diagram of the step view, at the current step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.components.diagram import diagram_drawing, diagram_payload
from attnviz.ui.page_state.view import View
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError
from attnviz.ui.step.payload_addresses import payload_address
from attnviz.ui.step.stages import narration
from attnviz.wording.diagram import has_diagram, no_diagram_reason


def diagram_panel(view: View, theme: ThemeName, titles: Mapping[int, str]) -> None:
    """Draw the computation of the current step from source to target pieces; its stages are links named by `titles`."""
    st.html(f'<h2 class="section">{gettext("Architecture diagram at this step")}</h2>')
    if not has_diagram(view.trace):
        st.text(no_diagram_reason(view.trace))
        return
    diagram_drawing(view, payload_address(view, "diagram", theme), titles)


def step_diagram_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the diagram; raise UnknownPayloadError for an architecture without one."""
    if not has_diagram(request.trace):
        raise UnknownPayloadError("diagram")
    return diagram_payload(request.trace, request.steps, narration(request.trace, request.steps))
