"""The tour: a translation explained stop by stop, each in two or three sentences with its own words and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from attnviz.languages import gettext
from attnviz.wording.diagram import has_diagram
from attnviz.wording.tour_data import TourData
from attnviz.wording.tour_stops import (
    annotation_sentences,
    context_sentences,
    energy_sentences,
    posterior_sentences,
    softmax_sentences,
    word_sentences,
    written_word_sentences,
)

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


def stop_titles() -> dict[int, str]:
    """Return the titles of the stops, by number."""
    return {
        1: gettext("One word and its attention"),
        2: gettext("What an annotation is"),
        3: gettext("A query meets the keys"),
        4: gettext("Softmax: shares of attention"),
        5: gettext("The context is mixed"),
        6: gettext("The word it writes"),
        7: gettext("Before and after the word"),
        QUIZ_STOP: gettext("Your turn"),
    }


def tour_stops(tour: TourData, *, posterior: bool = True) -> tuple[Stop, ...]:
    """Return the stops of the tour without the last, the quiz, and on request without posterior attention."""
    return tuple(_stop(tour, number) for number in range(1, QUIZ_STOP if posterior else POSTERIOR_STOP))


def _stop(tour: TourData, number: int) -> Stop:
    title, step = _title(tour, number), tour.word.step
    if reason := _missing_reason(tour, number):
        return Stop(number, title, (reason,), "", step, missing=True)
    if number == MIXTURE_STOP:
        step = tour.mixed_step
    if number == POSTERIOR_STOP:
        step = tour.record.words().target_groups[tour.posterior_word][0]
    return Stop(number, title, tuple(filter(None, _SENTENCE_FUNCTIONS[number](tour))), _place(tour, number), step)


def _title(tour: TourData, number: int) -> str:
    """Return the title of a stop; some differ without attention."""
    if tour.record.attends or number not in (1, 5):
        return stop_titles()[number]
    return gettext("One word, without attention") if number == 1 else gettext("The same numbers for every word")


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
        return no_attention()
    if number == SOFTMAX_STOP and tour.has_changed_weights:
        return gettext(
            "The attention weights of this step were changed by hand, so they no longer come from softmax. To "
            "see this stop, go back to the first translation."
        )
    if number == POSTERIOR_STOP and record.imported:
        return gettext(
            "Posterior attention exists only for translators trained with attnviz. This model was imported from "
            "another program."
        )
    if number == POSTERIOR_STOP and not record.attends_once:
        return gettext(
            "A transformer looks at the sentence many times at each step, once with each head. This stop exists "
            "only for translators that look at the sentence only once per step."
        )
    if number == POSTERIOR_STOP and tour.after is None:
        return gettext("Posterior attention cannot be computed: the model that made this translation is not installed.")
    return ""


def no_attention() -> str:
    """Return why a translator without attention has no stop about attention."""
    return gettext(
        "This translator has no attention: it gives no weights to English words, so this stop has nothing to "
        "show. Under “More”, choose a model with attention, then come back."
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
