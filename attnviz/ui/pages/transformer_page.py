"""The page *To the transformer*: sentence, row of attention weights, the open exhibit, its tables and downloads.

The visitor chooses the form of attention of the row, from additive attention to several heads. An exhibit is a section
of figures: on dot products (here), or one of `pages.exhibits`. The server computes only the open one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import streamlit as st

from attnviz import AttnvizError, Trace
from attnviz.analysis.attention_forms import (
    EQUATION_LINES,
    FORM_EXHIBITS,
    AttentionForm,
    Form,
    FormSources,
    Multiplications,
    attention_forms,
    count_multiplications,
    exhibit_equation,
    form_equation,
    form_model,
    form_names,
    form_sentence,
    form_text,
    form_trace,
    instructive_step,
    model_change_text,
    work_equation,
    work_sentence,
)
from attnviz.analysis.labels import quoted_name, shorten
from attnviz.analysis.page_texts import (
    EXHIBIT_REFERENCES,
    ExhibitName,
    exhibit_section,
    exhibit_titles,
    exhibits_introduction,
)
from attnviz.analysis.why_attention import attention_name, short_kind_name
from attnviz.browser_programs import KATEX
from attnviz.export.saved_files import file_name
from attnviz.figures.heads_figure import multiplications, weights_row
from attnviz.figures.registry import ENERGY_DECOMPOSITION, SOFTMAX
from attnviz.figures.subject import Subject
from attnviz.installed_models import (
    ADDITIVE_MODEL,
    GENERAL_MODEL,
    TRANSFORMER_MODEL,
    check_installed,
    installed_models,
    missing_models,
)
from attnviz.languages import gettext, gettexts, language
from attnviz.text import follows_space, join_pieces, piece_name
from attnviz.trace.drawing import LONGEST_LABEL
from attnviz.ui import inputs
from attnviz.ui.blocks import (
    box,
    chart,
    chart_tables,
    columns,
    component,
    inline_figure,
    message,
    packed,
    plain_text,
    section_heading,
    view_blocks,
)
from attnviz.ui.chrome import Page
from attnviz.ui.controls import on_request, option_field, request_button
from attnviz.ui.embedded_view import drawn_page
from attnviz.ui.embedding import page_session, theme_name
from attnviz.ui.glossary import glossary_box, opening, references, text_section
from attnviz.ui.inputs import linked_entry
from attnviz.ui.pages.exhibits import (
    FIVE_MODELS,
    FRENCH,
    HEADS_EXHIBIT,
    PAIR_EXHIBIT,
    Exhibit,
    SentenceRequest,
    best_head,
)
from attnviz.ui.payloads import Payload, PayloadRequest, Shown, UnknownPayloadError, address, makes_payload
from attnviz.ui.resources import force_decoded, weights_of
from attnviz.ui.selection import source_of
from attnviz.ui.step.stage_panels import inline_equation
from attnviz.ui.step.step_controls import player, view_state
from attnviz.ui.step.verification_badge import verification
from attnviz.ui.toolbar.downloads import (
    OfferedFigure,
    OfferedPart,
    copy_link,
    download_box,
    offer_pictures,
    offers,
    page_downloads,
)
from attnviz.ui.toolbar.shown_translation import current_request, sentence_box, shown_translation
from attnviz.ui.view import View


@makes_payload("attention-row")
def row_payload(request: PayloadRequest) -> Payload:
    """Return the payload of all steps in all forms, with their texts."""
    sources: FormSources = request.shown["sources"]
    forms, trace, titles = _forms(sources), sources.additive, exhibit_titles()
    steps = range(len(trace.target_pieces))
    return {
        "language": language(),
        "katex": KATEX.file_name,
        "sources": [shorten(join_pieces([piece]) or piece_name(piece)) for piece in trace.source_surfaces],
        "targets": [
            {
                "text": join_pieces([piece]) or "\u00a0",
                "space": step > 0 and follows_space(piece),
                "name": quoted_name(piece),
            }
            for step, piece in enumerate(trace.target_pieces)
        ],
        "forms": {
            name: {
                "model": form_model(name, sources),
                "latex": form_equation(name, sources, theme_name()),
                "text": form_text(name, sources),
                "modelChange": model_change_text(name, sources),
                "askers": None if form.askers is None else [quoted_name(trace.source_surfaces[j]) for j in form.askers],
                "sentences": [form_sentence(name, forms, sources, step) for step in steps],
                "weights": packed(form.weights),
                "energies": None if form.energies is None else packed(form.energies),
                "heads": [] if form.heads is None else [packed(head) for head in form.heads],
                "exhibit": FORM_EXHIBITS[name],
                "title": titles[FORM_EXHIBITS[name]],
            }
            for name, form in forms.items()
        },
        "words": gettexts(
            {
                "french": "French",
                "english": "English",
                "energy": "energy e",
                "weight": "weight α",
                "head": "head {n}",
                "mean": "mean",
                "caption": "Attention of {piece} in {model}",
                "open": "See the details: {title}",
                "close": "Close the details",
            }
        ),
    }


def _make_row(request: SentenceRequest) -> tuple[View, Shown]:
    """Return the view of the row, and the sources of its forms: translations forced to be the additive model's.

    The transformer's is left out where the model is missing or has other pieces. Raise AttnvizError where the other two
    cannot be compared.
    """
    models = (ADDITIVE_MODEL, GENERAL_MODEL)
    check_installed(*models)
    translation = str(request.trace_by(ADDITIVE_MODEL).translation)
    additive, general = force_decoded(models, request.device, request.sentence, translation)
    if not _have_same_pieces(additive, general):
        raise AttnvizError(_other_pieces_text(GENERAL_MODEL))
    head = None
    if not missing_models(TRANSFORMER_MODEL):
        (transformer,) = force_decoded([TRANSFORMER_MODEL], request.device, request.sentence, translation)
        head = best_head(transformer) if _have_same_pieces(additive, transformer) else None
    sources = FormSources(additive, general, head)
    forms = _forms(sources)
    view = View("energies", additive, first_step=instructive_step(forms), forms=tuple(forms))
    return view, {"sources": sources}


def _have_same_pieces(one: Any, other: Any) -> bool:
    return bool(one.target_pieces == other.target_pieces and one.source_pieces == other.source_pieces)


def _other_pieces_text(other: str) -> str:
    return gettext(
        "Models {one} and {other} split these sentences into different pieces, so their energies cannot be compared. "
        "Use models with the same tokenizer.",
        one=ADDITIVE_MODEL,
        other=other,
    )


def _forms(sources: FormSources) -> dict[Form, AttentionForm]:
    return attention_forms(sources.additive, sources.general, sources.head)


def draw_row(view: View, shown: Shown, opened: str) -> None:
    """Draw the choice of the form, and the row; `opened` is the name of the exhibit that is open, or empty."""
    view_state(view)
    names: dict[str, str] = {form: name for form, name in form_names().items() if form in view.forms}
    sources: FormSources = shown["sources"]
    with box(view.key("beside_form"), row=True):
        option_field(view, "form", "segments", gettext("Form of attention"), names)
        with download_box("downloads_of_row"):
            offer_pictures(view, "row-pictures", shown, "export_row")
    at = address(sources.additive, "attention-row", **shown)
    component("attention_row", view.key("attention_row"), {"at": at, "opened": opened})
    transformer = [sources.head.record] if sources.head else []
    verification(view, [sources.additive, sources.general, *transformer], "row_verification")
    if sources.head is None:
        plain_text(missing_models(TRANSFORMER_MODEL) or _other_pieces_text(TRANSFORMER_MODEL))


def _row_pictures(request: PayloadRequest) -> Iterator[OfferedFigure]:
    """Yield the row of the current step in every form."""
    sources, step = request.shown["sources"], request.selection.step
    forms, pieces = _forms(sources), sources.additive.source_surfaces
    for name, form in forms.items():
        asking = sources.additive.target_pieces[step] if form.askers is None else pieces[form.askers[step]]
        piece, model = quoted_name(asking), form_model(name, sources)
        heading = gettext("Attention of {piece} in {model}", piece=piece, model=model)
        draw = partial(weights_row, form, step, pieces, f"{heading}. {form_sentence(name, forms, sources, step)}")
        yield OfferedFigure(form_names()[name], f"step-{step + 1}-{name}", draw, heading, form_trace(name, sources))


def _draw_energies(view: View, shown: Shown) -> None:
    sources: FormSources = shown["sources"]
    with box(view.key("player_box")):
        player(view)
    for trace, column in zip((sources.additive, sources.general), columns((1, 1), gap="large"), strict=True):
        with column:
            _energy_column(view, trace)
    costs = _work(sources)
    with box(view.key("work")):
        section_heading(gettext("Cost of computing the energies"))
        left, right = columns((11, 10), gap="large")
        with left:
            inline_figure(view, "work_chart", partial(multiplications, costs), work_sentence(*costs.values()))
        with right, box(view.key("equations_work")):
            trace, (additive, dot) = sources.additive, costs.values()
            sizes = int(trace.config["hidden_size"]), int(trace.config["alignment_size"])
            lengths = len(trace.source_pieces), len(trace.target_pieces)
            inline_equation(view, work_equation(additive, dot, sizes, lengths), "work")


def _energy_column(view: View, trace: Trace) -> None:
    """Draw the energy of the current cell in one model: its units, the softmax, the equation and its verification."""
    kind = str(trace.config["attention"])
    section_heading(f'{attention_name(kind)} <small class="model">{trace.model}</small>')
    chart(view, address(trace, ENERGY_DECOMPOSITION.name), f"{ENERGY_DECOMPOSITION.name}-{kind}")
    chart(view, address(trace, "softmax"), f"softmax_{kind}")
    with box(view.key(f"equations_{kind}")):
        at = address(trace, "equation-1")
        component("equation", view.key(f"equation_energy_{kind}"), {"at": at})
    verification(view, [trace], f"verification_{kind}")


def _work(sources: FormSources) -> dict[str, Multiplications]:
    return {
        short_kind_name(str(trace.config["attention"])): count_multiplications(
            trace.config, len(trace.source_pieces), len(trace.target_pieces)
        )
        for trace in (sources.additive, sources.general)
    }


def _energy_pictures(asked: PayloadRequest) -> Iterator[OfferedFigure]:
    sources, step = asked.shown["sources"], asked.selection.step
    source = source_of(asked.selection, asked.view.trace)
    for trace in (sources.additive, sources.general):
        subject = Subject(trace, step, weights_of(trace), source, longest=LONGEST_LABEL)
        for figure in (ENERGY_DECOMPOSITION, SOFTMAX):
            yield OfferedFigure(
                f"{figure.title(subject)}, {attention_name(str(trace.config['attention']))}",
                f"{trace.model}-{step + 1}-{figure.name}",
                partial(figure.draw, subject),
                f"{figure.headline(subject)} ({trace.model})",
            )
    yield OfferedFigure(gettext("Multiplications"), "multiplications", partial(multiplications, _work(sources)))


offers("row", {"": OfferedPart(_row_pictures)})
ATTENTION_ROW = Exhibit(_energy_pictures, make=_make_row, draw=_draw_energies)


EXHIBIT_PARAMETER = "exhibit"
"""Session state key and address parameter of the open exhibit, and name of the request to open or close one."""
EXHIBITS: Mapping[str, Exhibit] = {
    "dot": ATTENTION_ROW,
    "pair": PAIR_EXHIBIT,
    "heads": HEADS_EXHIBIT,
    "answers": FIVE_MODELS,
}
"""By their names in the address, in the order of the page."""
offers("exhibit", EXHIBITS)


def _open_exhibit_name() -> str:
    """Return the name of the open exhibit, empty where none is, after following the link and the requests."""
    linked_entry(EXHIBIT_PARAMETER, None, offered=tuple(EXHIBITS), noted=True)
    parameters = [exhibit.parameter for exhibit in EXHIBITS.values() if exhibit.parameter]
    for name in parameters:
        linked_entry(name, None)
    inputs.add_parameters(dict.fromkeys((*parameters, FRENCH)))
    on_request(EXHIBIT_PARAMETER, _store_exhibit_name)
    chosen = page_session()[EXHIBIT_PARAMETER]
    return str(chosen) if chosen in EXHIBITS else ""


def _store_exhibit_name(name: object) -> None:
    page_session()[EXHIBIT_PARAMETER] = name if name in EXHIBITS else None


def _made(exhibit: Exhibit, request: SentenceRequest, name: str, main: View | None) -> tuple[View, Shown] | None:
    """Return what an exhibit makes, in place of the page's `main` view, or draw the reason why it cannot."""
    try:
        with st.spinner(gettext("Translating…")):
            view, shown = exhibit.make(request)
    except AttnvizError as error:
        message(str(error), f"transformer_problem_{name}")
        return None
    return replace(view, main=main), shown


