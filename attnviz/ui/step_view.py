"""The part of the page that follows the step: sentences, transport, heatmap, and the numbers of the step.

It is one fragment, so a change of step redraws it and leaves the rest of the page alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import plotly.graph_objects as go
import streamlit as st

from attnviz import figures
from attnviz.figures.alignment import By
from attnviz.figures.labels import piece_name
from attnviz.figures.palette import Colours, ThemeName
from attnviz.trace import Trace
from attnviz.ui import state
from attnviz.ui.words import sentences

READING = (
    '<p class="reading">Each <span class="decoder">row</span> is a French word as it was written, each '
    '<span class="encoder">column</span> an English word; the brighter a cell, the more the row’s word looked at the '
    "column’s. Every row adds up to 1.</p>"
)
KEYS = (
    '<div class="keys"><kbd>←</kbd><kbd>→</kbd> step · <kbd>Space</kbd> play, pause · click a cell or a French word to '
    "open its step · <kbd>Ctrl</kbd><kbd>Enter</kbd> translate</div>"
)
SCALES = {"paper": "Grey, as in the paper", "cividis": "Cividis, safe for colour blindness"}


@st.fragment
def step_view(trace: Trace, theme: ThemeName) -> None:
    """Draw everything that depends on the step."""
    count = len(trace.target_pieces)
    words, transport = st.container(key="words_box"), st.container(key="transport")
    step = _transport(transport, count)
    with words:
        sentences(
            trace, step, bool(st.session_state.get(state.PLAYING)),
            choose=lambda chosen: _choose(chosen, count), tick=lambda: state.tick(st.session_state, count),
        )  # fmt: skip
    left, right = st.columns([11, 10], gap="large")
    with left:
        _alignment(trace, step, theme)
    with right, st.container(key="step_panel"):
        _step_charts(trace, step, theme)
    _equations(trace, step, theme)
    _tables(trace, step)


def _choose(step: int, count: int) -> None:
    st.session_state[state.PLAYING] = False
    state.go_to(st.session_state, step, count)


def _transport(box: st.delta_generator.DeltaGenerator, count: int) -> int:
    """Draw previous, play, next and the slider; return the step on show, from 1."""
    kept = st.session_state
    with box.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Previous", icon=":material/chevron_left:", shortcut="Left", key="previous",
                  on_click=state.move, args=(kept, -1, count))  # fmt: skip
        playing = bool(kept.get(state.PLAYING))
        st.button("Pause" if playing else "Play", icon=":material/pause:" if playing else ":material/play_arrow:",
                  shortcut="Space", key="play", on_click=state.toggle_play, args=(kept, count))  # fmt: skip
        st.button("Next", icon=":material/chevron_right:", icon_position="right", shortcut="Right", key="next",
                  on_click=state.move, args=(kept, 1, count))  # fmt: skip
        if count == 1:
            return 1
        return st.slider(
            "Step", 1, count, key=state.STEP, bind="query-params", format=f"step %d of {count}",
            label_visibility="collapsed",
        )  # fmt: skip


def _alignment(trace: Trace, step: int, theme: ThemeName) -> None:
    """Draw the heatmap with its choices."""
    st.subheader("Alignment", anchor=False)
    st.html(READING)
    by, colours, root, end = heatmap_choices()
    figure = figures.heatmap(trace, by=by, colours=colours, root=root, end=end, step=step - 1, theme=theme)
    count = len(trace.target_pieces)

    def clicked() -> None:
        state.click_cell(st.session_state, st.session_state.heatmap, count)

    with st.container(key="heatmap_box"):
        _chart(figure, "heatmap", clicked)
    with st.container(horizontal=True, vertical_alignment="center", key="heatmap_choices"):
        st.segmented_control(
            "Rows and columns", ["words", "pieces"], default="words", required=True, key="by",
            label_visibility="collapsed",
        )  # fmt: skip
        st.toggle("√α", key="root", help="Colour by the square root, so that small weights can be seen.")
        st.toggle("</s\\>", value=True, key="end", help="Show the end-of-sentence mark, a position like any other.")
        st.selectbox("Colours", list(SCALES), format_func=SCALES.__getitem__, key="colours",
                     label_visibility="collapsed", width=260)  # fmt: skip
    st.html(KEYS)


def heatmap_choices() -> tuple[By, Colours, bool, bool]:
    """Return how the heatmap is to be drawn: by words or pieces, colours, square root, end mark."""
    kept = st.session_state
    return (
        cast("By", kept.get("by") or "words"),
        cast("Colours", kept.get("colours") or "paper"),
        bool(kept.get("root", False)),
        bool(kept.get("end", True)),
    )


def _step_charts(trace: Trace, step: int, theme: ThemeName) -> None:
    """Draw energies and alpha, and the likeliest words."""
    i = step - 1
    st.subheader(f"Step {step} of {len(trace.target_pieces)}", anchor=False)
    with st.container(key="stepline"):
        st.text(step_sentence(trace, step))
    if trace.config["attention"] != "none":
        st.html(
            '<p class="label"><b>Energies</b> <i>e</i>, and the weights <i>α</i> that their softmax makes of them</p>'
        )
        with st.container(key="attention_box"):
            _chart(figures.attention_bars(trace, i, theme=theme), "attention")
    st.html('<p class="label"><b>Likeliest next pieces</b>, the chosen one in violet</p>')
    _chart(figures.candidates(trace, i, theme=theme), "candidates")


def step_sentence(trace: Trace, step: int) -> str:
    """Return what happened at 1-based `step`, as plain text."""
    i = step - 1
    verb = "was given" if trace.search.method == "forced" else "wrote"
    chosen, before = piece_name(trace.target_pieces[i]), piece_name(trace.previous_pieces[i])
    return f"After {before}, the decoder {verb} {chosen} with probability {float(trace.probabilities[i]):.3f}."


def _equations(trace: Trace, step: int, theme: ThemeName) -> None:
    """Write the equations with this step's numbers, and draw the context as a sum."""
    st.subheader(f"The equations of step {step}, with their numbers", anchor=False)
    with st.container(key="equations"):
        columns = st.columns(3, gap="large")
        for place, equation in enumerate(figures.equations(trace, step - 1, theme=theme)):
            column = {"Energy": 0, "Softmax": 0, "Context vector": 1, "Decoder state": 2, "Word": 2}[equation.title]
            with columns[column]:
                st.markdown(f"#### {place + 1}. {equation.title}")
                st.latex(equation.latex)
                st.caption(equation.note)
                if equation.title == "Context vector":
                    _chart(figures.context_strips(trace, step - 1, theme=theme), "context")


