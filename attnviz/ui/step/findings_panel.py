"""Findings about the alignment (such as omitted or repeated words), and other lists of links to cells of the heatmap.

The payload of such a list has a summary, and may have a sentence about each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnviz.analysis.alignment_summary import step_attention_sentence, summarise, summary_sentence
from attnviz.analysis.findings import FindingKind, cell_of, finding_sentence, findings_of, nothing_found_text
from attnviz.languages import gettext
from attnviz.trace import Trace
from attnviz.ui.components.component import component
from attnviz.ui.resources import cached_for_all
from attnviz.ui.view import View

AT_ONCE = 5
"""Number of findings before "more"."""

SEVERITY = (
    FindingKind.COLLAPSED,
    FindingKind.SHIFTED,
    FindingKind.OMITTED,
    FindingKind.REPEATED,
    FindingKind.NUMBER,
    FindingKind.OVERUSED,
    FindingKind.UNIFORM,
    FindingKind.IMPROBABLE,
    FindingKind.IDENTICAL,
)
"""Order of the findings, most important first."""


def cell_link(text: str, kind: str, step: int | None, source: int | None, *, strong: bool = False) -> dict[str, Any]:
    """Return a link to the cell of a step, where it has one, and of a source piece, None for the most attended one."""
    link = {"text": text, "kind": kind, "strong": strong, "source": source}
    return link if step is None else link | {"step": step}


def links_payload(
    summary: str, links: Sequence[dict[str, Any]], at_once: int, steps: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the payload of a list of `links`, so many `at_once` before "more"; `steps` are sentences about them."""
    more = gettext("{n} more")
    return {"summary": summary, "findings": [*links], "steps": [*steps], "atOnce": at_once, "more": more}


def findings_panel(view: View) -> None:
    """Draw the findings of the alignment and of the current step."""
    component("findings", view.key("reading"), findings_payload(view.trace))


@cached_for_all
def findings_payload(trace: Trace) -> dict[str, Any]:
    """Return the payload of the findings, the same at every step."""
    ranked = sorted(findings_of(trace), key=lambda finding: (not finding.strong, SEVERITY.index(finding.kind)))
    links = [
        cell_link(finding_sentence(trace, finding), finding.kind.value, *cell_of(trace, finding), strong=finding.strong)
        for finding in ranked
    ]
    has_errors = any(finding.kind is not FindingKind.IDENTICAL for finding in ranked)
    summary = summary_sentence(summarise(trace)) + ("" if has_errors else f" {nothing_found_text(trace)}")
    return links_payload(
        summary, links, AT_ONCE, [step_attention_sentence(trace, i) for i in range(len(trace.target_pieces))]
    )
