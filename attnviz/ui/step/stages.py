"""Draw the stages of a step, from energies to word: figure, controls and equation of each; and make their payloads.

There are five stages, or three without attention. The browser fetches the payloads for all steps at once. The sentences
are in `wording`, the figures in `figures`, and the equations in `ui.components.equation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from attnviz.analysis.context_units import context_units
from attnviz.analysis.logit_attribution import readout
from attnviz.architectures import architecture_of, step_texts
from attnviz.figures.context_units import context_units_template, context_units_values
from attnviz.figures.figure_input import Subject
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.template import to_json
from attnviz.languages import gettext, language
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.ui.components.chart import AtStep, chart, chart_payload
from attnviz.ui.components.context_growth import context_growth
from attnviz.ui.components.equation import equation, equation_payloads
from attnviz.ui.resources import cached_for_all
from attnviz.ui.shared_payloads import PayloadRequest, UnknownPayloadError, address, payload_address
from attnviz.ui.step.intervention_controls import intervention_panel, other_word_panel, weights_chart
from attnviz.ui.view import View
from attnviz.wording.diagram import context_sentence, displayed_units_caption
from attnviz.wording.stages import Narration


def _values(view: View, theme: ThemeName) -> None:
    context_growth(view, address(view.trace, "growth", theme, every=True))
    st.caption(f"{gettext('One column for each unit.')} {_colour_legend()}")


def _stream(view: View, theme: ThemeName) -> None:
    _chart(view, "stream", theme)
    legend = gettext(
        "The first row is the embedding, the next rows are the vectors that the blocks add, and the last row is "
        "the sum of all other rows. A frame marks the block of the head shown."
    )
    st.caption(f"{legend} {_colour_legend()}")


def narration(trace: Trace, steps: tuple[int, ...]) -> Narration:
    """Return the sentences of the stages at each of `steps`."""
    return _narration(trace, trace.fingerprint, steps, language())


@cached_for_all
def _narration(_trace: Trace, identity: str, steps: tuple[int, ...], code: str) -> Narration:  # noqa: ARG001
    """Return the sentences of `steps`; `identity` and the language `code` complete the cache key."""
    return {step: step_texts(_trace).narrate(_trace, step) for step in steps}


def stage(view: View, number: int, theme: ThemeName, titles: Mapping[int, str]) -> None:
    """Draw stage `number` of the current step, with its equation from *Numbers* on; `titles` are by stage."""
    position = list(titles).index(number) + 1  # from 1: a model without attention has three stages
    st.html(f'<h3><span class="number">{position}</span>{titles[number]}</h3>')
    _PANELS[architecture_of(view.trace).stages[number]](view, theme)
    if view.shows("numbers"):
        equation(view, number, payload_address(view, f"equation-{number}", theme))


def _energies(view: View, theme: ThemeName) -> None:
    _chart(view, "energy", theme)


def _softmax(view: View, theme: ThemeName) -> None:
    weights_chart(view, payload_address(view, "softmax", theme))
    if reason := architecture_of(view.trace).missing.get("softmax"):
        st.caption(reason())
    intervention_panel(view, theme)


def _context(view: View, theme: ThemeName) -> None:
    if not view.trace.attends:  # one vector instead of a weighted sum
        _chart(view, "context", theme)
        st.caption(
            gettext(
                "This model has no attention weights to change by hand. You can make the step write another word "
                "instead."
            )
        )
        return
    if view.shows("everything"):
        context_growth(view, address(view.trace, "growth", theme, every=True))
        st.caption(f"{gettext('One column for each unit.')} {_colour_legend()}")
    _context_units_panel(view, payload_address(view, CONTEXT_UNITS, theme))


def _state(view: View, theme: ThemeName) -> None:
    _chart(view, "state", theme)
    order = gettext("One column for each unit, sorted by rising value of the update gate.")
    if view.trace.config.get("cell") == "lstm":
        order = gettext("One column for each unit, sorted by rising value of the forget gate.")
    st.caption(f"{order} {_colour_legend()}")


def _word(view: View, theme: ThemeName) -> None:
    _chart(view, "maxout", theme)
    st.caption(_candidates_caption(view))
    _chart(view, "candidates", theme)
    other_word_panel(view, payload_address(view, "foils", theme))


def _word_without_maxout(view: View, theme: ThemeName) -> None:
    chart(view, payload_address(view, "word", theme), "candidates")
    st.caption(_candidates_caption(view))
    other_word_panel(view, payload_address(view, "foils", theme))


def _candidates_caption(view: View) -> str:
    """Return how to read the likeliest pieces, and where a click on one shows its logit attribution."""
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
    return caption


def _click_hint(trace: Trace) -> str:
    if trace.attends:
        return gettext("Click a piece to see its logit attribution below: which English words raised its logit.")
    return gettext("Click a piece to see its logit attribution below: what raised its logit.")


def _chart(view: View, name: str, theme: ThemeName) -> None:
    chart(view, payload_address(view, name, theme), name)


def _colour_legend() -> str:
    return gettext(
        "Blue is positive, red is negative. The strength of the colour follows the square root of the value, so "
        "that small terms stay visible."
    )


_PANELS: Mapping[str, Callable[[View, ThemeName], None]] = {
    "energy": _energies,
    "softmax": _softmax,
    "context": _context,
    "state": _state,
    "maxout and word": _word,
    "word": _word_without_maxout,
    "values": _values,
    "stream": _stream,
}
"""Functions that draw a stage, by the names in the declarations of architectures."""

STAGE_OF_FIGURE = {
    "energy": 1,
    "softmax": 2,
    "context": 3,
    "state": 4,
    "maxout": 5,
    "stream": 4,
    "look": 2,
    "candidates": None,
}
"""Number of the stage whose sentence is shown with a figure, by the figure's name."""


