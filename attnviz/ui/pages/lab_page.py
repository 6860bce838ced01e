"""The page *Lab*: the sentence and its translation, the current section, its tables and downloads.

`SECTIONS` has the functions of each section: one draws it, others make its figures and tables. The server computes the
current section only. Those here are analyses by the translation's own model: six attribution methods, other weights at
each step, and the beam search with all hypotheses, of which a click makes one the translation. They are cached for all
visitors. `unavailable_reason` says why a translation has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from html import escape
from typing import TypeVar, cast, get_args

import streamlit as st

from attnviz import AttnvizError, Trace
from attnviz.analysis.attribution_methods import (
    AttributionMethods,
    agreement,
    attribution_method_texts,
    attribution_methods,
    attributions_caveat,
    colours_sentence,
    overall_agreement_sentence,
    step_agreement_sentence,
)
from attnviz.analysis.beam_sentences import position_sentence, score_computation, search_sentence, winner_sentence
from attnviz.analysis.page_texts import TextSection
from attnviz.analysis.perturbation_tests import (
    PERTURBATION_REFERENCES,
    PermutationEffects,
    best_sentence,
    perturbation_tests,
    perturbation_tests_caveat,
    perturbation_tests_question,
    perturbation_tests_sentence,
    shuffled,
    shuffled_sentence,
)
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.step_evaluation import (
    MinimalChange,
    Spelling,
    best_attention,
    minimal_change,
    minimal_change_sentence,
)
from attnviz.analysis.suspected_errors import least_sure_step
from attnviz.analysis.weight_shapes import MisfitError, check_fit
from attnviz.architectures import architecture_of
from attnviz.figures.beam_tree_figure import beam_tree
from attnviz.figures.heatmap import PHONE
from attnviz.figures.perturbation_figure import (
    PERTURBATION_WIDTH,
    minimal_change_figure,
    perturbation_tests_figure,
    perturbation_tests_likeliest_table,
    shuffled_figure,
)
from attnviz.figures.registry import PERTURBATION_TESTS
from attnviz.figures.side_by_side_figure import agreement_table, attributions
from attnviz.figures.subject import Subject
from attnviz.languages import gettext
from attnviz.lru_cache import LRUCache
from attnviz.trace import BeamTree, Record
from attnviz.trace.drawing import LONGEST_LABEL, By
from attnviz.trace.interventions import ForceWords
from attnviz.ui.blocks import (
    box,
    chart,
    chart_tables,
    columns,
    component,
    computed_chart,
    details,
    explanation,
    fitting_payload,
    plain_text,
    section_heading,
    steady_payload,
    view_blocks,
)
from attnviz.ui.chrome import Page
from attnviz.ui.controls import disclosure, segmented_control
from attnviz.ui.glossary import definitions, opening, references
from attnviz.ui.pages.comparison_section import COMPARISON, COMPARISON_SECTION, SECTION
from attnviz.ui.pages.neighbours_section import NEIGHBOURS_SECTION
from attnviz.ui.payloads import Payload, PayloadRequest, Shown, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import cached_analysis, missing_model, tokenizer_of, translator_of, weights_of
from attnviz.ui.step.heatmap_panel import display_options, grid_sentences
from attnviz.ui.step.logit_attribution_panel import draw_word_choice, subject_of
from attnviz.ui.step.step_controls import key_help, shown_suspected_errors, step_controls
from attnviz.ui.toolbar.downloads import LabSection, NamedTables, OfferedFigure, copy_link, offers, page_downloads
from attnviz.ui.toolbar.shown_translation import current_request, shown_translation, status
from attnviz.ui.view import View

_Result = TypeVar("_Result")

_PERTURBATION_TEST_CACHE: LRUCache[object] = LRUCache(64 << 20)
"""LRU cache of perturbation tests, each with a hundred distributions over the vocabulary.

