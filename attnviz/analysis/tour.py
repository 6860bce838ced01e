"""Stops of the tour, which explains a translation: title, place on the page, step and sentences.

A stop that a translation lacks has the reason as its text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from attnviz.analysis.diagram import context_units, has_diagram
from attnviz.analysis.energy_equations import fill_placeholders, texts_of
from attnviz.analysis.labels import decimal, percent, quote
from attnviz.analysis.learning import guidance_sentence
from attnviz.analysis.measures import named_shares, ranked, word_shares
from attnviz.analysis.stages import (
    ENERGY_STAGE,
    SOFTMAX_STAGE,
    attention_sentence,
    lead_texts,
    recurrent_stages,
    was_forced,
    word_choice,
)
from attnviz.analysis.tour_data import LEAST_SHARE, LONGEST_WORD, TourData, coloured, coloured_name, no_attention_reason
from attnviz.analysis.transformer_steps import TRANSFORMER_STAGES, heads_name, opened_head_name
from attnviz.analysis.what_if_effects import mean_context_name
from attnviz.analysis.word_classes import is_article
from attnviz.languages import gettext

Place = Literal["", "heatmap", "encoder", "source", "stage1", "stage2", "stage3", "stage5"]
"""Part of the page that a stop points at; empty for none."""
SOFTMAX_STOP, MIXTURE_STOP, POSTERIOR_STOP, QUIZ_STOP = 4, 5, 7, 8
"""Stops with controls, or with a step of their own. At *Idea*, the quiz takes the place of the posterior attention."""


@dataclass(frozen=True)
class Stop:
    """One stop of the tour, numbered from 1."""

    number: int
    title: str
    sentences: tuple[str, ...]
    """The text, with `coloured` words; for a missing stop, the reason."""
    place: Place
    step: int
    """0-based step that the page displays."""
    missing: bool = False
    """Whether this translation has no such stop."""


STOPS_OF_STAGES = {3: 1, SOFTMAX_STOP: 2, MIXTURE_STOP: 3, 6: 5}
"""The number of the stage that a stop explains, whose title it has."""


def stop_titles(record: Any) -> dict[int, str]:
    """Return the titles of the stops of a translation, by number; those about a stage have its title."""
    own_stages = TRANSFORMER_STAGES if record.has_heads else recurrent_stages(record)
    stages = {stage.number: stage for stage in (ENERGY_STAGE, SOFTMAX_STAGE, *own_stages)}
    return {
        1: gettext("One word and its attention" if record.attends else "One word, without attention"),
        2: gettext("What an annotation is"),
        **{stop: stages[number].title() for stop, number in STOPS_OF_STAGES.items()},
        POSTERIOR_STOP: gettext("Before and after the word"),
        QUIZ_STOP: gettext("Your turn"),
    }


def word_sentences(tour: TourData) -> tuple[str, ...]:
    """Return the text about the word and its row of the heatmap."""
    record, words, word, step = tour.record, tour.record.words(), tour.word.word, tour.word.step
    name = tour.target(word)
    if len(words.target_groups[word]) > 1:
        name = gettext(
            "{piece}, the first piece of {word} (the translator splits rare words into pieces)",
            word=name,
            piece=tour.written(step),
        )
    written = gettext(
        "The translator was forced to write {word}." if was_forced(record, step) else "The translator wrote {word}.",
        word=name,
    )
    if not record.attends:
        return written, gettext(
            "This translator has no attention: it cannot look back at the English words. This translator read the "
            "words once, one after the other, and kept only one list of numbers."
        )
    shares = word_shares(record, step)
    attention = gettext(
        "Before this word, the translator looked back at the English sentence: {parts}. Each share is an attention "
        "weight, written α (alpha).",
        parts=", ".join(
            gettext("{share} at {word}", share=percent(shares[k]), word=tour.source(k))
            for k in named_shares(shares, LEAST_SHARE)
        ),
    )
    row = gettext(
        "In the heatmap, each row is a French word and each column an English word. The colour of a cell shows how "
        "much attention the row’s word gave to the column’s word. The row of this word is framed."
    )
    more = []
    if (neighbour := tour.crossed_word) is not None:
        more.append(
            gettext(
                "For the neighbouring word {word}, the translator looked at {source}: English and French order these "
                "words differently.",
                word=tour.target(neighbour),
                source=tour.source(tour.attention.sources[neighbour]),
            )
        )
    if record.has_heads:
        more.append(
            gettext(
                "A transformer looks at the sentence with many heads at once. The heatmap shows: {heads}.",
                heads=heads_name(record.heads),
            )
        )
    if guided := guidance_sentence(record.config):
        more += [guided, gettext("So it did not find these words all by itself.")]
    return f"{written} {attention}", row, " ".join(more)


def annotation_sentences(tour: TourData) -> tuple[str, ...]:
    """Return what an annotation is, for the piece with the most attention."""
    record, alpha = tour.record, tour.record.alignment[tour.word.step]
    j = max(record.words().source_groups[tour.word.source], key=lambda piece: alpha[piece])
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
    words_before = coloured(quote(" ".join(words.source[: word + 1]), LONGEST_WORD), "source")
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
        "Before writing, the translator read the sentence from both ends. At {word}, the translator noted {units} "
        "numbers: {half} from reading forwards up to this word ({before}), and {half} from reading backwards from the "
        "end.",
        word=name,
        units=units,
        half=units // 2,
        before=words_before,
    )
    return read, gettext(
        "The numbers of a word are its annotation: they describe the word among its neighbours. The two strips at each "
        "word show some numbers of its annotation: positive numbers are blue, negative numbers are red."
    )


def energy_sentences(tour: TourData) -> tuple[str, ...]:
    """Return how query and keys make energies."""
    record, energies = tour.record, tour.energies
    order = ranked(energies)
    fit = gettext(
        "The energy measures how well a piece fits: {listed}. The larger the energy, the better the fit.",
        listed=", ".join(
            f"{tour.piece(j)}\u00a0{decimal(energies[j])}"
            for j in (order if len(order) < 4 else [*order[:2], order[-1]])
        ),
    )
    if record.has_heads:
        start = gettext(
            "This stop of the tour shows one head: {head}. The query of this head comes from what the decoder has "
            "computed so far. It is compared with the key of each annotation.",
            head=opened_head_name(record.displayed),
        )
        return start, fit
    units = record.states.shape[1]
    start = gettext(
        "Before the first word, the decoder state is a list of {units} numbers computed from the sentence. The "
        "translator compares its state with every annotation."
        if tour.word.step == 0
        else "Before the decoder writes this word, its state is a list of {units} numbers. The translator compares its "
        "state with every annotation.",
        units=units,
    )
    lengths = {"units": str(record.annotations.shape[1]), "count": str(record.queries.shape[1])}
    return start, *fill_placeholders((texts_of(record.config["attention"]).fit,), lengths), fit


def softmax_sentences(tour: TourData) -> tuple[str, ...]:
    """Return how the softmax turns energies into shares, and that the user can pull a bar."""
    attention, step = tour.record.displayed, tour.word.step
    start = gettext(
        "Softmax turns the energies of the previous stop into shares, the attention weights. Softmax takes the "
        "exponential, exp, of each energy, then divides each result by the total."
    )
    divided = attention_sentence(attention, step, partial(coloured_name, kind="source"))
    if len(attention.source_pieces) == 1:
        return (f"{start} {divided}",)
    if lead := lead_texts(attention, step):
        divided += " " + gettext(
            "The difference of energies gives the ratio of weights: exp({difference}) = {times}.",
            difference=lead[0],
            times=lead[1],
        )
    return f"{start} {divided}", gettext(
        "To change how well a piece fits, drag its bar, or press ← → on the bar. The shares of all pieces then change."
    )


def context_sentences(tour: TourData) -> tuple[str, ...]:
    """Return how the context is mixed, and what it is used for."""
    record, step = tour.record, tour.mixed_step
    alpha = record.displayed.alignment[step]
    parts = ", ".join(f"{percent(alpha[j])} {tour.piece(j)}" for j in named_shares(alpha, LEAST_SHARE))
    if record.has_heads:
        mixed = gettext(
            "The head also computes a value, a list of numbers, from each annotation. The head multiplies each value "
            "by its share of attention and adds up the products: {parts}.",
            parts=parts,
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
                "The decoder gets only {context} of the sentence: {units} numbers that the encoder computes by reading "
                "the sentence to its end. It gets the same numbers for every word, however long the sentence.",
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
            parts=parts,
        )
    else:
        mixed = gettext(
            "For {first}, one English word gets {most} of the attention, so the context vector is hardly a mixture. "
            "For another word, {word}, several English words share the attention. The translator multiplies every "
            "annotation by its share of attention and adds up the products: {parts}. The sum is a mixture of "
            "annotations, not a copy of one annotation.",
            first=tour.written(tour.word.step),
            most=percent(record.displayed.alignment[tour.word.step].max()),
            word=tour.written(step),
            parts=parts,
        )
    used = gettext(
        "The sum of the products is {context}, also a list of {units} numbers. It is what the decoder gets of the "
        "sentence at this step; what it got at earlier steps lives on in its state. Of all annotations, that of {word} "
        "is closest in direction to the context vector (cosine {cosine}).",
        context=coloured(gettext("the context vector"), "context"),
        units=units,
        word=tour.piece(nearest),
        cosine=decimal(cosines[nearest]),
    )
    words, word = record.words(), record.words().word_at(step)
    if is_article(words.target[word], "target") and not is_article(
        words.source[tour.attention.sources[word]], "source"
    ):
        used += " " + gettext(
            "A French article depends on the noun that it belongs to: the noun decides between “le” and “la”. So the "
            "noun can matter before it is written."
        )
    return mixed, used


def written_word_sentences(tour: TourData) -> tuple[str, ...]:
    """Return which word is written, and what comes next."""
    record, step = tour.record, tour.word.step
    start = gettext(
        "From what its heads took from the sentence and from the words written so far, the translator computes a "
        "probability for each of the {count} pieces that it knows."
        if record.has_heads
        else "From the context vector, the previous word and its new state, the translator computes a probability for "
        "each of the {count} pieces that it knows."
        if record.reads_new_state
        else "From the context vector, the previous word and its state before this word, the translator computes a "
        "probability for each of the {count} pieces that it knows.",
        count=int(record.config["vocabulary_size"]),
    )
    if record.attends and not record.has_heads and tour.mixed_step != step:
        start = f"{gettext('Back to {word}.', word=tour.written(step))} {start}"
    rest, _ = word_choice(record, step, partial(coloured_name, kind="target"))
    one_vector = ""
    if record.attends_once and tour.posterior_weights is not None:
        one_vector = gettext(
            "After the tour, choose “{choice}” below the diagram. The decoder then gets the same vector for every "
            "word: see what becomes of the translation.",
            choice=mean_context_name(),
        )
    return start, f"{rest} {_next_word_sentence(tour)}".strip(), one_vector


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
            before=percent(prior[k]),
            after=percent(posterior[word][k]),
        )
        for k in dict.fromkeys((int(posterior[word].argmax()), int(prior.argmax())))
    )
    question = gettext(
        "The translator had to look at the sentence before it knew the word. Now that {word} is written, we can ask "
        "which English words mattered for it.",
        word=name,
    )
    bayes = gettext(
        "Bayes’ rule corrects the shares of attention once the word is known. Bayes’ rule multiplies the share of each "
        "English word by the probability that {word} would have with the annotation of this English word alone. The "
        "shares change: {shares}.",
        word=name,
        shares=shares,
    )
    where = gettext(
        "The new shares, written α′, are the posterior attention. At the levels of detail “Numbers” and “Everything”, "
        "the heatmap shows the new shares under “After the word”."
    )
    words = tour.record.words()
    if len(words.target_groups[word]) > 1 or any(len(group) > 1 for group in words.source_groups):
        bayes += " " + gettext(
            "The shares in this text are for whole words, with all their pieces. The diagram and the bars show each "
            "piece separately."
        )
    return question, bayes, where


def tour_stops(tour: TourData, *, posterior: bool = True) -> tuple[Stop, ...]:
    """Return the stops of the tour without the last, the quiz, and on request without posterior attention."""
    record, titles, stops = tour.record, stop_titles(tour.record), []
    contents: Mapping[int, tuple[Place, Callable[[TourData], tuple[str, ...]]]] = {
        1: ("heatmap" if record.attends else "source", word_sentences),
        2: ("encoder" if has_diagram(record) else "source", annotation_sentences),
        3: ("stage1", energy_sentences),
        SOFTMAX_STOP: ("stage2", softmax_sentences),
        MIXTURE_STOP: ("stage3", context_sentences),
        6: ("stage5", written_word_sentences),
        POSTERIOR_STOP: ("heatmap", posterior_sentences),
    }
    own_steps = {MIXTURE_STOP: tour.mixed_step, POSTERIOR_STOP: record.words().target_groups[tour.posterior_word][0]}
    for number in range(1, QUIZ_STOP if posterior else POSTERIOR_STOP):
        place, sentences = contents[number]
        if reason := _missing_reason(tour, number):
            stops.append(Stop(number, titles[number], (reason,), "", tour.word.step, missing=True))
        else:
            texts, step = tuple(filter(None, sentences(tour))), own_steps.get(number, tour.word.step)
            stops.append(Stop(number, titles[number], texts, place, step))
    return tuple(stops)


def _missing_reason(tour: TourData, number: int) -> str:
    """Return why this translation has no such stop; empty where it has."""
    record = tour.record
    if number in (3, SOFTMAX_STOP, POSTERIOR_STOP) and not record.attends:
        return no_attention_reason()
    if number == SOFTMAX_STOP and tour.has_changed_weights:
        return gettext(
            "The attention weights of this step were changed by hand, so they no longer come from softmax. To see this "
            "stop of the tour, go back to the first translation."
        )
    if number == POSTERIOR_STOP and record.imported:
        return gettext(
            "Posterior attention exists only for translators trained with attnviz. This model was imported from "
            "another program."
        )
    if number == POSTERIOR_STOP and not record.attends_once:
        return gettext(
            "A transformer looks at the sentence many times at each step, once with each head. This stop of the tour "
            "exists only for translators that look at the sentence only once per step."
        )
    if number == POSTERIOR_STOP and tour.posterior_weights is None:
        return gettext("Posterior attention cannot be computed: the model that made this translation is not installed.")
    return ""