def picture_payload(name: str, request: PayloadRequest, *, stage: int | None = None) -> dict[str, Any]:
    """Return the payload of the figure `name`, a key of `STAGE_OF_FIGURE`, at each requested step.

    It has the sentences of its stage, or of `stage` where given. Raise UnknownPayloadError where it cannot be drawn.
    """
    trace, steps, theme = request.trace, request.steps, request.theme
    picture, number = STEP_FIGURES[name].picture, stage or STAGE_OF_FIGURE[name]
    subjects = [Subject(trace, step) for step in steps]
    if STEP_FIGURES[name].missing(subjects[0]):
        raise UnknownPayloadError(name)
    if STEP_FIGURES[name].uses_weights and request.weights is not None:
        pairs_by_step = readout(trace, request.weights, steps).pairs
        subjects = [
            Subject(trace, i, request.weights, known_maxout_pairs=pairs)
            for i, pairs in zip(steps, pairs_by_step, strict=True)
        ]
    has_sentence = number in step_texts(trace).stage_titles(trace)
    sentences = sentences_of(trace, number, steps) if number and has_sentence else dict.fromkeys(steps, "")
    return chart_payload(
        to_json(picture.template(subjects[0], theme)),
        {
            subject.step: AtStep(to_json(picture.values(subject, theme)), "", sentences[subject.step])
            for subject in subjects
        },
    )


def sentences_of(trace: Trace, number: int, steps: tuple[int, ...]) -> dict[int, str]:
    """Return the sentence of stage `number` at each of `steps`."""
    narrated = narration(trace, steps)
    return {step: next(one.sentence for one in stages if one.number == number) for step, stages in narrated.items()}


def equation_payload(stage: int, request: PayloadRequest) -> dict[str, Any]:
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


CONTEXT_UNITS = "units"
"""Name of the figure and of its payload."""


def _context_units_panel(view: View, address: str) -> None:
    """Draw what each source word adds to the context of the current step, from the payload at `address`.

    The model of `view` must have attention.
    """
    chart(view, address, CONTEXT_UNITS)
    st.caption(displayed_units_caption(view.trace))


def context_units_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload with the figure and the caption of each requested step."""
    trace, theme = request.trace, request.theme
    by_step = {}
    for step in request.steps:
        step_units = context_units(trace, step)
        values = to_json(context_units_values(trace, step_units, step))
        by_step[step] = AtStep(values, "", context_sentence(trace, step_units, step))
    return chart_payload(to_json(context_units_template(trace, theme)), by_step)
