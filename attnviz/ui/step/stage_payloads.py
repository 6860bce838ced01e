"""Make the payloads of the stages of a step: sentences, figures, sums, equations, energy decomposition, posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from attnviz.analysis.energy_equations import SATURATED
from attnviz.analysis.labels import quote, shorten
from attnviz.analysis.logit_attribution import maxout_inputs
from attnviz.analysis.posterior import (
    posterior_equation,
    posterior_heading,
    posterior_sentence,
    posterior_texts_of_cells,
    posterior_texts_of_source,
    posterior_texts_of_step,
)
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.stages import Narration, Stage
from attnviz.analysis.step_equations import Equation
from attnviz.architectures import architecture_of, narrate, stage_numbered, step_texts
from attnviz.browser_programs import KATEX
from attnviz.figures.context import context_frame
from attnviz.figures.encoding import to_json
from attnviz.figures.energy_decomposition_figure import (
    SATURATION_MARK,
    SHOWN_ENERGY_UNITS,
    draw_energy_decomposition,
    unit_texts,
)
from attnviz.figures.grammar import MOST_ROWS
from attnviz.figures.registry import ENERGY_DECOMPOSITION, FIGURES, POSTERIOR, StepFigure, figure_named
from attnviz.figures.subject import Subject
from attnviz.languages import gettext, gettexts, language
from attnviz.text import piece_name
from attnviz.trace import Record, Trace
from attnviz.trace.drawing import DetailLevel
from attnviz.trace.transformer_trace import Head
from attnviz.ui.components.chart import figure_payload
from attnviz.ui.components.component import component, packed
from attnviz.ui.components.tables import tables_payload
from attnviz.ui.embedding import theme_name
from attnviz.ui.page_state.selection import source_of
from attnviz.ui.payloads import Payload, PayloadRequest, UnknownPayloadError, makes_payload
from attnviz.ui.resources import cached_for_all, posterior_attention_of
from attnviz.ui.view import View


def stages_of(view: View) -> tuple[Stage, ...]:
    """Return the stages of a step of `view`, in the order of computation."""
    return architecture_of(view.trace).stages(view.trace)


def stage_names(view: View) -> list[Payload]:
    """Return number, place, title and short name of each stage; without attention there are three of the five."""
    titles = [(stage.number, stage.title()) for stage in stages_of(view)]
    return [
        {"number": number, "place": place, "title": title, "name": title.partition(" (")[0]}
        for place, (number, title) in enumerate(titles, 1)
    ]


def stage_figures(trace: Any, stage: Stage, level: DetailLevel = "everything") -> list[StepFigure]:
    """Return the figures of `stage` that are shown at `level`."""
    subject = Subject(trace, 0, level=level)
    return [figure for figure in FIGURES if stage_numbered(trace, figure.stage) is stage and figure.is_shown(subject)]


@cached_for_all
def narration(trace: Trace, steps: tuple[int, ...], *, simple: bool) -> Narration:
    """Return the sentences of the stages at each of `steps`; the short ones if `simple`."""
    return {step: narrate(trace, step, simple=simple) for step in steps}


def _sentences(request: PayloadRequest, number: int) -> dict[int, str]:
    """Return the sentence of stage `number` at each requested step."""
    narrated = narration(request.trace, request.steps, simple=request.simple)
    return {step: next(one.sentence for one in texts if one.number == number) for step, texts in narrated.items()}


def facts(trace: Trace, steps: tuple[int, ...], *, simple: bool) -> Payload:
    """Return the payload of the summaries of `steps`: what each wrote, and the outcome of each of its stages."""
    return {
        str(i): {
            "heading": gettext("Step {i} of {n}", i=i + 1, n=len(trace.target_pieces)),
            "part": _part(trace, i),
            "sentence": step_texts(trace).step_sentence(trace, i, simple=simple),
            "outcomes": [stage.outcome for stage in stages],
        }
        for i, stages in narration(trace, steps, simple=simple).items()
    }


def _part(trace: Record, step: int) -> str:
    """Return which piece of which word `step` wrote; empty for a word of one piece."""
    words = trace.words()
    for word, group in zip(words.target, words.target_groups, strict=True):
        if step in group and len(group) > 1:
            k = group.index(step) + 1
            return gettext("piece {k} of {n} of the word {word}", k=k, n=len(group), word=quote(shorten(word, 30)))
    return ""


@makes_payload("facts", of_step=True)
def facts_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the summaries of the requested steps."""
    return facts(request.trace, request.steps, simple=request.simple)


