"""The step view of a translation or of imported attention, as blocks: player, heatmap, diagram, stages, tables, tour.

The browser changes the step by itself, from payloads that it fetches; the server does not know the current step. The
tour is a payload, too: its stops, and a quiz on the current translation.

`context_choice` lets the visitor give all steps the same context vector, which adds a what-if.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from html import escape

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.attribution_methods import colours_sentence, recorded_attributions
from attnviz.analysis.imported_file_texts import missing_values_reason, side_names
from attnviz.analysis.labels import percent, punctuation_name, quote, quoted_name, shorten
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
from attnviz.analysis.what_if_effects import mean_context_name, spaced_words, words_with_changes
from attnviz.figures.registry import ENERGY_DECOMPOSITION, LOGIT_ATTRIBUTION, POSTERIOR
from attnviz.figures.side_by_side_figure import attributions
from attnviz.languages import gettext, gettexts, language
from attnviz.trace import WhatIf
from attnviz.trace.interventions import ReplaceWeights, Temperature
from attnviz.trace.parts import head_choices
from attnviz.trace.what_ifs import whole_weights
from attnviz.ui.blocks import box, chart_tables, component, html, message, steady_payload
from attnviz.ui.controls import request_button, segmented_control
from attnviz.ui.embedding import embedding, page_session
from attnviz.ui.examples import question, step_of_word
from attnviz.ui.glossary import Topic
from attnviz.ui.payloads import Payload, PayloadRequest, address, all_at_once, makes_payload, payload_address
from attnviz.ui.resources import cached_posterior, weights_of
from attnviz.ui.selection import WHAT_IFS, stored_what_ifs
from attnviz.ui.step.diagram_panel import diagram_panel
from attnviz.ui.step.gold_panel import cell_link, findings_panel, link_entries, links_payload
from attnviz.ui.step.heatmap_panel import compared_attention_panel, heatmap_with_columns
from attnviz.ui.step.logit_attribution_panel import logit_attribution_panel
from attnviz.ui.step.stage_panels import (
    draw_figures,
    draw_stage,
    energy_decomposition_panel,
    facts,
    posterior_section,
    stage_boxes,
    stage_names,
    stages_of,
)
from attnviz.ui.step.step_controls import PlayedLanguages, key_help, step_controls, what_if_cards
from attnviz.ui.step.verification_badge import verification_badge
from attnviz.ui.step.what_if_panel import slider_labels, what_changed
from attnviz.ui.view import MAIN, View

_EXACT = 10**6
"""Sum of the weights of the first step for all steps: so many that the first step itself does not change."""
_NARROWEST = 640
"""Pixels of the attributions side by side, in which their captions fit; a narrower window scrolls them."""


def _imported_attention(view: View) -> None:
    """Draw the panels of `view`, whose trace is an `Attention`, and say which are missing."""
    step_controls(view, PlayedLanguages(side_names(view.trace), ("und", "und")))
    left, right = heatmap_with_columns(view)
    if view.shows("numbers") and not view.trace.is_self_attention:  # findings are about translations
        with left:
            findings_panel(view)
    with right, box(view.key("step_panel")):
        _step(view)
    compared_attention_panel(view)
    if view.shows("numbers"):
        _attributions(view)
    chart_tables(view, "chart-tables", {"session": link_entries(view)})


def _attributions(view: View) -> None:
    """Draw the recorded attributions of all steps side by side, if there are any."""
    methods = recorded_attributions(view.trace)
    if len(methods.names) < 2:
        return
    sentences = colours_sentence()
    if view.trace.kind == "decoder":
        sentences += " " + gettext(
            "In each row, gradient and erasure explain the word of the row, while the attention helps to write the "
            "next word."
        )
    html(f'<h2 class="section">{gettext("Attributions")}</h2><p class="explanation">{sentences}</p>')
    figure = attributions(view.trace, methods, across=len(methods.names))
    meta = figure.layout["meta"]
    meta["narrowest"] = max(_NARROWEST, meta["narrowest"])
    component("chart", view.key("attributions"), steady_payload(figure, {}))


def _step(view: View) -> None:
    """Draw the current step: its summary, attention, and imported energies."""
    _summary(view)
    key_help(view, common_only=view.simple)
    (stage,) = stages_of(view)
    draw_figures(view, stage, "h2")  # the summary has the title of the first
    message(missing_values_reason(), view.key("missing_values_reason"))


def context_choice(view: View) -> None:
    """Draw the choice, where attention can be changed; `view` shows the translation with that vector."""
    if view.what_ifs is None or slider_labels(view.trace) is None or embedding() is not None:
        return
    key = view.key("context")
    page_session()[key] = _current(view)
    names = {
        "each": gettext("a new mixture at each step"),
        "first": gettext("always that of step 1"),
        "mean": mean_context_name(),
    }
    with box(view.key("context_choice"), row=True):
        if view.simple and page_session()[key] == "each":
            asked = gettext("What if the decoder got the same mixture at every step?")
            html(f'<p class="label">{asked}</p>', width="content")
            request_button(
                gettext("Try it"), partial(_choose, view, "first"), key=view.key("same_context"), type="tertiary"
            )
            return
        label = gettext("The decoder gets")
        html(f'<p class="label">{label}</p>', width="content")
        segmented_control(label, names, key=key, default="each", then=lambda: _choose(view, page_session()[key]))
    if view.parent is not None and page_session()[key] != "each":
        tags = {"same": "span", "other": "ins", "gone": "del"}
        words = "".join(
            f"{' ' if word.space else ''}<{tags[word.kind]}>{escape(word.text)}</{tags[word.kind]}>"
            for word in words_with_changes(view.trace, view.parent)
        )
        name = gettext("Resulting translation")
        with box(view.key("context_outcome")):
            html(f'<div class="compared"><p><span class="name">{name}</span><span lang="fr">{words}</span></p></div>')


def _current(view: View) -> str:
    """Return the choice that the current what-if is, or "each"."""
    match view.what_ifs.what_ifs[view.number - 1].intervention if view.what_ifs and view.number else None:
        case ReplaceWeights(step=None, lender="step", of="0"):
            return "first"
        case Temperature(temperature=math.inf, step=None):
            return "mean"
    return "each"


def _choose(view: View, chosen: str) -> None:
    """Show the translation in which all steps get the chosen vector, or for "each" the translation before."""
    session, current = page_session(), _current(view)
    if view.what_ifs is None or chosen == current:
        return
    base = view.number if current == "each" else view.what_ifs.what_ifs[view.number - 1].parent
    stored = stored_what_ifs(view.id)
    if chosen == "each":
        session[view.key(WHAT_IFS)] = stored.showing(base)
        return
    weights = whole_weights(view.what_ifs.trace(base).alignment[0], _EXACT)
    frozen = ReplaceWeights(weights, None, "step", "0")
    session[view.key(WHAT_IFS)] = stored.adding(WhatIf(base, frozen if chosen == "first" else Temperature(math.inf)))


def step_view(view: View) -> None:
    """Draw `view`: the sentences, the heatmap, and what depends on the step, at the view's level of detail."""
    with box(view.key("room")):  # components/view.js stores its state on this element
        if not view.trace.translated:
            _imported_attention(view)
            return
        step_controls(view, tour=embedding() is None, what_ifs=not view.simple)
        with box(view.key("question")):
            _question(view)
        left, right = heatmap_with_columns(view)
        if view.simple:
            with left:  # the first what-if moves nothing in the other column
                what_if_cards(view)
            with right, box(view.key("in_place")):  # page.css shows one part at a time
                _step_panel(view)
                _diagram_and_stages(view)
            with right:
                key_help(view, *glossary_topics(view), common_only=True, has_stages=True)
        else:
            with left:
                findings_panel(view)
            with right:
                _step_panel(view)
            _diagram_and_stages(view)
        chart_tables(view, "chart-tables", {"session": link_entries(view)})
        if embedding() is None:  # its button stands in the masthead
            tour(view)


