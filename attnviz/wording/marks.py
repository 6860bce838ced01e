"""Texts of the cards that say why a word is likely wrong: what the step attended to, and what would change the word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from attnviz.analysis.findings import Kind
from attnviz.analysis.findings.marks import Mark, attending_words, runner_up
from attnviz.analysis.findings.rules import OtherHypothesis, other_hypotheses
from attnviz.languages import format_share, gettext
from attnviz.text import EOS
from attnviz.trace import Record
from attnviz.wording.findings import finding_sentence, quoted_source_words
from attnviz.wording.labels import quote, quoted_name, shorten
from attnviz.wording.numbers import percent
from attnviz.wording.what_if import SpacedWords, Word, changed_words

_MOST_NAMED = 4
"""Number of words that are named in a list."""
_CONTEXT = 4
"""Number of unchanged words that are shown on either side of a change."""


@dataclass(frozen=True)
class Line:
    """One line of a card: its name, its text or the words of a translation, and the label of its button."""

    name: str
    text: str = ""
    words: tuple[Word, ...] = ()
    button: str = ""


@dataclass(frozen=True)
class Card:
    """The reasons for the words of a mark; a line is None where there is nothing to say."""

    label: str
    """Name of the mark's button."""
    title: str
    attended: Line | None
    runner_up: Line | None
    hypothesis: Line | None
    needed: Line


def mark_card(trace: Record, mark: Mark) -> Card:
    """Return the card of a mark."""
    return Card(
        gettext("Why? {words}", words=_marked_words(trace, mark)),
        _title(trace, mark),
        _attended(trace, mark) if trace.attends_once else None,
        _runner_up(trace, mark),
        _hypothesis(trace, mark),
        _needed(trace, mark),
    )


def better_hypothesis(trace: Record, mark: Mark) -> OtherHypothesis | None:
    """Return the best hypothesis with another word in the marked place or, for unread words, with more words."""
    finding = mark.finding
    if finding.kind is Kind.OMITTED:
        length = len(trace.translation.split())
        longer = (one for one in trace.hypotheses[1:] if len(one.translation.split()) > length)
        return next((OtherHypothesis(one, "", differs_elsewhere=True) for one in longer), None)
    target = finding.target if finding.target is not None else trace.words().word_at(mark.step)
    others = other_hypotheses(trace.words(), trace.hypotheses, target)
    return next((other for other in others if other.words), None)


def ends_too_early(trace: Record, mark: Mark) -> bool:
    """Return whether the step of a mark ended the translation."""
    return mark.finding.kind is Kind.OMITTED and trace.target_ids[mark.step] == EOS


def _piece_name(piece: str) -> str:
    return gettext("the end mark") if piece == "</s>" else quoted_name(piece)


def _marked_words(trace: Record, mark: Mark) -> str:
    if mark.finding.target is None:
        return quoted_source_words(trace, mark.finding)
    return quote(shorten(trace.words().target[mark.finding.target], 40))


def _title(trace: Record, mark: Mark) -> str:
    if mark.judged:
        return gettext(
            "The authors of this example marked {word} as wrong: the translator looked at the right word, but chose a "
            "wrong sense of it. The checks do not find this mistake.",
            word=_marked_words(trace, mark),
        )
    if mark.finding.strong:
        return finding_sentence(trace, mark.finding)
    return gettext(
        "The model was unsure of {word}: it gave this word a probability of {share}.",
        word=_marked_words(trace, mark),
        share=percent(mark.finding.value),
    )


def _attended(trace: Record, mark: Mark) -> Line:
    name, show = gettext("Where it looked"), gettext("Show step {step}", step=mark.step + 1)
    if mark.finding.kind is Kind.OMITTED:
        text = (
            gettext("No French word looked mainly at these words, up to the end mark.")
            if ends_too_early(trace, mark)
            else gettext(
                "The attention passes over them where the translator writes {word}.",
                word=_piece_name(trace.target_pieces[mark.step]),
            )
        )
    elif mark.finding.target is None:
        words = trace.words().target
        named = [quote(shorten(words[target], 20)) for target in attending_words(trace, mark.finding)]
        text = gettext(
            "These words looked at it most: {words}.",
            words=", ".join(named[:_MOST_NAMED]) + (" …" if len(named) > _MOST_NAMED else ""),
        )
    else:
        alignment, source = trace.words(), mark.source or 0
        word = next(k for k, group in enumerate(alignment.source_groups) if source in group)
        text = gettext(
            "{share} of its attention is on {word}.",
            share=percent(float(trace.alignment[mark.step][list(alignment.source_groups[word])].sum())),
            word=quote(shorten(alignment.source[word], 30)),
        )
    return Line(name, text, button=show)


def _runner_up(trace: Record, mark: Mark) -> Line | None:
    other = runner_up(trace, mark.step)
    if other is None:
        return None
    index, probability, piece = other
    text = gettext(
        "{other} has {share}; {written} has {own}.",
        other=_piece_name(piece),
        share=format_share(probability),
        written=_piece_name(trace.target_pieces[mark.step]),
        own=format_share(float(trace.probabilities[mark.step])),
    )
    button = gettext("Write {other} instead", other=_piece_name(piece)) if index > EOS else ""
    return Line(gettext("Runner-up"), text, button=button)


def _hypothesis(trace: Record, mark: Mark) -> Line | None:
    count = len(trace.hypotheses)
    if count < 2:
        return None
    name, other = gettext("Another hypothesis of the search"), better_hypothesis(trace, mark)
    if other is None and mark.finding.kind is Kind.OMITTED:
        return Line(name, gettext("None of the {count} translations of the search is longer.", count=count))
    if other is None:
        return Line(name, gettext("All {count} translations of the search have this word.", count=count))
    words = tuple(changed_words(_spaced(other.hypothesis.translation), _spaced(trace.translation)))
    return Line(name, words=_around_changes(words), button=gettext("Take this translation"))


def _needed(trace: Record, mark: Mark) -> Line:
    name, finding = gettext("What would have to change"), mark.finding
    written, step = _piece_name(trace.target_pieces[mark.step]), mark.step + 1
    if finding.kind is Kind.OMITTED:
        if trace.search.method == "forced":
            return Line(name, gettext("The given French would have to translate these words."))
        if ends_too_early(trace, mark) or mark.source is None:
            return Line(name, gettext("At step {step}, another piece than the end mark would have to win.", step=step))
        piece = quoted_name(trace.source_surfaces[mark.source])
        text = gettext("Step {step} would have to look at {piece}.", step=step, piece=piece)
        return Line(name, text, button=gettext("Look only at {piece} there", piece=piece))
    if finding.strong and mark.source is not None:
        piece = quoted_name(trace.source_surfaces[mark.source])
        text = gettext("Step {step} would have to look away from {piece}.", step=step, piece=piece)
        return Line(name, text, button=gettext("Ignore {piece} there", piece=piece))
    share = percent(float(trace.probabilities[mark.step]))
    text = gettext(
        "Another piece would have to be more likely than {written}: above {share}.", written=written, share=share
    )
    return Line(name, text, button=gettext("Write another word"))


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
