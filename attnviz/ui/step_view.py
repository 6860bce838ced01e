"""The part of the page that follows the step: sentences, transport, heatmap, and the numbers of the step.

It is one fragment, so a change of step runs no more than this; most of what it draws the browser already has.
"""

from __future__ import annotations

from typing import cast

import streamlit as st

from attnviz import figures
from attnviz.figures.alignment import By
from attnviz.figures.palette import Colours, ThemeName
from attnviz.figures.stages import maxout_table, state_table
from attnviz.text import join_pieces
from attnviz.trace import Trace
from attnviz.ui import state
from attnviz.ui.charts import EVERY_STEP, chart
from attnviz.ui.components import component
from attnviz.ui.ledger_view import ledger_view
from attnviz.ui.microscope_view import microscope_view
from attnviz.ui.player import player
from attnviz.ui.proof_view import proof_badge
from attnviz.ui.reading_view import reading_view
from attnviz.ui.resources import trace_identity, weights_of
from attnviz.ui.stages import Words, pairs_of, stage, steps_at_once, words_of
from attnviz.ui.style import theme_name

__all__ = ["heatmap_choices", "step_sentence", "step_view", "trace_identity"]

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
MARGINS = (
    "Below the heatmap how much each English word was looked at in all, Σ α down its column; on the right how widely "
    "each row looked, its entropy H in bits. H is always that of pieces, also where the heatmap is by words."
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
    '<div class="keys"><span><kbd>←</kbd><kbd>→</kbd> step</span><span><kbd>↑</kbd><kbd>↓</kbd> English piece</span>'
    "<span><kbd>Home</kbd><kbd>End</kbd> first, last step</span><span><kbd>Space</kbd> play, pause</span>"
    "<span><kbd>Esc</kbd> back to the piece looked at most</span><span><kbd>Ctrl</kbd><kbd>Enter</kbd> translate</span>"
    "<span>or click a cell, a word, a bar, a strip</span></div>"
)
SCALES = {"paper": "Grey, as in the paper", "cividis": "Cividis, safe for colour blindness"}


@st.fragment
def step_view(trace: Trace) -> None:
    """Draw everything that depends on the step."""
    theme = theme_name()  # asked for here: a fragment that runs again is given the arguments of the page's last run
    state.open_selection(st.session_state, trace_identity(trace), trace, st.query_params)
    above, below = st.container(key="player_box"), st.container(key="slider")
    with below:
        step = _slider(len(trace.target_pieces))
    _keep_in_address()
    with above:
        chosen = cast("int | None", st.session_state.get(state.SOURCE))
        player(trace, step, chosen, lambda choice: state.choose(st.session_state, choice, trace))
    weights, source = weights_of(trace), state.source_of(st.session_state, trace, step)
    steps = steps_at_once(trace, step)
    words = words_of(trace, steps)
    long = len(trace.words().source) > 36
    left, right = st.columns([8, 5] if long else [11, 10], gap="large")
    with left:
        _alignment(trace, theme)
        reading_view(trace, theme)
    with right, st.container(key="step_panel"):
        _facts(trace, words)
        proof_badge(trace, weights, step)
        st.html(KEYS)
        with st.popover("What the words on this page mean", type="tertiary", key="glossary"):
            st.markdown(GLOSSARY)
    with st.container(key="stages"):
        for equation in figures.equations(trace, step - 1, source - 1, theme=theme):
            with st.container(key=f"stage_{equation.stage}"):
                stage(trace, equation.stage, step, theme, words, equation)
            if equation.stage == 1:
                with st.container(key="inside_energy"):
                    microscope_view(trace, weights, step, source, theme)
            if equation.stage == 5:
                with st.container(key="inside_word"):
                    ledger_view(trace, weights, step, theme)
    _tables(trace, step)


