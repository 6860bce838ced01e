"""Three stops of the tour: the context, the written word, and posterior attention."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.context_units import context_units
from attnviz.analysis.heads import open_head
from attnviz.languages import gettext
from attnviz.wording.coloured_text import coloured
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import decimal, percent, thousands
from attnviz.wording.tour_data import LEAST, TourData


def context(told: TourData) -> tuple[str, ...]:
    """Return how the context is mixed, and what it is used for."""
    record, step = told.record, told.word.step
    if record.has_heads:
        mixed = gettext(
            "The head also computes a value, a list of numbers, from each annotation. It multiplies each value "
            "by its share and adds them all up: {parts}.",
            parts=_mixture(told),
        )
        return mixed, gettext(
            "The sum, a list of {units} numbers, is the output of this head. Every head does this, and the "
            "outputs are added up.",
            units=open_head(record).values.shape[-1],
        )
    units = record.contexts.shape[1]
    if not record.attends:
        return (
            gettext(
                "The only thing this word sees of the sentence is {context}: {units} numbers from reading the "
                "sentence to its end. These numbers are the same for every word, however long the sentence.",
                units=units,
                context=coloured(gettext("the last annotation"), "context"),
            ),
        )
    cosines = context_units(record, step).cosines
    near = int(cosines.argmax())
    mixed = gettext(
        "Now the translator multiplies every annotation by its share and adds them all up: {parts}.",
        parts=_mixture(told),
    )
    return mixed, gettext(
        "The sum is {context}, again {units} numbers. It is all that this word sees of the sentence. Its "
        "direction is closest to that of the annotation of {word} (cosine {cosine}).",
        context=coloured(gettext("the context vector"), "context"),
        units=units,
        word=told.piece(near),
        cosine=decimal(float(cosines[near])),
    )


def _mixture(told: TourData) -> str:
    alpha = told.opened.alignment[told.word.step]
    order = [int(j) for j in np.argsort(-alpha, kind="stable")[:3]]
    named = [j for j in order if alpha[j] >= LEAST] or order[:1]
    return ", ".join(f"{percent(float(alpha[j]))} {told.piece(j)}" for j in named)


def made(told: TourData) -> tuple[str, ...]:
    """Return which word is written, and what comes next."""
    record, step = told.record, told.word.step
    start = gettext(
        "From the sentence, its own state and the word before, the translator computes a probability for each of "
        "the {count} pieces it knows.",
        count=thousands(int(record.config["vocabulary_size"])),
    )
    named = {"word": told.written(step), "share": percent(float(record.probabilities[step]))}
    if len(record.top_pieces[step]) < 2:
        return start, f"{gettext('{word} has {share}.', **named)} {_onward(told)}".strip()
    leads = int(record.top_ids[step][0]) == int(record.target_ids[step])
    other, chance = record.top(step, 2)[1 if leads else 0]
    named |= {"other": coloured(quoted_name(other), "target"), "less": percent(chance)}
    if leads:
        rest = gettext("{word} leads with {share}, ahead of {other} with {less}.", **named)
    else:
        rest = gettext("{word} has {share}, but {other} was more probable, with {less}.", **named)
    return start, f"{rest} {_onward(told)}".strip()


def _onward(told: TourData) -> str:
    step, record = told.word.step, told.record
    if step + 1 >= len(record.target_pieces):
        return ""
    if not record.attends:
        return gettext("Next comes {word}, from the same numbers.", word=told.written(step + 1))
    return gettext("Next comes {word}, with new attention weights.", word=told.written(step + 1))


def afterwards(told: TourData) -> tuple[str, ...]:
    """Return the posterior attention of a word; empty where unknown."""
    after, word = told.after, told.turned
    if after is None:
        return ()
    before, name = told.record.words().alignment[word], told.target(word)
    shares = ", ".join(
        gettext(
            "{word} from {before} to {after}",
            word=told.source(k),
            before=percent(float(before[k])),
            after=percent(float(after[word][k])),
        )
        for k in dict.fromkeys((int(after[word].argmax()), int(before.argmax())))
    )
    asked = gettext(
        "The translator had to look before it knew the word. Now that {word} is written, we can ask which "
        "English words mattered for it.",
        word=name,
    )
    bayes = gettext(
        "Bayes’ rule corrects what we thought before by what happened then. It multiplies each share by the "
        "probability that {word} would have had from that annotation alone. English words that other French "
        "words are about count less. The shares change: {shares}.",
        word=name,
        shares=shares,
    )
    where = gettext(
        "The new shares, written α′, are the posterior attention. From the level of detail “Numbers” on, the "
        "heatmap shows them under “After the word”."
    )
    return asked, f"{bayes} {_together(told)}".strip(), where


def _together(told: TourData) -> str:
    """Return that shares are of whole words, where a word has several pieces; empty otherwise."""
    words = told.record.words()
    if len(words.target_groups[told.turned]) == 1 and all(len(group) == 1 for group in words.source_groups):
        return ""
    return gettext(
        "These shares are for whole words, with all their pieces. The diagram and the bars show each piece separately."
    )
