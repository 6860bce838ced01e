"""Precision of the strong findings of the shipped model, judged by hand.

`findings.json` holds sentences of Tatoeba (CC BY 2.0 FR) and Europarl and some of our own, with the translation that
was judged and every strong finding about it. Right means that the French at that place is wrong: words left out, too
many or the wrong ones, or said twice. 136 sentences were chosen for an earlier model. The others are those with a
strong finding among 1,921 sentences of Europarl, and those with an omission among the 150 longest of Tatoeba.

Three rules were changed after some of the judging. Only several omitted words in a row are a strong finding: of single
words, 2 of 5 were right. Overuse is strong from a coverage of 3: from 2.5, 22 of 27 were right. A word that the source
repeats as often is no repetition. On the 621 sentences that were judged after these changes, 26 of 26 strong findings
were right.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.findings import Finding, FindingKind, findings_of
from attnviz.trace import Trace
from attnviz.translator import Translator

JUDGED = json.loads(Path(__file__).with_name("findings.json").read_text(encoding="utf-8"))
LEAST_PRECISION = 0.9


def finding_key(trace: Trace, finding: Finding) -> tuple[str, str, str]:
    words = trace.words()
    first = finding.source
    source = "" if first is None else " ".join(words.source[first : (finding.last or first) + 1])
    return finding.kind.value, source, "" if finding.target is None else words.target[finding.target]


@pytest.fixture(scope="module")
def verdicts(shipped_model: Path) -> list[tuple[str, bool]]:
    """Return kind and verdict of every strong finding that the shipped model gives rise to."""
    translator = Translator.load(shipped_model, device="cpu")
    found, unjudged = [], []
    traces = translator.translate_together([item["sentence"] for item in JUDGED], beam=5)
    for item, trace in zip(JUDGED, traces, strict=True):
        known = {(one["kind"], one["source"], one["target"]): one["right"] for one in item["remarks"]}
        for finding in findings_of(trace):
            if finding.strong:
                key = finding_key(trace, finding)
                found.append((finding.kind.value, known.get(key, False)))
                if key not in known:
                    unjudged.append(f"{item['sentence']}\n{trace.translation}\n{key}")
    assert not unjudged, "To judge, for findings.json:\n" + "\n".join(unjudged)
    return found


@pytest.mark.nightly
def test_judged_findings_are_numerous_enough(verdicts: list[tuple[str, bool]]) -> None:
    assert len(JUDGED) >= 100
    counts = Counter(kind for kind, _ in verdicts)
    assert counts[FindingKind.OMITTED] >= 3
    assert counts[FindingKind.OVERUSED] >= 8
    assert counts[FindingKind.REPEATED] >= 5


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [FindingKind.OMITTED, FindingKind.OVERUSED, FindingKind.REPEATED])
def test_nine_in_ten_strong_findings_are_right(kind: FindingKind, verdicts: list[tuple[str, bool]]) -> None:
    right = [verdict for found, verdict in verdicts if found == kind]
    assert sum(right) >= LEAST_PRECISION * len(right)


def test_a_polite_request_has_no_strong_findings(shipped_model: Path, snapshot: SnapshotAssertion) -> None:
    trace = Translator.load(shipped_model, device="cpu").translate("Where is the nearest station, please?", beam=5)
    assert trace.translation == snapshot
    assert not [finding for finding in findings_of(trace) if finding.strong]
