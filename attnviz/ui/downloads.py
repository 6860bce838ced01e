"""Files to take away: the heatmap as PNG or SVG, the alignment as CSV, the whole trace as JSON."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import streamlit as st
from plotly.offline import get_plotlyjs

from attnviz import figures
from attnviz.trace import Trace
from attnviz.ui.step_view import heatmap_choices

_EXPORT = Path(__file__).parent / "assets" / "export.html"


@st.fragment
def downloads(trace: Trace) -> None:
    """Offer the files; the picture's own program is sent only once the box is opened."""
    box = st.popover("Download", icon=":material/download:", key="downloads", on_change="rerun")
    if not box.open:
        return
    with box:
        st.iframe(export_page(trace), height=92)
        st.download_button(
            "Alignment, CSV", functools.partial(alignment_csv, trace), "attnviz-alignment.csv", "text/csv",
            key="csv", on_click="ignore", width="stretch",
        )  # fmt: skip
        st.download_button(
            "Everything, JSON trace", trace.to_json, "attnviz-trace.json", "application/json",
            key="json", on_click="ignore", width="stretch",
        )  # fmt: skip


def alignment_csv(trace: Trace) -> bytes:
    """Return the heatmap's weights, words or pieces as chosen, as CSV in UTF-8 with a byte-order mark."""
    by, _, _, end = heatmap_choices()
    return figures.heatmap_table(trace, by=by, end=end).to_csv().encode("utf-8-sig")


def export_page(trace: Trace) -> str:
    """Return the page in the frame: two buttons that draw the heatmap for print and hand the file to the visitor.

    Plotly draws it in the visitor's own browser, with the copy of its program that came with the Python package, so
    that it works with no network and with nothing else installed.
    """
    by, colours, root, end = heatmap_choices()
    figure = figures.heatmap(trace, by=by, colours=colours, root=root, end=end)
    figure.update_layout(paper_bgcolor="#ffffff", width=max(figure.layout.meta["narrowest"], 760))
    # In a script, "<" could open a tag: as an escape of JSON it cannot.
    spec = json.dumps(json.loads(figure.to_json())).replace("<", "\\u003c")
    return _EXPORT.read_text(encoding="utf-8").replace("/*PLOTLY*/", get_plotlyjs()).replace("/*FIGURE*/null", spec)
