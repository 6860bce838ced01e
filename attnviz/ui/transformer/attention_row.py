"""Draw on *To the transformer* the row of attention weights, and the first exhibit (energies and their cost).

The visitor chooses the form of attention of the row, from additive attention to several heads. The module also makes
the payload of the row, and the pictures to save.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from attnviz import AttnvizError, Trace
from attnviz.analysis.attention_forms import (
    FORM_EXHIBITS,
    AttentionForm,
    Form,
    FormSources,
    Multiplications,
    attention_forms,
    count_multiplications,
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
from attnviz.analysis.page_texts import exhibit_titles
from attnviz.analysis.why_attention import attention_name, short_kind_name
from attnviz.browser_programs import KATEX
from attnviz.figures.attention_forms_figure import multiplications, weights_row
from attnviz.figures.registry import ENERGY_DECOMPOSITION, SOFTMAX
from attnviz.figures.subject import Subject
from attnviz.installed_models import (
    ADDITIVE_MODEL,
    GENERAL_MODEL,
    TRANSFORMER_MODEL,
    check_installed,
    missing_models,
)
from attnviz.languages import gettext, gettexts, language
from attnviz.text import follows_space, join_pieces, piece_name
from attnviz.trace.drawing import LONGEST_LABEL
from attnviz.ui.components.chart import chart, inline_figure
from attnviz.ui.components.component import box, columns, component, packed, plain_text, section_heading
from attnviz.ui.embedding import theme_name
from attnviz.ui.fields import option_field
from attnviz.ui.page_state.selection import source_of
from attnviz.ui.payloads import Payload, PayloadRequest, Shown, address, makes_payload
from attnviz.ui.resources import force_decoded, weights_of
from attnviz.ui.step.stage_panels import inline_equation
from attnviz.ui.step.step_controls import player, view_state
from attnviz.ui.step.verification_badge import trace_verification
from attnviz.ui.toolbar.downloads import OfferedFigure, OfferedPart, download_box, offer_pictures, offered_files
from attnviz.ui.transformer import Exhibit, SentenceRequest
from attnviz.ui.transformer.five_models import models_badge
from attnviz.ui.transformer.heads_exhibit import best_head
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
        "sources": [_name(piece) for piece in trace.source_pieces],
        "targets": [_target(trace.target_pieces, step) for step in steps],
        "forms": {
            name: {
                "model": form_model(name, sources),
                "latex": form_equation(name, sources, theme_name()),
                "text": form_text(name, sources),
                "modelChange": model_change_text(name, sources),
                "askers": None if form.askers is None else [quoted_name(trace.source_pieces[j]) for j in form.askers],
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


def _name(piece: str) -> str:
    return shorten(join_pieces([piece]) or piece_name(piece))


def _target(pieces: tuple[str, ...], step: int) -> Payload:
    """Return a French piece with the blank before it, and its name."""
    piece = pieces[step]
    space = step > 0 and follows_space(piece)
    return {"text": join_pieces([piece]) or "\u00a0", "space": space, "name": quoted_name(piece)}


def _make(request: SentenceRequest) -> tuple[View, Shown]:
    """Return the view of the row, and the sources of its forms; raise AttnvizError if it cannot be drawn."""
    sources = _sources(request)
    forms = _forms(sources)
    view = View("energies", sources.additive, first_step=instructive_step(forms), forms=tuple(forms))
    return view, {"sources": sources}


def _sources(request: SentenceRequest) -> FormSources:
    """Return the models' translations, all forced to be the additive model's translation.

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
    return FormSources(additive, general, head)


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
    models_badge(view, [sources.additive, sources.general, *transformer], "row_verification")
    if sources.head is None:
        plain_text(missing_models(TRANSFORMER_MODEL) or _other_pieces_text(TRANSFORMER_MODEL))


@makes_payload("row-pictures", needs_server=True)
def row_pictures(request: PayloadRequest) -> Payload | bytes:
    """Return the payload of the row of the current step in every form, as files."""
    return offered_files(request, _row_pictures(request))


def _row_pictures(request: PayloadRequest) -> Iterator[OfferedFigure]:
    """Yield the row of the current step in every form."""
    sources, step = request.shown["sources"], request.selection.step
    forms, pieces = _forms(sources), sources.additive.source_pieces
    for name, form in forms.items():
        asking = sources.additive.target_pieces[step] if form.askers is None else pieces[form.askers[step]]
        heading = gettext(
            "Attention of {piece} in {model}",
            piece=quoted_name(asking),
            model=form_model(name, sources),
        )
        draw = partial(weights_row, form, step, pieces, f"{heading}. {form_sentence(name, forms, sources, step)}")
        yield OfferedFigure(form_names()[name], f"step-{step + 1}-{name}", draw, heading, form_trace(name, sources))


_FIGURES = (ENERGY_DECOMPOSITION, SOFTMAX)


def _draw(view: View, shown: Shown) -> None:
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
    at = address(trace, ENERGY_DECOMPOSITION.name)
    component("energy_decomposition", view.key(f"energy_decomposition_{kind}"), {"at": at})
    chart(view, address(trace, "softmax"), f"softmax_{kind}")
    with box(view.key(f"equations_{kind}")):
        at = address(trace, "equation-1")
        component("equation", view.key(f"equation_energy_{kind}"), {"at": at})
    trace_verification(view, trace, f"verification_{kind}")


def _work(sources: FormSources) -> dict[str, Multiplications]:
    return {
        short_kind_name(str(trace.config["attention"])): count_multiplications(
            trace.config, len(trace.source_pieces), len(trace.target_pieces)
        )
        for trace in (sources.additive, sources.general)
    }


def _pictures(asked: PayloadRequest) -> Iterator[OfferedFigure]:
    sources, step = asked.shown["sources"], asked.selection.step
    source = source_of(asked.selection, asked.view.trace)
    for trace in (sources.additive, sources.general):
        subject = Subject(trace, step, weights_of(trace), source, longest=LONGEST_LABEL)
        for figure in _FIGURES:
            yield OfferedFigure(
                f"{figure.title(subject)}, {attention_name(str(trace.config['attention']))}",
                f"{trace.model}-{step + 1}-{figure.name}",
                partial(figure.draw, subject),
                f"{figure.headline(subject)} ({trace.model})",
            )
    yield OfferedFigure(gettext("Multiplications"), "multiplications", partial(multiplications, _work(sources)))


ATTENTION_ROW = Exhibit(_make, _draw, OfferedPart(_pictures))
