"""Findings: automatic remarks about an alignment (omitted words …), each with its cell; `Summary` of an alignment.

Findings use the words of a trace (`Trace.words`) and ignore `</s>`, punctuation and unknown words where they would
mislead. A finding states what was measured. It is `strong`, and may be called a mistake, if at least nine in ten of its
kind were right when judged by hand (tests/analysis/findings.json has the sentences and verdicts).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from attnviz.analysis.findings.rules import (
    Finding,
    Kind,
    Readable,
    coverage_findings,
    has_word_probabilities,
    identical_findings,
    probability_findings,
    repeat_findings,
    shift_findings,
    uniform_findings,
)
from attnviz.analysis.measures import attended_words, entropy
from attnviz.trace import Aligned

__all__ = ["Finding", "Kind", "Readable", "Summary", "cell_of", "findings_of", "summarise"]


@dataclass(frozen=True)
class Summary:
    """An alignment in a few numbers."""

    moves: int
    """Pairs of neighbouring target words, without `</s>` and words of uniform attention."""
    forward: int
    """Number of these pairs whose second word attends no further left than the first; all if monotone."""
    perplexity: float
    """Perplexity of the attention, 2^H, averaged over the steps: the effective number of pieces attended to."""
    strongest: float
    """The largest weight of a step, averaged over the steps."""
    identical: int
    """Number of target words that are spelled like the source word they attend to."""


def summarise(trace: Aligned) -> Summary | None:
    """Return the summary of an alignment; None for a model without attention."""
    if not trace.attends:
        return None
    places = attended_words(trace)
    attended = [places[word] for word in trace.words().places[1] if places[word] >= 0]
    return Summary(
        moves=max(len(attended) - 1, 0),
        forward=int((np.diff(attended) >= 0).sum()),
        perplexity=float(np.exp2(entropy(trace.alignment)).mean()),
        strongest=float(trace.alignment.max(axis=1).mean()),
        identical=sum(1 for _ in identical_findings(trace)),
    )


def findings_of(trace: Readable) -> list[Finding]:
    """Return the findings of a translation: those about source words first, then the others by target word.

    The rules about attention were measured on models with one distribution a step. A transformer therefore has findings
    about probabilities only. Attention of other programs has findings about attention only. Findings about imported
    translators and imported attention are never strong, and are in the order of the rules.
    """
    words = trace.words()
    if not has_word_probabilities(trace) or trace.imported:
        findings = [*coverage_findings(trace, words), *shift_findings(trace, words)]
        findings += [*uniform_findings(trace, words), *identical_findings(trace), *repeat_findings(trace, words)]
        findings += probability_findings(trace, words) if has_word_probabilities(trace) else []
        source, target = words.special
        findings = [one for one in findings if one.source not in source and one.target not in target]
        return [dataclasses.replace(finding, strong=False) for finding in findings]
    if trace.attends and not trace.attends_once:
        return list(probability_findings(trace, words))
    by_source = [*coverage_findings(trace, words), *shift_findings(trace, words)] if trace.attends else []
    by_target = [
        *uniform_findings(trace, words),
        *identical_findings(trace),
        *repeat_findings(trace, words),
        *probability_findings(trace, words),
    ]
    return by_source + sorted(by_target, key=lambda finding: finding.target or 0)


def cell_of(trace: Readable, finding: Finding) -> tuple[int, int | None]:
    """Return the step and the source piece, both 0-based, at which to display a finding.

    A finding about a source word alone is displayed where the word gets the most attention. One about a target word
    alone has no source piece (None); a finding about a probability is displayed at the word's least likely piece.
    """
    words = trace.words()
    if finding.target is None:
        first = finding.source or 0
        columns = [j for group in words.source_groups[first : (finding.last or first) + 1] for j in group]
        step, column = np.unravel_index(int(trace.alignment[:, columns].argmax()), (len(trace.alignment), len(columns)))
        return int(step), columns[int(column)]
    steps = words.target_groups[finding.target]
    if finding.kind is Kind.IMPROBABLE and has_word_probabilities(trace):
        return min(steps, key=lambda i: float(trace.log_probabilities[i])), None
    return steps[0], None if finding.source is None else words.source_groups[finding.source][0]