That is 13 MB for 16,000 pieces; it serves the same step in another language or theme.
"""
_ATTRIBUTION_LAYOUTS = {3: 1380, 2: 480, 1: PHONE}
"""Panels side by side, and the width in pixels they are laid out for, the widest first."""
_PERTURBATION_WIDTHS = (PERTURBATION_WIDTH, PHONE)
"""Widths in pixels that the figure is laid out for."""


def unavailable_reason(trace: Trace) -> str:
    """Return why `trace` has no attributions and perturbation tests, as a sentence; empty where it has."""
    if sentence := architecture_of(trace).missing.get("lab"):
        return sentence()
    weights = weights_of(trace)
    if weights is None or not trace.attends:
        return PERTURBATION_TESTS.missing(Subject(trace, 0, weights))
    try:
        check_fit(trace, weights)
    except MisfitError as error:  # altered, or not made by this model
        return str(error)
    return ""


def _attribution_methods(trace: Trace) -> AttributionMethods:
    """Return the attributions of every step of `trace`; those by gradients only where its model computes them."""

    def compute(weights: Weights) -> AttributionMethods:
        found = None
        with suppress(AttnvizError):  # the trace does not name its weights
            found = translator_of(trace).attributions(trace)
        return attribution_methods(trace, weights, found)

    return cached_analysis("attributions", trace, compute)


def _shuffled(trace: Trace) -> PermutationEffects:
    return cached_analysis("shuffled", trace, lambda weights: shuffled(trace, weights))


def _minimal_change(trace: Trace) -> MinimalChange:
    return cached_analysis("minimal-change", trace, lambda weights: minimal_change(trace, weights))


def _spelling(trace: Trace) -> Spelling:
    """Return the function from piece ids to text of the model that made `trace`, an installed one."""
    tokenizer = tokenizer_of(trace)
    assert tokenizer is not None  # the analyses need its model
    return tokenizer.piece


def _draw_attributions(view: View) -> Shown:
    """Draw the attributions of all steps, with sentences about the current step."""
    pointing = gettext("Point at a cell to see it in all heatmaps. Click a cell to go to its step.")
    explanation(f"{grid_sentences()} {colours_sentence()} {pointing}")
    display_options(view, "by")
    computed_chart(view, view.trace, "attributions", query="options={by}")
    explanation(attributions_caveat())
    with details(gettext("How to read each method, and its limits"), view.key("attributions_sentence")):
        texts = [
            gettext("**{name}**, in {unit}. {sentence}", name=method.name, unit=method.unit, sentence=method.sentence)
            for method in attribution_method_texts().values()
        ]
        definitions(view.key("attributions_methods"), texts)
    return {}


@makes_payload("attributions")
def attributions_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the attributions by words or steps, in all layouts."""
    trace, (by, *_) = request.trace, request.options
    if by not in get_args(By):
        raise UnknownPayloadError("attributions")
    methods = _attribution_methods(trace)
    draw = partial(attributions, trace, methods, by=cast("By", by))
    layouts = [draw(across=across, width=width) for across, width in _ATTRIBUTION_LAYOUTS.items()]
    overall = overall_agreement_sentence(agreement(methods), len(trace.target_ids))
    here = {step: step_agreement_sentence(trace, methods, step) for step in request.steps}
    return fitting_payload(
        layouts, {step: f"{gettext('At this step: {here}', here=text)}\n{overall}" for step, text in here.items()}
    )


def _attribution_pictures(request: PayloadRequest) -> Iterator[OfferedFigure]:
    trace, selection = request.trace, request.selection
    draw = partial(attributions, trace, _attribution_methods(trace), by=selection.choices.by, step=selection.step)
    yield OfferedFigure(gettext("What each word depended on"), "attributions", draw)


def _attribution_tables(request: PayloadRequest) -> NamedTables:
    """Yield the attributions of the current step, and their agreement there and over the sentence."""
    trace, step = request.trace, request.selection.step
    methods = _attribution_methods(trace)
    numbers = attributions(trace, methods).frame()
    at_step = numbers.loc[[step + 1]].drop(columns=gettext("target piece")).set_index("j")
    yield gettext("Attributions at step {step}", step=step + 1), at_step
    name = gettext("Agreement between attributions at step {step}", step=step + 1)
    yield name, agreement_table(agreement(methods, step))
    yield gettext("Agreement between attributions over all steps"), agreement_table(agreement(methods))


ATTRIBUTIONS_SECTION = LabSection(
    _attribution_pictures,
    _attribution_tables,
    unavailable_reason,
    title=lambda: gettext("Attributions"),
    draw=_draw_attributions,
)


