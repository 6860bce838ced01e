"""The page *Translate*: a sentence, the step view of its translation or of imported attention, or a lesson.

Its controls: sentence, examples, own translation, model, device, search, level of detail (`ui.inputs`) and the
button of the tour, which the browser runs (`components/tour`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import streamlit as st

from attnviz.analysis.page_texts import additive_and_general
from attnviz.installed_models import SHIPPED_MODELS, installed_models
from attnviz.languages import gettext, gettexts
from attnviz.ui import inputs
from attnviz.ui.blocks import component, view_blocks
from attnviz.ui.chrome import Page
from attnviz.ui.controls import close_popover, popover, request_button, segmented_control, select_box, uploader
from attnviz.ui.examples import DEFAULT_SENTENCE, EXAMPLES, example_kind_name
from attnviz.ui.inputs import (
    DEFAULT_LEVEL,
    DETAIL_LEVEL,
    choose_detail_level,
    chosen_detail_level,
    cookie,
    detail_level_address,
    page_detail_level,
)
from attnviz.ui.pages.comparison_section import show_beside
from attnviz.ui.resources import devices, tokenizer_of, translate, weights_of
from attnviz.ui.step.step_view import step_view
from attnviz.ui.toolbar import opened_file
from attnviz.ui.toolbar.downloads import share_and_save
from attnviz.ui.toolbar.open_lesson import current_lesson, draw_lesson, lessons_menu
from attnviz.ui.toolbar.shown_translation import (
    current_request,
    own_translation,
    run_summary,
    sentence_box,
    shown_translation,
    status,
)

_EXAMPLES = "examples"
_EXAMPLES_WIDTH, _MORE_WIDTH = 620, 740
"""Pixels of the box of examples, which a narrow window shrinks, and of *More*: two columns fit a low window."""


def cache_default_translation() -> None:
    """Translate the default sentence, so that it is cached before a visitor comes; raise AttnvizError if it fails."""
    for name in [*installed_models()][:1]:
        trace = translate(name, devices()[0], DEFAULT_SENTENCE, inputs.beam_of(inputs.DEFAULT_SEARCH), None)
        weights_of(trace)
        tokenizer_of(trace)


def _draw() -> None:
    if lesson := current_lesson():
        draw_lesson(lesson)
        return
    models, request = installed_models(), None
    with st.container(horizontal=True, vertical_alignment="center", key="tools"):
        if models:
            sentence_box(models)
            request_button(gettext("Translate"), opened_file.close, type="primary", key="translate")
        _detail_level_switch()
        if models:
            _example_box()
            lessons_menu()
        tour_box = st.container(key="tour_box", width="content")
        with (
            popover(gettext("More"), key=opened_file.BOX, type="tertiary"),
            st.container(key="files", width=_MORE_WIDTH, gap="small"),
        ):
            titles = gettext("Settings"), gettext("Open a file"), gettext("Share and save")
            settings, open_box, share_box = st.tabs(titles)
            with open_box:
                label = gettext(
                    "Open a trace file (JSON) saved by attnviz; no model is needed. You can also open the attention or "
                    "the word links of another program: the output of a toolkit or aligner, or a JSON, CSV, NumPy, "
                    "PyTorch or Parquet file. A lesson file (YAML) opens as a lesson."
                )
                most = opened_file.LARGEST_MEGABYTES
                uploader(label, opened_file.open_file, key=opened_file.BOX, megabytes=most)
            with settings:
                if models:
                    target = own_translation()
                    with st.container(horizontal=True, key="settings"):
                        _choices(models, forced=bool(target))
                    request = current_request()
                run_box = st.container(key="ran")
        status_box = st.container(key="beside", width="stretch", horizontal=True, vertical_alignment="center")
    shown, request = shown_translation(request, steps=True)
    if shown is None:
        return
    view = replace(shown, detail_level=page_detail_level(), show_beside=show_beside)
    if view.trace.translated:
        # The browser stores the choice of a level, and that the tour was taken.
        is_new = detail_level_address()[DETAIL_LEVEL] is None and inputs.remembered("tour") != "taken"
        tour_box.button(gettext("Tour (3 min)"), type="secondary" if is_new else "tertiary", key="tour_button")
    with share_box:
        share_and_save(view)
    if request:
        run_box.caption(run_summary(view))
        if view.shows("numbers"):
            with status_box:
                status(view)
    with view_blocks(view.key("view")):
        step_view(view)


def _example_box() -> None:
    """Draw the box of examples, grouped by what they show; choosing a sentence translates it and closes the box."""
    with (
        popover(gettext("Examples"), key=_EXAMPLES, type="tertiary", width="content"),
        st.container(key="example_list", width=_EXAMPLES_WIDTH, gap=None),
    ):
        for number, (kind, sentences) in enumerate(EXAMPLES.items()):
            st.html(f'<p class="kind">{example_kind_name(kind)}</p>')
            for place, sentence in enumerate(sentences):

                def choose(sentence: str = sentence) -> None:
                    inputs.set_request(sentence)
                    close_popover(_EXAMPLES)

                key = f"example_{number}_{place}"
                request_button(sentence, choose, type="tertiary", key=key, width="stretch", wrap=True)


def _choices(models: dict[str, Path], forced: bool) -> None:
    """Draw the choices of model, device and search, the last disabled where the translation is `forced`."""
    all_shipped = models.keys() >= set(SHIPPED_MODELS)
    select_box(
        gettext("Model"),
        {name: name for name in models},
        key=inputs.MODEL,
        default=next(iter(models)),
        help=gettext(
            "Of all models, en-fr translates best. The attention of en-fr was guided: training pulled it towards word "
            "links. The small recurrent models differ only in their attention: additive, general (Luong), none. The "
            "small transformer has no recurrence, only attention. The attention of the small models was not guided."
        )
        + " "
        + additive_and_general()
        if all_shipped
        else "",
    )
    select_box(
        gettext("Device"),
        {name: name for name in devices()},
        key=inputs.DEVICE,
        default=devices()[0],
        help=gettext("The setting auto uses a GPU if there is one."),
    )
    widths = {search: inputs.beam_of(search) for search in inputs.SEARCHES}
    select_box(
        gettext("Search"),
        {
            search: gettext("greedy") if width == 1 else gettext("beam {width}", width=width)
            for search, width in widths.items()
        },
        key=inputs.SEARCH,
        default=inputs.DEFAULT_SEARCH,
        disabled=forced,
        help=gettext(
            "Greedy search takes the likeliest piece at each step. Beam search follows several hypotheses at once."
        ),
    )


def _detail_level_switch() -> None:
    """Draw the switch of the level of detail, and store its choice in the browser."""
    page_detail_level()
    names = gettexts({"idea": "Idea", "numbers": "Numbers", "everything": "Everything"})
    label = gettext("Level of detail")
    segmented_control(label, names, key=DETAIL_LEVEL, default=DEFAULT_LEVEL, then=choose_detail_level)
    stored = {"name": cookie(DETAIL_LEVEL), "value": chosen_detail_level()}
    component("stored_choice", f"remembered_{DETAIL_LEVEL}", stored, height=1)


TRANSLATE_PAGE = Page("", lambda: gettext("Translate"), _draw, shows_sentence=True)
