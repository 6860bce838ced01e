"""Mount the findings about the alignment (such as omitted or repeated words), each a link to its heatmap cell.

The payload also has a summary of the alignment and a sentence about the attention of each step.
"""

from __future__ import annotations

from collections.abc import Mapping
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


def findings_panel(view: View) -> None:
    """Draw the findings of the alignment and of the current step."""
    inline_findings(view, findings_payload(view.trace), "reading")


def inline_findings(view: View, payload: Mapping[str, Any], name: str) -> None:
    """Draw the findings of a payload like that of `findings_payload`; `name` is unique in the view."""
    component("findings", key=view.key(name), data=payload)


def findings_at(view: View, at: str, name: str) -> None:
    """Draw the findings of the payload at the address `at`; `name` is unique in the view."""
    component("findings", key=view.key(name), data={"at": at})


@cached_for_all
def findings_payload(trace: Trace) -> dict[str, Any]:
    """Return the payload of the findings, the same at every step: plain text, and the cell that each finding links to.

    `source` None stands for the most attended piece.
    """
    ranked = sorted(findings_of(trace), key=lambda finding: (not finding.strong, SEVERITY.index(finding.kind)))
    entries = []
    for finding in ranked:
        step, source = cell_of(trace, finding)
        entry = {"text": finding_sentence(trace, finding), "kind": finding.kind.value, "strong": finding.strong}
        entries.append(entry | {"step": step, "source": source})
    has_errors = any(finding.kind is not FindingKind.IDENTICAL for finding in ranked)
    return {
        "summary": summary_sentence(summarise(trace)) + ("" if has_errors else f" {nothing_found_text(trace)}"),
        "findings": entries,
        "steps": [step_attention_sentence(trace, i) for i in range(len(trace.target_pieces))],
        "atOnce": AT_ONCE,
        "more": gettext("{n} more"),
    }