@makes_payload(*(figure.name for figure in FIGURES if figure.stage), of_step=True)
def stage_figure_payload(request: PayloadRequest) -> Payload:
    """Return the payload of a figure at each requested step.

    Raise UnknownPayloadError where no stage has the figure.
    """
    trace, steps, figure = request.trace, request.steps, figure_named(request.name)
    level: DetailLevel = "idea" if request.simple else "everything"
    stage = stage_numbered(trace, figure.stage) if figure else None
    of_stage = stage_figures(trace, stage, level) if stage else []
    if figure is None or stage is None or figure not in of_stage:
        raise UnknownPayloadError(request.name)
    subjects = [Subject(trace, step, level=level) for step in steps]
    if figure.uses_weights and request.weights is not None:
        pairs_by_step = maxout_inputs(trace, request.weights, steps)
        subjects = [
            replace(subject, weights=request.weights, known_maxout_pairs=pairs)
            for subject, pairs in zip(subjects, pairs_by_step, strict=True)
        ]
    shown = [stage.number, *figure.stages[1:]] if figure is of_stage[0] else []
    stage_sentences, own_sentence = [_sentences(request, number) for number in shown], figure.sentence

    def caption(subject: Subject) -> tuple[str, ...]:
        sentences = [by_step[subject.step] for by_step in stage_sentences] or [""]
        return ("", *sentences[:-1], own_sentence(subject) if own_sentence else sentences[-1])

    return figure_payload(figure, subjects, caption)


@makes_payload("growth", of_step=True)
def growth_payload(request: PayloadRequest) -> Payload:
    """Return the payload of a context vector, or a head's output, as a running sum over the source pieces.

    It has the values of the source pieces, (Tx, units), once, as `annotations`, and the weights, (Ty, Tx), as `alpha`;
    the browser computes every step from them.
    """
    attention, sentences = request.trace.displayed, _sentences(request, 3)
    vectors = attention.values
    return {
        "figure": to_json(context_frame(attention).plotly(theme_name())),
        "thinned": to_json(context_frame(attention, thinned=True).plotly(theme_name()))
        if len(vectors) > MOST_ROWS
        else None,
        "symbol": attention.context_symbol,
        "annotations": packed(vectors),
        "alpha": packed(attention.alignment),
        "units": vectors.shape[1],
        "language": language(),
        "captions": {str(i): sentence for i, sentence in sentences.items()},
        "words": gettexts(
            {
                "build": "Build it up",
                "stop": "Stop",
                "added": "Pieces added",
                "order": "Row order, stages 1 to 3",
                "sentence": "sentence order",
                "strongest": "strongest first",
                "more": "{n} more",
                "sum": "sum = {c}",
                "part": "sum so far",
                "count": "{k} of {n}",
                "all": "all {n} rows added: {c}",
                "some": "{k} of {n} rows added, Σα = {weight}",
            }
        ),
    }


