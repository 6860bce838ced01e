"""Suspected errors: words of source or target that are likely wrong, each with its step; also the least sure step.

A suspected error is a strong finding, a word of which the model was unsure, or a word that the authors of an example
judged to be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnviz.analysis.findings import Finding, Kind, findings_of
from attnviz.analysis.findings.rules import LEAST_LETTERS
from attnviz.analysis.measures import attended_words
from attnviz.analysis.word_classes import FUNCTION_WORDS
from attnviz.trace import Record, Words

LITTLE_WORD_PROBABILITY = 0.05
"""Probability of a content word, the product over its pieces, below which the model was unsure of it.

Measured on 1,450 other sentences of Tatoeba, Multi30k, TED and Europarl: 13 % have a suspected error, and 89 % of the
unsure words are not in the reference (38 % of all content words are not). Of the 229 translations that equal the
reference, 3 have one.
"""

MOST_UNSURE = 3
"""Largest number of unsure words that are reported, the least likely ones: reports on every word would say nothing."""


@dataclass(frozen=True)
class SuspectedError:
    """Words that are likely wrong, and the step that decided about them."""

    finding: Finding
    """A strong finding, or one of the kind IMPROBABLE: its value is then the probability of the whole word."""
    step: int
    """0-based step at which another piece or another attention would have changed the words."""
    source: int | None
    """Source piece that the step should have attended to (unread words), or attended to (all others)."""
    judged: bool = False
    """Whether the authors of the example judged the word to be wrong."""

    @property
    def strong(self) -> bool:
        """Whether the words may be called a mistake, and not only unsure."""
        return self.judged or self.finding.strong


def suspected_errors_of(
    trace: Record, judged: Sequence[int] = (), *, every_omission: bool = False
) -> list[SuspectedError]:
    """Return the suspected errors of a translation, in the order of its findings, then other words by their place.

    Single unread words are suspected only with `every_omission`: too many are translated by the words around them.
    Target words that the authors of an example `judged` to be wrong are suspected, too. A translation that was given
    has no unsure words, since the model did not choose them. Imported models have none: the rules were not measured on
    them.
    """
    if trace.imported:
        return []
    findings = findings_of(trace)
    shown = [one for one in findings if one.strong or (every_omission and one.kind is Kind.OMITTED)]
    suspects = [_suspected_error(trace, finding) for finding in shown]
    suspected_words = {suspect.finding.target for suspect in suspects}
    others = [_probability(trace, k) for k in range(len(trace.words().target)) if k not in suspected_words]
    unsure = [finding for finding in others if _is_unsure(trace, finding) and finding.target not in judged]
    least = sorted(unsure, key=lambda finding: finding.value)[:MOST_UNSURE]
    for finding in others:
        is_judged = finding.target in judged
        if is_judged or finding in least:
            suspects.append(replace(_suspected_error(trace, finding), judged=is_judged))
    return suspects


def _probability(trace: Record, target: int) -> Finding:
    """Return a finding whose value is the probability of a target word."""
    group = trace.words().target_groups[target]
    return Finding(Kind.IMPROBABLE, float(np.prod(trace.probabilities[list(group)])), target=target)


def _is_unsure(trace: Record, finding: Finding) -> bool:
    """Return whether the target word of `finding` is a content word that the model chose, but was unsure of."""
    is_little = finding.value < LITTLE_WORD_PROBABILITY
    return is_little and trace.search.method != "forced" and _is_content(trace, finding)


def _is_content(trace: Record, finding: Finding) -> bool:
    word = trace.words().target[finding.target or 0]
    return word.casefold() not in FUNCTION_WORDS["target"] and sum(map(str.isalpha, word)) >= LEAST_LETTERS


def least_sure_step(trace: Record) -> int:
    """Return the 0-based step at which the model was least sure of the least likely content word.

    Where no word is a content word, all words count.
    """
    words = [_probability(trace, target) for target in range(len(trace.words().target))]
    content = [finding for finding in words if _is_content(trace, finding)]
    return _suspected_error(trace, min(content or words, key=lambda finding: finding.value)).step


def runner_up(trace: Record, step: int) -> tuple[int, float, str] | None:
    """Return id, probability and text of the likeliest piece that 0-based `step` did not write, if there is one."""
    candidates = zip(trace.top_ids[step].tolist(), trace.top_probabilities[step], trace.top_pieces[step], strict=True)
    others = ((index, float(p), piece) for index, p, piece in candidates if index != trace.target_ids[step])
    return next(others, None)


def _suspected_error(trace: Record, finding: Finding) -> SuspectedError:
    words = trace.words()
    if finding.target is not None:
        group = words.target_groups[finding.target]
        step = min(group, key=lambda i: float(trace.probabilities[i])) if finding.kind is Kind.IMPROBABLE else group[0]
    elif finding.kind is Kind.OMITTED:
        return SuspectedError(finding, passing_step(trace, finding), _first_content_piece(words, finding))
    else:
        step = least_likely_step(trace, finding)
    return SuspectedError(finding, step, int(trace.alignment[step].argmax()) if trace.attends_once else None)


def attending_words(trace: Record, finding: Finding) -> list[int]:
    """Return the target words that attend most to the source word of `finding`."""
    return [int(target) for target in np.flatnonzero(attended_words(trace) == finding.source)]


def least_likely_step(trace: Record, finding: Finding) -> int:
    """Return the least likely first step of the target words that attend to the source word of `finding`."""
    groups = trace.words().target_groups
    return min((groups[target][0] for target in attending_words(trace, finding)), key=trace.probabilities.__getitem__)


def passing_step(trace: Record, finding: Finding) -> int:
    """Return the 0-based step at which the attention passes over unread source words.

    The steps before it attend to words before them, and it and those after it to words behind, with as few exceptions
    as possible.
    """
    words = trace.words()
    word_of = {j: k for k, group in enumerate(words.source_groups) for j in group}
    attended = np.array([word_of[int(j)] for j in trace.alignment.argmax(axis=1)])
    before, behind = attended < (finding.source or 0), attended > (finding.last or finding.source or 0)
    exceptions = [int(behind[:step].sum() + before[step:].sum()) for step in range(len(attended))]
    return int(np.argmin(exceptions))


def _first_content_piece(words: Words, finding: Finding) -> int:
    """Return the first piece of the first content word of unread source words."""
    first = finding.source or 0
    unread = range(first, (finding.last or first) + 1)
    content = (
        k for k in unread if words.source[k].casefold() not in FUNCTION_WORDS["source"] and words.source[k].isalpha()
    )
    return words.source_groups[next(content, first)][0]
