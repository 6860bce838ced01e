"""Draw the plot of the page *Corpus*: two measures of every pair, or a histogram; a selected region filters pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from attnviz.analysis.page_texts import corpus_measure_names
from attnviz.figures.corpus_figure import MOST_POINTS, histogram, scatter
from attnviz.languages import gettext
from attnviz.ui.corpus import table
from attnviz.ui.corpus.table import choose, chosen, clear_brush, key
from attnviz.ui.embedding import page_session, theme_name
from attnviz.ui.fields import select_box


def plot_panel(table_rows: Any, rows: Any) -> None:
    """Draw a scatter plot of two measures, or a histogram of one; a selected region filters the pairs."""
    names = corpus_measure_names()
    offered = {name: names[name] for name in table.known_measures(table_rows)}
    with st.container(horizontal=True, key="corpus_axes"):
        for axis, label, default in (
            (table.X, gettext("Horizontal"), table.Choice.x),
            (table.Y, gettext("Vertical"), table.Choice.y),
        ):
            previous, first = chosen(axis), default if default in offered else None
            if select_box(label, offered, key=key(axis), default=first, then=clear_brush, width=200) != previous:
                clear_brush()  # this table lacks the chosen measure
    x, y = chosen(table.X), chosen(table.Y)
    if not len(rows):
        st.caption(gettext("There is no pair to draw."))
        return
    values = [np.asarray(rows[name].to_numpy(zero_copy_only=False), dtype=float) for name in (x, y)]
    brush = table.current_choice().brush
    if x == y:
        spec = histogram(values[0], offered[x], selected_region=brush.x if brush else ())
    else:
        region = (*brush.x, *brush.y) if brush and brush.y else ()
        spec = scatter(values[0], values[1], (offered[x], offered[y]), selected_region=region)
    plot_key = f"corpus_plot_{x}_{y}_{chosen(table.PRESET)}"
    st.plotly_chart(
        spec.figure(theme_name()),
        alt=spec.alt,
        key=plot_key,
        on_select=lambda: _store_brush(plot_key, x == y),
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


def _store_brush(plot_key: str, histogram: bool) -> None:
    """Store the selected region; an empty selection is ignored."""
    boxes = page_session()[plot_key].selection.box
    if boxes:
        x, y = boxes[0]["x"], boxes[0]["y"]
        brush = table.Brush((min(x), max(x)), None if histogram else (min(y), max(y)))
        choose(table.BRUSH, table.brush_text(brush))
        choose(table.PART, "1")
