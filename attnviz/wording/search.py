"""How a translation came about, in words."""

from __future__ import annotations

from attnviz.languages import gettext
from attnviz.trace import Record


def search_name(trace: Record, given: str) -> str:
    """Return what found the translation; `given` is what one is called that nothing had to find."""
    return {
        "greedy": gettext("greedy search"),
        "beam": gettext("beam search, width {width}", width=trace.search.beam),
        "forced": given,
    }[trace.search.method]
