"""Make the tour of the current translation; the browser fetches its stops when it begins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.quiz import Question, odds, questions
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.text import SPACE, SPECIAL_PIECES
from attnviz.trace import Record
from attnviz.ui.components.tour.tour import tour_card
from attnviz.ui.page_state.view import MAIN, View
from attnviz.ui.resources import posterior_of
from attnviz.ui.shared_payloads import PayloadRequest, address
from attnviz.wording.coloured_text import spans
from attnviz.wording.labels import mark_name, quote, quoted_name, shorten
from attnviz.wording.numbers import percent
from attnviz.wording.quiz import by_chance, explained, opening, quiz_words
from attnviz.wording.tour import AFTER, PULL, QUIZ, Stop, stop_titles, tour_stops
from attnviz.wording.tour_data import LONGEST, TourData

PULLED, COMPARED = 5, 4
"""Number of pieces whose energies can be changed, and of words whose prior and posterior are compared."""


def tour(view: View, theme: ThemeName) -> None:
    """Mount the tour, hidden until it begins; only a page's own view has one."""
    if view.id == MAIN:
        tour_card(view, address(view.trace, "tour", theme, every=True))


def tour_stops_payload(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of all stops."""
    told = toured(asked.trace)
    stops = [_stop_payload(told, stop) for stop in tour_stops(told)]
    return {
        "identity": asked.trace.fingerprint,
        "language": language(),
        "words": tour_words(),
        "stops": [*stops, _quiz_payload(told)],
    }


def toured(trace: Record) -> TourData:
    """Return the translation and its posterior attention for the tour."""
    after = posterior_of(trace)  # type: ignore[arg-type]  # a transformer's trace, too, which has none
    return TourData(trace, None if after is None else trace.words().merged(after))


def tour_words() -> dict[str, str]:
    """Return the texts on the card that are the same at every stop."""
    return {
        "count": gettext("Stop {n} of {count}"),
        "close": gettext("Close the tour"),
        "back": gettext("Back"),
        "next": gettext("Next"),
        "finish": gettext("Finish"),
        "stops": gettext("Stops"),
        "stop": gettext("Stop {n}: {title}"),
        "keys": gettext("← → go from stop to stop, Esc closes the tour. Until then the arrow keys control the tour."),
        "own": gettext("← → choose a word, Enter answers, Esc closes."),
        "astray": gettext("Show this word again"),
        "reset": gettext("As it was"),
        "fit": gettext("how well it fits"),
        "share": gettext("share of attention"),
        "before": gettext("before the word"),
        "after": gettext("after the word"),
    }


def _stop_payload(told: TourData, stop: Stop) -> dict[str, Any]:
    record = {
        "number": stop.number,
        "title": stop.title,
        "told": [spans(text) for text in stop.sentences],
        "place": stop.place,
        "step": stop.step,
        "missing": stop.missing,
    }
    if stop.number == PULL and not stop.missing:
        record["pull"] = _pull_payload(told)
    if stop.number == AFTER and not stop.missing:
        record["after"] = _after_payload(told)
    return record


def _pull_payload(told: TourData) -> dict[str, Any]:
    """Return the energies of the step, and the pieces whose energies can be changed."""
    alpha, trace = told.opened.alignment[told.word.step], told.record
    rows = sorted(int(j) for j in np.argsort(-alpha, kind="stable")[:PULLED])
    return {
        "energies": told.energies.astype(float).tolist(),
        "rows": [{"piece": j, "name": quoted_name(trace.source_pieces[j])} for j in rows],
        "shown": trace.attends_once,
    }


def _after_payload(told: TourData) -> list[dict[str, Any]]:
    """Return prior and posterior shares of the words for which either is largest."""
    words, word = told.record.words(), told.turned
    after: NDArray[np.floating] = words.alignment if told.after is None else told.after
    before, later = words.alignment[word], after[word]
    chosen = sorted(int(k) for k in np.argsort(-np.maximum(before, later), kind="stable")[:COMPARED])
    return [
        {
            "name": _named(words.source[k]),
            "before": float(before[k]),
            "after": float(later[k]),
            "told": [percent(float(before[k])), percent(float(later[k]))],
        }
        for k in chosen
    ]


def _quiz_payload(told: TourData) -> dict[str, Any]:
    """Return the questions of the last stop, with the correct answers and explanations."""
    record, words = told.record, told.record.words()
    asked = questions(record, told.after, told=(told.word.word, told.turned)) if record.attends else ()
    quiz = {
        "source": list(words.source),
        "names": [_named(word) for word in words.source],
        "target": _french(record),
        "questions": [_question_payload(told, one) for one in asked],
        "words": quiz_words(told),
        "chance": by_chance(odds(record, asked), len(asked), after=told.after is not None),
    }
    return {
        "number": QUIZ,
        "title": stop_titles()[QUIZ],
        "told": [spans(opening(told, asked))],
        "place": "heatmap" if asked else "",
        "step": told.word.step,
        "missing": not asked,
        **({"quiz": quiz} if asked else {}),
    }


def _french(record: Record) -> list[dict[str, Any]]:
    """Return the words of the translation without `</s>`, each with whether a space precedes it."""
    words = record.words()
    found = []
    for word, group in zip(words.target, words.target_groups, strict=True):
        first = record.target_pieces[group[0]]
        if first != "</s>":
            found.append({"word": word, "space": first in SPECIAL_PIECES or first.startswith(SPACE)})
    return found


def _named(word: str) -> str:
    """Return the name of a word in a sentence."""
    return mark_name(word) or quote(shorten(word, LONGEST))


def _question_payload(told: TourData, one: Question) -> dict[str, Any]:
    shares = told.record.words().alignment[one.word]
    later = None if told.after is None else told.after[one.word]
    return {
        "word": one.word,
        "looked": list(one.looked),
        "meant": list(one.meant),
        "shares": shares.astype(float).tolist(),
        "later": None if later is None else later.astype(float).tolist(),
        "told": [percent(float(share)) for share in shares],
        "explained": spans(explained(told, one)),
    }