def _tables(trace: Trace, step: int) -> None:
    """Offer every chart as a table, made only when opened."""
    by, _, _, end = heatmap_choices()
    box = st.expander("The charts as tables", key="tables", on_change="rerun")
    if not box.open:
        return
    with box:
        for name, table in (
            ("Alignment", figures.heatmap_table(trace, by=by, end=end)),
            (f"Energies and weights of step {step}", figures.attention_table(trace, step - 1)),
            (f"Context vector of step {step}, unit by unit", figures.context_table(trace, step - 1)),
            (f"Likeliest pieces of step {step}", figures.candidates_table(trace, step - 1)),
        ):
            st.markdown(f"**{name}**")
            st.dataframe(table, height="content" if len(table) <= 12 else 420)


def _chart(figure: go.Figure, key: str, clicked: Callable[[], None] | None = None) -> None:
    """Draw a figure with its text alternative; below its narrowest width its box scrolls. Clicks go to `clicked`."""
    meta = figure.layout.meta
    st.html(f"<style>.st-key-{key} {{ min-width: {int(meta['narrowest'])}px; }}</style>")
    options: dict[str, Any] = {} if clicked is None else {"on_select": clicked, "selection_mode": "points"}
    config = {"displayModeBar": False, "responsive": True}
    st.plotly_chart(figure, key=key, theme=None, alt=meta["alt"], config=config, **options)
