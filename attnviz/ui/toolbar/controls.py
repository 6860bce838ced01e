"""Draw the controls above a translation, and return the `TranslationRequest` that they or the link make.

The controls: sentence, examples, own translation, model, device, search, level of detail (`page_state.inputs`)
and the button of the tour, which the browser runs (`components/tour`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.analysis.page_texts import additive_and_general
from attnviz.installed_models import SHIPPED_MODELS, installed_models
from attnviz.languages import gettext, gettexts
from attnviz.text import sentence_placeholder
from attnviz.ui.components.component import component
from attnviz.ui.embedding import page_session
from attnviz.ui.examples import DEFAULT_SENTENCE, EXAMPLES, example_kind_name
from attnviz.ui.fields import close_popover, popover, segmented_control, select_box, text_box
from attnviz.ui.page_state import inputs
from attnviz.ui.page_state.inputs import (
    DEFAULT_LEVEL,
    DETAIL_LEVEL,
    choose_detail_level,
    chosen_detail_level,
    cookie,
    detail_level_address,
    page_detail_level,
)
from attnviz.ui.requests import request_button
from attnviz.ui.resources import devices
from attnviz.ui.toolbar import opened_file
from attnviz.ui.toolbar.open_lesson import lessons_menu

_EXAMPLES = "examples"
_MORE_WIDTH = 740
"""Width of the box *More* in pixels: two columns, so that it fits the height of a small window."""
_EXAMPLES_WIDTH = 620
"""Width of the box of examples in pixels; a narrower window shrinks it."""


@dataclass(frozen=True)
class TranslationRequest:
    """What a visitor asks to be translated, and how."""

    text: str
    model: str
    device: str
    beam: int
    target: str | None
    """Translation for forced decoding, or None to search for one."""


@dataclass(frozen=True)
class Controls:
    """What the controls request, and their containers that are filled once it is computed."""

    request: TranslationRequest | None
    """None where there is no model."""
    tour: DeltaGenerator
    """For the button of the tour."""
    run: DeltaGenerator
    """In the box *More*, below the settings."""
    share: DeltaGenerator
    """In the box *More*, for the link and the files."""
    status: DeltaGenerator
    """At the end of the line."""


def controls(models: dict[str, Path]) -> Controls:
    """Draw the controls; without `models`, by name, those that need none."""
    request = None
    with st.container(horizontal=True, vertical_alignment="center", key="tools"):
        if models:
            sentence_box(models)
            request_button(gettext("Translate"), opened_file.close, type="primary", key="translate")
        detail_level_switch()
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
                opened_file.open_file_uploader()
            with settings:
                if models:
                    target = own_translation()
                    with st.container(horizontal=True, key="settings"):
                        _choices(models, forced=bool(target))
                    request = current_request()
                run_box = st.container(key="ran")
        status_box = st.container(key="beside", width="stretch", horizontal=True, vertical_alignment="center")
    return Controls(request, tour_box, run_box, share_box, status_box)


def current_request() -> TranslationRequest | None:
    """Return the request: what was chosen in the controls, which not every page draws, else the link's values.

    The link's values become those of the controls. Return None where there is no model.
    """
    if not (models := installed_models()):
        return None
    inputs.open_request(DEFAULT_SENTENCE, models)
    session = page_session()
    target = str(session[inputs.TARGET]).strip()
    return TranslationRequest(
        str(session[inputs.SENTENCE]),
        str(session[inputs.MODEL]),
        str(session.get(inputs.DEVICE) or devices()[0]),
        inputs.beam_of(session[inputs.SEARCH]),
        target or None,
    )


def default_request(models: dict[str, Path]) -> TranslationRequest:
    """Return the request of a visitor who has chosen nothing; `models` (by name) must not be empty."""
    return TranslationRequest(
        DEFAULT_SENTENCE, next(iter(models)), devices()[0], inputs.beam_of(inputs.DEFAULT_SEARCH), None
    )


def request_address(request: TranslationRequest) -> dict[str, str | None]:
    """Return the address parameters of the last successful request, None for defaults.

    A link or a reload then never opens a request that fails.
    """
    others = [*installed_models()][1:]  # the model may be gone since the translation
    search = "greedy" if request.beam == 1 else f"beam {request.beam}"
    return {
        inputs.SENTENCE: None if request.text == DEFAULT_SENTENCE and not request.target else request.text,
        inputs.TARGET: request.target,
        inputs.MODEL: request.model if request.model in others else None,
        inputs.SEARCH: None if search == inputs.DEFAULT_SEARCH else search,
    }


def sentence_box(models: dict[str, Path]) -> None:
    """Draw the sentence box. Another sentence clears the visitor's own translation."""
    inputs.open_request(DEFAULT_SENTENCE, models)
    text_box(
        gettext("English sentence"),
        key=inputs.SENTENCE,
        then=inputs.drop_target,
        labelled=False,
        placeholder=sentence_placeholder(),
        button="translate",
    )


def _example_box() -> None:
    """Draw the box of examples, grouped by what they show; choosing a sentence translates it and closes the box."""
    with (
        popover(gettext("Examples"), key=_EXAMPLES, type="tertiary", width="content"),
        st.container(key="example_list", width=_EXAMPLES_WIDTH, gap=None),
    ):
        for kind, sentences in EXAMPLES.items():
            st.html(f'<p class="kind">{example_kind_name(kind)}</p>')
            for position, sentence in enumerate(sentences):
                key = f"example_{list(EXAMPLES).index(kind)}_{position}"
                request_button(
                    sentence, partial(_choose_example, sentence), type="tertiary", key=key, width="stretch", wrap=True
                )


def _choose_example(sentence: str) -> None:
    inputs.set_request(sentence)
    close_popover(_EXAMPLES)


def own_translation() -> str:
    """Draw the box for a visitor's own translation; return it, or an empty string."""
    return text_box(
        gettext("Your own French translation"),
        key=inputs.TARGET,
        placeholder=gettext("For instance: L'accord a été signé."),
        help=gettext(
            "Forced decoding: the decoder writes exactly the words in this box. The page shows the decoder’s "
            "attention at each word. Changing the English sentence empties this box."
        ),
        button="translate",
    ).strip()


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


def tour_button() -> None:
    """Draw the button that starts the tour; it has a border for new visitors.

    They have no level of detail from a link or an earlier choice, and have not taken the tour; the browser stores both.
    """
    is_new = detail_level_address()[DETAIL_LEVEL] is None and inputs.remembered("tour") != "taken"
    st.button(gettext("Tour (3 min)"), type="secondary" if is_new else "tertiary", key="tour_button")


def detail_level_switch() -> None:
    """Draw the switch of the level of detail, and store its choice in the browser."""
    page_detail_level()
    names = gettexts(
        {
            "idea": "Idea",
            "numbers": "Numbers",
            "everything": "Everything",
        }
    )
    segmented_control(
        gettext("Level of detail"),
        names,
        key=DETAIL_LEVEL,
        default=DEFAULT_LEVEL,
        then=choose_detail_level,
    )
    stored = {"name": cookie(DETAIL_LEVEL), "value": chosen_detail_level()}
    component("stored_choice", f"remembered_{DETAIL_LEVEL}", stored, height=1)
