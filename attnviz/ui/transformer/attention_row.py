"""Draw on *To the transformer* the row of attention weights, and the first exhibit (energies and their cost).

The visitor chooses the form of attention of the row, from additive attention to several heads. The module also makes
the payload of the row, and the pictures to save.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from attnviz.analysis.verification import not_verified_text
from attnviz.analysis.why_attention import attention_name, short_kind_name
from attnviz.browser_programs import KATEX
from attnviz.figures.attention_forms_figure import multiplications, weights_row
from attnviz.figures.registry import ENERGY_DECOMPOSITION, SOFTMAX
from attnviz.figures.subject import Subject
from attnviz.languages import gettext, language
from attnviz.text import SPACE, SPECIAL_PIECES, join_pieces, piece_name
from attnviz.trace.drawing import LONGEST_LABEL
from attnviz.ui.components.chart import EVERY_STEP, chart, inline_chart, steady_payload
from attnviz.ui.components.component import box, columns, component, html, packed, plain_text
from attnviz.ui.components.picture_files import picture_files
from attnviz.ui.embedding import theme_name
from attnviz.ui.fields import option_field
from attnviz.ui.page_state.selection import source_of
from attnviz.ui.payloads import PayloadRequest, address, makes_payload
from attnviz.ui.resources import cached_for_all, weights_of
from attnviz.ui.step.stage_payloads import inline_equation
from attnviz.ui.step.step_controls import player, view_state
from attnviz.ui.step.verification_badge import verification
from attnviz.ui.toolbar.downloads import OfferedFigure, download_box, offer_pictures, picture_file
from attnviz.ui.transformer.exhibit import (
    ADDITIVE_MODEL,
    GENERAL_MODEL,
    TRANSFORMER_MODEL,
    Exhibit,
    SentenceRequest,
    missing_exhibit_models,
)
from attnviz.ui.transformer.five_models import models_badge
from attnviz.ui.transformer.heads_exhibit import best_head
from attnviz.ui.view import View

VIEW_ID = "energies"
"""Id of the view of the row, which the first exhibit shares: it has the same step."""


def attention_row(view: View, at: str, opened: str) -> None:
    """Draw the row of the current step in the chosen form, from the payload at the address `at`.

    `opened` is the name of the exhibit that is open, or empty.
    """
    component("attention_row", key=view.key("attention_row"), data={"at": at, "opened": opened})


def row_payload(forms: Mapping[Form, AttentionForm], sources: FormSources) -> dict[str, Any]:
    """Return the payload of all steps in all `forms`, with their texts."""
    trace, titles = sources.additive, exhibit_titles()
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
        "words": {
            "french": gettext("French"),
            "english": gettext("English"),
            "energy": gettext("energy e"),
            "weight": gettext("weight α"),
            "head": gettext("head {n}"),
            "mean": gettext("mean"),
            "caption": gettext("Attention of {piece} in {model}"),
            "open": gettext("See the details: {title}"),
            "close": gettext("Close the details"),
        },
    }


def _name(piece: str) -> str:
    return shorten(join_pieces([piece]) or piece_name(piece))


def _target(pieces: tuple[str, ...], step: int) -> dict[str, Any]:
    """Return a French piece with the blank before it, and its name."""
    piece = pieces[step]
    space = step > 0 and (piece.startswith(SPACE) or piece in SPECIAL_PIECES)
    return {"text": join_pieces([piece]) or "\u00a0", "space": space, "name": quoted_name(piece)}


def make_view(request: SentenceRequest) -> View:
    """Return the view of the row; raise AttnvizError with a sentence if it cannot be drawn."""
    sources = _sources(request)
    forms = _forms(sources)
    return View(VIEW_ID, sources.additive, first_step=instructive_step(forms), forms=tuple(forms))


def energy_traces(request: SentenceRequest) -> tuple[Trace, Trace]:
    """Return both recurrent models force-decoded with the additive model's translation.

    Raise AttnvizError where that is impossible.
    """
    if reason := missing_exhibit_models(ADDITIVE_MODEL, GENERAL_MODEL):
        raise AttnvizError(reason)
    translation = _translation(request)
    additive, general = (request.trace_by(model, translation) for model in (ADDITIVE_MODEL, GENERAL_MODEL))
    if not _have_same_pieces(additive, general):
        raise AttnvizError(_other_pieces_text(GENERAL_MODEL))
    return additive, general


def _other_pieces_text(other: str) -> str:
    return gettext(
        "Models {one} and {other} split these sentences into different pieces, so their energies cannot be compared. "
        "Use models with the same tokenizer.",
        one=ADDITIVE_MODEL,
        other=other,
    )


def _translation(request: SentenceRequest) -> str:
    """Return the French sentence that all models are forced to write: the additive model's translation."""
    translation = str(request.trace_by(ADDITIVE_MODEL).translation)
    if not translation.strip():
        raise AttnvizError(
            gettext("The translation for forced decoding is empty. Try another sentence or translation.")
        )
    return translation


def _have_same_pieces(one: Any, other: Any) -> bool:
    return bool(one.target_pieces == other.target_pieces and one.source_pieces == other.source_pieces)


def _sources(request: SentenceRequest) -> FormSources:
    """Return the translations of the row; without the transformer's where it is missing or has other pieces."""
    additive, general = energy_traces(request)
    if missing_exhibit_models(TRANSFORMER_MODEL):
        return FormSources(additive, general, None)
    transformer = request.trace_by(TRANSFORMER_MODEL, _translation(request))
    head = best_head(transformer) if _have_same_pieces(additive, transformer) else None
    return FormSources(additive, general, head)


def _forms(sources: FormSources) -> dict[Form, AttentionForm]:
    return attention_forms(sources.additive, sources.general, sources.head)


