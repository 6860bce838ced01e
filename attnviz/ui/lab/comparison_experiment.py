"""Lab section *Side by side*: two translations on common axes, stepped together by one player.

They come from two models, from two sentences, or from two what-ifs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from attnviz import AttnvizError, Trace
from attnviz import lazy_pandas as pd
from attnviz.analysis.comparison import (
    Comparison,
    compare,
    comparison_caveat,
    comparison_sentence,
    comparison_sentences,
    no_heatmaps_reason,
    shared_axis,
)
from attnviz.analysis.labels import face_names
from attnviz.analysis.learning import compared_guidance_sentence
from attnviz.analysis.what_if_effects import cards
from attnviz.figures.comparison_figure import compared_words_table, comparison
from attnviz.languages import gettext
from attnviz.text import SPACE, SPECIAL_PIECES
from attnviz.trace.drawing import By, Face, HeatmapChoices
from attnviz.ui.components.chart import chart, fitting_payload
from attnviz.ui.components.component import box, html, plain_text
from attnviz.ui.embedding import page_session
from attnviz.ui.fields import option_field, segmented_control, select_box
from attnviz.ui.lab.compared_translation import (
    COMPARED_KIND,
    COMPARED_MODEL,
    COMPARED_SENTENCE,
    COMPARED_WHAT_IF,
    VISITED,
    ComparedPair,
    chosen_partner,
    default_what_if,
    other_models,
    other_what_ifs,
    selected_pair,
    sentence_editor,
    unknown_text_sentence,
    what_if_name,
)
from attnviz.ui.page_state.linked import keep_for
from attnviz.ui.page_state.selection import Selection, selection_of
from attnviz.ui.payloads import PayloadRequest, makes_payload, shown_address
from attnviz.ui.resources import cached_posterior, has_posterior, model_configs
from attnviz.ui.step.compared_attention import comparison_layouts
from attnviz.ui.step.heatmap_panel import root_switch, unit_names
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.view import View


def differing_sentences_html(pair: ComparedPair) -> str:
    """Return the sentences of a pair and its translations as HTML, each only where they differ."""
    return "".join(
        _lines(pair, title, source) for title, source in ((gettext("English"), True), (gettext("French"), False))
    )


def _lines(pair: ComparedPair, title: str, source: bool) -> str:
    first, second = (_words(trace, source) for trace in (pair.first, pair.other))
    axis = shared_axis([word for word, _ in first], [word for word, _ in second])
    if axis.same:
        return ""
    removed = [place for place, other in zip(axis.first, axis.other, strict=True) if other is None]
    added = [place for place, other in zip(axis.other, axis.first, strict=True) if other is None]
    css_class, language = ("encoder", "en") if source else ("decoder", "fr")
    return "".join(
        f'<p><span class="name">{escape(title)}, {escape(name)}</span> '
        f'<span class="{css_class}" lang="{language}">{_highlighted(words, highlighted, tag)}</span></p>'
        for name, words, highlighted, tag in (
            (pair.names[0], first, removed, "del"),
            (pair.names[1], second, added, "ins"),
        )
    )


def _words(trace: Trace, source: bool) -> list[tuple[str, bool]]:
    """Return the words of a sentence without </s>, each with whether a blank precedes it."""
    words = trace.words()
    names, groups = (words.source, words.source_groups) if source else (words.target, words.target_groups)
    pieces = trace.source_surfaces if source else trace.target_pieces
    return [
        (name, pieces[group[0]].startswith(SPACE) or pieces[group[0]] in SPECIAL_PIECES)
        for name, group in zip(names, groups, strict=True)
        if name != "</s>"
    ]


def _highlighted(words: list[tuple[str, bool]], highlighted: list[int | None], tag: str) -> str:
    return "".join(
        (" " if has_space and index else "")
        + (f"<{tag}>{escape(word)}</{tag}>" if index in highlighted else escape(word))
        for index, (word, has_space) in enumerate(words)
    )


def comparison_panel(view: View) -> None:
    """Draw the choice of what `view` is compared with, and both translations side by side."""
    keep_for(view.key(COMPARED_SENTENCE), view.trace.source_text)
    _choices(view)
    try:
        with st.spinner(gettext("Translating…")):
            pair = selected_pair(view)
    except AttnvizError as error:
        _message(str(error), "compare_told")
        return
    _sentences(pair)
    _switches(view, pair)
    at = shown_address("comparison", {"view": view, "pair": pair}, "{options}")
    visited = page_session().pop(VISITED, False)
    chart(view, at, "comparison", waiting=gettext("Computing…"), visited=visited)
    html(f'<p class="explanation">{comparison_caveat()}</p>')


@makes_payload("comparison")
def comparison_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the figure for all window widths."""
    pair: ComparedPair = request.shown["pair"]
    names, leads, choices = pair.names, pair.leads, _shown_choices(request.selection, pair)
    compared = compared_pair(pair, choices)
    figures = comparison_layouts(compared, names, choices, leads)
    sentences = " ".join(comparison_sentences(compared, names))
    return fitting_payload(
        figures,
        {
            step: ("", f"{comparison_sentence(compared, names, step, leads)}\n{sentences}")
            for step in range(sum(map(len, compared.steps[leads])))
        },
    )


def _shown_choices(selection: Selection, pair: ComparedPair) -> HeatmapChoices:
    """Return how both heatmaps are drawn: as in `selection`, as far as both allow.

    If one has no posterior attention, both show α. If their pieces differ, both show words.
    """
    chosen = selection.choices
    both_have_posterior = all(has_posterior(trace) for trace in (pair.first, pair.other) if trace.attends)
    return dataclasses.replace(
        chosen,
        face=chosen.face if both_have_posterior else "before",
        by=chosen.by if is_same_segmentation(pair) else "words",
    )


