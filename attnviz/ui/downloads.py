"""Files to take away: the heatmap as PNG or SVG, the alignment as CSV, the whole trace as JSON."""

from __future__ import annotations

import functools
import re

import plotly.graph_objects as go
import streamlit as st

from attnviz import figures
from attnviz.figures.alignment import By
from attnviz.trace import Trace
from attnviz.ui.charts import export_buttons
from attnviz.ui.step_view import heatmap_choices

NARROWEST_PRINT = 760
"""Pixels of an exported heatmap's width at least."""


@st.fragment
def downloads(trace: Trace) -> None:
    """Offer the files, as the heatmap is drawn when the box is opened."""
    box = st.popover("Download", type="tertiary", key="downloads", on_change="rerun")
    if not box.open:
        return
    by, _, _, end = heatmap_choices()
    with box:
        export_buttons(print_heatmap(trace))
        st.download_button(
            "Alignment, CSV", functools.partial(alignment_csv, trace, by, end), file_name(trace, "alignment.csv"),
            "text/csv", key="csv", on_click="ignore", width="stretch",
        )  # fmt: skip
        st.download_button(
            "Whole trace, JSON", trace.to_json, file_name(trace, "trace.json"), "application/json",
            key="json", on_click="ignore", width="stretch",
        )  # fmt: skip


def file_name(trace: Trace, ending: str) -> str:
    """Return a name for a file of `trace`: the first words of the sentence, then `ending`."""
    words = "-".join(re.findall(r"\w+", trace.source_text.lower())[:4])[:40]
    return "-".join(filter(None, ("attnviz", words, ending)))


def alignment_csv(trace: Trace, by: By, end: bool) -> bytes:
    """Return the heatmap's weights as CSV in UTF-8, with the byte-order mark that spreadsheets look for."""
    return figures.heatmap_table(trace, by=by, end=end).to_csv().encode("utf-8-sig")


def print_heatmap(trace: Trace) -> go.Figure:
    """Return the heatmap as chosen on the page, for paper: light, on white, of a fixed size, no step framed."""
    by, colours, root, end = heatmap_choices()
    figure = figures.heatmap(trace, by=by, colours=colours, root=root, end=end)
    width = max(figure.layout.meta["narrowest"], NARROWEST_PRINT)
    return figure.update_layout(paper_bgcolor="#ffffff", width=width)
