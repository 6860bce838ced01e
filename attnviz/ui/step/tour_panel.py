"""Make the payload of the tour: its stops and quiz for the current translation; and mount its card."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.labels import punctuation_name, quote, quoted_name, shorten
from attnviz.analysis.numbers import percent
from attnviz.analysis.stages import ENERGY_STAGE, SOFTMAX_STAGE
from attnviz.analysis.tour import POSTERIOR_STOP, QUIZ_STOP, SOFTMAX_STOP, Stop, stop_titles, tour_stops
from attnviz.analysis.tour_data import (
    LONGEST_WORD,
    QuizQuestion,
    TourData,
    answer_explanation,
    chance_score,
    chance_sentence,
    coloured_parts,
    questions,
    quiz_introduction,
    quiz_labels,
)
from attnviz.analysis.what_if_effects import spaced_words
from attnviz.languages import gettexts, language
from attnviz.ui.components.component import component
from attnviz.ui.payloads import Payload, PayloadRequest, address, makes_payload
from attnviz.ui.resources import cached_posterior
from attnviz.ui.view import MAIN, View

PULLED_PIECES, COMPARED_WORDS = 5, 4
"""Number of pieces whose energies can be changed, and of words whose prior and posterior are compared."""


def tour(view: View) -> None:
    """Mount the tour, hidden until it begins; only a page's own view has one."""
    if view.id == MAIN:
        at = address(view.trace, "tour", simple=view.simple)
        component("tour", view.key("tour_card"), {"at": at}, height=1)


@makes_payload("tour", of_step=True)
def tour_stops_payload(request: PayloadRequest) -> Payload:
    """Return the payload of all stops; for the level *Idea* without posterior attention."""
    trace, posterior = request.trace, not request.simple
    weights = cached_posterior(trace) if posterior else None
    data = TourData(trace, None if weights is None else trace.words().merged(weights))
    stops = [_stop_payload(data, stop) for stop in tour_stops(data, posterior=posterior)]
    words = gettexts(
        {
            "count": "Stop {n} of {count}",
            "close": "Close the tour",
            "back": "Back",
            "next": "Next",
            "finish": "Finish",
            "stops": "Stops",
            "stop": "Stop {n}: {title}",
            "keys": "Press ← or → to go from stop to stop, and Esc to close the tour. While the tour is open, the "
            "arrow keys control only the tour.",
            "own": "← → choose a word, Enter confirms it, Esc closes the tour.",
            "astray": "Show this word again",
            "reset": "As it was",
            "before": "before the word",
            "after": "after the word",
        }
    ) | {"fit": ENERGY_STAGE.title(), "share": SOFTMAX_STAGE.title()}
    return {
        "identity": trace.fingerprint,
        "language": language(),
        "words": words,
        "stops": [*stops, _quiz_payload(data) | {"number": len(stops) + 1}],
    }


def _stop_payload(data: TourData, stop: Stop) -> Payload:
    payload = {
        "number": stop.number,
        "title": stop.title,
        "texts": [coloured_parts(text) for text in stop.sentences],
        "place": stop.place,
        "step": stop.step,
        "missing": stop.missing,
    }
    if stop.number == SOFTMAX_STOP and not stop.missing:
        payload["pull"] = _energies_payload(data)
    if stop.number == POSTERIOR_STOP and not stop.missing:
        payload["after"] = _posterior_payload(data)
    return payload


def _energies_payload(data: TourData) -> Payload:
    """Return the energies of the step, and the pieces whose energies can be changed."""
    alpha, trace = data.record.displayed.alignment[data.word.step], data.record
    rows = sorted(int(j) for j in np.argsort(-alpha, kind="stable")[:PULLED_PIECES])
    return {
        "energies": data.energies.astype(float).tolist(),
        "rows": [{"piece": j, "name": quoted_name(trace.source_pieces[j])} for j in rows],
        "shown": trace.attends_once,
    }


def _posterior_payload(data: TourData) -> list[Payload]:
    """Return prior and posterior shares of the words for which either is largest."""
    words, word = data.record.words(), data.posterior_word
    posterior_rows: NDArray[np.floating] = words.alignment if data.posterior_weights is None else data.posterior_weights
    prior, posterior = words.alignment[word], posterior_rows[word]
    shown = sorted(int(k) for k in np.argsort(-np.maximum(prior, posterior), kind="stable")[:COMPARED_WORDS])
    return [
        {
            "name": _display_name(words.source[k]),
            "before": float(prior[k]),
            "after": float(posterior[k]),
            "texts": [percent(float(prior[k])), percent(float(posterior[k]))],
        }
        for k in shown
    ]


def _quiz_payload(data: TourData) -> Payload:
    """Return the questions of the last stop, with the correct answers and explanations."""
    record, words = data.record, data.record.words()
    quiz_questions = questions(record, data.posterior_weights, answered=data.explained_words) if record.attends else ()
    quiz = {
        "source": list(words.source),
        "names": [_display_name(word) for word in words.source],
        "target": [{"word": word, "space": space} for word, space in spaced_words(record)],
        "questions": [_question_payload(data, question) for question in quiz_questions],
        "words": quiz_labels(data),
        "chance": chance_sentence(
            chance_score(record, quiz_questions), len(quiz_questions), after=data.posterior_weights is not None
        ),
    }
    return {
        "title": stop_titles(record)[QUIZ_STOP],
        "texts": [coloured_parts(quiz_introduction(data, quiz_questions))],
        "place": "heatmap" if quiz_questions else "",
        "step": data.word.step,
        "missing": not quiz_questions,
        **({"quiz": quiz} if quiz_questions else {}),
    }


def _display_name(word: str) -> str:
    """Return the name of a word in a sentence."""
    return punctuation_name(word) or quote(shorten(word, LONGEST_WORD))


def _question_payload(data: TourData, question: QuizQuestion) -> Payload:
    shares = data.record.words().alignment[question.word]
    posterior = None if data.posterior_weights is None else data.posterior_weights[question.word]
    return {
        "word": question.word,
        "attended": list(question.attended),
        "meant": list(question.meant),
        "shares": shares.astype(float).tolist(),
        "later": None if posterior is None else posterior.astype(float).tolist(),
        "texts": [percent(float(share)) for share in shares],
        "explained": coloured_parts(answer_explanation(data, question)),
    }