@makes_payload(*(f"equation-{number}" for number in range(1, 6)), of_step=True)
def stage_equation_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the equation of a stage."""
    stage = int(request.name.removeprefix("equation-"))
    return equation_payloads(request.trace, request.steps)[stage]


@cached_for_all
def equation_payloads(trace: Record, steps: Sequence[int]) -> dict[int, Payload]:
    """Return, by stage, the payload of its equation at any of `steps`, for any source piece."""
    texts = step_texts(trace)
    filled: dict[str, list[Any]] = {
        "ofStep": [texts.texts_of_step(trace, step, theme_name()) for step in steps],
        "ofSource": [texts.texts_of_source(trace, source) for source in range(len(trace.source_pieces))],
        "ofCell": [texts.texts_of_cells(trace, step) for step in steps],
    }
    templates = texts.equation_templates(trace, theme_name())
    return {template.stage: equation_payload(template, steps, **filled) for template in templates}


def equation_payload(template: Equation, steps: Sequence[int], **texts: Sequence[Mapping[str, Any]]) -> Payload:
    """Return the payload of one equation `template` at any of `steps`; the browser fills and typesets it.

    The `texts` at its places are `ofStep`, with an entry for each step, `ofSource`, with one for each source piece, and
    `ofCell`, with one for each step, whose texts are lists with one for each source piece.
    """
    filled: dict[str, Any] = {
        key: {name: [one[name] for one in several] for name in several[0] if name in template.places}
        for key, several in texts.items()
    }
    blank: dict[str, Any] = {"ofStep": {}, "ofSource": {}, "ofCell": {}}
    shown = {"katex": KATEX.file_name, "latex": template.latex, "note": template.note, "steps": list(steps)}
    return shown | blank | filled


def inline_equation(view: View, template: Equation, name: str) -> None:
    """Draw an equation that is the same at every step of `view`; `name` is unique in the view."""
    component("equation", view.key(f"equation_{name}"), equation_payload(template, range(view.steps)))


@makes_payload(ENERGY_DECOMPOSITION.name, of_step=True)
def cells_payload(request: PayloadRequest) -> Payload:
    """Return the payload from which the browser draws the energy of every cell."""
    return energy_decomposition_payload(request.trace.displayed, request.weights)


def energy_decomposition_payload(attention: Trace | Head, weights: Weights | None) -> Payload:
    """Return the payload that serves every cell: queries, keys and v_a, and a figure of one cell to fill.

    It is the same at every step, so it is sent once. `weights` are needed only for a trace that lacks v_a.
    """
    subject = Subject(attention, 0, weights, 0)
    decomposition = subject.energy_decomposition
    words = gettexts(
        {
            "heading": "Energy decomposition: step {i} at “{word}”",
            "unit": "unit {k}",
            "more": "{n} more units: {c}",
            "sentence": "The energy of “{word}” at the step that writes “{target}” is {energy}. This energy is the "
            "sum of {n} contributions, one per unit: {for} positive and {against} negative. The {named} contributions "
            "of largest absolute value, named below, add up to {part}. Unit {largest} contributes most: {c}. "
            "Saturated units: {flat}. A larger query or key hardly changes the contributions of saturated units.",
            "product": "The energy of “{word}” at the step that writes “{target}” is {energy}. This energy is a dot "
            "product, the sum of {n} products, one per unit: {for} positive and {against} negative. The {named} "
            "contributions of largest absolute value, named below, add up to {part}. Unit {largest} contributes most: "
            "{c}.",
        }
    ) | {"mark": SATURATION_MARK, "hover": unit_texts(decomposition)[0]}
    return {
        "queries": packed(attention.queries),
        "keys": packed(attention.keys),
        "score": packed(decomposition.score),
        "width": len(decomposition.score),
        "peaks": attention.alignment.argmax(axis=1).tolist(),
        "sources": [piece_name(piece) for piece in attention.source_pieces],
        "targets": [piece_name(piece) for piece in attention.target_pieces],
        "wide": to_json(draw_energy_decomposition(subject).plotly(theme_name())),
        "narrow": to_json(draw_energy_decomposition(subject, operands=False).plotly(theme_name())),
        "language": language(),
        "bounded": decomposition.bounded,
        "saturated": SATURATED,
        "named": SHOWN_ENERGY_UNITS,
        "words": words | (_head_words(attention) if attention.has_heads else {}),
    }


def _head_words(head: Any) -> dict[str, str]:
    """Return the texts that differ for a transformer's head, whose energy is a scaled dot product."""
    if head.kind == "encoder":
        heading = gettext("Energy, unit by unit: query of “{target}”, key of “{word}”")
    else:
        heading = gettext("Energy, unit by unit: query of the step that writes “{target}”, key of “{word}”")
    product = gettext(
        "The energy q · k / √d is {energy}. This energy is the sum of {n} products, each divided by √d: {for} "
        "positive and {against} negative. The {named} contributions of largest absolute value, named below, add "
        "up to {part}. Unit {largest} contributes most: {c}."
    )
    return {"heading": heading, "product": product}


@makes_payload("energy-decomposition-tables")
def units_payload(request: PayloadRequest) -> Payload:
    """Return the payload of all units of the current cell as a table."""
    step, source = request.selection.step, source_of(request.selection, request.trace)
    subject = Subject(request.trace, step, request.weights, source)
    title = gettext(
        "Step {step}, source piece {source}: the running sum ends at e = {energy:.6f}",
        step=step + 1,
        source=source + 1,
        energy=subject.energy_decomposition.energy,
    )
    return tables_payload([(title, ENERGY_DECOMPOSITION.draw(subject).frame())])


POSTERIOR_EQUATION = "equation-after"
"""Name of the payload of the equation."""


@makes_payload(POSTERIOR.name, POSTERIOR_EQUATION, of_step=True)
def posterior_payload(request: PayloadRequest) -> Payload:
    """Return the payload of prior, likelihood and posterior at each requested step, or of their equation.

    Raise UnknownPayloadError where the model is not installed or did not make the translation.
    """
    trace, attention = request.trace, posterior_attention_of(request.trace)
    if attention is None:
        raise UnknownPayloadError(request.name)
    if request.name == POSTERIOR_EQUATION:
        return equation_payload(
            posterior_equation(trace, theme_name()),
            request.steps,
            ofStep=[posterior_texts_of_step(attention, step) for step in request.steps],
            ofSource=[posterior_texts_of_source(j) for j in range(len(trace.source_pieces))],
            ofCell=[posterior_texts_of_cells(attention, step) for step in request.steps],
        )
    heading = posterior_heading()
    subject = Subject(trace, 0, request.weights, known_posterior=attention)
    return figure_payload(
        POSTERIOR,
        [replace(subject, step=step) for step in request.steps],
        lambda one: (heading, posterior_sentence(trace, attention, one.step)),
    )
