"""A reading of an alignment: what a practised eye would remark, each remark tied to its place in the heatmap.

Everything is computed from the words of a trace (`Trace.words`); `</s>` and punctuation are kept out where they would
mislead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.measures import coverage, entropy
from attnviz.trace import Trace, Words

LITTLE_COVERAGE = 0.15
"""Attention, summed over the target, below which a source word was left out of the translation: one target word that
looks at it squarely gives about 1, and half a word, shared among the words of a phrase, about 0.3."""
MUCH_COVERAGE = 2.5
"""Attention from which a source word was looked at too often: an article and its noun give 2. Three words for one can
be right too, but among a model's translations of talks, most words looked at this much had become too many or wrong
ones: a finding to be checked, hence told as a question."""
NEARLY_UNIFORM = 0.85
"""Share of the largest possible entropy from which a row is called uniform: then even its three likeliest words of ten
hold less than half of it."""
COLLAPSE = 0.6
"""Share of all attention on one source word from which the alignment has collapsed into a column."""
LEAST_WORDS = 4
"""Words a side must have before rows and columns say anything about collapse."""
LITTLE_PROBABILITY = 0.1
"""Probability below which a chosen piece was a guess: the rest of the vocabulary was ten times likelier than it."""
LEAST_LETTERS = 3
"""Letters from which a word said twice is worth a remark."""
FUNCTION_WORDS = frozenset({
    "aux", "ces", "des", "elle", "elles", "est", "ils", "les", "leur", "leurs", "mes", "nos", "notre", "nous", "par",
    "pas", "plus", "pour", "que", "qui", "ses", "son", "sont", "sur", "tes", "ton", "une", "vos", "votre", "vous",
    "avec", "dans",
})  # fmt: skip
"""French words that a sentence says twice for its grammar: les plus grands, vous vous souvenez, ne … pas."""
LEAST_COPIES = 2
"""Copied words that must be missed by the same distance before the alignment counts as shifted."""


class Kind(StrEnum):
    """What a finding says."""

    OMITTED = "omitted"
    """No target word looked at this source word."""
    OVERUSED = "overused"
    """Too many looked at it."""
    REPEATED = "repeated"
    """This target word was written before, and looked at the same source word then."""
    UNIFORM = "uniform"
    """This target word looked everywhere alike."""
    COLLAPSED = "collapsed"
    """All target words looked at this source word."""
    SHIFTED = "shifted"
    """Copied words look beside their source, all by the same distance."""
    COPIED = "copied"
    """This target word is its source word, letter by letter, and looked at it."""
    IMPROBABLE = "improbable"
    """The model itself found this target word unlikely."""


@dataclass(frozen=True)
class Finding:
    """A remark and its place, in words of `Trace.words()`."""

    kind: Kind
    value: float
    """The measure behind it: coverage, how often it was written, share of the largest entropy, share of all attention,
    distance in words, alpha, or probability."""
    target: int | None = None
    source: int | None = None


@dataclass(frozen=True)
class Summary:
    """The whole alignment in a few numbers."""

    moves: int
    """Pairs of neighbouring target words, `</s>` left out."""
    forward: int
    """How many of them do not look further left than the word before: all of them in a plain diagonal."""
    alike: float
    """2^H, averaged over the steps: as if a step looked at that many pieces alike."""
    strongest: float
    """The largest weight of a step, averaged over the steps."""
    copied: int
    """Target words that are their source word, letter by letter, and looked at it."""


def summarise(trace: Trace) -> Summary | None:
    """Return the alignment in a few numbers, or None for a model without attention."""
    if not trace.attends:
        return None
    words = trace.words()
    ends = [i for i, word in enumerate(words.target) if word != "</s>"]
    looks = words.alignment[ends].argmax(axis=1)
    return Summary(
        moves=max(len(looks) - 1, 0),
        forward=int((np.diff(looks) >= 0).sum()),
        alike=float(np.exp2(entropy(trace.alignment)).mean()),
        strongest=float(trace.alignment.max(axis=1).mean()),
        copied=sum(1 for _ in _of_copies(words)),
    )


def place(trace: Trace, finding: Finding) -> tuple[int, int | None]:
    """Return the step and the source piece, both 0-based, at which to look at a finding.

    A finding about a source word alone is seen where that word was looked at most; one about a target word alone has
    no source piece (None), and is seen at the least likely of the word's pieces where that is what it is about.
    """
    words = trace.words()
    if finding.target is None:
        columns = list(words.source_groups[finding.source or 0])
        step, column = np.unravel_index(int(trace.alignment[:, columns].argmax()), (len(trace.alignment), len(columns)))
        return int(step), columns[int(column)]
    steps = words.target_groups[finding.target]
    if finding.kind is Kind.IMPROBABLE:
        return min(steps, key=lambda i: float(trace.log_probabilities[i])), None
    return steps[0], None if finding.source is None else words.source_groups[finding.source][0]


def read(trace: Trace) -> list[Finding]:
    """Return the findings of the whole alignment, those about source words first, then by target word."""
    words = trace.words()
    by_source = [] if not trace.attends else [*_of_source(words), *_of_shift(words)]
    by_target = sorted(
        [*_of_rows(trace, words), *_of_copies(words), *_of_repeats(trace, words), *_of_probabilities(trace, words)],
        key=lambda finding: finding.target or 0,
    )
    return by_source + by_target


def _is_word(text: str) -> bool:
    return any(character.isalnum() for character in text) and text not in ("</s>", "<unk>")


def _of_source(words: Words) -> Iterator[Finding]:
    """Yield collapsed, or else omitted and overused, source words."""
    covered = coverage(words.alignment)
    total = len(words.target)
    strongest = int(covered.argmax())
    enough = min(len(words.source), total) >= LEAST_WORDS
    if enough and covered[strongest] / total >= COLLAPSE:
        yield Finding(Kind.COLLAPSED, float(covered[strongest] / total), source=strongest)
        return
    for index, amount in enumerate(covered.tolist()):
        if _is_word(words.source[index]) and amount < LITTLE_COVERAGE:
            yield Finding(Kind.OMITTED, amount, source=index)
        elif words.source[index] != "</s>" and amount >= MUCH_COVERAGE:
            yield Finding(Kind.OVERUSED, amount, source=index)


def _of_rows(trace: Trace, words: Words) -> Iterator[Finding]:
    """Yield target words whose pieces all look everywhere alike; entropies are those of pieces, not of merged rows."""
    largest = np.log2(len(trace.source_pieces))
    if not trace.attends or len(words.source) < LEAST_WORDS:
        return
    shares = entropy(trace.alignment) / largest
    for index, group in enumerate(words.target_groups):
        share = float(shares[list(group)].min())
        if _is_word(words.target[index]) and share >= NEARLY_UNIFORM:
            yield Finding(Kind.UNIFORM, share, target=index)


def _twins(words: Words) -> Iterator[tuple[int, int]]:
    """Yield (target, source) of words that stand on both sides, once on each, and are more than one letter long."""
    for i, word in enumerate(words.target):
        same = word.casefold()
        if len(word) > 1 and _is_word(word) and [w.casefold() for w in words.target].count(same) == 1:
            places = [j for j, other in enumerate(words.source) if other.casefold() == same]
            if len(places) == 1:
                yield i, places[0]


def _of_copies(words: Words) -> Iterator[Finding]:
    strongest = words.alignment.argmax(axis=1)
    for i, j in _twins(words):
        if strongest[i] == j:
            yield Finding(Kind.COPIED, float(words.alignment[i, j]), target=i, source=j)


def _of_repeats(trace: Trace, words: Words) -> Iterator[Finding]:
    """Yield content words written more than once while looking most at one and the same source word, each once, at its
    last place."""
    if not trace.attends:
        return
    written: dict[tuple[str, int], list[int]] = {}
    for i, j in enumerate(words.alignment.argmax(axis=1).tolist()):
        same = words.target[i].casefold()
        letters = sum(character.isalpha() for character in same)
        if letters >= LEAST_LETTERS and same not in FUNCTION_WORDS and all(map(_is_word, (same, words.source[j]))):
            written.setdefault((same, j), []).append(i)
    for (_, j), places in written.items():
        if len(places) > 1:
            yield Finding(Kind.REPEATED, float(len(places)), target=places[-1], source=j)


def _of_shift(words: Words) -> Iterator[Finding]:
    """Yield one finding where the copied words that miss their source all miss it by the same distance."""
    strongest: NDArray[np.intp] = words.alignment.argmax(axis=1)
    distances = [(int(strongest[i]) - j, i, j) for i, j in _twins(words)]
    missed = {distance for distance, _, _ in distances}
    if len(distances) >= LEAST_COPIES and len(missed) == 1 and missed != {0}:
        distance, i, j = distances[0]
        yield Finding(Kind.SHIFTED, float(distance), target=i, source=j)


def _of_probabilities(trace: Trace, words: Words) -> Iterator[Finding]:
    probabilities = trace.probabilities
    for index, group in enumerate(words.target_groups):
        lowest = float(probabilities[list(group)].min())
        if lowest < LITTLE_PROBABILITY:
            yield Finding(Kind.IMPROBABLE, lowest, target=index)
