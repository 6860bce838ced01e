"""Findings about target words: looking everywhere alike, spelled as in the source, written again, improbable."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnviz.analysis.findings.function_words import FUNCTION_WORDS
from attnviz.analysis.findings.kinds import Finding, Kind, Read, Readable
from attnviz.analysis.findings.of_source import LEAST_WORDS
from attnviz.analysis.findings.twins import is_word, twins
from attnviz.analysis.measures import entropy
from attnviz.trace import Words

NEARLY_UNIFORM = 0.85
"""Share of the largest possible entropy from which a row is called uniform: then even its three likeliest words of ten
hold less than half of it."""
LITTLE_PROBABILITY = 0.1
"""Probability below which a chosen piece was improbable: the rest of the vocabulary was ten times likelier than it."""
LEAST_LETTERS = 3
"""Letters from which a word said twice is worth a remark."""
NEAR = 3
"""Words from one to the next within which a content word is said twice even where it looks elsewhere."""
STEM = 4
"""Letters by which two source words count as forms of one: wire, wires."""


def of_rows(trace: Readable, words: Words) -> Iterator[Finding]:
    """Yield target words whose pieces all look everywhere alike; entropies are those of pieces, not of merged rows."""
    largest = np.log2(len(trace.source_pieces))
    if not trace.attends or len(words.source) < LEAST_WORDS:
        return
    shares = entropy(trace.alignment) / largest
    for index, group in enumerate(words.target_groups):
        share = float(shares[list(group)].min())
        if is_word(words.target[index]) and share >= NEARLY_UNIFORM:
            yield Finding(Kind.UNIFORM, share, target=index)


def words_spelled_alike(words: Words) -> Iterator[Finding]:
    """Yield target words that are spelled like a source word and looked most at it."""
    strongest = words.alignment.argmax(axis=1)
    for i, j in twins(words):
        if strongest[i] == j:
            yield Finding(Kind.IDENTICAL, float(words.alignment[i, j]), target=i, source=j)


def of_repeats(trace: Readable, words: Words) -> Iterator[Finding]:
    """Yield content words written again: while looking most at one and the same source word, or a few words later for
    another of which the source has no second form. Each is told once, at its last place."""
    if not trace.attends:
        return
    looks = np.where(words.alignment.any(axis=1), words.alignment.argmax(axis=1), -1).tolist()
    stems = [word.casefold()[:STEM] for word in words.source]
    single = [stems.count(stem) == 1 for stem in stems]
    written: dict[str, list[int]] = {}
    for i, word in enumerate(words.target):
        same = word.casefold()
        if (
            looks[i] >= 0
            and same not in FUNCTION_WORDS
            and is_word(words.source[looks[i]])
            and sum(character.isalpha() for character in same) >= LEAST_LETTERS
        ):
            written.setdefault(same, []).append(i)
    for places in written.values():
        last = places[-1]
        alike = [i for i in places if looks[i] == looks[last]]
        if len(alike) > 1:
            yield Finding(Kind.REPEATED, float(len(alike)), target=last, source=looks[last], strong=True)
        elif len(places) > 1 and last - places[-2] <= NEAR and all(single[looks[i]] for i in places[-2:]):
            yield Finding(Kind.REPEATED, float(len(places)), target=last, strong=True)


def of_probabilities(trace: Read, words: Words) -> Iterator[Finding]:
    """Yield target words with a piece that the model found unlikely; the value is that of the least likely piece."""
    probabilities = trace.probabilities
    for index, group in enumerate(words.target_groups):
        lowest = float(probabilities[list(group)].min())
        if lowest < LITTLE_PROBABILITY:
            yield Finding(Kind.IMPROBABLE, lowest, target=index)
