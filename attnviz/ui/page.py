"""The page: a sentence, its translation, and one decoder step at a time."""

from __future__ import annotations

from typing import cast

import streamlit as st

from attnviz import AttnvizError, Trace
from attnviz.ui import state
from attnviz.ui.charts import load_library
from attnviz.ui.controls import Request, controls
from attnviz.ui.downloads import downloads
from attnviz.ui.examples import OPENING
from attnviz.ui.resources import MODELS_VARIABLE, models, translate
from attnviz.ui.step_view import step_view, trace_identity
from attnviz.ui.style import apply_style, theme_name

_LAST = "last_trace"

_MASTHEAD = (
    '<div class="masthead"><h1 class="title">attnviz</h1><span class="about">A recurrent translator with additive '
    "attention, opened up: which English words each French word looked at, and how that look was computed.</span></div>"
)


def translate_page() -> None:
    """Draw the page."""
    apply_style(theme_name())
    load_library()
    st.html(_MASTHEAD)
    available = models()
    if not available:
        _problem(f"There is no model here. Put a model folder in models, or name its parent in {MODELS_VARIABLE}.")
        return
    request, beside = controls(available)
    messages = st.container(key="messages")  # always there, so that nothing below is moved and drawn anew
    with messages:
        asked = _translation(request)
        trace = asked or _instead(request)
        if trace is None:
            return
        if asked:
            _notice(trace)
    with beside:
        downloads(trace)
        if asked:
            _status(trace)
    linked = st.query_params.get(state.STEP)
    state.open_translation(st.session_state, trace_identity(trace), len(trace.target_pieces), linked)
    step_view(trace)


def _translation(request: Request) -> Trace | None:
    """Return the trace asked for; on bad input say so and return None."""
    try:
        with st.spinner("Translating…"):
            trace = translate(request.folder, request.device, request.text, request.beam, request.target)
    except AttnvizError as error:
        _problem(str(error))
        return None
    st.session_state[_LAST] = trace
    return trace


def _instead(request: Request) -> Trace | None:
    """Return the translation shown before, or the opening example's where the page opens on bad input."""
    if _LAST not in st.session_state:
        try:
            st.session_state[_LAST] = translate(request.folder, request.device, OPENING, 1, None)
        except AttnvizError:
            return None
    st.text("Below is the last sentence that could be translated.")
    return cast("Trace", st.session_state[_LAST])


def _status(trace: Trace) -> None:
    """Say what ran, where, and for how long."""
    how = {
        "greedy": "greedy search",
        "beam": f"beam search, width {trace.search.beam}",
        "forced": "your own translation",
    }[trace.search.method]
    with st.container(key="status", width="stretch"):
        st.text(f"{trace.model} on {trace.device} · {how} · {1000 * trace.seconds:.0f} ms")


def _notice(trace: Trace) -> None:
    """Say that the translation was given, and what the tokenizer did not know."""
    forced = trace.search.method == "forced"
    if not forced and not trace.unknown_characters:
        return
    with st.container(key="notice"):
        if forced:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text("Led through your own translation.", width="content")
                st.button("Clear", key="clear", on_click=state.drop_target, args=(st.session_state,))
        if trace.unknown_characters:
            listed = "  ".join(trace.unknown_characters[:20])
            st.text(f"The model has never seen these stretches of text and reads each as <unk>: {listed}")


def _problem(message: str) -> None:
    """Show a sentence that may quote the visitor, as it is: st.text reads no markup."""
    with st.container(key="problem"):
        st.text(message)
