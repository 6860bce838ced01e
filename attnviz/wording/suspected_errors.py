"""Texts of the cards that say why a word is likely wrong: what the step attended to, and what would change the word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from attnviz.analysis.findings import Kind
from attnviz.analysis.findings.rules import OtherHypothesis, other_hypotheses
from attnviz.analysis.findings.suspected_errors import SuspectedError, attending_words, runner_up
from attnviz.languages import format_share, gettext
from attnviz.text import EOS
from attnviz.trace import Record
from attnviz.wording.findings import finding_sentence, quoted_source_words
from attnviz.wording.labels import everyday_name, quote, shorten
from attnviz.wording.numbers import percent
from attnviz.wording.what_if import SpacedWords, Word, changed_words

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


def better_hypothesis(trace: Record, suspect: SuspectedError) -> OtherHypothesis | None:
    """Return the best hypothesis with another word in its place or, for unread words, with more words."""
    finding = suspect.finding
    if finding.kind is Kind.OMITTED:
        length = len(trace.translation.split())
        longer = (one for one in trace.hypotheses[1:] if len(one.translation.split()) > length)
        return next((OtherHypothesis(one, "", differs_elsewhere=True) for one in longer), None)
    target = finding.target if finding.target is not None else trace.words().word_at(suspect.step)
    others = other_hypotheses(trace.words(), trace.hypotheses, target)
    return next((other for other in others if other.words), None)


def ends_too_early(trace: Record, suspect: SuspectedError) -> bool:
    """Return whether the step of a suspected error ended the translation."""
    return suspect.finding.kind is Kind.OMITTED and trace.target_ids[suspect.step] == EOS


def _suspected_words(trace: Record, suspect: SuspectedError) -> str:
    if suspect.finding.target is None:
        return quoted_source_words(trace, suspect.finding)
    return quote(shorten(trace.words().target[suspect.finding.target], 40))


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
    if suspect.finding.kind is Kind.OMITTED:
        text = (
            gettext("The translation ended before any French word looked mainly at the English words in question.")
            if ends_too_early(trace, suspect)
            else gettext(
                "The attention skips the English words in question where the translator writes {word}.",
                word=everyday_name(trace.target_pieces[suspect.step]),
            )
        )
    elif suspect.finding.target is None:
        words = trace.words().target
        named = [quote(shorten(words[target], 20)) for target in attending_words(trace, suspect.finding)]
        text = gettext(
            "French words that looked most at the English word in question: {words}.",
            words=", ".join(named[:_MOST_NAMED]) + (" …" if len(named) > _MOST_NAMED else ""),
        )
    else:
        alignment, source = trace.words(), suspect.source or 0
        word = next(k for k, group in enumerate(alignment.source_groups) if source in group)
        text = gettext(
            "{share} of the attention of this step is on {word}.",
            share=percent(float(trace.alignment[suspect.step][list(alignment.source_groups[word])].sum())),
            word=quote(shorten(alignment.source[word], 30)),
        )
    return CardLine(name, text, button=show)


def _runner_up(trace: Record, suspect: SuspectedError) -> CardLine | None:
    other = runner_up(trace, suspect.step)
    if other is None:
        return None
    index, probability, piece = other
    text = gettext(
        "{other} has probability {share}; {written} has probability {own}.",
        other=everyday_name(piece),
        share=format_share(probability),
        written=everyday_name(trace.target_pieces[suspect.step]),
        own=format_share(float(trace.probabilities[suspect.step])),
    )
    button = gettext("Write {other} instead", other=everyday_name(piece)) if index > EOS else ""
    return CardLine(gettext("Runner-up"), text, button=button)


def _hypothesis(trace: Record, suspect: SuspectedError) -> CardLine | None:
    count = len(trace.hypotheses)
    if count < 2:
        return None
    name, other = gettext("Another hypothesis of the search"), better_hypothesis(trace, suspect)
    if other is None and suspect.finding.kind is Kind.OMITTED:
        return CardLine(
            name, gettext("None of the {count} translations of the search is longer than the chosen one.", count=count)
        )
    if other is None:
        return CardLine(name, gettext("All {count} translations of the search have this word.", count=count))
    words = tuple(changed_words(_spaced(other.hypothesis.translation), _spaced(trace.translation)))
    return CardLine(name, words=_around_changes(words), button=gettext("Take this translation"))


def _needed(trace: Record, suspect: SuspectedError) -> CardLine:
    name, finding = gettext("What would have to change"), suspect.finding
    written, step = everyday_name(trace.target_pieces[suspect.step]), suspect.step + 1
    if finding.kind is Kind.OMITTED:
        if trace.search.method == "forced":
            return CardLine(name, gettext("The given French would have to translate the English words in question."))
        if ends_too_early(trace, suspect) or suspect.source is None:
            return CardLine(
                name,
                gettext("At step {step}, the model would have to write another piece than the end mark.", step=step),
            )
        piece = everyday_name(trace.source_surfaces[suspect.source])
        text = gettext("Step {step} would have to look at {piece}.", step=step, piece=piece)
        return CardLine(name, text, button=gettext("Look only at {piece}", piece=piece))
    if finding.strong and suspect.source is not None:
        piece = everyday_name(trace.source_surfaces[suspect.source])
        text = gettext("Step {step} would have to look at another piece than {piece}.", step=step, piece=piece)
        return CardLine(name, text, button=gettext("Ignore {piece} there", piece=piece))
    share = percent(float(trace.probabilities[suspect.step]))
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
