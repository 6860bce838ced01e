"""Sentences of the tour's stops: heatmap row, annotation, energies, softmax, context vector, word, posterior."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.analysis.context_units import context_units
from attnviz.analysis.energy_equations import texts_of
from attnviz.analysis.labels import quote, quoted_name, shorten
from attnviz.analysis.learning import guidance_sentence
from attnviz.analysis.numbers import decimal, fine_percent, percent, shown_difference, thousands, times
from attnviz.analysis.stages import was_forced
from attnviz.analysis.tour_data import LEAST_SHARE, LONGEST_WORD, TourData, coloured
from attnviz.analysis.transformer_steps import opened_head_name, shown_heads
from attnviz.analysis.what_if_effects import mean_context_name
from attnviz.analysis.word_classes import is_article
from attnviz.languages import gettext


def word_sentences(tour: TourData) -> tuple[str, ...]:
    """Return the text about the word and its row of the heatmap."""
    if not tour.record.attends:
        return _written_sentence(tour), gettext(
            "This translator has no attention: it cannot look back at the English words. This translator read "
            "the words once, one after the other, and kept only one list of numbers."
        )
    attention = gettext(
        "Before this word, the translator looked back at the English sentence: {parts}. Each share is an "
        "attention weight, written α (alpha).",
        parts=_shares_text(tour),
    )
    row = gettext(
        "In the heatmap, each row is a French word and each column an English word. The colour of a cell shows how "
        "much attention the row’s word gave to the column’s word. The row of this word is framed."
    )
    return (
        f"{_written_sentence(tour)} {attention}",
        row,
        " ".join(
            filter(None, (_crossing_sentence(tour), _heads_sentence(tour.record), _guidance_sentence(tour.record)))
        ),
    )


def _written_sentence(tour: TourData) -> str:
    """Return the word and its position in the translation."""
    words, (word, step) = tour.record.words(), (tour.word.word, tour.word.step)
    name = tour.target(word)
    if len(words.target_groups[word]) > 1:
        name = gettext(
            "{piece}, the first piece of {word} (the translator splits rare words into pieces)",
            word=name,
            piece=tour.written(step),
        )
    if was_forced(tour.record, step):
        return gettext("The translator was forced to write {word}.", word=name)
    return gettext("The translator wrote {word}.", word=name)


def _shares_text(tour: TourData) -> str:
    """Return the source words with the most attention, with their shares."""
    shares = tour.shares()
    order = sorted(range(len(shares)), key=lambda k: -shares[k])
    named = [k for k in order[:3] if shares[k] >= LEAST_SHARE] or order[:1]
    return ", ".join(gettext("{share} at {word}", share=percent(shares[k]), word=tour.source(k)) for k in named)


def _crossing_sentence(tour: TourData) -> str:
    """Return the sentence about a neighbour that the word crosses; empty without one."""
    neighbour = tour.crossed_word
    if neighbour is None:
        return ""
    return gettext(
        "For the neighbouring word {word}, the translator looked at {source}: English and French order these "
        "words differently.",
        word=tour.target(neighbour),
        source=tour.source(tour.attention.sources[neighbour]),
    )


def _guidance_sentence(record: Any) -> str:
    """Return that the attention did not find the words by itself; empty where it was not guided."""
    if not (guided := guidance_sentence(record.config)):
        return ""
    return f"{guided} {gettext('So it did not find these words all by itself.')}"


def _heads_sentence(record: Any) -> str:
    if not record.has_heads:
        return ""
    return gettext(
        "A transformer looks at the sentence with many heads at once. The heatmap shows: {heads}.",
        heads=shown_heads(record),
    )


def annotation_sentences(tour: TourData) -> tuple[str, ...]:
    """Return what an annotation is, for the piece with the most attention."""
    record, j = tour.record, _strongest_piece(tour)
    units, name = record.annotations.shape[1], tour.piece(j)
    if record.has_heads:
        read = gettext(
            "Before writing, the translator read the sentence: in each of {layers} layers, every piece looked at all "
            "other pieces. For {word}, this reading gave a list of {units} numbers.",
            layers=record.config["layers"],
            word=name,
            units=units,
        )
        return read, gettext("The numbers of a word are its annotation: they describe the word among its neighbours.")
    words = record.words()
    word = next(k for k, group in enumerate(words.source_groups) if j in group)
    words_before = coloured(quote(shorten(" ".join(words.source[: word + 1]), LONGEST_WORD)), "source")
    if not record.reads_backwards:
        read = gettext(
            "Before writing, the translator read the sentence from its beginning. At {word}, after reading {before}, "
            "the translator noted {units} numbers.",
            word=name,
            units=units,
            before=words_before,
        )
        return read, gettext(
            "The numbers of a word are its annotation: they describe the word together with the words before it."
        )
    read = gettext(
        "Before writing, the translator read the sentence from both ends. At {word}, the translator noted "
        "{units} numbers: {half} from reading forwards up to this word ({before}), and {half} from reading "
        "backwards from the end.",
        word=name,
        units=units,
        half=units // 2,
        before=words_before,
    )
    return read, gettext(
        "The numbers of a word are its annotation: they describe the word among its neighbours. The two strips at "
        "each word show some numbers of its annotation: positive numbers are blue, negative numbers are red."
    )


def _strongest_piece(tour: TourData) -> int:
    """Return the piece of the source word with the largest weight."""
    alpha = tour.record.alignment[tour.word.step]
    return int(max(tour.record.words().source_groups[tour.word.source], key=lambda j: float(alpha[j])))


def energy_sentences(tour: TourData) -> tuple[str, ...]:
    """Return how query and keys make energies."""
    record = tour.record
    if record.has_heads:
        start = gettext(
            "This stop of the tour shows one head: {head}. The query of this head comes from what the decoder has "
            "computed so far. It is compared with the key of each annotation.",
            head=opened_head_name(record.displayed),
        )
        return start, _fit_sentence(tour)
    units = record.states.shape[1]
    if tour.word.step == 0:
        start = gettext(
            "Before the first word, the decoder state is a list of {units} numbers computed from the sentence. The "
            "translator compares its state with every annotation.",
            units=units,
        )
    else:
        start = gettext(
            "Before the decoder writes this word, its state is a list of {units} numbers. The translator compares its "
            "state with every annotation.",
            units=units,
        )
    return start, _comparison_sentence(record), _fit_sentence(tour)


def _fit_sentence(tour: TourData) -> str:
    """Return what an energy measures, with the largest and the smallest."""
    return gettext(
        "The energy measures how well a piece fits: {listed}. The larger the energy, the better the fit.",
        listed=_energies_text(tour),
    )


def _comparison_sentence(record: Any) -> str:
    """Return how a query and a key are compared."""
    return texts_of(record.config["attention"]).fit(record.annotations.shape[1], record.queries.shape[1])


def _energies_text(tour: TourData) -> str:
    """Return the two pieces with the largest energies and the one with the smallest."""
    order = np.argsort(-tour.energies, kind="stable")
    named = [int(j) for j in (order if len(order) < 4 else [*order[:2], order[-1]])]
    return ", ".join(f"{tour.piece(j)}\u00a0{decimal(float(tour.energies[j]), 1)}" for j in named)


def softmax_sentences(tour: TourData) -> tuple[str, ...]:
    """Return how the softmax turns energies into shares, and that the user can pull a bar."""
    e, alpha = tour.energies.astype(np.float64), tour.record.displayed.alignment[tour.word.step]
    order = np.argsort(-e, kind="stable")
    start = gettext(
        "Softmax turns the energies of the previous stop into shares, the attention weights, which add up to "
        "100\u00a0%. Softmax takes the exponential, exp, of each energy, then divides each result by the total."
    )
    if len(order) == 1:
        return (start, gettext("There is only one piece, so it gets all the attention."))
    best, second = int(order[0]), int(order[1])
    lead = shown_difference((e[best], e[second]))
    ratio = gettext(
        "The energy is {high} for {best} and {low} for {second}. The difference is {apart}, so the share of {best} is "
        "exp({apart}) = {times} that of {second}: {share} against {less}.",
        best=tour.piece(best),
        second=tour.piece(second),
        high=decimal(float(e[best])),
        low=decimal(float(e[second])),
        apart=decimal(lead),
        times=times(float(np.exp(lead))),
        share=fine_percent(float(alpha[best])),
        less=fine_percent(float(alpha[second])),
    )
    return f"{start} {ratio}", gettext(
        "To change how well a piece fits, drag its bar, or press ← → on the bar. The shares of all pieces then change."
    )


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
            "The sum of the products, a list of {units} numbers, is the output of this head. Every head computes such "
            "an output, and a matrix combines the outputs.",
            units=record.displayed.values.shape[-1],
        )
    units = record.contexts.shape[1]
    if not record.attends:
        return (
            gettext(
                "The decoder gets only {context} of the sentence: {units} numbers that the encoder computes by "
                "reading the sentence to its end. It gets the same numbers for every word, however long the sentence.",
                units=units,
                context=coloured(gettext("the last annotation"), "context"),
            ),
        )
    cosines = context_units(record, step).cosines
    nearest = int(cosines.argmax())
    if step == tour.word.step:
        mixed = gettext(
            "Now the translator multiplies every annotation by its share of attention and adds up the products: "
            "{parts}.",
            parts=_mixture_text(tour),
        )
    else:
        mixed = gettext(
            "For {first}, one English word gets {most} of the attention, so the context vector is hardly a mixture. "
            "For another word, {word}, several English words share the attention. The translator multiplies every "
            "annotation by its share of attention and adds up the products: {parts}. The sum is a mixture of "
            "annotations, not a copy of one annotation.",
            first=tour.written(tour.word.step),
            most=percent(float(tour.record.displayed.alignment[tour.word.step].max())),
            word=tour.written(step),
            parts=_mixture_text(tour),
        )
    return mixed, gettext(
        "The sum of the products is {context}, also a list of {units} numbers. It is what the decoder gets of the "
        "sentence at this step; what it got at earlier steps lives on in its state. Of all annotations, that of "
        "{word} is closest in direction to the context vector (cosine {cosine}).",
        context=coloured(gettext("the context vector"), "context"),
        units=units,
        word=tour.piece(nearest),
        cosine=decimal(float(cosines[nearest])),
    ) + _article_sentence(tour)


def _article_sentence(tour: TourData) -> str:
    """Return why a French article may look at another word than an article; empty where it does not."""
    words, step = tour.record.words(), tour.mixed_step
    word = next(k for k, group in enumerate(words.target_groups) if step in group)
    if not is_article(words.target[word], "target") or is_article(words.source[tour.attention.sources[word]], "source"):
        return ""
    return " " + gettext(
        "A French article depends on the noun that it belongs to: the noun decides between “le” and “la”. So the "
        "noun can matter before it is written."
    )


def _mixture_text(tour: TourData) -> str:
    alpha = tour.record.displayed.alignment[tour.mixed_step]
    order = [int(j) for j in np.argsort(-alpha, kind="stable")[:3]]
    named = [j for j in order if alpha[j] >= LEAST_SHARE] or order[:1]
    return ", ".join(f"{percent(float(alpha[j]))} {tour.piece(j)}" for j in named)


def written_word_sentences(tour: TourData) -> tuple[str, ...]:
    """Return which word is written, and what comes next."""
    record, step = tour.record, tour.word.step
    count = thousands(int(record.config["vocabulary_size"]))
    if record.has_heads:
        start = gettext(
            "From what its heads took from the sentence and from the words written so far, the translator computes a "
            "probability for each of the {count} pieces that it knows.",
            count=count,
        )
    elif record.reads_new_state:
        start = gettext(
            "From the context vector, the previous word and its new state, the translator computes a probability for "
            "each of the {count} pieces that it knows.",
            count=count,
        )
    else:
        start = gettext(
            "From the context vector, the previous word and its state before this word, the translator computes a "
            "probability for each of the {count} pieces that it knows.",
            count=count,
        )
    if record.attends and not record.has_heads and tour.mixed_step != step:
        start = f"{gettext('Back to {word}.', word=tour.written(step))} {start}"
    values = {"word": tour.written(step), "share": percent(float(record.probabilities[step]))}
    if len(record.top_pieces[step]) < 2:
        rest = gettext("{word} has {share}.", **values)
        return start, f"{rest} {_next_word_sentence(tour)}".strip(), _one_vector_sentence(tour)
    leads = int(record.top_ids[step][0]) == int(record.target_ids[step])
    other, chance = record.top(step, 2)[1 if leads else 0]
    values |= {"other": coloured(quoted_name(other), "target"), "less": percent(chance)}
    if leads:
        rest = gettext("{word} is the most likely piece ({share}), followed by {other} ({less}).", **values)
    else:
        rest = gettext("{word} has probability {share}, but {other} was more probable, with {less}.", **values)
    return start, f"{rest} {_next_word_sentence(tour)}".strip(), _one_vector_sentence(tour)


def _one_vector_sentence(tour: TourData) -> str:
    """Return how to see the translation without attention; empty where the page does not offer it."""
    if not tour.record.attends_once or tour.posterior_weights is None:
        return ""
    return gettext(
        "After the tour, choose “{choice}” below the diagram. The decoder then gets the same vector for every word: "
        "see what becomes of the translation.",
        choice=mean_context_name(),
    )


def _next_word_sentence(tour: TourData) -> str:
    step, record = tour.word.step, tour.record
    if step + 1 >= len(record.target_pieces):
        return ""
    if not record.attends:
        return gettext(
            "Next comes {word}, computed from the same vector, the last annotation.", word=tour.written(step + 1)
        )
    upcoming = gettext("Next comes {word}, with new attention weights.", word=tour.written(step + 1))
    if record.has_heads or not record.queries_previous_state:
        return upcoming
    update = gettext(
        "The translator updates its state with the context vector: the next comparison starts from the new state."
    )
    return f"{update} {upcoming}"


def posterior_sentences(tour: TourData) -> tuple[str, ...]:
    """Return the posterior attention of a word; empty where unknown."""
    posterior, word = tour.posterior_weights, tour.posterior_word
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
        "Bayes’ rule corrects the shares of attention once the word is known. Bayes’ rule multiplies the share of "
        "each English word by the probability that {word} would have with the annotation of this English word alone. "
        "The shares change: {shares}.",
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
        "The shares in this text are for whole words, with all their pieces. The diagram and the bars show each piece "
        "separately."
    )
