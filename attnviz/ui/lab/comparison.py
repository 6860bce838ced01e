"""Compare two translations side by side, stepped together by one player.

They are of two models, of two sentences, or before and after a change by hand.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from attnviz import AttnvizError
from attnviz.analysis.comparison import Comparison, compare
from attnviz.analysis.grid import By, Face
from attnviz.figures.comparison import comparison
from attnviz.figures.comparison_table import compared_words_table, comparison_table
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.ui.components.chart.chart import fitting_payload, given_chart
from attnviz.ui.fields import segmented_control, select_box, switch
from attnviz.ui.figure_cache import made_once
from attnviz.ui.lab.compared_translation import Pair, other_models, pair_on_show, unread, what_if_name
from attnviz.ui.lab.sentence_diff import marked_sentences
from attnviz.ui.lab.sentence_editor import sentence_editor
from attnviz.ui.link import link
from attnviz.ui.page_state.comparison import (
    KIND,
    MODEL,
    WHAT_IF,
    chosen_partner,
    comparison_address,
    link_problems,
    open_comparison,
    other_what_ifs,
)
from attnviz.ui.page_state.heatmap_choices import HeatmapChoices, heatmap_choices
from attnviz.ui.page_state.view import Session, View
from attnviz.ui.resources import knows_after, posterior_of, weights_digest_of
from attnviz.ui.toolbar.downloads import Picture
from attnviz.wording.attention_variants import face_names
from attnviz.wording.comparison import comparison_caveat, comparison_sentences, step_sentence, without_looks
from attnviz.wording.what_if import cards

LAYOUTS = {4: 1380, 2: 900, 1: 390}
"""Panels side by side, and the width in pixels they are laid out for, the widest first."""


def open_comparison_of(view: View) -> dict[str, str | None]:
    """Read from the link what `view` is compared with, once a session; return its address parameters."""
    session, models = st.session_state, other_models(view.trace)
    open_comparison(session, view, link(), models)
    return comparison_address(session, view, models)


def comparison_panel(view: View, theme: ThemeName) -> None:
    """Draw the choice of what `view` is compared with, and both translations side by side."""
    if problems := link_problems(st.session_state, view):
        _told("\n".join(problems), "compare_problem")
    _choices(view)
    try:
        with st.spinner(gettext("Translating…")):
            pair = pair_on_show(st.session_state, view)
    except AttnvizError as error:
        _told(str(error), "compare_told")
        return
    look = shown_look(st.session_state, view, pair)
    compared = compared_pair(pair, look)
    _sentences(pair)
    _switches(view, pair, compared)
    record = _payload(compared, pair, _identity(pair), look, theme, language())
    given_chart(view, record, "comparison")
    st.html(
        f'<p class="reading">{escape(" ".join(comparison_sentences(compared, pair.names)))} {comparison_caveat()}</p>'
    )


def shown_look(session: Session, view: View, pair: Pair) -> HeatmapChoices:
    """Return how both heatmaps are drawn: as chosen for `view`, as far as both allow.

    Without posterior attention of both, α is drawn; where their pieces do not compare, words are.
    """
    chosen = heatmap_choices(session, view)
    after = all(knows_after(trace) for trace in (pair.first, pair.other) if trace.attends)
    return dataclasses.replace(
        chosen, face=chosen.face if after else "before", by=chosen.by if pieces_compare(pair) else "words"
    )


def pieces_compare(pair: Pair) -> bool:
    """Return whether both are segmented alike: by the same model, or into the same pieces."""
    one, two = pair.first, pair.other
    return one.model == two.model or (one.source_pieces, one.target_pieces) == (two.source_pieces, two.target_pieces)


def compared_pair(pair: Pair, look: HeatmapChoices) -> Comparison:
    """Return both translations on common axes."""
    by: By = look.by
    face: Face = look.face
    after = (None, None) if face == "before" else (posterior_of(pair.first), posterior_of(pair.other))
    return compare(pair.first, pair.other, by=by, face=face, posteriors=after)


def comparison_pictures(view: View, session: Session) -> Iterator[Picture]:
    """Yield the figure as it is saved."""
    try:
        pair = pair_on_show(session, view)
    except AttnvizError:
        return
    look = shown_look(session, view, pair)
    compared = compared_pair(pair, look)
    told = gettext("{first} and {other} side by side", first=pair.names[0], other=pair.names[1])
    figure = comparison(compared, pair.names, end=look.end, root=look.root, colours=look.colours, leads=pair.leads)
    yield Picture(gettext("Side by side"), told, "comparison", figure, comparison_table(compared, pair.names))


def comparison_tables(view: View, session: Session) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the numbers in the figure, each table with its name."""
    try:
        pair = pair_on_show(session, view)
    except AttnvizError:
        return
    compared = compared_pair(pair, shown_look(session, view, pair))
    yield gettext("log p of each word"), compared_words_table(compared, pair.names)
    if compared.looks:
        yield gettext("Side by side"), comparison_table(compared, pair.names)