def is_same_segmentation(pair: ComparedPair) -> bool:
    """Return whether both are segmented alike: by the same model, or into the same pieces."""
    first, second = pair.first, pair.other
    return first.model == second.model or (first.source_pieces, first.target_pieces) == (
        second.source_pieces,
        second.target_pieces,
    )


def compared_pair(pair: ComparedPair, choices: HeatmapChoices) -> Comparison:
    """Return both translations on common axes."""
    by: By = choices.by
    face: Face = choices.face
    posteriors = (None, None) if face == "before" else (cached_posterior(pair.first), cached_posterior(pair.other))
    return compare(pair.first, pair.other, by=by, face=face, posteriors=posteriors)


def comparison_pictures(view: View) -> Iterator[OfferedFigure]:
    """Yield the figure as it is saved."""
    try:
        pair = selected_pair(view)
    except AttnvizError:
        return
    choices = _shown_choices(selection_of(view), pair)
    compared = compared_pair(pair, choices)
    heading = gettext("{first} and {other} side by side", first=pair.names[0], other=pair.names[1])
    drawn = partial(
        comparison,
        compared,
        pair.names,
        end=choices.end,
        root=choices.root,
        colours=choices.colours,
        leads=pair.leads,
    )
    yield OfferedFigure(gettext("Side by side"), heading, "comparison", drawn)


def comparison_tables(view: View) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the probability of each word."""
    try:
        pair = selected_pair(view)
    except AttnvizError:
        return
    compared = compared_pair(pair, _shown_choices(selection_of(view), pair))
    yield gettext("log p of each word"), compared_words_table(compared, pair.names)


def _choices(view: View) -> None:
    """Draw the choice of what is compared."""
    kinds = {"model": gettext("Two models"), "sentence": gettext("Two sentences"), "what-if": gettext("A what-if")}
    models = other_models(view.trace)
    with box(view.key("compared"), row=True):
        kind = segmented_control(
            gettext("What is compared"),
            kinds,
            key=view.key(COMPARED_KIND),
            default="model",
            label_visibility="collapsed",
            parameter=view.key(COMPARED_KIND),
        )
        if kind == "model" and models:
            select_box(
                gettext("The other model"),
                {name: name for name in models},
                key=view.key(COMPARED_MODEL),
                default=models[0],
                label_visibility="collapsed",
                parameter=view.key(COMPARED_MODEL),
                width=240,
            )
        what_ifs = {str(number): what_if_name(number) for number in other_what_ifs(view)}
        if kind == "what-if" and what_ifs:
            select_box(
                gettext("The other"),
                what_ifs,
                key=view.key(COMPARED_WHAT_IF),
                default=str(default_what_if(view)),
                label_visibility="collapsed",
                parameter=view.key(COMPARED_WHAT_IF),
                width=240,
            )
    if kind == "what-if":
        html(
            '<p class="explanation">'
            + gettext(
                "This view compares two what-ifs, or a what-if with the original translation. If a word appears "
                "in only one heatmap, its row or column is hatched in the other heatmap."
            )
            + "</p>"
        )
    elif kind == "model":
        html(
            '<p class="explanation">'
            + gettext(
                "Forced decoding makes both models write the same translation, so that both heatmaps have the same "
                "words. The models differ in where they look, and in the probability that they give to each word."
            )
            + f" {_guidance(view, models)}</p>"
        )
    else:
        html(
            '<p class="explanation">'
            + gettext(
                "Change the sentence below: type in it, or choose a word to drop it or swap it with the next word. "
                "See how the translation changes. A word that is in both heatmaps has the same row or column in both. "
                "If a word appears in only one heatmap, its row or column is hatched in the other heatmap."
            )
            + "</p>"
        )
        sentence_editor(view)
    _what_if_descriptions(view, kind)


def _guidance(view: View, models: Sequence[str]) -> str:
    """Return as HTML which of the two compared models was guided; empty where both were or neither was."""
    name = chosen_partner(view, models).model
    config = model_configs().get(name or "")
    if name is None or config is None:
        return ""
    return escape(compared_guidance_sentence(view.trace.config, config, (view.trace.model, name)))


def _what_if_descriptions(view: View, kind: str) -> None:
    """Draw a description of the what-ifs in a comparison of this kind."""
    descriptions = cards(view.what_ifs) if view.what_ifs else []
    partner = chosen_partner(view, other_models(view.trace))
    numbers = sorted({view.number, partner.what_if if kind == "what-if" else 0} - {0})
    if lines := [
        f"{what_if_name(number)}: {descriptions[number].description}"
        for number in numbers
        if number < len(descriptions)
    ]:
        plain_text("\n".join(lines))


def _switches(view: View, pair: ComparedPair) -> None:
    """Draw the display options, the same as those of the heatmap."""
    if without_attention := [trace for trace in (pair.first, pair.other) if not trace.attends]:
        _message(no_heatmaps_reason(without_attention[0].model), "compare_told_looks")
        return
    with box(view.key("comparison_switches"), row=True):
        if all(has_posterior(trace) for trace in (pair.first, pair.other)):
            label = gettext("Attention before or after the word")
            option_field(view, "face", "segments", label, options=face_names())
        if is_same_segmentation(pair):
            option_field(view, "by", "segments", gettext("Rows and columns"), options=unit_names())
        root_switch(view)


def _sentences(pair: ComparedPair) -> None:
    """Draw both sentences and translations where they differ; highlight the words that only one has."""
    if problem := unknown_text_sentence(pair):
        _message(problem, "compare_told_unread")
    if sentences := differing_sentences_html(pair):
        html(f'<div class="compared">{sentences}</div>')


def _message(sentence: str, key: str) -> None:
    with box(key):
        plain_text(sentence)
