"""Name of the search method that found a translation: greedy, beam or forced."""

from __future__ import annotations

from attnviz.languages import gettext
from attnviz.trace import Record


def search_name(trace: Record, forced_name: str) -> str:
    """Return the name of the decoding method; `forced_name` is that of forced decoding."""
    return {
        "greedy": gettext("greedy search"),
        "beam": gettext("beam search, width {width}", width=trace.search.beam),
        "forced": forced_name,
    }[trace.search.method]
