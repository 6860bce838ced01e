"""Draw the plot of the page *Corpus*: two measures of every pair, or a histogram; a selected region filters pairs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
import streamlit as st

from attnviz.figures.corpus_figure import MOST_POINTS, histogram, scatter
from attnviz.languages import gettext
from attnviz.ui.corpus import table
from attnviz.ui.corpus.table import choose, chosen, clear_brush, key
from attnviz.ui.embedding import page_session, theme_name
from attnviz.ui.fields import select_box


def choose_axes(measures: Mapping[str, str]) -> None:
    """Draw the choices of two of the `measures` of the table, by name."""
    with st.container(horizontal=True, key="corpus_axes"):
        for axis, label, default in (
            (table.X, gettext("Horizontal"), table.Choice.x),
            (table.Y, gettext("Vertical"), table.Choice.y),
        ):
            previous, first = chosen(axis), default if default in measures else None
            if select_box(label, measures, key=key(axis), default=first, then=clear_brush, width=200) != previous:
                clear_brush()  # this table lacks the chosen measure


def plot_panel(rows: Any, choice: table.Choice, measures: Mapping[str, str]) -> None:
    """Draw a scatter plot of two measures, or a histogram of one; a selected region filters the pairs."""
    if not len(rows):
        st.caption(gettext("There is no pair to draw."))
        return
    axes = list(dict.fromkeys((choice.x, choice.y)))
    values = [np.asarray(rows[name].to_numpy(zero_copy_only=False), dtype=float) for name in axes]
    names, region = [measures[name] for name in axes], [*chain.from_iterable(choice.brush)]
    if len(axes) == 1:
        spec = histogram(values[0], names[0], selected_region=region)
    else:
        spec = scatter(values[0], values[1], (names[0], names[1]), selected_region=region)
    plot_key = f"corpus_plot_{choice.x}_{choice.y}_{choice.preset}"
    st.plotly_chart(
        spec.figure(theme_name()),
        alt=spec.alt,
        key=plot_key,
        on_select=lambda: _store_brush(plot_key, len(axes)),
        selection_mode="box",
        theme=None,
        config={"displayModeBar": False},
    )
    st.caption(
        gettext(
            "Draw a rectangle to list only the pairs inside it. If there are more than {most} pairs, the plot "
            "shows {most} of them.",
            most=MOST_POINTS,
        )
    )


def _store_brush(plot_key: str, axes: int) -> None:
    """Store the selected region of a plot with so many axes; an empty selection is ignored."""
    if boxes := page_session()[plot_key].selection.box:
        bounds = [(min(boxes[0][axis]), max(boxes[0][axis])) for axis in ("x", "y")]
        choose(table.BRUSH, table.brush_text(tuple(bounds[:axes])))
        choose(table.PART, "1")
