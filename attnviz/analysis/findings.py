"""Findings: automatic remarks about an alignment (omitted words …): the rule of each kind, its cell and sentence.

Findings use the words of a trace (`Trace.words`) and ignore `</s>`, punctuation and unknown words where they would
mislead. A finding states what was measured. It is `strong`, and may be called a mistake, if at least nine in ten of its
kind were right when judged by hand (tests/analysis/findings.json has the sentences and verdicts).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any, TypeGuard

import numpy as np

from attnviz.analysis.labels import merged_cell_text, percent, quote, quoted_name, significant
from attnviz.analysis.measures import anchors, attended_words, coverage, entropy
from attnviz.analysis.word_classes import FUNCTION_WORDS, REPEATED_BY_GRAMMAR, is_word
from attnviz.languages import gettext, ngettext
from attnviz.text import join_pieces
from attnviz.trace import Attention, AttentionMatrix, Record, Words

Readable = Record | Attention
"""Anything that has findings; attention of other programs has no probabilities."""


def has_word_probabilities(trace: Readable) -> TypeGuard[Record]:
    """Return whether the probabilities of the words of `trace` are known."""
    return trace.translated


class FindingKind(StrEnum):
    """What a finding states."""

    OMITTED = "omitted"
    """These source words get almost no attention."""
    OVERUSED = "overused"
    """Several target words attend to this source word."""
    REPEATED = "repeated"
    """This target word was written before: for the same source word, or (`source` None) a few words ago."""
    UNIFORM = "uniform"
    """This target word attends to all source words alike."""
    COLLAPSED = "collapsed"
    """All target words attend to this source word."""
    SHIFTED = "shifted"
    """Words spelled alike on both sides attend to a neighbour, all at the same distance."""
    IDENTICAL = "identical"
    """This target word is spelled like the source word it attends to: a name, a number, a cognate."""
    NUMBER = "number"
    """This target word has a number that the source lacks, while this source number is missing in the target."""
    IMPROBABLE = "improbable"
    """The model gave this target word a low probability."""


@dataclass(frozen=True)
class Finding:
    """A finding and its place, in words of `Trace.words()`."""

    kind: FindingKind
    value: float
    """The measured value, by kind.

    Coverage (the mean of several words), number of occurrences, share of the largest entropy, share of all attention,
    distance in words, alpha, number of missing numbers, or probability.
    """
    target: int | None = None
    source: int | None = None
    last: int | None = None
    """The last source word, where the finding is about several words from `source` on."""
    strong: bool = False
    """Whether it may be called a mistake: at least nine in ten findings like it were right."""

    @property
    def sources(self) -> range:
        """The source words that it is about, the first where it is about none."""
        first = self.source or 0
        return range(first, (self.last or first) + 1)


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
        yield Finding(FindingKind.COLLAPSED, float(covered[strongest] / total), source=strongest)
        return
    known = _known_words(trace, words)
    yield from _omissions(words.source, known, covered.tolist())
    for index, amount in enumerate(covered.tolist()):
        if known[index] and amount >= MUCH_COVERAGE:
            steps = [step for i in np.flatnonzero(attended == index) for step in words.target_groups[i]]
            word_count = max(int((attended == index).sum()), 1)
            sure = not has_word_probabilities(trace) or (
                float(np.exp(trace.log_probabilities[steps].sum() / word_count)) >= LITTLE_CONFIDENCE
            )
            yield Finding(FindingKind.OVERUSED, amount, source=index, strong=amount >= VERY_MUCH_COVERAGE and not sure)


def _omissions(source: tuple[str, ...], known: list[bool], covered: list[float]) -> Iterator[Finding]:
    """Yield omitted source words: stretches of several words, which are strong findings, and single content words.

    Single omissions are not strong: too many are translated by the words around them.
    """
    function_words = FUNCTION_WORDS["source"]
    content = [is_known and word.casefold() not in function_words for is_known, word in zip(known, source, strict=True)]
    # Punctuation and unknown words belong to the stretch around them.
    little = [amount < LITTLE_IN_A_ROW or not is_known for amount, is_known in zip(covered, known, strict=True)]
    for is_low, run in groupby(range(len(source)), key=little.__getitem__):
        words = [j for j in run if known[j]] if is_low else []
        content_words = [j for j in words if content[j]]
        mean = sum(covered[j] for j in words) / max(len(words), 1)
        long_enough = len(content_words) > 1 or len(words) >= LEAST_IN_A_ROW
        if long_enough and mean < LITTLE_ON_AVERAGE:
            yield Finding(FindingKind.OMITTED, mean, source=words[0], last=words[-1], strong=True)
        else:
            single = [j for j in content_words if covered[j] < LITTLE_COVERAGE]
            yield from (Finding(FindingKind.OMITTED, covered[j], source=j) for j in single)


def shift_findings(trace: Readable, words: Words) -> Iterator[Finding]:
    """Yield one finding where all words spelled alike that miss their source miss it by the same distance."""
    attended = attended_words(trace)
    distances = [(int(attended[i]) - j, i, j) for i, j in same_spellings(words) if attended[i] >= 0]
    missed = {distance for distance, _, _ in distances}
    if len(distances) >= LEAST_COPIES and len(missed) == 1 and missed != {0}:
        distance, i, j = distances[0]
        yield Finding(FindingKind.SHIFTED, float(distance), target=i, source=j)


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
            yield Finding(FindingKind.UNIFORM, share, target=index)


def identical_findings(trace: AttentionMatrix) -> Iterator[Finding]:
    """Yield target words that are spelled like the source word they attend to most."""
    words, attended = trace.words(), attended_words(trace)
    for i, j in same_spellings(words):
        if attended[i] == j and i not in words.special[1]:
            yield Finding(FindingKind.IDENTICAL, float(words.alignment[i, j]), target=i, source=j)


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
            and folded not in REPEATED_BY_GRAMMAR
            and is_word(words.source[attended[i]])
            and sum(character.isalpha() for character in folded) >= LEAST_LETTERS
        ):
            written.setdefault(folded, []).append(i)
    for places in written.values():
        last = places[-1]
        same_source = [i for i in places if attended[i] == attended[last]]
        if len(same_source) > 1 and len(places) > counts[attended[last]]:
            yield Finding(
                FindingKind.REPEATED, float(len(same_source)), target=last, source=attended[last], strong=True
            )
        elif (
            len(places) > 1
            and last - places[-2] <= NEAR_DISTANCE
            and all(counts[attended[i]] == 1 for i in places[-2:])
        ):
            yield Finding(FindingKind.REPEATED, float(len(places)), target=last, strong=True)


_DIGITS = re.compile(r"\d+")


def number_findings(words: Words) -> Iterator[Finding]:
    """Yield target words with a number that the source lacks, where the target lacks a number of the source.

    Numbers are compared by their digits, so that separators do not count, nor zeros at the end (2.5 million: 2 500
    000), digits at the beginning (1991: 91), or 12 hours. Of 952 human translations of sentences with numbers, 12 are
    found, of which 7 do have another number; of 260 sentences that the shipped model translated, 4, all wrong.
    """
    runs = [_DIGITS.findall(word) for word in words.source]
    source, target = ("".join(_DIGITS.findall(" ".join(side))) for side in (words.source, words.target))
    missing = {run: k for k, found in enumerate(runs) for run in found if run not in target}
    afternoon = {str(int(run) + 12) for found in runs for run in found if len(run) <= 2}
    for i, word in enumerate(words.target):
        other = [run for run in _DIGITS.findall(word) if run not in source and run not in afternoon]
        changed = [run for run in other if not any(_is_one_number(run, lost) for lost in missing)]
        if missing and changed:
            yield Finding(
                FindingKind.NUMBER, float(len(missing)), target=i, source=next(iter(missing.values())), strong=True
            )


def _is_one_number(one: str, other: str) -> bool:
    """Return whether two runs of digits may be one number, but for zeros at the end or digits at the beginning."""
    return one.rstrip("0") == other.rstrip("0") or one.endswith(other) or other.endswith(one)


def probability_findings(trace: Record, words: Words) -> Iterator[Finding]:
    """Yield target words with an improbable piece; the value is the probability of the least likely piece."""
    probabilities = trace.probabilities
    for index, group in enumerate(words.target_groups):
        lowest = float(probabilities[list(group)].min())
        if lowest < LITTLE_PROBABILITY:
            yield Finding(FindingKind.IMPROBABLE, lowest, target=index)


def same_spellings(words: Words) -> Iterator[tuple[int, int]]:
    """Yield (target, source) of words that occur once on each side and are longer than one letter."""
    for i, j in anchors(words.source, words.target):
        if len(words.target[i]) > 1 and is_word(words.target[i]):
            yield i, j


def findings_of(trace: Readable) -> list[Finding]:
    """Return the findings of a translation: those about source words first, then the others by target word.

    The rules about attention were measured on models with one distribution a step. A transformer therefore has findings
    about probabilities only. Attention of other programs has findings about attention only. Findings about imported
    translators and imported attention are never strong, and are in the order of the rules.
    """
    words, by_source, by_target = trace.words(), list[Finding](), list[Finding]()
    measured = has_word_probabilities(trace) and not trace.imported
    if trace.attends and (trace.attends_once or not measured):
        by_source = [*coverage_findings(trace, words), *shift_findings(trace, words)]
        by_target = [*uniform_findings(trace, words), *identical_findings(trace), *repeat_findings(trace, words)]
    by_target += number_findings(words)
    by_target += probability_findings(trace, words) if has_word_probabilities(trace) else ()
    if measured:
        return by_source + sorted(by_target, key=lambda finding: finding.target or 0)
    source, target = words.special
    found = [one for one in by_source + by_target if one.source not in source and one.target not in target]
    return [dataclasses.replace(finding, strong=False) for finding in found]


def cell_of(trace: Readable, finding: Finding) -> tuple[int, int | None]:
    """Return the step and the source piece, both 0-based, at which to display a finding.

    A finding about a source word alone is displayed where the word gets the most attention. One about a target word
    alone has no source piece (None); a finding about a probability is displayed at the word's least likely piece.
    """
    words = trace.words()
    if finding.target is None:
        columns = [j for word in finding.sources for j in words.source_groups[word]]
        step, column = np.unravel_index(int(trace.alignment[:, columns].argmax()), (len(trace.alignment), len(columns)))
        return int(step), columns[int(column)]
    steps = words.target_groups[finding.target]
    if finding.kind in (FindingKind.IMPROBABLE, FindingKind.NUMBER) and has_word_probabilities(trace):
        return min(steps, key=lambda i: float(trace.log_probabilities[i])), None
    return steps[0], None if finding.source is None else words.source_groups[finding.source][0]


def finding_sentence(trace: Readable, finding: Finding) -> str:
    """Return a finding in words: what was measured and, if `strong`, what is likely wrong."""
    words, place, value = trace.words(), finding.target or 0, finding.value
    merge = merged_cell_text(len(words.target_groups[place]), len(words.source_groups[finding.source or 0]))
    variant = {
        FindingKind.OMITTED: " stretch" * (finding.last is not None),
        FindingKind.OVERUSED: " unsurely" * finding.strong,
        FindingKind.REPEATED: " nearby" * (finding.source is None),
        FindingKind.IMPROBABLE: " piece" * (len(words.target_groups[place]) > 1),
    }.get(finding.kind, "")
    return gettext(
        {
            "omitted": (
                "{source} got hardly any attention ({value:.2f}, summed over all steps): was it left out of the "
                "translation?"
            ),
            "omitted "
            "stretch": "{source} got little attention, {value:.2f} per word: was it left out of the translation?",
            "overused unsurely": (
                "The attention on {source} adds up to {value:.1f} over all steps. This attention comes from words of "
                "the translation that the model was unsure of: are some of these words superfluous or wrong?"
            ),
            "overused": "The attention on {source} adds up to {value:.1f}: several words look at it.",
            "repeated nearby": "{target} was written {count} times, the last two times close together.",
            "repeated": "{target} was written {count} times; each time, the model looked most at {source}.",
            "uniform": "{target} spread its attention almost evenly: its entropy is {share} of the maximum.",
            "collapsed": (
                "{source} got {share} of all attention, so the alignment shows little more than this one column."
            ),
            "shifted": (
                "The diagonal of the heatmap is shifted. The attention of words that are the same in both languages, "
                "such as {target}, is off: {steps}."
            ),
            "identical": "{target} is spelled like the source word that it looked at: α = {value:.2f}{of}.",
            "number": "The English sentence has {source}, the translation {target}: is the number wrong?",
            "improbable": "The model found {target} unlikely: probability {p}.",
            "improbable piece": "The model found {target} unlikely: probability {p} for its piece {piece}.",
        }[finding.kind + variant],
        source=quoted_source_words(trace, finding),
        target=quote(words.target[place], 40),
        value=value,
        count=int(value),
        share=percent(value),
        p=significant(value),
        of=f" ({merge})" if merge else "",
        steps=ngettext("{count} word to the right", "{count} words to the right", int(value))
        if value > 0
        else ngettext("{count} word to the left", "{count} words to the left", -int(value)),
        piece=quoted_name(trace.target_pieces[cell_of(trace, finding)[0]]),
    )


def quoted_source_words(trace: Readable, finding: Finding) -> str:
    """Return the source words of a finding in quotation marks."""
    pieces = [j for word in finding.sources for j in trace.words().source_groups[word]]
    return quote(join_pieces(trace.source_surfaces[j] for j in pieces), 60)


def nothing_found_text(trace: Any) -> str:
    """Return what was checked where nothing was found, and what could not be checked."""
    if not trace.translated:
        return gettext(
            "The weights show nothing unusual. The checks see weights only, neither meaning nor probabilities: they "
            "cannot tell whether the translation is right."
        )
    sentence = gettext(
        "No word was improbable. A step has many attention distributions, and no single distribution shows what was "
        "left out or said twice."
        if trace.has_heads
        else "No word was improbable. Without attention, attnviz cannot check whether words were left out or repeated."
        if not trace.attends
        else "The checks cannot see meaning: a wrong word may pass them, and a word that got attention can still be "
        "missing. They see weights and probabilities, where nothing is unusual: every content word got attention, "
        "none got too much, no word was repeated, and no word was improbable."
    )
    if not trace.unknown_characters:
        return sentence
    listed = ", ".join(map(quote, trace.unknown_characters[:10]))
    return f"{sentence} " + gettext(
        "The checks ignore the characters that the model does not know: {listed}.", listed=listed
    )
