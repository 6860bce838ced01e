"""The search that found a translation, in words."""

from __future__ import annotations

from attnviz.languages import gettext
from attnviz.trace import Record


def search_name(trace: Record, forced: str) -> str:
    """Return the name of the search; `forced` is the name for forced decoding."""
    return {
        "greedy": gettext("greedy search"),
        "beam": gettext("beam search, width {width}", width=trace.search.beam),
        "forced": forced,
    }[trace.search.method]
