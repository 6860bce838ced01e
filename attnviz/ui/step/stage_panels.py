"""Draw the stages of a step, from energies to word: figures, controls and equation of each; and make their payloads.

There are five stages, or three without attention. The browser fetches the payloads for all steps at once. Their
declarations are in `analysis`, the figures in `figures`, and the equations in `ui.components.equation`. At the level
*Idea*, sentences are short, figures simple, and there are no controls and equations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from attnviz.analysis.context_units import context_units
from attnviz.analysis.diagram_texts import context_sentence, displayed_units_caption
from attnviz.analysis.logit_attribution import readout
from attnviz.analysis.stages import Narration, Stage
from attnviz.architectures import architecture_of, narrate, stage_of_figure, step_texts
from attnviz.figures.figure_input import Subject
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.template import to_json
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.ui.components.chart import AtStep, chart, chart_payload
from attnviz.ui.components.context_growth import context_growth, growth_payload
from attnviz.ui.components.equation import equation, equation_payloads
from attnviz.ui.components.step_summary import summary_payload
from attnviz.ui.resources import cached_for_all
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError, address, payload_address
from attnviz.ui.step.intervention_controls import intervention_panel, other_word_panel, weights_chart
from attnviz.ui.view import View


def stages_of(view: View) -> tuple[Stage, ...]:
    """Return the stages of a step of `view`, in the order of computation."""
    return architecture_of(view.trace).stages(view.trace)


def draw_stage(view: View, stage: Stage, place: int, theme: ThemeName) -> None:
    """Draw the `stage` of the current step, with its equation from *Numbers* on.

    Its `place` counts from 1: a model without attention has three stages.
    """
    st.html(f'<h3><span class="number">{place}</span>{stage.title()}</h3>')
    for name in stage_figures(view.trace, stage, simple=view.simple):
        _PANELS.get(name, _chart)(view, name, theme)
    if view.shows("numbers"):
        equation(view, stage.number, payload_address(view, f"equation-{stage.number}", theme))


def stage_figures(trace: Any, stage: Stage, *, simple: bool = False) -> list[str]:
    """Return the names of the available figures of `stage`; the first has its sentence."""
    subject = Subject(trace, 0)
    figures = {name: STEP_FIGURES[name] for name in stage.figures_at(simple=simple)}
    return [name for name, figure in figures.items() if not figure.summary and not figure.missing(subject)]


def _chart(view: View, name: str, theme: ThemeName) -> None:
    chart(view, payload_address(view, name, theme), name)


def _weights(view: View, name: str, theme: ThemeName) -> None:
    weights_chart(view, payload_address(view, name, theme))
    if view.shows("numbers"):
        if reason := architecture_of(view.trace).missing.get("softmax"):
            st.caption(reason())
        intervention_panel(view, theme)


def _context(view: View, name: str, theme: ThemeName) -> None:
    if not view.trace.attends:  # one vector instead of a weighted sum
        _chart(view, name, theme)
        if view.shows("numbers"):
            st.caption(
                gettext(
                    "This model has no attention weights to change by hand. You can make the step write another word "
                    "instead."
                )
            )
    elif view.simple and view.trace.has_heads:
        _chart(view, name, theme)
    elif view.simple:
        chart(view, payload_address(view, name, theme), "mixtures")
        st.caption(
            gettext(
                "The mixtures of the previous, the current and the next step. Each French word gets its own mixture."
            )
        )
    elif view.trace.has_heads or view.shows("everything"):
        context_growth(view, address(view.trace, "growth", theme, every=True))
        st.caption(f"{gettext('One column for each unit.')} {_colour_legend()}")


def _units(view: View, name: str, theme: ThemeName) -> None:
    """Draw what each source word adds to the context of the current step."""
    _chart(view, name, theme)
    st.caption(
        gettext(
            "The figure shows the numbers of the mixture that differ most from other steps. Each line adds the part of "
            "one word: blue raises the sum, red lowers it. A grey stem shows the sum so far. The last line is the "
            "mixture."
        )
        if view.simple
        else displayed_units_caption(view.trace)
    )


def _state(view: View, name: str, theme: ThemeName) -> None:
    _chart(view, name, theme)
    if view.shows("numbers"):
        order = gettext("One column for each unit, sorted by rising value of the update gate.")
        if view.trace.form["cell"] == "lstm":
            order = gettext("One column for each unit, sorted by rising value of the forget gate.")
        st.caption(f"{order} {_colour_legend()}")


def _stream(view: View, name: str, theme: ThemeName) -> None:
    _chart(view, name, theme)
    if view.shows("numbers"):
        rows = gettext(
            "The first row is the embedding, the next rows are the vectors that the blocks add, and the last row is "
            "the sum of all other rows. A frame marks the block of the head shown."
        )
        st.caption(f"{rows} {_colour_legend()}")


def _candidates(view: View, name: str, theme: ThemeName) -> None:
    """Draw the likeliest pieces, and the choice of another."""
    _chart(view, name, theme)
    if view.simple:
        return
    if view.trace.search.method == "forced":
        caption = gettext(
            "The chart shows the likeliest pieces. Violet marks the forced piece. A piece starting with · "
            "continues a word."
        )
    else:
        caption = gettext(
            "The chart shows the likeliest pieces. Violet marks the piece that this step wrote. A piece starting with "
            "· continues a word."
        )
    if view.shows("everything") and view.trace.recurrent and view.trace.linear:
        caption += f" {_click_hint(view.trace)}"
    st.caption(caption)
    other_word_panel(view, payload_address(view, "foils", theme))


def _click_hint(trace: Trace) -> str:
    if trace.attends:
        return gettext("Click a piece to see its logit attribution below: which English words raised its logit.")
    return gettext("Click a piece to see its logit attribution below: what raised its logit.")


def _colour_legend() -> str:
    return gettext(
        "Blue is positive, red is negative. The strength of the colour follows the square root of the value, so "
        "that small terms stay visible."
    )


_PANELS: Mapping[str, Callable[[View, str, ThemeName], None]] = {
    "softmax": _weights,
    "context": _context,
    "units": _units,
    "state": _state,
    "stream": _stream,
    "candidates": _candidates,
}
"""Functions that draw figures with their captions and controls, by the names of the figures; others are only charts."""


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
    trace, steps, theme, simple = request.trace, request.steps, request.theme, request.simple
    stage = stage_of_figure(trace, name)
    if stage is None or name not in (names := stage_figures(trace, stage, simple=simple)):
        raise UnknownPayloadError(name)
    subjects = [Subject(trace, step) for step in steps]
    if STEP_FIGURES[name].uses_weights and request.weights is not None:
        pairs_by_step = readout(trace, request.weights, steps).pairs
        subjects = [
            Subject(trace, i, request.weights, known_maxout_pairs=pairs)
            for i, pairs in zip(steps, pairs_by_step, strict=True)
        ]
    sentences = _sentences(request, stage.number) if name == names[0] else dict.fromkeys(steps, "")
    if name == "units" and not simple:
        sentences = {step: context_sentence(trace, context_units(trace, step), step) for step in steps}
    picture = STEP_FIGURES[name].picture_at(simple=simple)
    return chart_payload(
        to_json(picture.template(subjects[0], theme)),
        {
            subject.step: AtStep(to_json(picture.values(subject, theme)), "", sentences[subject.step])
            for subject in subjects
        },
    )


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