def _draw_perturbation_tests(view: View) -> Shown:
    """Draw the perturbation tests of the current step, and a button that opens the rest of the section."""
    name = "perturbation-tests"
    at = address(view.trace, name, "word={word}", every=False)
    chart(view, at, name, waiting=gettext("Computing…"), prefetch=view.steps)
    if disclosure(gettext("Explanations, and the tests of all steps"), key=view.key("all_steps")):
        _explanations(view)
        _all_steps(view)
        references(PERTURBATION_REFERENCES)
    return {}


def _explanations(view: View) -> None:
    """Draw how to read the picture, what the tests show, and the choice of a word for the best attention."""
    left, right = columns((1, 1), gap="large")
    with left:
        section_heading(
            gettext("How to read the picture"),
            escape(
                gettext(
                    "The left side shows, above each English piece, the weights that each test tries. A dash marks "
                    "the weight that the model computed. The right side shows how probable the word is with the "
                    "weights of each test. A line marks the probability of the word with the weights that the model "
                    "computed."
                )
            ),
        )
        with box(view.key("inside_word")):
            draw_word_choice(view, gettext("Best attention weights for"))
    with right:
        section_heading(gettext("What perturbation tests show, and their limits"), escape(perturbation_tests_caveat()))


def _all_steps(view: View) -> None:
    """Draw the figures of all steps: shuffled weights, and minimal changes."""
    left, right = columns((1, 1), gap="large")
    with left, box(view.key("beside_bars")):
        section_heading(
            _shuffled_title(),
            escape(
                gettext(
                    "Each point is a step (as in a figure of Jain & Wallace 2019). The further right a point is, the "
                    "more the step’s attention goes to a single piece. The higher a point is, the more the "
                    "probabilities of the step change when its weights are shuffled. A point is filled if the step "
                    "writes the same piece with most shuffled weights as with its own weights, and hollow otherwise. "
                    "Click a point to go to its step."
                )
            ),
        )
        computed_chart(view, view.trace, "shuffled")
    with right:
        section_heading(
            _minimal_change_title(),
            escape(
                gettext(
                    "Each bar stands for one step. A bar shows the smallest change of the attention weights that we "
                    "found to make its step write another piece. Weight moved from one piece to another counts for "
                    "both pieces, so the change lies between 0 and 2. A change smaller than the one shown may exist. "
                    "The label of a bar contains an arrow. After the arrow is the piece that the step writes with the "
                    "changed weights. Before the arrow is the likeliest piece with the unchanged weights. The label "
                    "omits the piece before the arrow if the step wrote this piece. Click a bar to go to its step."
                )
            ),
        )
        computed_chart(view, view.trace, "minimal-change")


def _shuffled_title() -> str:
    return gettext("All steps with shuffled weights")


def _minimal_change_title() -> str:
    return gettext("Minimal weight change of each step")


@makes_payload("perturbation-tests")
def perturbation_tests_payload(request: PayloadRequest) -> Payload:
    """Return the payload of a step's perturbation tests, in all widths.

    It includes the best attention for the requested word, if any.
    """
    trace, step, word = request.trace, request.step, request.word

    def at_step(name: str, compute: Callable[[Weights], _Result]) -> _Result:
        return cached_analysis(f"{name} {step}", trace, compute, _PERTURBATION_TEST_CACHE)

    tests, best = at_step("perturbation tests", lambda weights: perturbation_tests(trace, step, weights)), None
    spelling = _spelling(trace)
    sentence = perturbation_tests_sentence(tests, spelling)
    if word is not None:
        best = at_step(f"best attention {word}", lambda weights: best_attention(trace, step, weights, piece_id=word))
        sentence = " ".join(filter(None, (sentence, best_sentence(best, tests.real, word, trace, spelling))))
    layouts = [perturbation_tests_figure(trace, tests, spelling, best, width=width) for width in _PERTURBATION_WIDTHS]
    return fitting_payload(layouts, {step: (perturbation_tests_question(tests, spelling), sentence)})


