"""The search that found a translation, in words."""

from __future__ import annotations

from attnviz.languages import gettext
from attnviz.trace import Record


def search_name(trace: Record, given: str) -> str:
    """Return the name of the search; `given` names a translation without one."""
    return {
        "greedy": gettext("greedy search"),
        "beam": gettext("beam search, width {width}", width=trace.search.beam),
        "forced": given,
    }[trace.search.method]
