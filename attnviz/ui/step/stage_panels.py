"""Draw the stages of a step, from energies to word: figures, controls and equation of each; and make their payloads.

There are five stages, or three without attention. The browser fetches the payloads for all steps at once. Their
declarations are in `analysis`, the figures in `figures`, and the equations in `ui.components.equation`. At the level
*Idea*, sentences are short, figures simple, and there are no controls and equations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from attnviz.analysis.energy_equations import texts_of
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
from attnviz.analysis.verification import misfit_text
from attnviz.architectures import architecture_of, narrate, stage_numbered, step_texts
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
from attnviz.languages import gettext
from attnviz.trace import Trace
from attnviz.trace.drawing import DetailLevel
from attnviz.ui.components.chart import chart, chart_payload
from attnviz.ui.components.component import box, caption, columns, html, plain_text
from attnviz.ui.components.context_growth import context_growth, growth_payload
from attnviz.ui.components.energy_decomposition import energy_decomposition_payload
from attnviz.ui.components.energy_decomposition import mount_energy_decomposition as draw_energy_decomposition
from attnviz.ui.components.equation import equation, equation_payload, equation_payloads
from attnviz.ui.components.step_summary import summary_payload
from attnviz.ui.components.tables import table_box, tables_payload
from attnviz.ui.embedding import embedding, theme_name
from attnviz.ui.fields import option_disclosure
from attnviz.ui.page_state.selection import POSTERIOR_OPEN, source_of
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, makes_payload, payload_address
from attnviz.ui.resources import cached_for_all, has_posterior, posterior_attention_of, weights_of
from attnviz.ui.step.intervention_controls import intervention_panel, other_word_panel, weights_chart
from attnviz.ui.view import View


def stages_of(view: View) -> tuple[Stage, ...]:
    """Return the stages of a step of `view`, in the order of computation."""
    return architecture_of(view.trace).stages(view.trace)


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
        equation(view, stage.number, payload_address(view, f"equation-{stage.number}"))


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


def stage_figures(trace: Any, stage: Stage, level: DetailLevel = "everything") -> list[StepFigure]:
    """Return the figures of `stage` that are shown at `level`."""
    subject = Subject(trace, 0, level=level)
    return [figure for figure in FIGURES if stage_numbered(trace, figure.stage) is stage and figure.is_shown(subject)]


def _chart(view: View, figure: StepFigure, hint: str = "") -> None:
    """Draw a figure with its caption, to which `hint` is added."""
    chart(view, payload_address(view, figure.name), figure.name)
    text = figure.caption(Subject(view.trace, 0, level=view.detail_level)) if figure.caption else ""
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
        context_growth(view, address(view.trace, "growth", every=True))
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
    has_attribution = (
        embedding() is None and view.shows(LOGIT_ATTRIBUTION.level) and view.trace.recurrent and view.trace.linear
    )
    _chart(view, figure, _click_hint(view.trace) if has_attribution else "")
    if not view.simple:
        other_word_panel(view)


def _click_hint(trace: Trace) -> str:
    if trace.attends:
        return gettext("Click a piece to see its logit attribution below: which English words raised its logit.")
    return gettext("Click a piece to see its logit attribution below: what raised its logit.")


_CONTROLS: Mapping[str, Callable[[View, StepFigure], None]] = {
    "weights": _weights,
    "sum": _sum,
    "word": _word,
}
"""Functions that draw a figure with a control; others are only charts."""


@cached_for_all
def narration(trace: Trace, steps: tuple[int, ...], *, simple: bool) -> Narration:
    """Return the sentences of the stages at each of `steps`; the short ones if `simple`."""
    return {step: narrate(trace, step, simple=simple) for step in steps}


def facts(trace: Trace, steps: tuple[int, ...], *, simple: bool) -> dict[str, Any]:
    """Return the payload of the summaries of `steps`."""
    sentence = partial(step_texts(trace).step_sentence, simple=simple)
    return summary_payload(trace, narration(trace, steps, simple=simple), sentence)


@makes_payload("facts", of_step=True)
def facts_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the summaries of the requested steps."""
    return facts(request.trace, request.steps, simple=request.simple)