@makes_payload("shuffled")
def shuffled_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the shuffling figure of Jain & Wallace (2019)."""
    effects = _shuffled(request.trace)
    return steady_payload(shuffled_figure(request.trace, effects), shuffled_sentence(effects))


@makes_payload("minimal-change")
def minimal_change_payload(request: PayloadRequest) -> Payload:
    """Return the payload of every step's minimal change."""
    trace = request.trace
    changes, spelling = _minimal_change(trace), _spelling(trace)
    figure = minimal_change_figure(trace, changes, spelling)
    return steady_payload(figure, {step: minimal_change_sentence(changes, step, spelling) for step in request.steps})


def _perturbation_pictures(request: PayloadRequest) -> Iterator[OfferedFigure]:
    trace, figure = request.trace, PERTURBATION_TESTS
    subject = replace(subject_of(request), longest=LONGEST_LABEL)
    step, file = subject.step, f"step-{subject.step + 1}-{figure.name}"
    yield OfferedFigure(figure.title(subject), file, partial(figure.draw, subject), figure.headline(subject))
    yield OfferedFigure(_shuffled_title(), "shuffled", lambda: shuffled_figure(trace, _shuffled(trace), step=step))
    yield OfferedFigure(
        _minimal_change_title(),
        "minimal-change",
        lambda: minimal_change_figure(trace, _minimal_change(trace), _spelling(trace), step=step),
    )


def _perturbation_tables(request: PayloadRequest) -> NamedTables:
    """Yield the likeliest pieces of each test of the current step."""
    subject = subject_of(request)
    table = perturbation_tests_likeliest_table(subject.perturbation_tests, subject.piece_or_id, subject.best_attention)
    yield gettext("Likeliest pieces of each test"), table


PERTURBATION_SECTION = LabSection(
    _perturbation_pictures,
    _perturbation_tables,
    unavailable_reason,
    title=lambda: gettext("Perturbation tests"),
    draw=_draw_perturbation_tests,
)


_WIDTH = "width"
"""Session state key of the chosen beam width, and its address parameter."""
_WIDTHS = tuple(map(str, range(1, 13)))
"""Beam widths that can be chosen."""


def _draw_tree(view: View) -> Shown:
    """Draw the search of the chosen width, and its finished hypotheses; return the width, if there is a tree."""
    search = view.trace.search
    with box("width_of_beam", row=True):
        label = gettext("Width of the beam")
        plain_text(label)
        default = str(search.beam) if search.method != "forced" and str(search.beam) in _WIDTHS else "5"
        widths = {width: width for width in _WIDTHS}
        beam = int(segmented_control(label, widths, key=_WIDTH, default=default, parameter=_WIDTH))
    if reason := _no_tree_reason(view.trace, beam):
        plain_text(reason)
        return {}
    how_to_read = gettext(
        "Each column is a step. Each path from the left is a hypothesis, a translation made of the pieces on the "
        'path. At each step, the search keeps the {beam} likeliest hypotheses. <span class="decoder">The chosen '
        "hypothesis is on top</span>; the other finished hypotheses show their rank and score. Small print on dotted "
        "lines marks pieces that the search tried and dropped at once. Hypotheses on solid grey lines were kept for a "
        "while, then dropped. Click the end of a hypothesis to make it the translation; if the hypothesis was "
        "dropped, the search first finishes it. Click a piece that does not end a hypothesis to go to its step.",
        beam=beam,
    )
    if beam == 1:
        how_to_read = gettext("Greedy search takes the likeliest piece at each step: its tree is a single line.")
    explanation(how_to_read)
    chart(view, address(view.trace, "tree", beam=beam), "tree")
    section_heading(gettext("Finished hypotheses"))
    component("hypotheses", view.key("hypotheses"), {"at": address(view.trace, "hypotheses", beam=beam)})
    return {"beam": beam}


def _tree(trace: Trace, beam: int) -> BeamTree:
    """Return the beam search tree for the sentence of `trace`, searched with its interventions.

    Raise AttnvizError where the model is not installed, or the search does not reach the step of an intervention.
    """
    penalty = trace.search.length_penalty if trace.search.method == "beam" else 1.0
    return cached_analysis(
        f"beam tree {beam}",
        trace,
        lambda _: translator_of(trace).beam_tree(
            trace.source_text, beam=beam, length_penalty=penalty, interventions=trace.interventions
        ),
    )