def _slider(count: int) -> int:
    """Draw the slider; return the step on show, from 1."""
    step = 1
    if count > 1:
        step = st.slider(
            "Step", 1, count, key=state.STEP, format=f"step %d of {count}", label_visibility="collapsed",
            on_change=state.forget_word, args=(st.session_state,),
        )  # fmt: skip
    return step


def _keep_in_address() -> None:
    """Write the step and what else was chosen into the address; what nobody chose stays out of it."""
    # Not `bind="query-params"`: a slider of another length would take its step from the address of the one before.
    kept = {key: st.session_state.get(key) for key in (state.STEP, state.SOURCE, state.WORD, state.STAGE)}
    if kept[state.STEP] == 1:
        kept[state.STEP] = None
    for key, value in kept.items():
        if value is None:
            st.query_params.pop(key, None)
        elif st.query_params.get(key) != str(value):
            st.query_params[key] = str(value)


def _alignment(trace: Trace, theme: ThemeName) -> None:
    """Draw the heatmap with its choices. It is the same at every step: the browser moves the frame."""
    st.subheader("Alignment", anchor=False)
    by, colours, root, end, margins = heatmap_choices()
    st.html(READING.format(total=TOTALS[end]))
    figure = figures.heatmap(trace, by=by, colours=colours, root=root, end=end, margins=margins, theme=theme)
    chart({EVERY_STEP: figure.to_json()}, "heatmap")
    with st.container(horizontal=True, vertical_alignment="center", key="heatmap_choices"):
        st.segmented_control(
            "Rows and columns", ["words", "pieces"], default="words", required=True, key="by",
            label_visibility="collapsed",
        )  # fmt: skip
        st.toggle("√α", key="root", help="Colour by the square root, so that small weights can be seen.")
        st.toggle("End mark", value=True, key="end", help=END_MARK)
        st.toggle("Margins", key="margins", help=MARGINS)
        st.selectbox("Colours", list(SCALES), format_func=SCALES.__getitem__, key="colours",
                     label_visibility="collapsed", width=260)  # fmt: skip


def heatmap_choices() -> tuple[By, Colours, bool, bool, bool]:
    """Return how the heatmap is to be drawn: by words or pieces, colours, square root, end mark, margins."""
    kept = st.session_state
    return (
        cast("By", kept.get("by") or "words"),
        cast("Colours", kept.get("colours") or "paper"),
        bool(kept.get("root", False)),
        bool(kept.get("end", True)),
        bool(kept.get("margins", False)),
    )


def _facts(trace: Trace, words: Words) -> None:
    """Draw the step in short: what it wrote, and the outcome of each of its stages."""
    count = len(trace.target_pieces)
    record = {
        "stages": [{"number": told.number, "title": told.title} for told in next(iter(words.values()))],
        "steps": {
            str(i): {
                "heading": f"Step {i} of {count}",
                "sentence": step_sentence(trace, i),
                "outcomes": [told.outcome for told in stages],
            }
            for i, stages in words.items()
        },
        "stage": st.session_state.get(state.STAGE),
    }
    component("facts", "html", "css", isolate=False)(key="facts", data=record)


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


def _tables(trace: Trace, step: int) -> None:
    """Offer every chart as a table, made only when opened."""
    by, _, _, end, margins = heatmap_choices()
    box = st.expander("The charts as tables", key="tables", on_change="rerun")
    if not box.open:
        return
    with box:
        for name, table in (
            ("Alignment", figures.heatmap_table(trace, by=by, end=end, margins=margins)),
            (f"Energies and weights of step {step}", figures.attention_table(trace, step - 1)),
            (f"Context vector of step {step}, unit by unit", figures.context_table(trace, step - 1)),
            (f"State of step {step}, unit by unit", state_table(trace, step - 1)),
            (f"Maxout of step {step}", maxout_table(trace, step - 1, pairs_of(trace, step))),
            (f"Likeliest pieces of step {step}", figures.candidates_table(trace, step - 1)),
        ):
            st.markdown(f"**{name}**")
            st.dataframe(table, height="content" if len(table) <= 12 else 420)
