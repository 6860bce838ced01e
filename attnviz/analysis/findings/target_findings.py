"""Rules for findings about target words: uniform attention, copies, repetitions, low probabilities."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnviz.analysis.findings.function_words import FUNCTION_WORDS
from attnviz.analysis.findings.kinds import Finding, FindingsInput, Kind, Readable
from attnviz.analysis.findings.same_spelling import is_word, same_spellings
from attnviz.analysis.findings.source_findings import LEAST_WORDS
from attnviz.analysis.measures import attended_words, entropy
from attnviz.trace import Words
from attnviz.trace.attention_matrix import AttentionMatrix

NEARLY_UNIFORM = 0.85
"""Share of the largest entropy from which a row is uniform: the three strongest of ten words then hold below half."""
LITTLE_PROBABILITY = 0.1
"""Probability below which a written piece is improbable."""
LEAST_LETTERS = 3
"""Letters of the shortest word whose repetition is a finding."""
NEAR_DISTANCE = 3
"""Distance in words within which a content word counts as repeated although it attends to another source word."""
STEM_LENGTH = 4
"""Number of equal first letters by which two source words count as forms of one: wire, wires."""


def uniform_findings(trace: Readable, words: Words) -> Iterator[Finding]:
    """Yield target words whose pieces all have uniform attention, by the entropies of pieces."""
    largest = np.log2(len(trace.source_pieces))
    if not trace.attends or len(words.source) < LEAST_WORDS:
        return
    shares = entropy(trace.alignment) / largest
    for index, group in enumerate(words.target_groups):
        share = float(shares[list(group)].min())
        if is_word(words.target[index]) and share >= NEARLY_UNIFORM:
            yield Finding(Kind.UNIFORM, share, target=index)


def identical_findings(trace: AttentionMatrix) -> Iterator[Finding]:
    """Yield target words that are spelled like the source word they attend to most."""
    words, attended = trace.words(), attended_words(trace)
    for i, j in same_spellings(words):
        if attended[i] == j:
            yield Finding(Kind.IDENTICAL, float(words.alignment[i, j]), target=i, source=j)


def repeat_findings(trace: Readable, words: Words) -> Iterator[Finding]:
    """Yield repeated content words, each once, at its last place.

    A word counts as repeated where it attends to the same source word again and is more frequent than this source word,
    or where it attends within a few words to another source word that has no second form in the source.
    """
    if not trace.attends:
        return
    attended = attended_words(trace).tolist()
    stems = [word.casefold()[:STEM_LENGTH] for word in words.source]
    counts = [stems.count(stem) for stem in stems]
    written: dict[str, list[int]] = {}
    for i, word in enumerate(words.target):
        folded = word.casefold()
        if (
            attended[i] >= 0
            and folded not in FUNCTION_WORDS
            and is_word(words.source[attended[i]])
            and sum(character.isalpha() for character in folded) >= LEAST_LETTERS
        ):
            written.setdefault(folded, []).append(i)
    for places in written.values():
        last = places[-1]
        same_source = [i for i in places if attended[i] == attended[last]]
        if len(same_source) > 1 and len(places) > counts[attended[last]]:
            yield Finding(Kind.REPEATED, float(len(same_source)), target=last, source=attended[last], strong=True)
        elif (
            len(places) > 1
            and last - places[-2] <= NEAR_DISTANCE
            and all(counts[attended[i]] == 1 for i in places[-2:])
        ):
            yield Finding(Kind.REPEATED, float(len(places)), target=last, strong=True)


def probability_findings(trace: FindingsInput, words: Words) -> Iterator[Finding]:
    """Yield target words with an improbable piece; the value is the probability of the least likely piece."""
    probabilities = trace.probabilities
    for index, group in enumerate(words.target_groups):
        lowest = float(probabilities[list(group)].min())
        if lowest < LITTLE_PROBABILITY:
            yield Finding(Kind.IMPROBABLE, lowest, target=index)
