"""The machine of the step room: the whole translator on one picture, at the step on show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.components.machine.machine import machine_drawing, machine_record
from attnviz.ui.page_state.view import View
from attnviz.ui.records import Asked, UnknownRecordError
from attnviz.ui.step.places import place_of
from attnviz.ui.step.stages import narration
from attnviz.wording.machine import has_machine, no_machine


def machine(view: View, theme: ThemeName, titles: Mapping[int, str]) -> None:
    """Draw how the numbers of the step on show run from the English pieces to the French one; the stages that it leads
    to are called by `titles`."""
    st.html(f'<h2 class="section">{gettext("The machine at this step")}</h2>')
    if not has_machine(view.trace):
        st.text(no_machine(view.trace))
        return
    machine_drawing(view, place_of(view, "machine", theme), titles)


def drawing_record(asked: Asked) -> dict[str, Any]:
    """Return what the machine is drawn from; raise UnknownRecordError of a translator that is not drawn."""
    if not has_machine(asked.trace):
        raise UnknownRecordError("machine")
    return machine_record(asked.trace, asked.steps, narration(asked.trace, asked.steps))
