"""The step view of a translation or of imported attention, as blocks: player, heatmap, diagram, stages, tables, tour.

The browser changes the step by itself, from payloads that it fetches; the server does not know the current step.

`context_choice` lets the visitor give all steps the same context vector, which adds a what-if.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from html import escape

from attnviz.analysis.attribution_methods import colours_sentence, recorded_attributions
from attnviz.analysis.imported_file_texts import missing_values_reason, side_names
from attnviz.analysis.what_if_effects import mean_context_name, words_with_changes
from attnviz.figures.attribution_figure import attributions
from attnviz.figures.registry import ENERGY_DECOMPOSITION, LOGIT_ATTRIBUTION, POSTERIOR
from attnviz.languages import gettext
from attnviz.trace import WhatIf
from attnviz.trace.interventions import ReplaceWeights, Temperature
from attnviz.trace.parts import head_choices
from attnviz.trace.what_ifs import whole_weights
from attnviz.ui.components.chart import chart_tables, steady_payload
from attnviz.ui.components.component import box, component, html, message
from attnviz.ui.controls import request_button, segmented_control
from attnviz.ui.embedding import embedding, page_session
from attnviz.ui.examples import question, step_of_word
from attnviz.ui.glossary import Topic
from attnviz.ui.page_state.selection import WHAT_IFS, stored_what_ifs
from attnviz.ui.payloads import all_at_once, payload_address
from attnviz.ui.resources import weights_of
from attnviz.ui.step.compared_attention import compared_attention_panel
from attnviz.ui.step.diagram_panel import diagram_panel
from attnviz.ui.step.gold_panel import cell_link, findings_panel, link_entries, links_payload
from attnviz.ui.step.heatmap_panel import heatmap_with_columns
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
from attnviz.ui.step.tour_panel import tour
from attnviz.ui.step.verification_badge import verification_badge
from attnviz.ui.step.what_if_panel import slider_labels, what_changed
from attnviz.ui.view import View

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