@makes_payload(*(figure.name for figure in FIGURES if figure.stage), of_step=True)
def figure_payload(request: PayloadRequest) -> dict[str, Any]:
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
    stage_sentences = [_sentences(request, number) for number in shown]
    captions: dict[int, tuple[str, ...]] = {}
    for subject in subjects:
        sentences = [by_step[subject.step] for by_step in stage_sentences] or [""]
        if figure.sentence:
            sentences[-1] = figure.sentence(subject)
        captions[subject.step] = ("", *sentences)
    return chart_payload({subject.step: figure.draw(subject) for subject in subjects}, captions)


@makes_payload("growth", of_step=True)
def running_sum_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the growing sum that makes a context vector, or the output of a head."""
    return growth_payload(request.trace.displayed, _sentences(request, 3))


def _sentences(request: PayloadRequest, number: int) -> dict[int, str]:
    """Return the sentence of stage `number` at each requested step."""
    narrated = narration(request.trace, request.steps, simple=request.simple)
    return {step: next(one.sentence for one in texts if one.number == number) for step, texts in narrated.items()}


@makes_payload(*(f"equation-{number}" for number in range(1, 6)), of_step=True)
def stage_equation_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the equation of a stage."""
    stage = int(request.name.removeprefix("equation-"))
    return _equations(request.trace, request.steps)[stage]


@cached_for_all
def _equations(trace: Trace, steps: tuple[int, ...]) -> dict[int, dict[str, Any]]:
    return equation_payloads(trace, steps)


def energy_decomposition_panel(view: View, weights: Weights | None) -> None:
    """Draw the energy e_ij of the current cell as the sum over its units.

    `weights` are needed only for a trace that lacks v_a.
    """
    trace = view.trace
    reason = ENERGY_DECOMPOSITION.missing(Subject(trace, 0, weights))
    if reason:
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
        _table(view)
        return
    draw_energy_decomposition(view, address(trace, ENERGY_DECOMPOSITION.name, every=True))
    if trace.recurrent:
        html(f'<p class="explanation">{texts_of(trace.config["attention"]).units}</p>')
    _table(view)


@makes_payload(ENERGY_DECOMPOSITION.name, of_step=True)
def cells_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload from which the browser draws the energy of every cell."""
    return energy_decomposition_payload(request.trace.displayed, request.weights)


def _table(view: View) -> None:
    """Offer all units of the current cell as a table, computed only while its box is open."""
    title = gettext("All units of this energy as a table")
    table_box(view, title, "energy_decomposition_table", "energy-decomposition-tables")


@makes_payload("energy-decomposition-tables")
def units_payload(request: PayloadRequest) -> dict[str, Any]:
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


def posterior_section(view: View) -> None:
    """Draw the section; the browser opens and closes it, and fetches its figures once it is open."""
    option_disclosure(view, POSTERIOR_OPEN, posterior_title())
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
            equation(view, "after", payload_address(view, POSTERIOR_EQUATION))
            html(f'<p class="explanation">{posterior_caption()}</p>')


@makes_payload(POSTERIOR.name, of_step=True)
def posterior_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of prior, likelihood and posterior at each requested step.

    Raise UnknownPayloadError where the model is not installed or did not make the translation.
    """
    attention = posterior_attention_of(request.trace)
    if attention is None:
        raise UnknownPayloadError(POSTERIOR.name)
    trace, heading = request.trace, posterior_heading()
    subject = Subject(trace, 0, request.weights, known_posterior=attention)
    return chart_payload(
        {step: POSTERIOR.draw(replace(subject, step=step)) for step in request.steps},
        {step: (heading, posterior_sentence(trace, attention, step)) for step in request.steps},
    )


@makes_payload(POSTERIOR_EQUATION, of_step=True)
def posterior_equation_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the posterior's equation; raise UnknownPayloadError where `posterior_payload` does."""
    attention = posterior_attention_of(request.trace)
    if attention is None:
        raise UnknownPayloadError(POSTERIOR_EQUATION)
    return equation_payload(
        posterior_equation(request.trace, theme_name()),
        request.steps,
        [posterior_texts_of_step(attention, step) for step in request.steps],
        [posterior_texts_of_source(j) for j in range(len(request.trace.source_pieces))],
        [posterior_texts_of_cells(attention, step) for step in request.steps],
    )
