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

from attnviz.analysis.diagram import context_sentence, context_units
from attnviz.analysis.logit_attribution import maxout_inputs
from attnviz.analysis.stages import Narration, Stage, sum_sentence
from attnviz.architectures import architecture_of, narrate, stage_numbered, step_texts
from attnviz.figures.registry import FIGURES, PICTURE, StepFigure, colour_legend, figure_named
from attnviz.figures.subject import Subject
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.ui.components.chart import chart, chart_payload
from attnviz.ui.components.component import caption, html
from attnviz.ui.components.context_growth import context_growth, growth_payload
from attnviz.ui.components.equation import equation, equation_payloads
from attnviz.ui.components.step_summary import summary_payload
from attnviz.ui.embedding import embedding
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, payload_address
from attnviz.ui.resources import cached_for_all
from attnviz.ui.step.intervention_controls import intervention_panel, other_word_panel, weights_chart
from attnviz.ui.view import View


def stages_of(view: View) -> tuple[Stage, ...]:
    """Return the stages of a step of `view`, in the order of computation."""
    return architecture_of(view.trace).stages(view.trace)


def draw_stage(view: View, stage: Stage, place: int, theme: ThemeName) -> None:
    """Draw the `stage` of the current step, with its equation from *Numbers* on.

    Its `place` counts from 1: a model without attention has three stages.
    """
    figures = stage_figures(view.trace, stage, simple=view.simple)
    title, number = stage.title(), str(place)
    if figures[0].name == PICTURE:
        title, number = figures[0].title(Subject(view.trace, 0)), f"{place}–{place + 2}"
    html(f'<h3><span class="number">{number}</span>{title}</h3>')
    for figure in figures:
        _CONTROLS.get(figure.control, _chart)(view, figure, theme)
    if view.shows("numbers"):
        equation(view, stage.number, payload_address(view, f"equation-{stage.number}", theme))


def stage_boxes(view: View) -> list[tuple[int, Stage, str]]:
    """Return place, declaration and key of the stages of `view` that have a figure of their own.

    At the level *Idea*, one picture shows energies, weights and their mixture.
    """
    boxes = []
    for place, stage in enumerate(stages_of(view), 1):
        if figures := stage_figures(view.trace, stage, simple=view.simple):
            boxes.append((place, stage, "one_picture" if figures[0].name == PICTURE else f"stage_{stage.number}"))
    return boxes


def stage_figures(trace: Any, stage: Stage, *, simple: bool = False) -> list[StepFigure]:
    """Return the figures of `stage` that are shown; the first has its sentence."""
    subject = Subject(trace, 0, simple=simple)
    return [figure for figure in FIGURES if stage_numbered(trace, figure.stage) is stage and figure.is_shown(subject)]


def _chart(view: View, figure: StepFigure, theme: ThemeName, hint: str = "") -> None:
    """Draw a figure with its caption, to which `hint` is added."""
    chart(view, payload_address(view, figure.name, theme), figure.name)
    text = figure.caption(Subject(view.trace, 0, simple=view.simple)) if figure.caption else ""
    if text or hint:
        caption(f"{text} {hint}".strip())


def _weights(view: View, figure: StepFigure, theme: ThemeName) -> None:
    weights_chart(view, payload_address(view, figure.name, theme), figure.name)
    if view.shows("numbers"):
        if reason := architecture_of(view.trace).missing.get("softmax"):
            caption(reason())
        intervention_panel(view, theme)


def _sum(view: View, figure: StepFigure, theme: ThemeName) -> None:
    """Draw the growing sum where there is attention, and at the level *Idea* all heads."""
    if not view.trace.attends:  # one vector instead of a weighted sum
        _chart(view, figure, theme)
        if view.shows("numbers"):
            caption(
                gettext(
                    "This model has no attention weights to change by hand. You can make the step write another word "
                    "instead."
                )
            )
    elif view.simple:
        _chart(view, figure, theme)
    elif view.trace.has_heads or view.shows("everything"):
        context_growth(view, address(view.trace, "growth", theme, every=True))
        caption(f"{gettext('One column for each unit.')} {colour_legend()}")


def _word(view: View, figure: StepFigure, theme: ThemeName) -> None:
    """Draw the likeliest pieces, and the choice of another."""
    has_attribution = embedding() is None and view.shows("everything") and view.trace.recurrent and view.trace.linear
    _chart(view, figure, theme, _click_hint(view.trace) if has_attribution else "")
    if not view.simple:
        other_word_panel(view, theme)


