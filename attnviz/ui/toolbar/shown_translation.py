"""Read what a visitor asks to be translated, choose the translation that a page shows, and draw messages about it.

That is the requested one, one from a file, the previous one, or the example.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

import streamlit as st

from attnviz import AttnvizError, Trace
from attnviz.analysis.imported_file_texts import made_by, remark_sentences
from attnviz.analysis.input_advice import advice, copied_advice
from attnviz.analysis.labels import search_name
from attnviz.analysis.learning import guidance_text
from attnviz.environment import ATTNVIZ_MODELS
from attnviz.importing.records import format_sentence
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.text import SPACE, sentence_placeholder
from attnviz.trace import Record
from attnviz.trace.drawing import shows
from attnviz.ui import inputs
from attnviz.ui.blocks import box, message, plain_text, view_blocks
from attnviz.ui.chrome import go_to
from attnviz.ui.controls import on_request, popover, request_button, text_box, uploader
from attnviz.ui.embedding import page_session
from attnviz.ui.examples import DEFAULT_SENTENCE
from attnviz.ui.inputs import (
    Parameters,
    detail_level_address,
    is_listed_pair,
    language_address,
    page_detail_level,
    read_link,
    set_page_address,
)
from attnviz.ui.resources import TranslateAgain, devices, tokenizer_of, translate
from attnviz.ui.selection import WHAT_IF, offered_in, open_gold, set_drawn_links, stored_what_ifs
from attnviz.ui.step.what_if_panel import current_view, handle_what_if
from attnviz.ui.toolbar import opened_file
from attnviz.ui.toolbar.opened_file import attention_form
from attnviz.ui.view import MAIN, View

_LAST, _ASKED = "last_trace", "last_asked"


@dataclass(frozen=True)
class TranslationRequest:
    """What a visitor asks to be translated, and how."""

    text: str
    model: str
    device: str
    beam: int
    target: str | None
    """Translation for forced decoding, or None to search for one."""


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


def shown_translation(
    request: TranslationRequest | None, *, steps: bool = False
) -> tuple[View | None, TranslationRequest | None]:
    """Return the view to show for `request`, and `request` if the view shows that; draw messages about it.

    There is no view where there is nothing to show, and no request where there is no model. A view begins with its
    link, stores links drawn in it, and sets the address parameters to those of `request`, or leaves the previous ones.

    With `steps`, for the page Translate, imported attention is shown too, and a button closes an open file; on the
    other pages a message says that Translate shows the file.
    """
    opened = opened_file.current_file(request)
    with st.container(key="messages"):  # always present: otherwise the parts below are mounted again
        if steps:
            attention_form()
        elif opened and opened.trace and not opened.trace.translated:
            st.text(
                gettext(
                    "The page Translate shows the attention in {name}. This page needs the complete trace of a "
                    "translation, not only its attention.",
                    name=opened.name,
                )
            )
            opened = None
        if opened and opened.problem:
            message(opened.problem, "file_problem")
        if opened and opened.trace:
            _file_notice(opened, back=steps and request is not None)
            first, request = opened.trace, None
        elif (first := request and _requested_trace(request)) is None:
            first, request = _fallback_trace(request), None
        if first is None:
            return None, None
        again = TranslateAgain(first, request.device, request.beam) if request else TranslateAgain(first)
        view = current_view(first, again, opened.what_ifs if opened else None)
        on_request(view.key(WHAT_IF), partial(handle_what_if, view))
        if problems := stored_what_ifs(MAIN).problems:
            message("\n".join(problems), "what_if_problem")
            st.toast("\n".join(problems))  # the visitor may have scrolled down
        if request:
            _notice(first, request.target or "")
            if not request.target and not first.imported:  # no one knows what an imported model reads
                _draw_advice(request.text, first)
    of_file = (opened.compared, opened.pair) if opened else (None, None)
    view = replace(view, open_gold=opened_file.open_gold_file, compared=of_file[0], file=of_file[1])
    session = page_session()
    page_detail_level()
    read_link(offered_in(view))
    open_gold(view)
    on_request(view.key("links"), partial(set_drawn_links, view))
    if request is not None:
        session[_ASKED] = request_address(request)
    parameters: Parameters = session.get(_ASKED, {}) | language_address() | detail_level_address()
    set_page_address(view.identity, parameters)
    return view, request


def _draw_advice(text: str, trace: Record) -> None:
    """Draw the advice about `text`, translated in `trace`, with a button for each text to translate instead."""
    found = advice(text) or copied_advice(trace)
    if found is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="advice"):
        st.text(found.sentence, width="content")
        for number, (label, instead) in enumerate(found.instead):
            request_button(label, partial(inputs.set_request, instead), key=f"advice_{number}", type="tertiary")


def status(view: View) -> None:
    """Draw the model, device and search."""
    with view_blocks("status_view"), box("status"):
        plain_text(run_summary(view))


def run_summary(view: View) -> str:
    """Return the model, device and search."""
    trace = view.trace
    guidance = guidance_text(trace.config)
    model = gettext(
        "{model} on {device}", model=f"{trace.model} ({guidance})" if guidance else trace.model, device=trace.device
    )
    search = search_name(trace, gettext("forced decoding")) if view.number else _search_name(trace)
    what_if = (gettext("what-if {number}", number=view.number),) if view.number else ()
    return " · ".join((*what_if, model, search))


def _requested_trace(request: TranslationRequest) -> Trace | None:
    """Return the requested trace; on bad input show the error and return None."""
    try:
        with st.spinner(gettext("Translating…")):
            trace = translate(request.model, request.device, request.text, request.beam, request.target)
    except AttnvizError as error:
        message(str(error), "problem")
        return None
    if not {*trace.source_pieces} - {"<unk>", SPACE, "</s>"}:
        message(
            gettext(
                "The model knows no word of this sentence and reads every word as <unk>. The translation of unknown "
                "words would mean nothing. Write words that the model has learned."
                if trace.imported
                else "The model knows no part of this sentence and reads every part as <unk>. The translation of "
                "unknown text would mean nothing. Write an English sentence in Latin letters."
            ),
            "problem",
        )
        return None
    page_session()[_LAST] = trace
    return trace


def _fallback_trace(request: TranslationRequest | None) -> Trace | None:
    """Return the last translation, or that of the default sentence; None, with a message, where there is no model."""
    if request is None:
        message(
            gettext(
                "No model is installed. Put a model folder in the folder “models”, or set the environment "
                "variable {variable} to the folder that contains your model folders. You can open a trace file "
                "without a model.",
                variable=ATTNVIZ_MODELS,
            ),
            "problem",
        )
        return None
    if _LAST in page_session():
        st.text(gettext("Showing your previous sentence."))
        return cast("Trace", page_session()[_LAST])
    try:
        trace = translate(request.model, request.device, DEFAULT_SENTENCE, request.beam, None)
    except AttnvizError:
        return None
    st.text(gettext("Showing the example sentence of this page."))
    return trace


def _file_notice(opened: opened_file.OpenedFile, *, back: bool) -> None:
    """Draw a message that the trace was read from a file, with its model, and the button `back` to translating."""
    name, trace = opened.name, opened.trace
    with st.container(key="notice"):
        if not trace.translated:
            _imported_notice(opened, back)
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(
                gettext(
                    "The trace file {name} contains a translation by model {model} on {device} ({method}).",
                    name=name,
                    model=trace.model,
                    device=trace.device,
                    method=_search_name(trace),
                )
            )
            if back:
                _back_button()
        _unknown_characters(trace)


def _imported_notice(opened: opened_file.OpenedFile, back: bool) -> None:
    """Draw a message about imported attention and how it was read, with the button `back` to translating."""
    name, trace, pair = opened.name, opened.trace, opened.pair
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(gettext("The file {name} contains the {whose}.", name=name, whose=made_by(trace)), width="content")
        if back:
            _back_button()
        if pair and pair.other:
            if opened.compared:
                st.text(
                    gettext("The comparison with {name} is below the heatmap.", name=pair.other[0]), width="content"
                )
            stop = partial(opened_file.show_without, "other")
            request_button(gettext("Stop comparing"), stop, key="compare_stop")
        elif pair:
            with popover(gettext("Compare with another program"), key="compare_file", type="tertiary"):
                uploader(
                    gettext("Attention or links of another program for the same sentence pairs, in any format"),
                    opened_file.compare_with,
                    key="compare_file",
                    megabytes=opened_file.LARGEST_MEGABYTES,
                )
        if pair and pair.gold:
            st.text(gettext("Links marked by hand: {name}.", name=pair.gold.name), width="content")
            leave = partial(opened_file.show_without, "gold")
            request_button(gettext("Close this file of links"), leave, key="gold_close")
    sentences = [format_sentence(pair.file)] if pair else []
    hint = gettext(
        "At the level of detail “Numbers”, you can draw links on the heatmap, or open a file of links marked by hand."
    )
    hints = [] if shows(page_detail_level(), "numbers") else [hint]
    if remarks := [*sentences, *remark_sentences(trace), *hints]:
        st.text(" ".join(remarks))


def _back_button() -> None:
    request_button(gettext("Back to the sentence above"), opened_file.close, key="back")


def _search_name(trace: Trace) -> str:
    """Return the name of the search."""
    return search_name(trace, gettext("given translation"))


def _notice(trace: Trace, translation: str) -> None:
    """Draw a message that the translation was given, and the characters that the tokenizer does not know."""
    forced, tokenizer = trace.search.method == "forced", tokenizer_of(trace)
    if not forced and not trace.unknown_characters:
        return
    with st.container(key="notice"):
        if forced:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(gettext("Forced decoding: the decoder writes a given translation."), width="content")
                request_button(gettext("Clear"), inputs.drop_target, key="clear")
                if is_listed_pair():
                    request_button(gettext("Back to the pairs"), partial(go_to, "corpus"), key="back_to_list")
            unseen = tokenizer.unknown_characters(translation) if tokenizer else ()
            if unseen:
                st.text(
                    gettext(
                        "The model has never seen these parts of the given translation and reads each as <unk>: "
                        "{listed}",
                        listed="  ".join(unseen[:20]),
                    )
                )
        _unknown_characters(trace)


def _unknown_characters(trace: Trace) -> None:
    """Draw the characters that the tokenizer does not know."""
    if trace.unknown_characters:
        st.text(unknown_characters_text(trace))


def unknown_characters_text(trace: Trace) -> str:
    """Return which parts of the source sentence the tokenizer does not know."""
    return gettext(
        "The model has never seen these parts of the text and reads each as <unk>: {listed}",
        listed="  ".join(trace.unknown_characters[:20]),
    )