def _draw_exhibit(view: View, exhibit_shown: Shown, exhibit_name: str, trace: Trace) -> None:
    """Draw an exhibit with its text, its tables and its downloads, in the room of its view."""
    name, shown = cast("ExhibitName", exhibit_name), {"trace": trace, **exhibit_shown}
    _exhibit_figures(view, shown, name)
    chart_tables(view, "exhibit-tables", shown, part=name)
    page_downloads(view, "exhibit", shown, name, file_name(trace, f"{name}.html"))


def _exhibit_figures(view: View, shown: Shown, name: ExhibitName) -> None:
    """Draw the text, the figures and the equation of an exhibit."""
    with box(f"exhibit_{name}"):  # the row scrolls to it: see components/attention_row
        text_section(exhibit_section(name))
    EXHIBITS[name].draw(view, shown)
    if EQUATION_LINES[name]:
        with box(view.key("equations")):
            section_heading(gettext("How the equations change"))
            inline_equation(view, exhibit_equation(name, theme_name()), "equations")


def _write_address(view: View, exhibit_name: str) -> None:
    """Write the parameters of the page into the address, which `view` provides; each exhibit has its history entry."""
    main_identity, exhibit = view.main.identity if view.main else "", EXHIBITS.get(exhibit_name)
    parameters: inputs.Parameters = {EXHIBIT_PARAMETER: exhibit_name or None}
    if exhibit and exhibit.parameter:
        parameters[exhibit.parameter] = page_session()[exhibit.parameter]
    inputs.set_page_address(f"{main_identity} {exhibit_name} {view.identity}", parameters)


