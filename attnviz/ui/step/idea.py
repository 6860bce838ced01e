"""Draw the stages of the current step at the level *Idea*: a sentence and a figure each, without equations.

The module also makes their payloads, which the browser fetches for all steps at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from attnviz.architectures import ARCHITECTURES, architecture_of, step_texts
from attnviz.figures.build import Spec
from attnviz.figures.figure_input import Subject
from attnviz.figures.idea import (
    fit_template,
    fit_values,
    mixtures_template,
    mixtures_values,
    share_template,
    share_values,
    state_shares_template,
    state_shares_values,
)
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.template import FigureTemplate, Values, to_json
from attnviz.figures.transformer_idea import (
    added_template,
    added_values,
    all_heads_template,
    all_heads_values,
)
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.trace import Record
from attnviz.ui.components.chart import AtStep, chart, chart_payload
from attnviz.ui.components.step_summary import summary_payload
from attnviz.ui.resources import cached_for_all
from attnviz.ui.shared_payloads import Maker, PayloadRequest, UnknownPayloadError, payload_address
from attnviz.ui.step.intervention_controls import weights_chart
from attnviz.ui.step.stages import CONTEXT_UNITS
from attnviz.ui.view import View
from attnviz.wording.idea import idea_sentence
from attnviz.wording.stages import Narration


def _picture(template: Callable[[Any, ThemeName], Spec], values: Callable[[Any, int], Values]) -> FigureTemplate:
    return FigureTemplate(
        lambda subject, theme: template(subject.trace.displayed, theme),
        lambda subject, _: values(subject.trace.displayed, subject.step),
    )


IDEA_FIGURES: Mapping[str, FigureTemplate] = {
    "energy": _picture(fit_template, fit_values),
    "softmax": _picture(share_template, share_values),
    "mixtures": _picture(mixtures_template, mixtures_values),
    "state": _picture(state_shares_template, state_shares_values),
    "looks": FigureTemplate(
        lambda subject, theme: all_heads_template(subject.trace, theme),
        lambda subject, _: all_heads_values(subject.trace, subject.step),
    ),
    "stream": _picture(added_template, added_values),
}
"""Figures by the names of those that they replace; "mixtures" and "looks" replace none."""


def idea_stage(view: View, number: int, theme: ThemeName, titles: Mapping[int, str]) -> None:
    """Draw stage `number` of the current step; `titles` are by stage."""
    position = list(titles).index(number) + 1  # from 1: a model without attention has three stages
    st.html(f'<h3><span class="number">{position}</span>{titles[number]}</h3>')
    for name in _figures(view.trace, number):
        address = payload_address(view, f"idea-{name}", theme)
        if name == "softmax":
            weights_chart(view, address)
        else:
            chart(view, address, name)
        if name in _CAPTIONS:
            st.caption(_CAPTIONS[name]())


_CAPTIONS: Mapping[str, Callable[[], str]] = {
    "mixtures": lambda: gettext(
        "The mixtures of the previous, the current and the next step. Each French word gets its own mixture."
    ),
    CONTEXT_UNITS: lambda: gettext(
        "The figure shows the numbers of the mixture that differ most from other steps. Each line adds the part of "
        "one word: blue raises the sum, red lowers it. A grey stem shows the sum so far. The last line is the mixture."
    ),
}
"""Sentences below a figure, by its name."""


def _figures(trace: Record, number: int) -> list[str]:
    """Return the names of the figures of stage `number`; the first has its sentence."""
    return [name for name, stage in architecture_of(trace).idea(trace).items() if stage == number]


def idea_narration(trace: Record, steps: tuple[int, ...]) -> Narration:
    """Return the sentences of the stages at each of `steps`."""
    return _narration(trace, trace.fingerprint, steps, language())


@cached_for_all
def _narration(_trace: Record, identity: str, steps: tuple[int, ...], code: str) -> Narration:  # noqa: ARG001
    """Return the sentences of `steps`; `identity` and the language `code` complete the cache key."""
    return {step: step_texts(_trace).narrate_idea(_trace, step) for step in steps}


def idea_facts(trace: Record, steps: tuple[int, ...]) -> dict[str, Any]:
    """Return the payload of the summaries of `steps`."""
    return summary_payload(trace, idea_narration(trace, steps), idea_sentence)


def _sentences(request: PayloadRequest, number: int) -> dict[int, str]:
    narrated = idea_narration(request.trace, request.steps)
    return {step: next(one.sentence for one in stages if one.number == number) for step, stages in narrated.items()}


def _figure_payload(name: str, request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the figure `name` at each requested step."""
    number = architecture_of(request.trace).idea(request.trace).get(name)
    if number is None:
        raise UnknownPayloadError(name)
    picture = IDEA_FIGURES[name] if name in IDEA_FIGURES else STEP_FIGURES[name].picture
    subjects = [Subject(request.trace, step) for step in request.steps]
    is_first = _figures(request.trace, number)[0] == name
    sentences = _sentences(request, number) if is_first else dict.fromkeys(request.steps, "")
    return chart_payload(
        to_json(picture.template(subjects[0], request.theme)),
        {
            subject.step: AtStep(to_json(picture.values(subject, request.theme)), "", sentences[subject.step])
            for subject in subjects
        },
    )


def _maker(name: str) -> Maker:
    return lambda request: _figure_payload(name, request)


MAKERS: Mapping[str, Maker] = {
    "idea-facts": lambda request: idea_facts(request.trace, request.steps),
    **{
        name: _maker(name.removeprefix("idea-"))
        for one in ARCHITECTURES.values()
        for name in one.payloads
        if name.startswith("idea-") and name != "idea-facts"
    },
}
"""Functions that make the payloads of the level *Idea*, by the names in their addresses."""
