"""The alignment heatmap of the step room, with the choices of how it is drawn."""

from __future__ import annotations

from typing import cast

import streamlit as st

from attnviz import figures
from attnviz.analysis.grid import By, grid
from attnviz.languages import say
from attnviz.palette import Colours, ThemeName
from attnviz.trace import Trace
from attnviz.ui.components.chart.chart import EVERY_STEP, chart
from attnviz.ui.language import localised


def heatmap_panel(trace: Trace, theme: ThemeName) -> None:
    """Draw the heatmap with its choices. It is the same at every step: the browser moves the frame."""
    st.html(f'<h2 class="section">{say("Alignment")}</h2>')
    by, colours, root, end, margins = heatmap_choices()
    _reading(trace, by, end)
    figure = figures.heatmap(trace, by=by, colours=colours, root=root, end=end, margins=margins, theme=theme)
    chart({EVERY_STEP: figure.to_json()}, "heatmap")
    with st.container(horizontal=True, vertical_alignment="center", key="heatmap_choices"):
        localised(
            st.segmented_control, say("Rows and columns"), {"words": say("words"), "pieces": say("pieces")}, key="by",
            default="words", required=True, label_visibility="collapsed",
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
        localised(st.selectbox, say("Colours"), scales, key="colours", default="paper",
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