@makes_payload("exhibit-lecture")
def exhibit_lecture(asked: PayloadRequest) -> bytes:
    """Return an exhibit as a file."""
    name, view = cast("ExhibitName", asked.part), asked.view
    if name not in EXHIBITS:
        raise UnknownPayloadError(name)

    def draw() -> None:
        opening("transformer", exhibits_introduction())
        with box(view.key("room")):
            _exhibit_figures(view, asked.shown, name)
            if EXHIBITS[name] is ATTENTION_ROW:  # on the page, the row of weights has it
                view_state(view)
        references(EXHIBIT_REFERENCES)

    title = f"attnviz: {gettext('To the transformer')}"
    return drawn_page(title, f"{name}-{view.identity[:16]}", draw, view.steps)


def _draw() -> None:
    available = installed_models()
    opening("transformer", exhibits_introduction())
    if available:
        with st.container(key="transformer_sentence"):
            sentence_box(available)
    request = current_request()
    view, _ = shown_translation(request)
    if view is None:
        return
    settings = (request.device, request.beam) if request else ()
    with view_blocks("transformer_view"), box("transformer_blocks"):
        _row_and_exhibit(SentenceRequest(view, *settings))


def _row_and_exhibit(request: SentenceRequest) -> None:
    """Draw the row of weights for the sentence of `request`, and below it the exhibit that is open."""
    exhibit_name = _open_exhibit_name()
    exhibit = EXHIBITS.get(exhibit_name)
    waiting, row_place, exhibit_place = st.empty(), box("transformer_row"), box("transformer_exhibit")
    with row_place, waiting:
        row = _made(ATTENTION_ROW, request, "row", main=request.view)
    opened = None
    if exhibit and exhibit is not ATTENTION_ROW:  # which shares the view of the row
        with exhibit_place, waiting:
            opened = _made(exhibit, request, "exhibit", main=None if row else request.view)
    provider = next((view for view, _ in filter(None, (row, opened))), None)
    if provider:  # before the row is drawn, which sends the address
        _write_address(provider, exhibit_name)
    if row:
        with row_place, box(row[0].key("room")):  # components/view.js stores the view's state on this element
            draw_row(*row, exhibit_name)
            if exhibit is ATTENTION_ROW:
                _draw_exhibit(*row, exhibit_name, request.view.trace)
    if opened:
        with exhibit_place, box(opened[0].key("room")):
            _draw_exhibit(*opened, exhibit_name, request.view.trace)
    with box("transformer_foot", row=True):
        is_open = exhibit_name == "answers"
        label = gettext("Close the comparison" if is_open else "Compare all five models")
        request_button(label, partial(_store_exhibit_name, "" if is_open else "answers"), key="compare_models")
        if provider:
            copy_link(provider.key("copy_link"))
        glossary_box("signs", "attention", "heads", "learning", "scores")
    references(EXHIBIT_REFERENCES)


TRANSFORMER_PAGE = Page("transformer", lambda: gettext("To the transformer"), _draw, shows_sentence=True)
