"""Findings: what there is to remark about an alignment, each remark tied to its cell of the heatmap.

Everything is computed from the words of a trace (`Trace.words`); `</s>`, punctuation and what the tokenizer does not
know are kept out where they would mislead. A finding says what was measured. One of a sort that was right nine times in
ten when judged by hand is `strong`: it may be called a mistake (tests/analysis/findings.json has sentences with their
verdicts).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from attnviz.analysis.findings.kinds import Finding, Kind, Read, Readable, knows_words
from attnviz.analysis.findings.of_source import of_shift, of_source
from attnviz.analysis.findings.of_target import of_probabilities, of_repeats, of_rows, words_spelled_alike
from attnviz.analysis.findings.summary import Summary, summarise

__all__ = ["Finding", "Kind", "Read", "Readable", "Summary", "cell_of", "findings_of", "summarise"]


def findings_of(trace: Readable) -> list[Finding]:
    """Return what there is to remark about a translation: what is about source words first, then by target word.

    What a look gives away was measured on models of one look a step: of a transformer, only the words' probabilities
    are remarked on. Of attention that another program computed, only looks can be, and nothing that is remarked of it
    or of an imported translator is called a mistake.
    """
    words = trace.words()
    if not knows_words(trace) or trace.imported:
        looks = [*of_source(trace, words), *of_shift(words)]
        looks += [*of_rows(trace, words), *words_spelled_alike(words), *of_repeats(trace, words)]
        looks += of_probabilities(trace, words) if knows_words(trace) else []
        return [dataclasses.replace(finding, strong=False) for finding in looks]
    if trace.attends and not trace.attends_once:
        return list(of_probabilities(trace, words))
    by_source = [*of_source(trace, words), *of_shift(words)] if trace.attends else []
    by_target = [
        *of_rows(trace, words),
        *words_spelled_alike(words),
        *of_repeats(trace, words),
        *of_probabilities(trace, words),
    ]
    return by_source + sorted(by_target, key=lambda finding: finding.target or 0)


def cell_of(trace: Readable, finding: Finding) -> tuple[int, int | None]:
    """Return the step and the source piece, both 0-based, at which to look at a finding.

    A finding about a source word alone is seen where that word was looked at most; one about a target word alone has
    no source piece (None), and is seen at the least likely of the word's pieces where that is what it is about.
    """
    words = trace.words()
    if finding.target is None:
        first = finding.source or 0
        columns = [j for group in words.source_groups[first : (finding.last or first) + 1] for j in group]
        step, column = np.unravel_index(int(trace.alignment[:, columns].argmax()), (len(trace.alignment), len(columns)))
        return int(step), columns[int(column)]
    steps = words.target_groups[finding.target]
    if finding.kind is Kind.IMPROBABLE and knows_words(trace):
        return min(steps, key=lambda i: float(trace.log_probabilities[i])), None
    return steps[0], None if finding.source is None else words.source_groups[finding.source][0]
