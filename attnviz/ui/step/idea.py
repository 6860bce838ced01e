"""Draw the stages of the current step at the level *Idea*: a sentence and a figure each, without equations.

The browser fetches the payloads of all steps at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attnviz.architectures import ARCHITECTURES, architecture_of, told
from attnviz.figures.figure_input import Subject
from attnviz.figures.idea_figures import HEAD_IDEA_FIGURES, IDEA_FIGURES
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.template import to_json
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.trace import Record
from attnviz.ui.components.chart.chart import AtStep, chart, chart_payload
from attnviz.ui.components.step_summary.step_summary import summary_payload
from attnviz.ui.figure_cache import made_once
from attnviz.ui.page_state.view import View
from attnviz.ui.shared_payloads import Maker, PayloadRequest, UnknownPayloadError
from attnviz.ui.step.context_units import NAME as UNITS
from attnviz.ui.step.intervention_controls import hand_words
from attnviz.ui.step.payload_addresses import place_of
from attnviz.wording.idea import idea_sentence
from attnviz.wording.stages import Narration


def idea_stage(view: View, number: int, theme: ThemeName, titles: Mapping[int, str]) -> None:
    """Draw stage `number` of the current step; `titles` has those of all stages."""
    place = list(titles).index(number) + 1  # without attention there are three
    st.html(f'<h3><span class="number">{place}</span>{titles[number]}</h3>')
    drawn = {stage: name for name, stage in architecture_of(view.trace).idea(view.trace).items()}
    name = drawn[number]
    hand = hand_words(view.trace) if name == "softmax" else None
    chart(view, place_of(view, f"idea-{name}", theme), name, hand=hand)
    if name == UNITS:
        st.caption(
            gettext(
                "A few of the numbers: those that best distinguish this mixture from the others. Each line adds "
                "the part of one piece: blue up, red down. The last line is the mixture. The thin grey stem is "
                "the sum of the lines above; the coloured bar continues from its tip."
            )
        )


def idea_narration(trace: Record, steps: tuple[int, ...]) -> Narration:
    """Return the sentences of the stages at each of `steps`."""
    return _narration(trace, trace.fingerprint, steps, language())


@made_once
def _narration(_trace: Record, identity: str, steps: tuple[int, ...], code: str) -> Narration:  # noqa: ARG001
    """Return the sentences of `steps`; `identity` and the language `code` complete the cache key."""
    return {step: told(_trace).narrate_idea(_trace, step) for step in steps}


def idea_facts(trace: Record, steps: tuple[int, ...]) -> dict[str, Any]:
    """Return the payload of the summaries of `steps`."""
    return summary_payload(trace, idea_narration(trace, steps), idea_sentence)


def _sentences(asked: PayloadRequest, number: int) -> dict[int, str]:
    narrated = idea_narration(asked.trace, asked.steps)
    return {step: next(one.sentence for one in stages if one.number == number) for step, stages in narrated.items()}


def _picture(name: str, asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the figure `name` at each requested step."""
    number = architecture_of(asked.trace).idea(asked.trace).get(name)
    if number is None:
        raise UnknownPayloadError(name)
    simple = HEAD_IDEA_FIGURES if asked.trace.has_heads else IDEA_FIGURES
    picture = simple[name] if name in simple else STEP_FIGURES[name].picture
    subjects = [Subject(asked.trace, step) for step in asked.steps]
    sentences = _sentences(asked, number)
    return chart_payload(
        to_json(picture.template(subjects[0], asked.theme)),
        {one.step: AtStep(to_json(picture.values(one, asked.theme)), "", sentences[one.step]) for one in subjects},
    )


def _maker(name: str) -> Maker:
    return lambda asked: _picture(name, asked)


MAKERS: Mapping[str, Maker] = {
    "idea-facts": lambda asked: idea_facts(asked.trace, asked.steps),
    **{
        name: _maker(name.removeprefix("idea-"))
        for one in ARCHITECTURES.values()
        for name in one.payloads
        if name.startswith("idea-") and name != "idea-facts"
    },
}
"""By the names in their addresses."""
