"""Sentences of three stops of the tour: the context vector, the written word, and posterior attention."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.context_units import context_units
from attnviz.analysis.heads import open_head
from attnviz.languages import gettext
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import decimal, percent, thousands
from attnviz.wording.tour_data import LEAST_SHARE, TourData, coloured


def context_sentences(tour: TourData) -> tuple[str, ...]:
    """Return how the context is mixed, and what it is used for."""
    record, step = tour.record, tour.mixed_step
    if record.has_heads:
        mixed = gettext(
            "The head also computes a value, a list of numbers, from each annotation. The head multiplies each "
            "value by its share of attention and adds up the products: {parts}.",
            parts=_mixture_text(tour),
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
                "The only thing this word sees of the sentence is {context}: {units} numbers that the encoder "
                "computes by reading the sentence to its end. These numbers are the same for every word, however "
                "long the sentence.",
                units=units,
                context=coloured(gettext("the last annotation"), "context"),
            ),
        )
    cosines = context_units(record, step).cosines
    nearest = int(cosines.argmax())
    if step == tour.word.step:
        mixed = gettext(
            "Now the translator multiplies every annotation by its share and adds up the products: {parts}.",
            parts=_mixture_text(tour),
        )
    else:
        mixed = gettext(
            "For {first}, one English word gets {most} of the attention, so a mixture hardly shows. For another "
            "word, {word}, several words share the attention. The translator multiplies every annotation by its share "
            "and adds up the products: {parts}. The sum is a mixture, not a copy of one word.",
            first=tour.written(tour.word.step),
            most=percent(float(tour.opened.alignment[tour.word.step].max())),
            word=tour.written(step),
            parts=_mixture_text(tour),
        )
    return mixed, gettext(
        "The sum is {context}, also a list of {units} numbers. This sum is all that the decoder sees of the "
        "sentence at this step. The direction of the sum is closest to that of the annotation of {word} (cosine "
        "{cosine}).",
        context=coloured(gettext("the context vector"), "context"),
        units=units,
        word=tour.piece(nearest),
        cosine=decimal(float(cosines[nearest])),
    )


def _mixture_text(tour: TourData) -> str:
    alpha = tour.opened.alignment[tour.mixed_step]
    order = [int(j) for j in np.argsort(-alpha, kind="stable")[:3]]
    named = [j for j in order if alpha[j] >= LEAST_SHARE] or order[:1]
    return ", ".join(f"{percent(float(alpha[j]))} {tour.piece(j)}" for j in named)


def written_word_sentences(tour: TourData) -> tuple[str, ...]:
    """Return which word is written, and what comes next."""
    record, step = tour.record, tour.word.step
    start = gettext(
        "From the sentence, its own state and the word before, the translator computes a probability for each of "
        "the {count} pieces that it knows.",
        count=thousands(int(record.config["vocabulary_size"])),
    )
    if record.attends and not record.has_heads and tour.mixed_step != step:
        start = f"{gettext('Back to {word}.', word=tour.written(step))} {start}"
    values = {"word": tour.written(step), "share": percent(float(record.probabilities[step]))}
    if len(record.top_pieces[step]) < 2:
        return start, f"{gettext('{word} has {share}.', **values)} {_next_word_sentence(tour)}".strip()
    leads = int(record.top_ids[step][0]) == int(record.target_ids[step])
    other, chance = record.top(step, 2)[1 if leads else 0]
    values |= {"other": coloured(quoted_name(other), "target"), "less": percent(chance)}
    if leads:
        rest = gettext("{word} is the most likely piece ({share}), followed by {other} ({less}).", **values)
    else:
        rest = gettext("{word} has probability {share}, but {other} was more probable, with {less}.", **values)
    return start, f"{rest} {_next_word_sentence(tour)}".strip()


def _next_word_sentence(tour: TourData) -> str:
    step, record = tour.word.step, tour.record
    if step + 1 >= len(record.target_pieces):
        return ""
    if not record.attends:
        return gettext(
            "Next comes {word}, computed from the same vector, the last annotation.", word=tour.written(step + 1)
        )
    return gettext("Next comes {word}, with new attention weights.", word=tour.written(step + 1))


def posterior_sentences(tour: TourData) -> tuple[str, ...]:
    """Return the posterior attention of a word; empty where unknown."""
    posterior, word = tour.after, tour.posterior_word
    if posterior is None:
        return ()
    prior, name = tour.record.words().alignment[word], tour.target(word)
    shares = ", ".join(
        gettext(
            "{word} from {before} to {after}",
            word=tour.source(k),
            before=percent(float(prior[k])),
            after=percent(float(posterior[word][k])),
        )
        for k in dict.fromkeys((int(posterior[word].argmax()), int(prior.argmax())))
    )
    question = gettext(
        "The translator had to look at the sentence before it knew the word. Now that {word} is written, we can "
        "ask which English words mattered for it.",
        word=name,
    )
    bayes = gettext(
        "Bayes’ rule corrects the shares of attention once the word is known. It multiplies each share by the "
        "probability of {word} if the decoder had only this annotation. The shares change: {shares}.",
        word=name,
        shares=shares,
    )
    where = gettext(
        "The new shares, written α′, are the posterior attention. At the levels of detail “Numbers” and "
        "“Everything”, the heatmap shows the new shares under “After the word”."
    )
    return question, f"{bayes} {_whole_words_sentence(tour)}".strip(), where


def _whole_words_sentence(tour: TourData) -> str:
    """Return that shares are of whole words, where a word has several pieces; empty otherwise."""
    words = tour.record.words()
    if len(words.target_groups[tour.posterior_word]) == 1 and all(len(group) == 1 for group in words.source_groups):
        return ""
    return gettext(
        "These shares are for whole words, with all their pieces. The diagram and the bars show each piece separately."
    )
