"""Rules for findings about source words: omitted, overused, collapsed, shifted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np

from attnviz.analysis.findings.function_words import SOURCE_FUNCTION_WORDS
from attnviz.analysis.findings.kinds import Finding, Kind, Readable, has_word_probabilities
from attnviz.analysis.findings.same_spelling import is_word, same_spellings
from attnviz.analysis.measures import attended_words, coverage
from attnviz.trace import Words

LITTLE_COVERAGE = 0.12
"""Coverage (attention summed over the target) below which a source word is omitted.

A target word that attends fully to it gives about 1; a word within a phrase about 0.3.
"""
LITTLE_IN_A_ROW, LITTLE_ON_AVERAGE = 0.3, 0.2
"""Coverage of each of several neighbouring words, and their mean, below which the stretch is omitted."""
LEAST_IN_A_ROW = 3
"""Words of an omitted stretch; two suffice where both are content words."""
MUCH_COVERAGE = 2.5
"""Coverage from which a source word is overused; an article and its noun give 2."""
VERY_MUCH_COVERAGE, LITTLE_CONFIDENCE = 3.0, 0.2
"""Coverage from which overuse is strong, if the attending words' geometric mean probability is below the second number.

Where several correct words translate one (please: s'il vous plaît), the model is sure of them.
"""
COLLAPSED_SHARE = 0.6
"""Share of all attention on one source word from which the alignment has collapsed into a column."""
LEAST_WORDS = 4
"""Words on each side that a statement about collapse or uniform rows needs."""
LEAST_COPIES = 2
"""Number of words spelled alike that must be off by the same distance for a shifted alignment."""


def _known_words(trace: Readable, words: Words) -> list[bool]:
    """Return which source words consist of known pieces and are no punctuation."""
    pieces = [[trace.source_pieces[j] for j in group] for group in words.source_groups]
    return [is_word(word) and "<unk>" not in parts for word, parts in zip(words.source, pieces, strict=True)]


def coverage_findings(trace: Readable, words: Words) -> Iterator[Finding]:
    """Yield collapsed source words, or else omitted and overused ones."""
    attended = attended_words(trace)
    if (attended < 0).all():  # coverage says nothing of uniform attention
        return
    covered = coverage(words.alignment)
    total = len(words.target)
    strongest = int(covered.argmax())
    long_enough = min(len(words.source), total) >= LEAST_WORDS
    if long_enough and covered[strongest] / total >= COLLAPSED_SHARE:
        yield Finding(Kind.COLLAPSED, float(covered[strongest] / total), source=strongest)
        return
    known = _known_words(trace, words)
    yield from _omitted(words.source, known, covered.tolist())
    for index, amount in enumerate(covered.tolist()):
        if known[index] and amount >= MUCH_COVERAGE:
            steps = [step for i in np.flatnonzero(attended == index) for step in words.target_groups[i]]
            word_count = max(int((attended == index).sum()), 1)
            sure = not has_word_probabilities(trace) or (
                float(np.exp(trace.log_probabilities[steps].sum() / word_count)) >= LITTLE_CONFIDENCE
            )
            yield Finding(Kind.OVERUSED, amount, source=index, strong=amount >= VERY_MUCH_COVERAGE and not sure)


def _omitted(source: tuple[str, ...], known: list[bool], covered: list[float]) -> Iterator[Finding]:
    """Yield omitted source words: stretches of several words, which are strong findings, and single content words.

    Single omissions are not strong: too many are translated by the words around them.
    """
    content = [
        is_known and word.casefold() not in SOURCE_FUNCTION_WORDS for is_known, word in zip(known, source, strict=True)
    ]
    # Punctuation and unknown words belong to the stretch around them.
    little = [amount < LITTLE_IN_A_ROW or not is_known for amount, is_known in zip(covered, known, strict=True)]
    for is_low, run in groupby(range(len(source)), key=little.__getitem__):
        words = [j for j in run if known[j]] if is_low else []
        content_words = [j for j in words if content[j]]
        mean = sum(covered[j] for j in words) / max(len(words), 1)
        long_enough = len(content_words) > 1 or len(words) >= LEAST_IN_A_ROW
        if long_enough and mean < LITTLE_ON_AVERAGE:
            yield Finding(Kind.OMITTED, mean, source=words[0], last=words[-1], strong=True)
        else:
            single = [j for j in content_words if covered[j] < LITTLE_COVERAGE]
            yield from (Finding(Kind.OMITTED, covered[j], source=j) for j in single)


def shift_findings(trace: Readable, words: Words) -> Iterator[Finding]:
    """Yield one finding where all words spelled alike that miss their source miss it by the same distance."""
    attended = attended_words(trace)
    distances = [(int(attended[i]) - j, i, j) for i, j in same_spellings(words) if attended[i] >= 0]
    missed = {distance for distance, _, _ in distances}
    if len(distances) >= LEAST_COPIES and len(missed) == 1 and missed != {0}:
        distance, i, j = distances[0]
        yield Finding(Kind.SHIFTED, float(distance), target=i, source=j)