def _question(view: View) -> None:
    """Draw the question about the translation of an example, with links to the steps of two words.

    It stays while a what-if is shown, whatever its words, so that what stands below does not move.
    """
    if (asked := question(view.what_ifs.trace(0) if view.what_ifs else view.trace)) is None:
        return
    words = view.trace.words().target
    links = [
        cell_link(gettext("the step of “{word}”", word=word), "example", step_of_word(view.trace, word), None)
        for word in (asked.word, asked.other)
        if word in words
    ]
    component("findings", view.key("example_question"), links_payload(asked.text, links, len(links)))


def _diagram_and_stages(view: View) -> None:
    with box(view.key("diagram_box")):
        diagram_panel(view)
        context_choice(view)
    state_first = stages_of(view)[0].number == 4
    with box(view.key("stages_state_first" if state_first else "stages")):  # page.css places them
        _stages(view)


def _step_panel(view: View) -> None:
    """Draw the panel beside the heatmap: the step's summary, its verification, and help."""
    with box(view.key("step_panel")):
        _summary(view)
        if view.shows("everything"):
            verification_badge(view)
        if not view.simple:
            key_help(view, *glossary_topics(view), has_stages=True)


def _summary(view: View) -> None:
    """Draw the summary of the current step; its payload is sent with the page, since it is in the window at once."""
    if all_at_once(view):
        steps = facts(view.trace, tuple(range(view.steps)), simple=view.simple)
    else:
        steps = {"at": payload_address(view, "facts")}
    component("step_summary", view.key("facts"), {"stages": stage_names(view), "steps": steps})


