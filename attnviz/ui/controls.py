"""The sentence box, the examples, and the choices of model, device and search."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.ui import state
from attnviz.ui.examples import EXAMPLES, OPENING
from attnviz.ui.resources import devices

SEARCHES = ("greedy", *(f"beam {width}" for width in (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)))


@dataclass(frozen=True)
class Request:
    """What the visitor asks for."""

    text: str
    folder: str
    device: str
    beam: int
    target: str | None
    """The translation to force, or None to search for one."""


def controls(models: dict[str, Path]) -> tuple[Request, DeltaGenerator]:
    """Draw the controls; return what they ask for, and a place beside them for what comes of it.

    `models` (by name) must not be empty.
    """
    text = st.text_area(
        "English sentence", value=OPENING, key=state.SENTENCE, bind="query-params", height=68,
        label_visibility="collapsed", placeholder="Type an English sentence of up to 200 words.",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center", key="examples"):
        st.button("Translate", type="primary", key="translate", shortcut="Ctrl+Enter")
        for number, (kind, sentences) in enumerate(EXAMPLES.items()):
            key = f"example_{number}"
            st.menu_button(kind, sentences, type="tertiary", key=key, on_click=_take_example, args=(key,))
        with st.popover("Model and search", type="tertiary", key="choices"):
            name, device, search, target = _choices(models)
        beside = st.container(key="beside", width="stretch", horizontal=True, vertical_alignment="center")
    given = (target or "").strip()
    return Request(text or "", str(models[name]), device, state.beam_of(search), given or None), beside


def _choices(models: dict[str, Path]) -> tuple[str, str, str, str | None]:
    """Draw model, device, search and the box for a given translation; return them."""
    name = st.selectbox("Model", list(models), key=state.MODEL, bind="query-params")
    device = st.selectbox("Device", devices(), key=state.DEVICE, help="auto takes a GPU where there is one.")
    target = st.text_area(
        "Your own translation (optional)", key=state.TARGET, bind="query-params", height="content",
        help="The decoder is led through these words and shows where it would have looked for each: forced decoding.",
    )  # fmt: skip
    search = st.selectbox(
        "Search", SEARCHES, key=state.SEARCH, bind="query-params", disabled=bool((target or "").strip()),
        help="Greedy takes the likeliest piece at each step; a beam keeps the best few translations alive.",
    )  # fmt: skip
    return name, device, search, target


def _take_example(key: str) -> None:
    chosen = st.session_state[key]
    if chosen:
        state.take_example(st.session_state, str(chosen))