def draw(view: View, request: SentenceRequest, opened: str) -> None:
    """Draw the choice of the form, and the row; `opened` is the name of the exhibit that is open, or empty."""
    view_state(view)
    names: dict[str, str] = {form: name for form, name in form_names().items() if form in view.forms}
    sources = _sources(request)
    with box(view.key("beside_form"), row=True):
        option_field(view, "form", "segments", gettext("Form of attention"), options=names)
        with download_box("downloads_of_row"):
            offer_pictures(view, "row-pictures", {"sources": sources}, "export_row")
    attention_row(view, _payload_address(sources), opened)
    models_badge(view, _traces(sources), "row_verification")
    if sources.head is None:
        plain_text(missing_exhibit_models(TRANSFORMER_MODEL) or _other_pieces_text(TRANSFORMER_MODEL))


def _traces(sources: FormSources) -> list[Any]:
    return [sources.additive, sources.general, *([sources.head.record] if sources.head else [])]


@makes_payload("row-pictures", needs_server=True)
def row_picture_files(request: PayloadRequest) -> dict[str, Any] | bytes:
    """Return the payload of the row of the current step in every form as files."""
    sources, step = request.shown["sources"], request.selection.step
    pictures = row_pictures(sources, step).items()
    return picture_files((picture_file(form_trace(name, sources), one) for name, one in pictures), request.parameters)


def row_pictures(sources: FormSources, step: int) -> dict[Form, OfferedFigure]:
    """Return the row of 0-based `step` in every form as it is saved."""
    forms, pieces = _forms(sources), sources.additive.source_pieces
    pictures: dict[Form, OfferedFigure] = {}
    for name, form in forms.items():
        asking = sources.additive.target_pieces[step] if form.askers is None else pieces[form.askers[step]]
        heading = gettext(
            "Attention of {piece} in {model}",
            piece=quoted_name(asking),
            model=form_model(name, sources),
        )
        sentence = form_sentence(name, forms, sources, step)
        pictures[name] = OfferedFigure(
            form_names()[name],
            heading,
            f"step-{step + 1}-{name}",
            partial(weights_row, form, step, pieces, f"{heading}. {sentence}"),
            note=sentence,
        )
    return pictures


def _payload_address(sources: FormSources) -> str:
    return address(sources.additive, "attention-row", every=True, sources=sources)


@makes_payload("attention-row")
def forms_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of all forms and steps."""
    sources: FormSources = request.shown["sources"]
    return row_payload(_forms(sources), sources)


_FIGURES = (ENERGY_DECOMPOSITION, SOFTMAX)


def _draw(view: View, request: SentenceRequest) -> None:
    traces = energy_traces(request)
    with box(view.key("player_box")):
        player(view)
    for trace, column in zip(traces, columns((1, 1), gap="large"), strict=True):
        with column:
            _energy_column(view, trace)
    costs = _work(traces)
    with box(view.key("work")):
        html(f'<h2 class="section">{gettext("Cost of computing the energies")}</h2>')
        left, right = columns((11, 10), gap="large")
        with left:
            inline_chart(view, _work_payload(costs), "work_chart")
        with right, box(view.key("equations_work")):
            sizes = int(traces[0].config["hidden_size"]), int(traces[0].config["alignment_size"])
            lengths = len(traces[0].source_pieces), len(traces[0].target_pieces)
            additive, dot = costs.values()
            inline_equation(view, work_equation(additive, dot, sizes, lengths), "work")


def _energy_column(view: View, trace: Trace) -> None:
    """Draw the energy of the current cell in one model: its units, the softmax, the equation and its verification."""
    kind = str(trace.config["attention"])
    html(f'<h2 class="section">{attention_name(kind)} <small class="model">{trace.model}</small></h2>')
    at = address(trace, ENERGY_DECOMPOSITION.name, every=True)
    component("energy_decomposition", view.key(f"energy_decomposition_{kind}"), {"at": at})
    chart(view, address(trace, "softmax", every=True), f"softmax_{kind}")
    with box(view.key(f"equations_{kind}")):
        at = address(trace, "equation-1", every=True)
        component("equation", view.key(f"equation_energy_{kind}"), {"at": at})
    if weights_of(trace) is None:
        plain_text(not_verified_text(trace))
    else:
        verification(view, {"at": address(trace, "verification", every=False)}, f"verification_{kind}")


def _work(traces: tuple[Trace, ...]) -> dict[str, Multiplications]:
    return {
        short_kind_name(str(trace.config["attention"])): count_multiplications(
            trace.config, len(trace.source_pieces), len(trace.target_pieces)
        )
        for trace in traces
    }


@cached_for_all
def _work_payload(costs: dict[str, Multiplications]) -> dict[str, object]:
    return steady_payload(multiplications(costs), {EVERY_STEP: ("", work_sentence(*costs.values()))})


def _pictures(asked: PayloadRequest) -> Iterator[OfferedFigure]:
    traces, step = energy_traces(asked.shown["request"]), asked.selection.step
    for trace in traces:
        subject = Subject(
            trace, step, weights_of(trace), source_of(asked.selection, asked.trace), longest=LONGEST_LABEL
        )
        for figure in _FIGURES:
            title = f"{figure.title(subject)}, {attention_name(str(trace.config['attention']))}"
            yield OfferedFigure(
                title,
                f"{figure.headline(subject)} ({trace.model})",
                f"{trace.model}-{step + 1}-{figure.name}",
                partial(figure.draw, subject),
            )
    costs, title = _work(traces), gettext("Multiplications")
    yield OfferedFigure(
        title,
        title,
        "multiplications",
        lambda: multiplications(costs),
        note=work_sentence(*costs.values()),
    )


ATTENTION_ROW = Exhibit(make_view, _draw, _pictures, VIEW_ID)