def glossary_topics(view: View) -> Iterator[Topic]:
    """Yield the topics of the glossary whose terms the view has."""
    yield from ("signs", "attention")
    if head_choices(view.trace):
        yield "heads"
    if not view.simple:
        yield "writing"


def _stages(view: View) -> None:
    """Draw the five stages, energy decomposition, logit attribution, posterior attention and what changed."""
    weights = weights_of(view.trace)
    for place, stage, key in stage_boxes(view):
        with box(view.key(key)):
            draw_stage(view, stage, place)
        if stage.number == 1 and view.shows(ENERGY_DECOMPOSITION.level):
            with box(view.key("inside_energy")):
                energy_decomposition_panel(view, weights)
        if stage.number == 5 and view.shows(LOGIT_ATTRIBUTION.level):
            with box(view.key("inside_word")):
                logit_attribution_panel(view, weights)
    if view.shows(POSTERIOR.level):
        with box(view.key("looking_back")):
            posterior_section(view)
    if view.parent is not None:  # last, so that nothing else is mounted again; page.css places it below the weights
        with box(view.key("what_changed")):
            what_changed(view)


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
    trace, words = data.record, data.record.words()
    if stop.number == SOFTMAX_STOP and not stop.missing:  # the pieces whose energies can be changed
        payload["pull"] = {
            "energies": data.energies.astype(float).tolist(),
            "rows": [
                {"piece": j, "name": quoted_name(trace.source_surfaces[j])}
                for j in _largest(trace.displayed.alignment[data.word.step], PULLED_PIECES)
            ],
            "shown": trace.attends_once,
        }
    if stop.number == POSTERIOR_STOP and not stop.missing:  # the words whose prior or posterior is largest
        rows = words.alignment, words.alignment if data.posterior_weights is None else data.posterior_weights
        prior, posterior = (one[data.posterior_word].astype(float).tolist() for one in rows)
        payload["after"] = [
            {
                "name": _display_name(words.source[k]),
                "before": prior[k],
                "after": posterior[k],
                "texts": [percent(prior[k]), percent(posterior[k])],
            }
            for k in _largest(np.maximum(prior, posterior), COMPARED_WORDS)
        ]
    return payload


def _largest(numbers: NDArray[np.floating], count: int) -> list[int]:
    """Return the places of the largest numbers, in order."""
    return sorted(np.argsort(-numbers, kind="stable")[:count].tolist())


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
    shares, later = data.record.words().alignment[question.word].astype(float).tolist(), data.posterior_weights
    return {
        "word": question.word,
        "attended": list(question.attended),
        "meant": list(question.meant),
        "shares": shares,
        "later": None if later is None else later[question.word].astype(float).tolist(),
        "texts": list(map(percent, shares)),
        "explained": coloured_parts(answer_explanation(data, question)),
    }
