"""Draw six attributions side by side, and their agreement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import streamlit as st

from attnviz.analysis.agreement import agreement
from attnviz.analysis.grid import By
from attnviz.figures.attribution_methods import (
    agreement_table,
    all_attributions_table,
    attributions_figure,
    attributions_table,
)
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import chart, steady_payload
from attnviz.ui.fields import segmented_control
from attnviz.ui.lab.availability import missing
from attnviz.ui.lab.cached_analyses import attribution_methods_of
from attnviz.ui.page_state.heatmap_choices import heatmap_choices
from attnviz.ui.page_state.selection import selection_of
from attnviz.ui.page_state.view import Session, View
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError, address
from attnviz.ui.toolbar.downloads import Picture
from attnviz.wording.attribution_methods import (
    attribution_method_names,
    attributions_caveat,
    sentence_agreement,
    step_agreement,
)

SHAPES = {"": (3, 1380), "-narrow": (2, 358)}
"""Panels side by side at most, and the width in pixels they are laid out for, by the window size in an address."""


def attributions_panel(view: View, theme: ThemeName) -> None:
    """Draw the attributions of all steps, with sentences about the current step."""
    if told := missing(view.trace):
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
        view,
        address(view.trace, f"attributions-{by}{{size}}", theme, every=True),
        "attributions",
        waiting=gettext("Computing…"),
    )
    st.html(f'<p class="reading">{attributions_caveat()}</p>')
    with st.expander(gettext("How to read each method, and its limits"), key=view.key("attributions_sentence")):
        for one in attribution_method_names().values():
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


def attributions_payload(by: By, size: str, asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the attributions for a window of `size`, a key of `SHAPES`.

    Raise UnknownPayloadError where there are none.
    """
    trace = asked.trace
    if missing(trace):
        raise UnknownPayloadError("attributions")
    found, (most, width) = attribution_methods_of(trace), SHAPES[size]
    for across in range(most, 0, -1):
        figure = attributions_figure(trace, found, by=by, across=across, width=width, theme=asked.theme)
        if figure.layout.meta["narrowest"] <= width:
            break
    whole = sentence_agreement(agreement(found), len(trace.target_ids))
    return steady_payload(
        figure.to_json(),
        {
            step: ("", gettext("At this step: {here}", here=step_agreement(trace, found, step)) + f"\n{whole}")
            for step in asked.steps
        },
    )


def attributions_pictures(view: View, session: Session) -> Iterator[Picture]:
    """Yield the figure of the attributions as it is saved."""
    trace, by = view.trace, heatmap_choices(session, view).by
    if missing(trace):
        return
    found, title = attribution_methods_of(trace), gettext("What each word depended on")
    figure = attributions_figure(trace, found, by=by, step=selection_of(session, view).step)
    yield Picture(title, title, "attributions", figure, all_attributions_table(trace, found))


def attributions_tables(view: View, session: Session) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the attributions of the current step, and their agreement there and over the sentence."""
    trace, step = view.trace, selection_of(session, view).step
    if missing(trace):
        return
    found = attribution_methods_of(trace)
    yield gettext("Attributions at step {step}", step=step + 1), attributions_table(trace, found, step)
    yield gettext("Agreement of attributions at step {step}", step=step + 1), agreement_table(agreement(found, step))
    yield gettext("Agreement of attributions over all steps"), agreement_table(agreement(found))
    yield gettext("Attributions at all steps"), all_attributions_table(trace, found)
