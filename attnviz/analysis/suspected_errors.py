"""Suspected errors: words that are likely wrong, each with its step and the texts of its card; the least sure step.

A suspected error is a strong finding, a word of which the model was unsure, or a word that the authors of an example
judged to be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np

from attnviz.analysis.findings import (
    LEAST_LETTERS,
    Finding,
    FindingKind,
    finding_sentence,
    findings_of,
    quoted_source_words,
)
from attnviz.analysis.labels import percent, quote, quoted_name
from attnviz.analysis.measures import attended_words
from attnviz.analysis.what_if_effects import SpacedWords, Word, changed_words, foils_of
from attnviz.analysis.word_classes import FUNCTION_WORDS
from attnviz.languages import format_share, gettext
from attnviz.text import EOS
from attnviz.trace import Hypothesis, Record, Words

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
    shown = [one for one in findings if one.strong or (every_omission and one.kind is FindingKind.OMITTED)]
    suspects = [_suspected_error(trace, finding) for finding in shown]
    suspected_words = {suspect.finding.target for suspect in suspects}
    others = [_probability(trace, k) for k in range(len(trace.words().target)) if k not in suspected_words]
    unsure = [
        finding
        for finding in others
        if finding.value < LITTLE_WORD_PROBABILITY
        and trace.search.method != "forced"
        and _is_content(trace, finding)
        and finding.target not in judged
    ]
    least = sorted(unsure, key=lambda finding: finding.value)[:MOST_UNSURE]
    for finding in others:
        is_judged = finding.target in judged
        if is_judged or finding in least:
            suspects.append(replace(_suspected_error(trace, finding), judged=is_judged))
    return suspects


def _probability(trace: Record, target: int) -> Finding:
    """Return a finding whose value is the probability of a target word."""
    group = trace.words().target_groups[target]
    return Finding(FindingKind.IMPROBABLE, float(np.prod(trace.probabilities[list(group)])), target=target)


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


def _suspected_error(trace: Record, finding: Finding) -> SuspectedError:
    words = trace.words()
    if finding.target is not None:
        group = words.target_groups[finding.target]
        step = group[0]
        if finding.kind in (FindingKind.IMPROBABLE, FindingKind.NUMBER):
            step = min(group, key=trace.probabilities.__getitem__)
    elif finding.kind is FindingKind.OMITTED:
        return SuspectedError(finding, passing_step(trace, finding), _first_content_piece(words, finding))
    else:  # the least likely first step of the words that attend to the source word
        first_steps = (words.target_groups[target][0] for target in attending_words(trace, finding))
        step = min(first_steps, key=trace.probabilities.__getitem__)
    return SuspectedError(finding, step, int(trace.alignment[step].argmax()) if trace.attends_once else None)


def attending_words(trace: Record, finding: Finding) -> list[int]:
    """Return the target words that attend most to the source word of `finding`."""
    return [int(target) for target in np.flatnonzero(attended_words(trace) == finding.source)]


def passing_step(trace: Record, finding: Finding) -> int:
    """Return the 0-based step at which the attention passes over unread source words.

    The steps before it attend to words before them, and it and those after it to words behind, with as few exceptions
    as possible.
    """
    words = trace.words()
    word_of = {j: k for k, group in enumerate(words.source_groups) for j in group}
    attended = np.array([word_of[int(j)] for j in trace.alignment.argmax(axis=1)])
    before, behind = attended < finding.sources[0], attended > finding.sources[-1]
    exceptions = [int(behind[:step].sum() + before[step:].sum()) for step in range(len(attended))]
    return int(np.argmin(exceptions))


def _first_content_piece(words: Words, finding: Finding) -> int:
    """Return the first piece of the first content word of unread source words."""
    unread = finding.sources
    content = (
        k for k in unread if words.source[k].casefold() not in FUNCTION_WORDS["source"] and words.source[k].isalpha()
    )
    return words.source_groups[next(content, unread[0])][0]


_MOST_NAMED = 4
"""Number of words that are named in a list."""
_CONTEXT = 4
"""Number of unchanged words that are shown on either side of a change."""


@dataclass(frozen=True)
class CardLine:
    """One line of a card: its name, its text or the words of a translation, and the label of its button."""

    name: str
    text: str = ""
    words: tuple[Word, ...] = ()
    button: str = ""


@dataclass(frozen=True)
class ErrorCard:
    """The reasons for a suspected error; a line is None where there is nothing to say."""

    label: str
    """Name of the button that opens the card."""
    title: str
    attended: CardLine | None
    runner_up: CardLine | None
    hypothesis: CardLine | None
    needed: CardLine


def error_card(trace: Record, suspect: SuspectedError) -> ErrorCard:
    """Return the card of a suspected error."""
    return ErrorCard(
        gettext("Why? {words}", words=_suspected_words(trace, suspect)),
        _title(trace, suspect),
        _attended(trace, suspect) if trace.attends_once else None,
        _runner_up(trace, suspect),
        _hypothesis(trace, suspect),
        _needed(trace, suspect),
    )


_TOKEN = re.compile(r"\w+|[^\w\s]")


def other_hypothesis(words: Words, hypotheses: Sequence[Hypothesis], target: int) -> Hypothesis | None:
    """Return the best hypothesis that has other words than the translation in place of its word `target`.

    The first of `hypotheses` is the translation itself. One that leaves the word out does not count.
    """
    groups = [_TOKEN.findall(word) if word != "</s>" else [] for word in words.target]
    tokens = [token for group in groups for token in group]
    first = sum(len(group) for group in groups[:target])
    last = first + len(groups[target])
    for hypothesis in hypotheses[1:]:
        matcher = SequenceMatcher(None, tokens, _TOKEN.findall(hypothesis.translation), autojunk=False)
        for kind, start, end, other_start, other_end in matcher.get_opcodes():
            if kind != "equal" and start < last and end > first and other_start < other_end:
                return hypothesis
    return None


def better_hypothesis(trace: Record, suspect: SuspectedError) -> Hypothesis | None:
    """Return the best hypothesis with another word in its place or, for unread words, with more words."""
    finding = suspect.finding
    if finding.kind is FindingKind.OMITTED:
        length = len(trace.translation.split())
        return next((one for one in trace.hypotheses[1:] if len(one.translation.split()) > length), None)
    target = finding.target if finding.target is not None else trace.words().word_at(suspect.step)
    return other_hypothesis(trace.words(), trace.hypotheses, target)


def ends_too_early(trace: Record, suspect: SuspectedError) -> bool:
    """Return whether the step of a suspected error ended the translation."""
    return suspect.finding.kind is FindingKind.OMITTED and trace.target_ids[suspect.step] == EOS


def _suspected_words(trace: Record, suspect: SuspectedError) -> str:
    if suspect.finding.target is None:
        return quoted_source_words(trace, suspect.finding)
    return quote(trace.words().target[suspect.finding.target], 40)


def _title(trace: Record, suspect: SuspectedError) -> str:
    if suspect.judged:
        return gettext(
            "The authors of this example marked {word} as wrong. The translator looked at the right English word, but "
            "chose a wrong sense of that English word. The automatic checks do not find the mistake in {word}.",
            word=_suspected_words(trace, suspect),
        )
    if suspect.finding.strong:
        return finding_sentence(trace, suspect.finding)
    return gettext(
        "The model was unsure of {word}: it gave this word a probability of {share}.",
        word=_suspected_words(trace, suspect),
        share=percent(suspect.finding.value),
    )


def _attended(trace: Record, suspect: SuspectedError) -> CardLine:
    name, show = gettext("Where it looked"), gettext("Show step {step}", step=suspect.step + 1)
    if suspect.finding.kind is FindingKind.OMITTED:
        text = (
            gettext("The translation ended before any French word looked mainly at the English words in question.")
            if ends_too_early(trace, suspect)
            else gettext(
                "The attention skips the English words in question where the translator writes {word}.",
                word=quoted_name(trace.target_pieces[suspect.step]),
            )
        )
    elif suspect.finding.target is None:
        words = trace.words().target
        named = [quote(words[target], 20) for target in attending_words(trace, suspect.finding)]
        text = gettext(
            "French words that looked most at the English word in question: {words}.",
            words=", ".join(named[:_MOST_NAMED]) + (" …" if len(named) > _MOST_NAMED else ""),
        )
    else:
        alignment, source = trace.words(), suspect.source or 0
        word = next(k for k, group in enumerate(alignment.source_groups) if source in group)
        text = gettext(
            "{share} of the attention of this step is on {word}.",
            share=percent(trace.alignment[suspect.step][list(alignment.source_groups[word])].sum()),
            word=quote(alignment.source[word], 30),
        )
    return CardLine(name, text, button=show)


def _runner_up(trace: Record, suspect: SuspectedError) -> CardLine | None:
    foils = foils_of(trace, suspect.step)
    if not foils:
        return None
    index, piece, probability = foils[0]
    text = gettext(
        "{other} has probability {share}; {written} has probability {own}.",
        other=quoted_name(piece),
        share=format_share(probability),
        written=quoted_name(trace.target_pieces[suspect.step]),
        own=format_share(float(trace.probabilities[suspect.step])),
    )
    button = gettext("Write {other} instead", other=quoted_name(piece)) if index > EOS else ""
    return CardLine(gettext("Runner-up"), text, button=button)


def _hypothesis(trace: Record, suspect: SuspectedError) -> CardLine | None:
    count = len(trace.hypotheses)
    if count < 2:
        return None
    name, other = gettext("Another hypothesis of the search"), better_hypothesis(trace, suspect)
    if other is None and suspect.finding.kind is FindingKind.OMITTED:
        return CardLine(
            name, gettext("None of the {count} translations of the search is longer than the chosen one.", count=count)
        )
    if other is None:
        return CardLine(name, gettext("All {count} translations of the search have this word.", count=count))
    words = tuple(changed_words(_spaced(other.translation), _spaced(trace.translation)))
    return CardLine(name, words=_around_changes(words), button=gettext("Take this translation"))


def _needed(trace: Record, suspect: SuspectedError) -> CardLine:
    name, finding = gettext("What would have to change"), suspect.finding
    written, step = quoted_name(trace.target_pieces[suspect.step]), suspect.step + 1
    if finding.kind is FindingKind.OMITTED:
        if trace.search.method == "forced":
            return CardLine(name, gettext("The given French would have to translate the English words in question."))
        if ends_too_early(trace, suspect) or suspect.source is None:
            return CardLine(
                name,
                gettext("At step {step}, the model would have to write another piece than the end mark.", step=step),
            )
        piece = quoted_name(trace.source_surfaces[suspect.source])
        text = gettext("Step {step} would have to look at {piece}.", step=step, piece=piece)
        return CardLine(name, text, button=gettext("Look only at {piece}", piece=piece))
    if finding.strong and finding.kind is not FindingKind.NUMBER and suspect.source is not None:
        piece = quoted_name(trace.source_surfaces[suspect.source])
        text = gettext("Step {step} would have to look at another piece than {piece}.", step=step, piece=piece)
        return CardLine(name, text, button=gettext("Ignore {piece} there", piece=piece))
    share = percent(trace.probabilities[suspect.step])
    text = gettext(
        "Another piece would have to be more probable than {written}, which has probability {share}.",
        written=written,
        share=share,
    )
    return CardLine(name, text, button=gettext("Write another word"))


def _spaced(text: str) -> SpacedWords:
    """Return the words of a translation, the first without a space before it."""
    return [(word, k > 0) for k, word in enumerate(re.findall(r"\S+", text))]


def _around_changes(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the words with only some of the unchanged ones on either side of a change."""
    changed = [k for k, word in enumerate(words) if word.kind != "same"]
    shown: list[Word] = []
    for k, word in enumerate(words):
        if any(abs(k - place) <= _CONTEXT for place in changed):
            shown.append(word)
        elif not shown or shown[-1].text != "…":
            shown.append(Word("…", "same", space=bool(shown)))
    return tuple(shown)
