"""Draw six attributions side by side, and their agreement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import streamlit as st

from attnviz.analysis.agreement import agreement
from attnviz.analysis.grid import By
from attnviz.figures.attribution_methods import agreement_table, all_answers_table, answers_figure, answers_table
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import chart, steady_record
from attnviz.ui.fields import segmented_control
from attnviz.ui.lab.availability import lacking
from attnviz.ui.lab.cached_analyses import answers_of
from attnviz.ui.page_state.heatmap_choices import heatmap_choices
from attnviz.ui.page_state.selection import selection_of
from attnviz.ui.page_state.view import Session, View
from attnviz.ui.shared_payloads import Asked, UnknownRecordError, address
from attnviz.ui.toolbar.downloads import Picture
from attnviz.wording.attribution_methods import answers_caveat, sentence_agreement, step_agreement, told_answers

SHAPES = {"": (3, 1380), "-narrow": (2, 358)}
"""Panels side by side at most, and the width in pixels they are laid out for, by the window size in an address."""


def answers_panel(view: View, theme: ThemeName) -> None:
    """Draw the attributions of all steps, with sentences about the current step."""
    if told := lacking(view.trace):
        st.text(told)
        return
    by = heatmap_choices(st.session_state, view).by
    st.html(f'<p class="reading">{_how_to_read(by)}</p>')
    segmented_control(
        gettext("Rows and columns"),
        {"words": gettext("words"), "pieces": gettext("pieces")},
        key=view.key("by"),
        default="words",
        label_visibility="collapsed",
    )
    chart(
        view, address(view.trace, f"answers-{by}{{size}}", theme, every=True), "answers", waiting=gettext("Computing…")
    )
    st.html(f'<p class="reading">{answers_caveat()}</p>')
    with st.expander(gettext("How to read each method, and its limits"), key=view.key("answers_told")):
        for one in told_answers().values():
            st.markdown(
                gettext("**{name}**, in {unit}. {sentence}", name=one.name, unit=one.unit, sentence=one.sentence)
            )


def _how_to_read(by: By) -> str:
    if by == "words":
        rows = gettext(
            'Each <span class="decoder">row</span> is a French word, in the order of writing; each <span '
            'class="encoder">column</span> is an English word.'
        )
    else:
        rows = gettext(
            'Each <span class="decoder">row</span> is a French piece, written in one step; each <span '
            'class="encoder">column</span> is an English piece.'
        )
    return f"{rows} " + gettext(
        "All heatmaps share one scale: each colour is a share of its row. Blue supports the word of the row, red "
        "opposes it. Point at a cell to see it in all heatmaps. Click it to go to its step."
    )


def answers_record(by: By, size: str, asked: Asked) -> dict[str, Any]:
    """Return the payload of the attributions for a window of `size`, a key of `SHAPES`.

    Raise UnknownRecordError where there are none.
    """
    trace = asked.trace
    if lacking(trace):
        raise UnknownRecordError("answers")
    found, (most, width) = answers_of(trace), SHAPES[size]
    for across in range(most, 0, -1):
        figure = answers_figure(trace, found, by=by, across=across, width=width, theme=asked.theme)
        if figure.layout.meta["narrowest"] <= width:
            break
    whole = sentence_agreement(agreement(found), len(trace.target_ids))
    return steady_record(
        figure.to_json(),
        {
            step: ("", gettext("At this step: {here}", here=step_agreement(trace, found, step)) + f"\n{whole}")
            for step in asked.steps
        },
    )


def answers_pictures(view: View, session: Session) -> Iterator[Picture]:
    """Yield the figure of the attributions as it is saved."""
    trace, by = view.trace, heatmap_choices(session, view).by
    if lacking(trace):
        return
    found, title = answers_of(trace), gettext("What each word depended on")
    figure = answers_figure(trace, found, by=by, step=selection_of(session, view).step)
    yield Picture(title, title, "answers", figure, all_answers_table(trace, found))


def answers_tables(view: View, session: Session) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the attributions of the current step, and their agreement there and over the sentence."""
    trace, step = view.trace, selection_of(session, view).step
    if lacking(trace):
        return
    found = answers_of(trace)
    yield gettext("Attributions at step {step}", step=step + 1), answers_table(trace, found, step)
    yield gettext("Agreement of attributions at step {step}", step=step + 1), agreement_table(agreement(found, step))
    yield gettext("Agreement of attributions over all steps"), agreement_table(agreement(found))
    yield gettext("Attributions at all steps"), all_answers_table(trace, found)
