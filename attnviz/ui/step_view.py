"""The part of the page that follows the step: sentences, transport, heatmap, and the numbers of the step.

It is one fragment, so a change of step runs no more than this; most of what it draws the browser already has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import streamlit as st

from attnviz import figures
from attnviz.figures import narration
from attnviz.figures.alignment import By, grid
from attnviz.figures.labels import quote, shorten
from attnviz.figures.palette import Colours, ThemeName
from attnviz.figures.strips import maxout_table, state_table
from attnviz.languages import language, say
from attnviz.trace import Trace
from attnviz.ui import state
from attnviz.ui.charts import EVERY_STEP, chart
from attnviz.ui.components import component
from attnviz.ui.language import speak_as_chosen
from attnviz.ui.ledger_view import ledger_view
from attnviz.ui.microscope_view import microscope_view
from attnviz.ui.player import player
from attnviz.ui.proof_view import proof_badge
from attnviz.ui.reading_view import reading_view
from attnviz.ui.resources import trace_identity, weights_of
from attnviz.ui.stages import Words, pairs_of, stage, steps_at_once, words_of
from attnviz.ui.style import theme_name

__all__ = ["heatmap_choices", "step_sentence", "step_view", "trace_identity"]


@st.fragment
def step_view(trace: Trace) -> None:
    """Draw everything that depends on the step."""
    speak_as_chosen()
    theme = theme_name()  # asked for here: a fragment that runs again is given the arguments of the page's last run
    state.open_selection(st.session_state, trace_identity(trace), trace, st.query_params)
    above, below = st.container(key="player_box"), st.container(key="slider")
    with below:
        step = _slider(len(trace.target_pieces))
    _keep_in_address()
    with above:
        chosen = cast("int | None", st.session_state.get(state.SOURCE))
        player(trace, step, chosen, heatmap_choices()[0], lambda choice: state.choose(st.session_state, choice, trace))
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
        _keys()
        with st.popover(say("What the words on this page mean"), type="tertiary", key="glossary"):
            st.markdown("\n\n".join(_glossary()))
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
            say("Step"), 1, count, key=state.STEP, format=say("step {step} of {count}", step="%d", count=count),
            label_visibility="collapsed", on_change=state.forget_word, args=(st.session_state,),
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
    st.html(f'<h2 class="section">{say("Alignment")}</h2>')
    by, colours, root, end, margins = heatmap_choices()
    _reading(trace, by, end)
    figure = figures.heatmap(trace, by=by, colours=colours, root=root, end=end, margins=margins, theme=theme)
    chart({EVERY_STEP: figure.to_json()}, "heatmap")
    with st.container(horizontal=True, vertical_alignment="center", key="heatmap_choices"):
        st.segmented_control(
            say("Rows and columns"), ["words", "pieces"], default="words", required=True, key="by",
            format_func={"words": say("words"), "pieces": say("pieces")}.__getitem__, label_visibility="collapsed",
        )  # fmt: skip
        st.toggle("√α", key="root", help=say("Colour by the square root, so that small weights can be seen."))
        st.toggle(say("End mark"), value=True, key="end", help=say(
            "Show `</s>`, the end of the sentence: a position like any other, which takes its share of every row. "
            "Hidden, its share is missing: rows then add up to less than 1."
        ))  # fmt: skip
        st.toggle(say("Margins"), key="margins", help=say(
            "Below the heatmap how much each English word was looked at in all, Σ α down its column; on the right how "
            "widely each row looked, its entropy H in bits. H is always that of pieces, also where the heatmap is by "
            "words."
        ))  # fmt: skip
        scales = {"paper": say("Grey, as in the paper"), "cividis": say("Cividis, safe for colour blindness")}
        st.selectbox(say("Colours"), list(scales), format_func=scales.__getitem__, key="colours",
                     label_visibility="collapsed", width=260)  # fmt: skip


def _reading(trace: Trace, by: By, end: bool) -> None:
    """Say how the heatmap is read, by words or pieces, and what its rows add up to, with `</s>` (`end`) or without."""
    cells = grid(trace, by, end)
    steps, rows = sum(map(len, cells.steps)), len(cells.steps)
    if by == "words":
        reading = say(
            'Each <span class="decoder">row</span> is a French word as it was written, each <span class="encoder">'
            "column</span> an English word; the brighter a cell, the more the row’s word looked at the column’s."
        )
    else:
        reading = say(
            'Each <span class="decoder">row</span> is a French piece as one step wrote it, each <span class="encoder">'
            "column</span> an English piece; the brighter a cell, the more the row’s piece looked at the column’s."
        )
    if steps > rows:
        reading += " " + say(
            "It took {steps} steps to write these {rows} words: a step writes one piece, and the row of a word of "
            "several is their mean.", steps=steps, rows=rows,
        )  # fmt: skip
    shown, hidden = say("Every row adds up to 1."), say("Every row adds up to 1 together with the hidden &lt;/s&gt;.")
    start = say(
        "Press Play, or choose a word or a cell: the numbers of that step follow, beside and below. At the top, the "
        "greener an English word, the more the step looked at it."
    )
    st.html(f'<p class="reading">{reading} {shown if end else hidden} {start}</p>')


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
                "heading": say("Step {i} of {n}", i=i, n=count),
                "part": _part(trace, i),
                "sentence": step_sentence(trace, i),
                "outcomes": [told.outcome for told in stages],
            }
            for i, stages in words.items()
        },
        "stage": st.session_state.get(state.STAGE),
    }
    component("facts", "html", "css", isolate=False)(key="facts", data=record)


def _part(trace: Trace, step: int) -> str:
    """Return which piece of which word 1-based `step` wrote; nothing of a word of one piece."""
    words = trace.words()
    for word, group in zip(words.target, words.target_groups, strict=True):
        if step - 1 in group and len(group) > 1:
            k = group.index(step - 1) + 1
            return say("piece {k} of {n} of the word {word}", k=k, n=len(group), word=quote(shorten(word, 30)))
    return ""


def step_sentence(trace: Trace, step: int) -> str:
    """Return what happened at 1-based `step`, as plain text."""
    return narration.step_sentence(trace, step - 1, say("a blank"))


def _keys() -> None:
    """Name the keys."""
    by, *_ = heatmap_choices()
    told = {
        "←</kbd><kbd>→": say("step"),
        "↑</kbd><kbd>↓": say("English word") if by == "words" else say("English piece"),
        f"{say('Home')}</kbd><kbd>{say('End')}": say("first, last step"),
        say("Space"): say("play, pause"),
        say("Esc"): say("let go of your choice: follow the strongest"),
        f"Ctrl</kbd><kbd>{say('Enter')}": say("translate"),
    }
    spans = "".join(f"<span><kbd>{keys}</kbd> {what}</span>" for keys, what in told.items())
    click = say("or click a cell, a word, a bar, a strip")
    st.html(f'<div class="keys">{spans}<span>{click}</span></div>')


def _glossary() -> Iterator[str]:
    """Yield what the words of the page mean, in Markdown."""
    yield say("**Piece**: what the model reads and writes instead of words: a frequent word, or a part of a rarer one.")
    yield say("**·**: before a piece, as in ·cycle: it continues the word before it. In the two sentences a thin line "
              "marks where the pieces of a word meet.")  # fmt: skip
    yield say("**`<s>`, `</s>`, `<unk>`**: the start of a sentence, its end, and a stretch of text the model has never "
              "seen.")  # fmt: skip
    if language() != "en":
        yield say("**0.5**: numbers are written with a decimal point, as in the equations and in the files.")
    yield say("**Annotation** $h_j$: what the encoder says of piece $j$, having read the sentence from both ends.")
    yield say("**State** $s_i$: all that the decoder keeps in mind after step $i$, a list of numbers.")
    yield say(
        "**Query** and **key**: what the decoder’s state asks for and what an annotation has to offer, "
        "each a list of numbers; together they make the energy."
    )
    yield say("**Energy** $e_{ij}$: how well the decoder, before step $i$, fits annotation $j$; any number, also "
              "negative.")  # fmt: skip
    yield say(
        "**Weight** $\\alpha_{ij}$: the energies of a step made positive and adding up to 1: the share of its look."
    )
    yield say("**√α**: colours by the square root of the weight, so that small weights can be seen.")
    yield say(
        "**Context vector** $c_i$: the annotations added up, each times its weight: what the decoder sees "
        "of the sentence at step $i$."
    )
    yield say(
        "**Gate**: a number from 0 to 1 for each unit that lets a value through, not at all to wholly. "
        "**Candidate**: the new state proposed, of which the update gate takes its part."
    )
    yield say("**Saturated**: so far out that tanh is almost 1 or −1, and hardly moves any more.")
    yield say("**Maxout**: of every two numbers, the larger goes on.")
    yield say(
        "**Logit**: the score of a piece before the softmax makes probabilities of all scores; 1 more "
        "makes a piece 2.7 times as likely against any other."
    )
    yield say(
        "**Entropy** $H$: how widely a step looks, in bits: 0 at one piece alone, and 1 more for twice as "
        "many pieces looked at alike."
    )
    yield say(
        "**Coverage**: how much a source word was looked at in all steps together, about 1 for a word "
        "translated by one."
    )
    yield say("**Greedy search**: take the likeliest piece at each step; **beam search** keeps the best few "
              "translations alive.")  # fmt: skip


def _tables(trace: Trace, step: int) -> None:
    """Offer every chart as a table, made only when opened."""
    by, _, _, end, margins = heatmap_choices()
    box = st.expander(say("The charts as tables"), key="tables", on_change="rerun")
    if not box.open:
        return
    with box:
        for name, table in (
            (say("Alignment"), figures.heatmap_table(trace, by=by, end=end, margins=margins)),
            (say("Energies and weights of step {step}", step=step), figures.attention_table(trace, step - 1)),
            (say("Context vector of step {step}, unit by unit", step=step), figures.context_table(trace, step - 1)),
            (say("State of step {step}, unit by unit", step=step), state_table(trace, step - 1)),
            (say("Maxout of step {step}", step=step), maxout_table(trace, step - 1, pairs_of(trace, step))),
            (say("Likeliest pieces of step {step}", step=step), figures.candidates_table(trace, step - 1)),
        ):
            st.markdown(f"**{name}**")
            st.dataframe(table, height="content" if len(table) <= 12 else 420)
