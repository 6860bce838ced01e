"""Files to take away: every picture on show as PNG, SVG and its numbers, and the whole translation in other forms."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from attnviz.analysis.microscope import microscope
from attnviz.analysis.recomputation import Weights
from attnviz.export.files import Look, contents, heading, picture, table
from attnviz.export.sheet import printed
from attnviz.figures.ledger import ledger_table
from attnviz.figures.maxout import maxout_strips, maxout_table
from attnviz.figures.microscope import microscope_figure, microscope_table
from attnviz.figures.registry import step_figures
from attnviz.languages import language, say, speak
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.ui.components.loader import component
from attnviz.ui.language import speak_as_chosen
from attnviz.ui.page_state.heatmap_choices import heatmap_choices
from attnviz.ui.page_state.selection import selection_of, source_of
from attnviz.ui.page_state.view import Session, View
from attnviz.ui.resources import tokenizer_of, weights_of
from attnviz.ui.step.ledger import ledger_figure, ledger_of, rows_of
from attnviz.ui.step.ledger_choice import chosen_pair
from attnviz.ui.step.stages import pairs_of
from attnviz.wording.captions import step_heading
from attnviz.wording.labels import quote, shorten

WIDTH = 656
"""Pixels of the box: two columns, so that it is no higher than a small window."""


@dataclass(frozen=True)
class Picture:
    """A picture as it is saved."""

    title: str
    """What it is called in the list."""
    heading: str
    """What it is called in its file, where no page is around it."""
    name: str
    """What tells its file from the others."""
    figure: go.Figure
    numbers: pd.DataFrame


@st.fragment
def downloads(view: View) -> None:
    """Offer the files, as the pictures are drawn when the box is opened."""
    speak_as_chosen()
    box = st.popover(say("Download"), type="tertiary", key="downloads", on_change="rerun", width="content")
    if not box.open:
        return
    step = selection_of(st.session_state, view).step + 1
    # As wide as two columns of pictures; a narrower window shrinks it.
    with box, st.container(key="files", width=WIDTH, gap="small"):
        st.caption(say("The pictures as they are on show; those of a step, of step {step}.", step=step))
        _export_buttons(view.trace, list(pictures(view, st.session_state)))
        st.caption(say("The whole translation"))
        _whole_buttons(view)


def _whole_buttons(view: View) -> None:
    """Offer the files of the whole translation, two in a row where there is room."""
    trace, step = view.trace, selection_of(st.session_state, view).step
    weights = weights_of(trace)
    files = list(_whole().items())
    for pair in (files[:2], files[2:]):
        for column, (name, (label, kind)) in zip(st.columns(2, gap="medium"), pair, strict=True):
            ending = name.split(".")[1]
            # The page for a lecture opens at the step on show; on paper no step is framed, and there are no margins.
            chosen = _look(view, st.session_state)
            look = replace(chosen, step=step) if ending == "html" else replace(chosen, margins=False)
            column.download_button(
                label, functools.partial(_made, trace, ending, look, weights, language()), file_name(trace, name), kind,
                key=f"whole_{ending}", on_click="ignore", width="stretch",
            )  # fmt: skip


def _whole() -> dict[str, tuple[str, str]]:
    """Return the files of the whole translation: the end of the name, the button and the type."""
    return {
        "lecture.html": (say("Page for a lecture, HTML"), "text/html"),
        "heatmap.tex": (say("Heatmap for LaTeX, TikZ"), "application/x-tex"),
        "links.pharaoh": (say("Word links, Pharaoh"), "text/plain"),
        "trace.json": (say("Whole trace, JSON"), "application/json"),
    }


def _made(trace: Trace, ending: str, look: Look, weights: Weights | None, code: str) -> bytes:
    """Return a file in the language `code`: it is made once it is asked for, in a thread of the server's."""
    speak(code)
    return contents(trace, ending, look, weights)


def pictures(view: View, session: Session) -> Iterator[Picture]:
    """Yield the pictures on show: the heatmap, those of the step, and, where the weights are at hand, what lies inside
    the chosen energy and logit."""
    look, trace, selection = _look(view, session), view.trace, selection_of(session, view)
    step, source = selection.step, source_of(selection, trace)
    yield Picture(say("Heatmap"), heading(trace, look), "heatmap", picture(trace, look), table(trace, look))

    def of_step(title: str, name: str, figure: go.Figure, numbers: pd.DataFrame, heading: str = "") -> Picture:
        """Return a picture of the step; `heading` says what it is where its title alone would not."""
        return Picture(title, heading or step_heading(trace, step, title), f"step-{step + 1}-{name}", figure, numbers)

    for name, drawn in step_figures(trace).items():
        if name == "attention":  # energies and softmax in one picture: not on the page, which has them apart
            continue
        if name == "maxout":
            pairs = pairs_of(trace, step)
            figure, numbers = maxout_strips(trace, step, pairs), maxout_table(trace, step, pairs)
        else:
            figure, numbers = drawn.draw(trace, step), drawn.table(trace, step)
        yield of_step(drawn.title(), name, figure, numbers)
    weights, tokenizer = weights_of(trace), tokenizer_of(trace)
    if weights is None or tokenizer is None:
        return
    if trace.config["attention"] != "none":
        units = microscope(trace, weights, step, source)
        title, figure, numbers = say("Energy microscope"), microscope_figure(units), microscope_table(units)
        yield of_step(title, "microscope", figure, numbers, step_heading(trace, step, title, source))
    word, rival = chosen_pair(trace, selection, len(tokenizer))
    name = piece_name(tokenizer.piece(word))
    entries = ledger_of(trace, weights, step, word, None)
    rows = rows_of(view, weights, step, word, rival, source)
    waterfall = ledger_figure(trace, entries, shorten(name, 9), None, rows=rows)
    title, numbers = say("Logit ledger"), ledger_table(trace, entries)
    full = title if word == trace.target_ids[step] else f"{title}, {quote(shorten(name, 20))}"
    yield of_step(title, "ledger", waterfall, numbers, step_heading(trace, step, full))
    if rival is not None:
        against = piece_name(tokenizer.piece(rival))
        entries = ledger_of(trace, weights, step, word, rival)
        title = say("Why {name} and not {against}", name=quote(shorten(name, 9)), against=quote(shorten(against, 9)))
        waterfall = ledger_figure(trace, entries, name, against, rows=rows)
        yield of_step(title, "contrast", waterfall, ledger_table(trace, entries))


def file_name(trace: Trace, ending: str) -> str:
    """Return a name for a file of `trace`: the first words of the sentence, then `ending`."""
    words = "-".join(re.findall(r"\w+", trace.source_text.lower())[:4])[:40]
    return "-".join(filter(None, ("attnviz", words, ending)))


def _look(view: View, session: Session) -> Look:
    """Return the heatmap as chosen in the view, on white, no step framed."""
    return Look(**asdict(heatmap_choices(session, view)))


def _export_buttons(trace: Trace, offered: list[Picture]) -> None:
    """Offer each picture as PNG and SVG, made in the visitor's browser, and as CSV."""
    record = [
        {
            "title": one.title,
            "file": file_name(trace, one.name),
            "figure": printed(one.figure, trace, one.heading).to_json(),
            "table": one.numbers.to_csv(),
        }
        for one in offered
    ]
    words = {"failed": say("This file could not be made here. Try it again; if it fails again, reload the page.")}
    component("downloads")(key="export", data={"pictures": record, "words": words})
