"""Draw the stages of a step, from energies to word, and make the payloads of their figures, sums and equations.

There are five stages, or three without attention. The browser fetches the payloads for all steps at once. At the level
*Idea*, sentences are short, figures simple, and there are no controls and equations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from attnviz.analysis.energy_equations import SATURATED, texts_of
from attnviz.analysis.labels import quote, shorten
from attnviz.analysis.logit_attribution import maxout_inputs
from attnviz.analysis.posterior import (
    posterior_caption,
    posterior_equation,
    posterior_heading,
    posterior_sentence,
    posterior_texts_of_cells,
    posterior_texts_of_source,
    posterior_texts_of_step,
    posterior_title,
)
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.stages import Narration, Stage
from attnviz.analysis.step_equations import Equation
from attnviz.analysis.verification import misfit_text
from attnviz.architectures import architecture_of, narrate, stage_numbered, step_texts
from attnviz.browser_programs import KATEX
from attnviz.figures.attention_figure import MOST_ROWS, context_frame
from attnviz.figures.encoding import to_json
from attnviz.figures.registry import (
    ENERGY_DECOMPOSITION,
    FIGURES,
    LOGIT_ATTRIBUTION,
    POSTERIOR,
    StepFigure,
    colour_legend,
    figure_named,
)
from attnviz.figures.subject import Subject
from attnviz.figures.waterfall_figure import (
    SATURATION_MARK,
    SHOWN_ENERGY_UNITS,
    draw_energy_decomposition,
    unit_texts,
)
from attnviz.languages import gettext, gettexts, language
from attnviz.text import piece_name
from attnviz.trace import Record, Trace
from attnviz.trace.drawing import DetailLevel
from attnviz.ui.blocks import (
    box,
    caption,
    chart,
    columns,
    component,
    figure_payload,
    fitting_payload,
    html,
    packed,
    plain_text,
    table_box,
    tables_payload,
)
from attnviz.ui.controls import option_field
from attnviz.ui.embedding import embedding, theme_name
from attnviz.ui.payloads import Payload, PayloadRequest, UnknownPayloadError, address, makes_payload, payload_address
from attnviz.ui.resources import cached_for_all, has_posterior, posterior_attention_of, weights_of
from attnviz.ui.selection import POSTERIOR_OPEN, source_of
from attnviz.ui.step.what_if_panel import intervention_panel, other_word_panel, weights_chart
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
    attention, vectors = request.trace.displayed, request.trace.displayed.values

    def frame(**options: bool) -> str:
        return to_json(context_frame(attention, **options).plotly(theme_name()))

    return {
        "figure": frame(),
        "thinned": frame(thinned=True) if len(vectors) > MOST_ROWS else None,
        "symbol": attention.context_symbol,
        "annotations": packed(vectors),
        "alpha": packed(attention.alignment),
        "units": vectors.shape[1],
        "language": language(),
        "captions": {str(step): sentence for step, sentence in _sentences(request, 3).items()},
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
    """Return the payload that serves every cell: queries, keys and v_a, and a figure of one cell to fill.

    It is the same at every step, so it is sent once. Weights are needed only for a trace that lacks v_a.
    """
    attention = request.trace.displayed
    subject = Subject(attention, 0, request.weights, 0)
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
    if attention.has_heads:
        words["heading"] = gettext(
            "Energy, unit by unit: query of “{target}”, key of “{word}”"
            if attention.kind == "encoder"
            else "Energy, unit by unit: query of the step that writes “{target}”, key of “{word}”"
        )
        words["product"] = gettext(
            "The energy q · k / √d is {energy}. This energy is the sum of {n} products, each divided by √d: {for} "
            "positive and {against} negative. The {named} contributions of largest absolute value, named below, add "
            "up to {part}. Unit {largest} contributes most: {c}."
        )
    operands = {
        "queries": packed(attention.queries),
        "keys": packed(attention.keys),
        "score": packed(decomposition.score),
        "width": len(decomposition.score),
        "peaks": attention.alignment.argmax(axis=1).tolist(),
        "sources": [piece_name(piece) for piece in attention.source_surfaces],
        "targets": [piece_name(piece) for piece in attention.target_pieces],
        "bounded": decomposition.bounded,
        "saturated": SATURATED,
        "named": SHOWN_ENERGY_UNITS,
        "words": words,
    }
    figures = [draw_energy_decomposition(subject), draw_energy_decomposition(subject, operands=False)]
    return fitting_payload(figures, "") | {"operands": operands, "language": language()}


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


def draw_stage(view: View, stage: Stage, place: int) -> None:
    """Draw the `stage` of the current step, with its equation from *Numbers* on.

    Its `place` counts from 1: a model without attention has three stages.
    """
    first, *_ = stage_figures(view.trace, stage, view.detail_level)
    title, number = stage.title(), str(place)
    if len(first.stages) > 1:
        title, number = first.title(Subject(view.trace, 0)), f"{place}–{place + len(first.stages) - 1}"
    html(f'<h3><span class="number">{number}</span>{title}</h3>')
    draw_figures(view, stage)
    if view.shows("numbers"):
        at = payload_address(view, f"equation-{stage.number}")
        component("equation", view.key(f"equation_{stage.number}"), {"at": at})


def draw_figures(view: View, stage: Stage, heading: str = "h4") -> None:
    """Draw the figures of `stage`; those after the first have a `heading`, the name of an HTML tag."""
    for place, figure in enumerate(stage_figures(view.trace, stage, view.detail_level)):
        if place:
            title = figure.title(Subject(view.trace, 0))
            html(f'<{heading} class="section">{title}</{heading}>')
        _CONTROLS.get(figure.control, _chart)(view, figure)


def stage_boxes(view: View) -> list[tuple[int, Stage, str]]:
    """Return place, declaration and key of the stages of `view` that have a figure of their own.

    At the level *Idea*, one picture shows energies, weights and their mixture.
    """
    boxes = []
    for place, stage in enumerate(stages_of(view), 1):
        if figures := stage_figures(view.trace, stage, view.detail_level):
            boxes.append((place, stage, "one_picture" if len(figures[0].stages) > 1 else f"stage_{stage.number}"))
    return boxes


def _chart(view: View, figure: StepFigure, hint: str = "") -> None:
    """Draw a figure with its caption, to which `hint` is added."""
    chart(view, payload_address(view, figure.name), figure.name)
    text = figure.caption(Subject(view.trace, 0)) if figure.caption and not view.simple else ""
    if text or hint:
        caption(f"{text} {hint}".strip())


def _weights(view: View, figure: StepFigure) -> None:
    weights_chart(view, payload_address(view, figure.name), figure.name)
    if view.shows("numbers"):
        if reason := architecture_of(view.trace).missing.get("softmax"):
            caption(reason())
        intervention_panel(view)


def _sum(view: View, figure: StepFigure) -> None:
    """Draw the growing sum where there is attention, and at the level *Idea* all heads."""
    if view.trace.attends and not view.simple:
        component("context_growth", view.key("growth"), {"at": address(view.trace, "growth")})
        caption(f"{gettext('One column for each unit.')} {colour_legend()}")
        return
    _chart(view, figure)
    if not view.simple:  # one vector instead of a weighted sum
        caption(
            gettext(
                "This model has no attention weights to change by hand. You can make the step write another word "
                "instead."
            )
        )


def _word(view: View, figure: StepFigure) -> None:
    """Draw the likeliest pieces, and the choice of another."""
    trace, hint = view.trace, ""
    if embedding() is None and view.shows(LOGIT_ATTRIBUTION.level) and trace.recurrent and trace.linear:
        hint = gettext(
            "Click a piece to see its logit attribution below: which English words raised its logit."
            if trace.attends
            else "Click a piece to see its logit attribution below: what raised its logit."
        )
    _chart(view, figure, hint)
    if not view.simple:
        other_word_panel(view)


_CONTROLS: Mapping[str, Callable[[View, StepFigure], None]] = {"weights": _weights, "sum": _sum, "word": _word}
"""Functions that draw a figure with a control; others are only charts."""


def energy_decomposition_panel(view: View, weights: Weights | None) -> None:
    """Draw the energy e_ij of the current cell as the sum over its units.

    `weights` are needed only for a trace that lacks v_a.
    """
    trace = view.trace
    if reason := ENERGY_DECOMPOSITION.missing(Subject(trace, 0, weights)):
        plain_text(reason)
        return
    # Each step then has its own keys, and the component supports one key for each piece.
    if trace.recurrent and trace.features_at(0).size:
        plain_text(
            gettext(
                "In this model the keys change at every step, because they depend on the previous step’s weights. The "
                "table lists the units of the chosen cell’s energy. The key of this cell is U h + L f, where h is the "
                "annotation of the source piece and f has the features computed from the previous step’s weights."
            )
        )
    else:
        chart(view, address(trace, ENERGY_DECOMPOSITION.name), ENERGY_DECOMPOSITION.name)
        if trace.recurrent:
            html(f'<p class="explanation">{texts_of(trace.config["attention"]).units}</p>')
    title = gettext("All units of this energy as a table")
    table_box(view, title, "energy_decomposition_table", "energy-decomposition-tables")


def posterior_section(view: View) -> None:
    """Draw the section; the browser opens and closes it, and fetches its figures once it is open."""
    option_field(view, POSTERIOR_OPEN, "disclosure", posterior_title(), width="stretch")
    with box(view.key("posterior_contents")):
        reason = POSTERIOR.missing(Subject(view.trace, 0, weights_of(view.trace)))
        if not reason and not has_posterior(view.trace):
            reason = misfit_text(view.trace, 0)
        if reason:
            plain_text(reason)
            return
        left, right = columns([7, 5], gap="medium")
        with left:
            chart(view, payload_address(view, POSTERIOR.name), POSTERIOR.name)
        with right:
            component("equation", view.key("equation_after"), {"at": payload_address(view, POSTERIOR_EQUATION)})
            html(f'<p class="explanation">{posterior_caption()}</p>')