def _click_hint(trace: Trace) -> str:
    if trace.attends:
        return gettext("Click a piece to see its logit attribution below: which English words raised its logit.")
    return gettext("Click a piece to see its logit attribution below: what raised its logit.")


_CONTROLS: Mapping[str, Callable[[View, StepFigure, ThemeName], None]] = {
    "weights": _weights,
    "sum": _sum,
    "word": _word,
}
"""Functions that draw a figure with a control; others are only charts."""


def narration(trace: Trace, steps: tuple[int, ...], *, simple: bool) -> Narration:
    """Return the sentences of the stages at each of `steps`; the short ones if `simple`."""
    return _narration(trace, trace.fingerprint, steps, language(), simple)


@cached_for_all
def _narration(
    _trace: Trace,
    identity: str,  # noqa: ARG001
    steps: tuple[int, ...],
    code: str,  # noqa: ARG001  of the key
    simple: bool,
) -> Narration:
    return {step: narrate(_trace, step, simple=simple) for step in steps}


def facts(trace: Trace, steps: tuple[int, ...], *, simple: bool) -> dict[str, Any]:
    """Return the payload of the summaries of `steps`."""
    sentence = partial(step_texts(trace).step_sentence, simple=simple)
    return summary_payload(trace, narration(trace, steps, simple=simple), sentence)


def facts_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the summaries of the requested steps."""
    return facts(request.trace, request.steps, simple=request.simple)


def figure_payload(name: str, request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the figure `name` at each requested step; the first of a stage has its sentence.

    Raise UnknownPayloadError where no stage has the figure.
    """
    trace, steps, simple, figure = request.trace, request.steps, request.simple, figure_named(name)
    stage = stage_numbered(trace, figure.stage) if figure else None
    if figure is None or stage is None or figure not in stage_figures(trace, stage, simple=simple):
        raise UnknownPayloadError(name)
    subjects = [Subject(trace, step, theme=request.theme, simple=simple) for step in steps]
    if figure.uses_weights and request.weights is not None:
        pairs_by_step = maxout_inputs(trace, request.weights, steps)
        subjects = [
            replace(subject, weights=request.weights, known_maxout_pairs=pairs)
            for subject, pairs in zip(subjects, pairs_by_step, strict=True)
        ]
    captions = {step: ("", *sentences) for step, sentences in _captions(request, figure, stage).items()}
    return chart_payload({subject.step: figure.draw(subject) for subject in subjects}, captions)


def _captions(request: PayloadRequest, figure: StepFigure, stage: Stage) -> dict[int, list[str]]:
    """Return the sentences above `figure` at each requested step; the picture has those of the stages that it shows."""
    trace, steps, simple = request.trace, request.steps, request.simple
    if figure.name == "units":
        return {step: [context_sentence(trace, context_units(trace, step), step)] for step in steps}
    if figure is not stage_figures(trace, stage, simple=simple)[0]:
        return {step: [""] for step in steps}
    found = [_sentences(request, stage.number)]
    if figure.name == PICTURE:
        found += [_sentences(request, 2), {step: sum_sentence(trace.displayed, step) for step in steps}]
    return {step: [sentences[step] for sentences in found] for step in steps}


def running_sum_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the growing sum that makes a context vector, or the output of a head."""
    return growth_payload(request.trace.displayed, _sentences(request, 3), request.theme)


def _sentences(request: PayloadRequest, number: int) -> dict[int, str]:
    """Return the sentence of stage `number` at each requested step."""
    narrated = narration(request.trace, request.steps, simple=request.simple)
    return {step: next(one.sentence for one in texts if one.number == number) for step, texts in narrated.items()}


def stage_equation_payload(stage: int, request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the equation of `stage`."""
    return _equations(request.trace, request.trace.fingerprint, request.steps, request.theme, language())[stage]


@cached_for_all
def _equations(
    _trace: Trace,
    identity: str,  # noqa: ARG001
    steps: tuple[int, ...],
    theme: ThemeName,
    code: str,  # noqa: ARG001  of the key
) -> dict[int, dict[str, Any]]:
    return equation_payloads(_trace, steps, theme)
