"""The five stages of the step on show: for each a sentence, a picture and its equation, with this step's numbers.

All of it is in the browser already for all steps.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attnviz.analysis.readout import readout
from attnviz.figures.registry import STEP_FIGURES
from attnviz.figures.subject import Subject
from attnviz.figures.template import to_json
from attnviz.languages import language, say
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.ui.components.chart.chart import chart
from attnviz.ui.components.context_growth.context_growth import context_growth
from attnviz.ui.components.equation.equation import equation
from attnviz.ui.page_state.selection import selection_of
from attnviz.ui.page_state.view import View
from attnviz.ui.pictures import made_once
from attnviz.ui.resources import weights_digest_of, weights_of
from attnviz.wording.stages import Narration, narrate

MOST_AT_ONCE = 100
"""Steps whose charts are all sent to the browser together; of a longer translation each is sent when it is shown."""


def steps_at_once(view: View) -> tuple[int, ...]:
    """Return the steps to send to the browser with the one on show: all, unless there are too many."""
    return tuple(range(view.steps)) if view.steps <= MOST_AT_ONCE else (selection_of(st.session_state, view).step,)


def narration_of(view: View) -> Narration:
    """Return what each of the steps that are sent to the browser says of its stages."""
    return _narration(view.trace, view.identity, steps_at_once(view), language())


@made_once
def _narration(_trace: Trace, identity: str, steps: tuple[int, ...], code: str) -> Narration:  # noqa: ARG001
    """Return the narration of `steps`; `identity` and the language `code` are part of the key of the cache."""
    return {step: narrate(_trace, step) for step in steps}


def stage(view: View, number: int, theme: ThemeName, words: Narration) -> None:
    """Draw stage `number` of the step on show; `words` has the steps whose pictures the browser is given."""
    told = {i: next(stage for stage in stages if stage.number == number) for i, stages in words.items()}
    place = [one.number for one in next(iter(words.values()))].index(number) + 1  # without attention there are three
    st.html(f'<h3><span class="number">{place}</span>{told[next(iter(told))].title}</h3>')
    _PICTURES[number](view, {i: stage.sentence for i, stage in told.items()}, theme)
    equation(view, number, tuple(words), theme)


def _energies(view: View, sentences: dict[int, str], theme: ThemeName) -> None:
    _chart(view, "energy", sentences, theme)


def _softmax(view: View, sentences: dict[int, str], theme: ThemeName) -> None:
    _chart(view, "softmax", sentences, theme)


def _context(view: View, sentences: dict[int, str], theme: ThemeName) -> None:
    if not view.trace.attends:  # nothing grows
        _chart(view, "context", sentences, theme)
        return
    context_growth(view, sentences, theme)
    st.caption(f"{say('One column for each unit.')} {_signed()}")


def _state(view: View, sentences: dict[int, str], theme: ThemeName) -> None:
    _chart(view, "state", sentences, theme)
    st.caption(f"{say('One column for each unit, in the order of the update gate.')} {_signed()}")


def _word(view: View, sentences: dict[int, str], theme: ThemeName) -> None:
    _chart(view, "maxout", sentences, theme)
    if view.trace.search.method == "forced":
        told = say("The likeliest pieces, the given one in violet; · continues a word.")
    else:
        told = say("The likeliest pieces, the chosen one in violet; · continues a word.")
    if view.trace.attends:
        opens = say("Click a piece to see below, in its logit ledger, which English words spoke for it.")
    else:
        opens = say("Click a piece to see below, in its logit ledger, what spoke for it.")
    st.caption(f"{told} {opens}")
    _chart(view, "candidates", dict.fromkeys(sentences, ""), theme)


def _chart(view: View, name: str, sentences: dict[int, str], theme: ThemeName) -> None:
    """Draw picture `name` of all the steps that have a sentence, below it."""
    weights = weights_digest_of(view.trace) if STEP_FIGURES[name].uses_weights else None
    template, values = _drawn(view.trace, (view.identity, language(), weights), name, tuple(sentences), theme)
    chart(view, template, values, name, {i: ("", sentence) for i, sentence in sentences.items()})


def _signed() -> str:
    return say(
        "Blue is positive, red negative, stronger with the square root of the amount, so that small terms can be seen."
    )


_PICTURES: dict[int, Callable[[View, dict[int, str], ThemeName], None]] = {
    1: _energies, 2: _softmax, 3: _context, 4: _state, 5: _word,
}  # fmt: skip


@made_once
def _drawn(
    _trace: Trace,
    of: tuple[object, ...],  # noqa: ARG001  it is the key of the cache, which cannot hash a trace
    name: str,
    steps: tuple[int, ...],
    theme: ThemeName,
) -> tuple[str, dict[int | str, str]]:
    """Return the template of picture `name`, and what fills it at each of the `steps`, as JSON."""
    picture = STEP_FIGURES[name].picture
    subjects = [Subject(_trace, step) for step in steps]
    if STEP_FIGURES[name].uses_weights and (weights := weights_of(_trace)) is not None:
        wide = readout(_trace, weights, steps).pairs
        subjects = [Subject(_trace, i, weights, known_pairs=pairs) for i, pairs in zip(steps, wide, strict=True)]
    template = to_json(picture.template(subjects[0], theme))
    return template, {subject.step: to_json(picture.values(subject, theme)) for subject in subjects}
