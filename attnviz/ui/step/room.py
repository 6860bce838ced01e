"""The part of the page that follows the step: sentences, transport, heatmap, and the numbers of the step.

It is one fragment, so a change of step runs no more than this; most of what it draws the browser already has.
"""

from __future__ import annotations

from typing import cast

import streamlit as st

from attnviz.languages import say
from attnviz.trace import Trace
from attnviz.ui.components.findings.findings import findings_view
from attnviz.ui.components.player.player import player
from attnviz.ui.components.step_summary.step_summary import step_summary
from attnviz.ui.language import speak_as_chosen
from attnviz.ui.page_state import selection
from attnviz.ui.resources import trace_identity, weights_of
from attnviz.ui.step.glossary import glossary
from attnviz.ui.step.heatmap import heatmap_choices, heatmap_panel
from attnviz.ui.step.keys import key_names
from attnviz.ui.step.ledger import ledger_view
from attnviz.ui.step.microscope import microscope_view
from attnviz.ui.step.proof import proof_badge
from attnviz.ui.step.stages import stage, steps_at_once, words_of
from attnviz.ui.step.tables import chart_tables
from attnviz.ui.style import theme_name
from attnviz.wording.equations import equations


@st.fragment
def step_view(trace: Trace) -> None:
    """Draw everything that depends on the step."""
    speak_as_chosen()
    theme = theme_name()  # asked for here: a fragment that runs again is given the arguments of the page's last run
    selection.open_selection(st.session_state, trace_identity(trace), trace, st.query_params)
    above, below = st.container(key="player_box"), st.container(key="slider")
    with below:
        step = _slider(len(trace.target_pieces))
    _keep_in_address()
    with above:
        chosen = cast("int | None", st.session_state.get(selection.SOURCE))
        player(
            trace, step, chosen, heatmap_choices()[0], lambda choice: selection.choose(st.session_state, choice, trace)
        )
    weights, source = weights_of(trace), selection.source_of(st.session_state, trace, step)
    steps = steps_at_once(trace, step)
    words = words_of(trace, steps)
    long = len(trace.words().source) > 36
    left, right = st.columns([8, 5] if long else [11, 10], gap="large")
    with left:
        heatmap_panel(trace, theme)
        findings_view(trace, theme)
    with right, st.container(key="step_panel"):
        step_summary(trace, words)
        proof_badge(trace, weights, step)
        key_names()
        with st.popover(say("What the words on this page mean"), type="tertiary", key="glossary"):
            st.markdown("\n\n".join(glossary()))
    with st.container(key="stages"):
        for equation in equations(trace, step - 1, source - 1, theme=theme):
            with st.container(key=f"stage_{equation.stage}"):
                stage(trace, equation.stage, step, theme, words, equation)
            if equation.stage == 1:
                with st.container(key="inside_energy"):
                    microscope_view(trace, weights, step, source, theme)
            if equation.stage == 5:
                with st.container(key="inside_word"):
                    ledger_view(trace, weights, step, theme)
    chart_tables(trace, step)


def _slider(count: int) -> int:
    """Draw the slider; return the step on show, from 1."""
    step = 1
    if count > 1:
        step = st.slider(
            say("Step"), 1, count, key=selection.STEP, format=say("step {step} of {count}", step="%d", count=count),
            label_visibility="collapsed", persist_state="session",
            on_change=selection.forget_word, args=(st.session_state,),
        )  # fmt: skip
    return step


def _keep_in_address() -> None:
    """Write the step and what else was chosen into the address; what nobody chose stays out of it."""
    # Not `bind="query-params"`: a slider of another length would take its step from the address of the one before.
    kept = {
        key: st.session_state.get(key) for key in (selection.STEP, selection.SOURCE, selection.WORD, selection.STAGE)
    }
    if kept[selection.STEP] == 1:
        kept[selection.STEP] = None
    for key, value in kept.items():
        if value is None:
            st.query_params.pop(key, None)
        elif st.query_params.get(key) != str(value):
            st.query_params[key] = str(value)
