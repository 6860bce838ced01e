"""The machine of the step room: the whole translator on one picture, at the step on show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attnviz.languages import say
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.ui.components.machine.machine import machine_drawing, machine_record
from attnviz.ui.page_state.view import View
from attnviz.ui.records import Asked
from attnviz.ui.step.places import place_of
from attnviz.ui.step.stages import narration


def machine(view: View, theme: ThemeName, titles: Mapping[int, str]) -> None:
    """Draw how the numbers of the step on show run from the English pieces to the French one; the stages that it leads
    to are called by `titles`."""
    st.html(f'<h2 class="section">{say("The machine at this step")}</h2>')
    if not isinstance(view.trace, Trace):
        st.text(say("The machine that is drawn here is that of the recurrent translators. What a transformer does at "
                    "this step is told by its stages."))  # fmt: skip
        return
    machine_drawing(view, place_of(view, "machine", theme), titles)


def drawing_record(asked: Asked) -> dict[str, Any]:
    """Return what the machine is drawn from."""
    return machine_record(asked.trace, asked.steps, narration(asked.trace, asked.steps))
