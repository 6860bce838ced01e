"""Stops of the tour, which explains a translation: title, place on the page and step; texts of the quiz at its end.

The sentences of a stop are in `tour_sentences`; a stop that a translation lacks has the reason as its text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from attnviz.analysis.diagram_texts import has_diagram
from attnviz.analysis.numbers import decimal, fine_percent
from attnviz.analysis.stages import ENERGY_STAGE, SOFTMAX_STAGE, recurrent_stages
from attnviz.analysis.tour_data import ChanceScore, QuizQuestion, TourData
from attnviz.analysis.tour_sentences import (
    annotation_sentences,
    context_sentences,
    energy_sentences,
    posterior_sentences,
    softmax_sentences,
    word_sentences,
    written_word_sentences,
)
from attnviz.analysis.transformer_steps import transformer_stages
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
    own_stages = transformer_stages(record) if record.has_heads else recurrent_stages(record)
    stages = {stage.number: stage for stage in (ENERGY_STAGE, SOFTMAX_STAGE, *own_stages)}
    return {
        1: gettext("One word and its attention") if record.attends else gettext("One word, without attention"),
        2: gettext("What an annotation is"),
        **{stop: stages[number].title() for stop, number in STOPS_OF_STAGES.items()},
        POSTERIOR_STOP: gettext("Before and after the word"),
        QUIZ_STOP: gettext("Your turn"),
    }


def tour_stops(tour: TourData, *, posterior: bool = True) -> tuple[Stop, ...]:
    """Return the stops of the tour without the last, the quiz, and on request without posterior attention."""
    return tuple(_stop(tour, number) for number in range(1, QUIZ_STOP if posterior else POSTERIOR_STOP))


def _stop(tour: TourData, number: int) -> Stop:
    title, step = stop_titles(tour.record)[number], tour.word.step
    if reason := _missing_reason(tour, number):
        return Stop(number, title, (reason,), "", step, missing=True)
    if number == MIXTURE_STOP:
        step = tour.mixed_step
    if number == POSTERIOR_STOP:
        step = tour.record.words().target_groups[tour.posterior_word][0]
    return Stop(number, title, tuple(filter(None, _SENTENCE_FUNCTIONS[number](tour))), _place(tour, number), step)


def _place(tour: TourData, number: int) -> Place:
    diagram = has_diagram(tour.record)
    places: Mapping[int, Place] = {
        1: "heatmap" if tour.record.attends else "source",
        2: "encoder" if diagram else "source",
        3: "stage1",
        SOFTMAX_STOP: "stage2",
        5: "stage3",
        6: "stage5",
        POSTERIOR_STOP: "heatmap",
    }
    return places[number]


def _missing_reason(tour: TourData, number: int) -> str:
    """Return why this translation has no such stop; empty where it has."""
    record = tour.record
    if number in (3, SOFTMAX_STOP, POSTERIOR_STOP) and not record.attends:
        return no_attention_reason()
    if number == SOFTMAX_STOP and tour.has_changed_weights:
        return gettext(
            "The attention weights of this step were changed by hand, so they no longer come from softmax. To see "
            "this stop of the tour, go back to the first translation."
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


def no_attention_reason() -> str:
    """Return why a translator without attention has no stop about attention."""
    return gettext(
        "This translator has no attention: it gives no weights to English words. So this stop of the tour has nothing "
        "to show. Under “More”, choose a model with attention, then come back."
    )


_SENTENCE_FUNCTIONS: Mapping[int, Callable[[TourData], tuple[str, ...]]] = {
    1: word_sentences,
    2: annotation_sentences,
    3: energy_sentences,
    SOFTMAX_STOP: softmax_sentences,
    MIXTURE_STOP: context_sentences,
    6: written_word_sentences,
    POSTERIOR_STOP: posterior_sentences,
}


def quiz_introduction(tour: TourData, questions: Sequence[QuizQuestion]) -> str:
    """Return the introduction of the quiz, or why there is none."""
    if not tour.record.attends:
        return no_attention_reason()
    if not questions:
        return gettext(
            "No word of this translation attends clearly to a single English word, so the quiz has no clear "
            "question to ask. Try a longer sentence, for example one from “Examples”."
        )
    if len(questions) == 1:
        return gettext(
            "Choose the English word that the translator looked at most for this French word. The pictures are hidden "
            "until you have answered."
        )
    return gettext(
        "Here are {count} French words of different kinds. For each French word, choose the English word that the "
        "translator looked at most. The pictures are hidden until you have answered.",
        count=len(questions),
    )


def answer_explanation(tour: TourData, question: QuizQuestion) -> str:
    """Return the attention and the posterior attention of a word in one sentence."""
    attended = question.attended[0]
    share = fine_percent(float(tour.record.words().alignment[question.word, attended]))
    values = {"word": tour.source(attended), "share": share}
    if tour.posterior_weights is None or not question.meant:
        text = gettext("{share} of the attention went to {word}.", **values)
    else:
        meant = attended if attended in question.meant else question.meant[0]
        values |= {
            "later": fine_percent(float(tour.posterior_weights[question.word, meant])),
            "other": tour.source(meant),
        }
        text = (
            gettext("{word}: α = {share} before the French word is known, α′ = {later} after.", **values)
            if meant == attended
            else gettext(
                "Before the French word was known, {word} had α = {share}. Once the French word is known, "
                "{other} has α′ = {later}.",
                **values,
            )
        )
    if question.kind != "crossed":
        return text
    return f"{text} {gettext('At this word, the French word order differs from the English order.')}"


def chance_sentence(chances: ChanceScore, count: int, *, after: bool) -> str:
    """Return the expected number of correct answers to `count` questions by chance."""
    values = {"chance": decimal(chances.attended, 1), "straight": chances.diagonal, "count": count}
    text = gettext(
        "Expected correct answers: {chance} of {count} by random guessing, {straight} of {count} by following "
        "the diagonal of the heatmap.",
        **values,
    )
    if after and abs(chances.meant - chances.attended) >= 0.05:
        text += " " + gettext(
            "If answers are judged by α′ (attention after the word), expect {chance} correct answers by random "
            "guessing.",
            chance=decimal(chances.meant, 1),
        )
    return text


def quiz_labels(tour: TourData) -> dict[str, str]:
    """Return the texts of the quiz, with placeholders that the browser fills."""
    heads = not tour.record.attends_once
    return {
        "ask": gettext("Word {k} of {n}: where did the translator look most for “{word}”?"),
        "english": gettext("English words to choose from"),
        "right": gettext("Right."),
        "wrong": gettext("Wrong: {word} got {share} of the attention."),
        "shades": gettext(
            "The stronger the shade of a word, the more the translator looked at it. The underlined word has the "
            "largest posterior attention."
        )
        if tour.posterior_weights is not None
        else gettext("The stronger the shade of a word, the more the translator looked at it."),
        "next": gettext("Next word"),
        "end": gettext("What did I score?"),
        "score": gettext("Correct answers, judged by the mean attention of the heads: {hits} of {n}.")
        if heads
        else gettext("Correct answers, judged by α (before the word): {hits} of {n}."),
        "later": gettext("Correct answers, judged by α′ (after the word): {hits} of {n}.")
        if tour.posterior_weights is not None
        else "",
        "again": gettext("Ask me again"),
        "lead": gettext("Next: Why attention?"),
        "explained": gettext(
            "The terms of this page are explained beside the step, under “What the words on this page mean”."
        ),
    }
