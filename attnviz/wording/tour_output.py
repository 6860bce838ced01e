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
            "From each annotation the head also makes a value. It multiplies each by its share and adds them all up: "
            "{parts}.",
            parts=_mixture(told),
        )
        return mixed, gettext(
            "The sum, {units} numbers, is what this head found. All heads do this, and what they find is added up.",
            units=open_head(record).values.shape[-1],
        )
    units = record.contexts.shape[1]
    if not record.attends:
        return (
            gettext(
                "All that this word gets to see of the sentence is {context}: {units} numbers from reading it to its "
                "end. They are the same for every word, however long the sentence.",
                units=units,
                context=coloured(gettext("the last annotation"), "context"),
            ),
        )
    cosines = context_units(record, step).cosines
    near = int(cosines.argmax())
    mixed = gettext(
        "Now every annotation is multiplied by its share, and all are added up: {parts}.", parts=_mixture(told)
    )
    return mixed, gettext(
        "The sum is {context}, again {units} numbers: all that this word gets to see of the sentence. It points most "
        "like the annotation of {word} (cosine {cosine}).",
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
        "From what it took from the sentence, what it has in mind and the word before, each of the {count} "
        "pieces it knows gets a chance.",
        count=thousands(int(record.config["vocabulary_size"])),
    )
    named = {"word": told.written(step), "share": percent(float(record.probabilities[step]))}
    if len(record.top_pieces[step]) < 2:
        return start, f"{gettext('{word} has {share}.', **named)} {_onward(told)}".strip()
    leads = int(record.top_ids[step][0]) == int(record.target_ids[step])
    other, chance = record.top(step, 2)[1 if leads else 0]
    named |= {"other": coloured(quoted_name(other), "target"), "less": percent(chance)}
    if leads:
        rest = gettext("{word} leads with {share}, before {other} with {less}.", **named)
    else:
        rest = gettext("{word} has {share}, though {other} was likelier: {less}.", **named)
    return start, f"{rest} {_onward(told)}".strip()


def _onward(told: TourData) -> str:
    step, record = told.word.step, told.record
    if step + 1 >= len(record.target_pieces):
        return ""
    if not record.attends:
        return gettext("Then comes {word}, from the same numbers.", word=told.written(step + 1))
    return gettext("Then comes {word}, with a new look.", word=told.written(step + 1))


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
        "It had to look before it knew the word. Now that {word} stands there, one can ask what that look was about.",
        word=name,
    )
    bayes = gettext(
        "Each share is multiplied by the chance that {word} would have had from that annotation alone (Bayes’ "
        "rule: what was thought before, corrected by what came of it); what other words were about counts "
        "less. That takes {shares}.",
        word=name,
        shares=shares,
    )
    where = gettext(
        "The new shares are written α′. At the depth “Numbers” and beyond, the heatmap shows them under “After "
        "the word”."
    )
    return asked, f"{bayes} {_together(told)}".strip(), where


def _together(told: TourData) -> str:
    """Return that shares are of whole words, where a word has several pieces; empty otherwise."""
    words = told.record.words()
    if len(words.target_groups[told.turned]) == 1 and all(len(group) == 1 for group in words.source_groups):
        return ""
    return gettext(
        "These are shares of whole words, their pieces taken together; the machine and the bars have one piece."
    )
