"""The part of the page that follows the step: sentences, transport, heatmap, and the numbers of the step.

It is one fragment, so a change of step runs no more than this; most of what it draws the browser already has.
"""

from __future__ import annotations

from typing import cast

import streamlit as st

from attnviz import figures
from attnviz.figures.alignment import By
from attnviz.figures.palette import Colours, ThemeName
from attnviz.text import join_pieces
from attnviz.trace import Trace
from attnviz.ui import state
from attnviz.ui.charts import EVERY_STEP, chart
from attnviz.ui.player import player
from attnviz.ui.style import theme_name

MOST_AT_ONCE = 100
"""Steps whose charts are all sent to the browser together; of a longer translation each is sent when it is shown."""

READING = (
    '<p class="reading">Each <span class="decoder">row</span> is a French word as it was written, each '
    '<span class="encoder">column</span> an English word; the brighter a cell, the more the row’s word looked at the '
    "column’s. {total}</p>"
)
TOTALS = {
    True: "Every row adds up to 1.",
    False: "Every row adds up to 1 together with the hidden &lt;/s&gt;.",
}
"""What the rows add up to, with `</s>` on show and without."""
END_MARK = (
    "Show `</s>`, the end of the sentence: a position like any other, which takes its share of every row. Hidden, its "
    "share is missing: rows then add up to less than 1."
)
STRIPS = (
    "One column for each unit; blue is positive, red negative, stronger with the square root of the amount, so "
    "that small terms can be seen. The strips add up to the framed one."
)
GLOSSARY = """
**Piece**: what the model reads and writes instead of words: a frequent word, or a part of a rarer one.

**`<s>`, `</s>`, `<unk>`**: the start of a sentence, its end, and a stretch of text the model has never seen.

**Annotation** $h_j$: what the encoder says of piece $j$, having read the sentence from both ends.

**Energy** $e_{ij}$: how well the decoder, before step $i$, fits annotation $j$; any number, also negative.

**Weight** $\\alpha_{ij}$: the energies of a step made positive and adding up to 1: the share of its look.

**Greedy search**: take the likeliest piece at each step; **beam search** keeps the best few translations alive.
"""
KEYS = (
    '<div class="keys"><kbd>←</kbd><kbd>→</kbd> step · <kbd>Space</kbd> play, pause · click a cell or a French word to '
    "open its step · <kbd>Ctrl</kbd><kbd>Enter</kbd> translate</div>"
)
SCALES = {"paper": "Grey, as in the paper", "cividis": "Cividis, safe for colour blindness"}


@st.fragment
def step_view(trace: Trace) -> None:
    """Draw everything that depends on the step."""
    theme = theme_name()  # asked for here: a fragment that runs again is given the arguments of the page's last run
    state.open_selection(st.session_state, trace_identity(trace), trace, st.query_params)
    count = len(trace.target_pieces)
    above, below = st.container(key="player_box"), st.container(key="slider")
    with below:
        step = _slider(count)
    with above:
        player(trace, step, lambda chosen: state.go_to(st.session_state, chosen, count))
    long = len(trace.words().source) > 36
    left, right = st.columns([1, 1] if long else [11, 10], gap="large")
    source = state.source_of(st.session_state, trace, step)  # noqa: F841  for the microscope
    with left:
        _alignment(trace, theme)
        # slot: reading
    with right, st.container(key="step_panel"):
        # slot: proof
        _step_charts(trace, step, theme)
    _equations(trace, step, theme)
    with st.container(key="inside_energy"):
        pass
        # slot: microscope
    with st.container(key="inside_word"):
        pass
        # slot: ledger
    _tables(trace, step)


def _slider(count: int) -> int:
    """Draw the slider and put the step in the address; return the step on show, from 1."""
    step = 1
    if count > 1:
        step = st.slider(
            "Step", 1, count, key=state.STEP, format=f"step %d of {count}", label_visibility="collapsed"
        )  # fmt: skip
    # Not `bind="query-params"`: a slider of another length would take its step from the address of the one before.
    if step == 1:
        st.query_params.pop(state.STEP, None)
    elif st.query_params.get(state.STEP) != str(step):
        st.query_params[state.STEP] = str(step)
    return step


def _alignment(trace: Trace, theme: ThemeName) -> None:
    """Draw the heatmap with its choices. It is the same at every step: the browser moves the frame."""
    st.subheader("Alignment", anchor=False)
    by, colours, root, end = heatmap_choices()
    st.html(READING.format(total=TOTALS[end]))
    figure = figures.heatmap(trace, by=by, colours=colours, root=root, end=end, theme=theme)
    chart({EVERY_STEP: figure.to_json()}, "heatmap")
    with st.container(horizontal=True, vertical_alignment="center", key="heatmap_choices"):
        st.segmented_control(
            "Rows and columns", ["words", "pieces"], default="words", required=True, key="by",
            label_visibility="collapsed",
        )  # fmt: skip
        st.toggle("√α", key="root", help="Colour by the square root, so that small weights can be seen.")
        st.toggle("End mark", value=True, key="end", help=END_MARK)
        st.selectbox("Colours", list(SCALES), format_func=SCALES.__getitem__, key="colours",
                     label_visibility="collapsed", width=260)  # fmt: skip
    st.html(KEYS)
    with st.popover("What the words on this page mean", type="tertiary", key="glossary"):
        st.markdown(GLOSSARY)


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
    count = len(trace.target_pieces)
    steps = range(1, count + 1) if count <= MOST_AT_ONCE else range(step, step + 1)
    attention, likeliest = _step_figures(trace, trace_identity(trace), tuple(steps), theme)
    captions = {i: (f"Step {i} of {count}", step_sentence(trace, i)) for i in steps}
    if trace.config["attention"] != "none":
        chart(attention, "attention", captions)
    st.html('<p class="label"><b>Likeliest next pieces</b>, the chosen one in violet; · continues a word</p>')
    chart(likeliest, "candidates", captions if trace.config["attention"] == "none" else None)


@st.cache_data(max_entries=64, show_spinner=False)
def _step_figures(
    _trace: Trace,
    identity: tuple[object, ...],  # noqa: ARG001  it is the key of the cache, which cannot hash a trace
    steps: tuple[int, ...],
    theme: ThemeName,
) -> tuple[dict[int, str], dict[int, str]]:
    """Return the two charts of each of `steps` as JSON."""
    return (
        {i: figures.attention_bars(_trace, i - 1, theme=theme).to_json() for i in steps},
        {i: figures.candidates(_trace, i - 1, theme=theme).to_json() for i in steps},
    )


def trace_identity(trace: Trace) -> tuple[object, ...]:
    """Return what tells one translation from another."""
    return (trace.model, trace.device, trace.source_text, trace.target_ids, trace.search.method, trace.search.beam)


def step_sentence(trace: Trace, step: int) -> str:
    """Return what happened at 1-based `step`, as plain text."""
    i = step - 1
    verb = "was given" if trace.search.method == "forced" else "wrote"
    chosen, before = (_surface(pieces[i]) for pieces in (trace.target_pieces, trace.previous_pieces))
    p = float(trace.probabilities[i])
    amount = f"{p:.3f}" if p >= 0.0005 else "less than 0.001"
    return f"After {before}, the decoder {verb} {chosen} with probability {amount}."


def _surface(piece: str) -> str:
    text = join_pieces([piece])
    return f"“{text}”" if text else "a blank"


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
                    chart({step: figures.context_strips(trace, step - 1, theme=theme).to_json()}, "context")
                    st.caption(STRIPS)


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
