"""The alignment in words, each finding a way to its cell."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.analysis.findings import Kind, place, read, summarise
from attnviz.languages import language, say
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.ui.components.loader import component
from attnviz.ui.resources import trace_identity
from attnviz.wording.findings import finding_sentence, step_reading, summary_sentence

AT_ONCE = 5
"""Findings on show before one asks for the rest."""

SEVERITY = (
    Kind.COLLAPSED, Kind.SHIFTED, Kind.OMITTED, Kind.REPEATED, Kind.OVERUSED, Kind.UNIFORM, Kind.IMPROBABLE,
    Kind.COPIED,
)  # fmt: skip
"""What is told first."""


def reading_view(trace: Trace, theme: ThemeName) -> None:  # noqa: ARG001  its colours are the page's own
    """Write the reading of the alignment and of the step on show."""
    record = _record(trace, (trace_identity(trace), language()))
    component("findings", isolate=False)(key="reading", data=record)


@st.cache_data(max_entries=64, show_spinner=False)
def _record(_trace: Trace, what: tuple[object, ...]) -> dict[str, Any]:  # noqa: ARG001  the key of the cache
    return reading_record(_trace)


def reading_record(trace: Trace) -> dict[str, Any]:
    """Return what the browser writes, the same at every step: plain text, and for each finding the cell it leads to,
    from 1 (`source` None: whichever was looked at most)."""
    found = sorted(read(trace), key=lambda finding: SEVERITY.index(finding.kind))
    entries = []
    for finding in found:
        step, source = place(trace, finding)
        cell = {"step": step + 1, "source": None if source is None else source + 1}
        entries.append({"text": finding_sentence(trace, finding), "kind": finding.kind.value} | cell)
    nothing = say("None of the checks found anything: no word left out, written twice, looked at too often or guessed.")
    return {
        "summary": summary_sentence(trace, summarise(trace)) + ("" if entries else f" {nothing}"),
        "findings": entries,
        "steps": {str(i + 1): step_reading(trace, i) for i in range(len(trace.target_pieces))},
        "atOnce": AT_ONCE, "more": say("{n} more"),
    }  # fmt: skip