def _no_tree_reason(trace: Trace, beam: int) -> str:
    """Return why there is no tree, or "": the search may end before a step whose attention was changed by hand."""
    if all(intervention.step is None or isinstance(intervention, ForceWords) for intervention in trace.interventions):
        return ""
    try:
        _tree(trace, beam)
    except AttnvizError as error:
        return str(error)
    return ""


@makes_payload("tree")
def tree_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the search tree of a width."""
    tree, ids = _tree(request.trace, request.shown["beam"]), request.trace.target_ids
    sentences = winner_sentence(tree), position_sentence(tree, ids), search_sentence(tree)
    return steady_payload(beam_tree(tree, shown=ids), "\n".join(filter(None, sentences)))


@makes_payload("hypotheses")
def finished_hypotheses_payload(request: PayloadRequest) -> Payload:
    """Return the payload of all finished hypotheses, plain text."""
    trace, entries = request.trace, []
    tree, current_ids = _tree(trace, request.shown["beam"]), tuple(trace.target_ids)
    for index, hypothesis in zip(tree.finished, tree.hypotheses, strict=True):
        ids = tree.ids(index)
        notes = [
            gettext("likeliest without length normalisation") if index == tree.likeliest != tree.winner else "",
            gettext("shown") if ids == current_ids else "",
        ]
        entries.append(
            {
                "text": hypothesis.translation or gettext("the empty translation"),
                "score": score_computation(tree, index),
                "note": ", ".join(filter(None, notes)),
                "shown": ids == current_ids,
                "pieces": ids,
            }
        )
    unit = gettext("score = log p per piece" if tree.length_penalty == 1 else "score")
    return {"unit": unit, "entries": entries, "replaced": len(current_ids)}


def _tree_pictures(request: PayloadRequest) -> Iterator[OfferedFigure]:
    if beam := request.shown.get("beam"):
        title, step = gettext("Beam search, width {width}", width=beam), request.selection.step
        yield OfferedFigure(title, f"beam-{beam}", lambda: beam_tree(_tree(request.trace, beam), step=step))


TREE_SECTION = LabSection(
    _tree_pictures, missing=missing_model, title=lambda: gettext("The beam as a tree"), draw=_draw_tree
)


SECTIONS: Mapping[str, LabSection] = {
    "perturbation-tests": PERTURBATION_SECTION,
    "attributions": ATTRIBUTIONS_SECTION,
    "tree": TREE_SECTION,
    COMPARISON: COMPARISON_SECTION,
    "neighbours": NEIGHBOURS_SECTION,
}
"""By their names in the address, in the order of the page; the first is the default."""
offers("lab", SECTIONS)


def _draw() -> None:
    view, request = shown_translation(current_request())
    if view is None:
        return
    if isinstance(trace := view.trace, Record):
        mistakes = (mark.step for mark in shown_suspected_errors(trace) if mark.strong)
        view = replace(view, first_step=next(mistakes, least_sure_step(trace)))
    waiting = st.empty()  # above the view, so that a spinner in it does not mount the view again
    with view_blocks(view.key("view")), box(view.key("room")):  # components/view.js stores its state on this element
        question = gettext("What does each French word depend on? Each tab answers this question in its own way.")
        opening("lab", TextSection(gettext("Lab"), (question,)))
        sentences = box(view.key("sentences"))
        with box("beside_section", row=True):
            titles = {name: section.title() for name, section in SECTIONS.items()}
            chosen = segmented_control(gettext("Section"), titles, key=SECTION, parameter=SECTION)
            files = box("section_files", width="content")
            if request:
                status(view)
            copy_link(view.key("copy_link"))
        section = SECTIONS[chosen]
        shown_here: Shown = {}
        with box(view.key("section_panel")), waiting:
            if reason := section.missing(view.trace):
                plain_text(reason)
            else:
                shown_here = section.draw(view)
        with files:
            page_downloads(view, "lab", shown_here, chosen)
        with sentences:
            step_controls(view)  # after the choice of the section, which is part of the address
        chart_tables(view, "lab-tables", shown_here, part=chosen)
        key_help(view, "signs", "attention", "heads", "writing", "scores", common_only=True)


LAB_PAGE = Page("lab", lambda: gettext("Lab"), _draw, shows_sentence=True)