def _choices(view: View) -> None:
    """Draw the choice of what is compared."""
    kinds = {"model": gettext("Two models"), "sentence": gettext("Two sentences"), "what_if": gettext("A what-if")}
    models = other_models(view.trace)
    with st.container(horizontal=True, vertical_alignment="center", key=view.key("compared")):
        kind = segmented_control(
            gettext("What is compared"),
            kinds,
            key=view.key(KIND),
            default="model",
            label_visibility="collapsed",
        )
        if kind == "model" and models:
            select_box(
                gettext("The other model"),
                {name: name for name in models},
                key=view.key(MODEL),
                default=models[0],
                label_visibility="collapsed",
                width=240,
            )
        tried = {str(number): what_if_name(number) for number in other_what_ifs(view)}
        if kind == "what_if" and tried:
            select_box(
                gettext("The other"),
                tried,
                key=view.key(WHAT_IF),
                default=next(iter(tried)),
                label_visibility="collapsed",
                width=240,
            )
    if kind == "what_if":
        st.html(
            '<p class="reading">'
            + gettext(
                "This compares two what-ifs, or a what-if with the original translation. Words that only one of "
                "the two has are hatched in the other."
            )
            + "</p>"
        )
        _what_was_tried(view)
    elif kind == "model":
        st.html(
            '<p class="reading">'
            + gettext(
                "Forced decoding makes both models write the same translation, so that each cell has a "
                "counterpart. What differs is where each model attends, and the probability it gives to each "
                "word."
            )
            + "</p>"
        )
    else:
        st.html(
            '<p class="reading">'
            + gettext(
                "Change the sentence below, or choose one of its words to drop it or to swap it with the next. "
                "See how the translation changes. Words that both sides share have the same row or column. Words "
                "that only one side has are hatched on the other."
            )
            + "</p>"
        )
        sentence_editor(view)


def _what_was_tried(view: View) -> None:
    """Draw a description of the compared what-ifs."""
    told = cards(view.what_ifs) if view.what_ifs else []
    numbers = sorted({view.number, chosen_partner(st.session_state, view).what_if} - {0})
    if shown := [f"{what_if_name(number)}: {told[number].told}" for number in numbers if number < len(told)]:
        st.text("\n".join(shown))


def _switches(view: View, pair: Pair, compared: Comparison) -> None:
    """Draw the display options, which are those of the heatmap."""
    if not compared.looks:
        silent = next(trace for trace in (pair.first, pair.other) if not trace.attends)
        _told(without_looks(silent.model), "compare_told_looks")
        return
    with st.container(horizontal=True, vertical_alignment="center", key=view.key("comparison_switches")):
        if all(knows_after(trace) for trace in (pair.first, pair.other)):
            segmented_control(
                gettext("Before or after the word"),
                face_names(),
                key=view.key("face"),
                default="before",
                label_visibility="collapsed",
            )
        if pieces_compare(pair):
            segmented_control(
                gettext("Rows and columns"),
                {"words": gettext("words"), "pieces": gettext("pieces")},
                key=view.key("by"),
                default="words",
                label_visibility="collapsed",
            )
        switch(
            "√α", key=view.key("root"), help=gettext("Colour by the square root, so that small weights can be seen.")
        )


def _sentences(pair: Pair) -> None:
    """Draw both sentences and translations where they differ, with words marked that only one has."""
    if problem := unread(pair):
        _told(problem, "compare_told_unread")
    if marked := marked_sentences(pair):
        st.html(f'<div class="compared">{marked}</div>')


def _told(sentence: str, key: str) -> None:
    with st.container(key=key):
        st.text(sentence)


def _identity(pair: Pair) -> tuple[str, ...]:
    """Return the cache key of a pair's figure."""
    made = [part for trace in (pair.first, pair.other) for part in (trace.fingerprint, weights_digest_of(trace) or "")]
    return (*made, *pair.names, pair.leads)


@made_once
def _payload(
    _compared: Comparison,
    _pair: Pair,
    identity: tuple[str, ...],  # noqa: ARG001
    look: HeatmapChoices,
    theme: ThemeName,
    code: str,  # noqa: ARG001
) -> Mapping[str, Any]:
    """Return the payload of the figure for all window widths.

    `identity` and the language `code` complete the cache key.
    """
    names, leads = _pair.names, _pair.leads
    figures = [
        comparison(
            _compared,
            names,
            end=look.end,
            root=look.root,
            colours=look.colours,
            across=across,
            width=width,
            leads=leads,
            theme=theme,
        )
        for across, width in LAYOUTS.items()
    ]
    steps = sum(map(len, _compared.steps[leads]))
    return fitting_payload(figures, {i: ("", step_sentence(_compared, names, i, leads)) for i in range(steps)})
