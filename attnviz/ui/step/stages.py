"""The five stages of the step on show: for each a sentence, a picture and its equation, with this step's numbers.

Sentences and pictures of all steps are in the browser already; the equations follow from the server.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from attnviz import figures
from attnviz.analysis import readout
from attnviz.figures.energies import energy_bars
from attnviz.figures.maxout import maxout_strips
from attnviz.figures.softmax import softmax_bars
from attnviz.figures.state import state_strips
from attnviz.languages import language, say
from attnviz.palette import ThemeName
from attnviz.trace import Trace
from attnviz.ui.components.chart.chart import chart
from attnviz.ui.components.context_growth.context_growth import context_growth
from attnviz.ui.resources import trace_identity, weights_digest_of, weights_of
from attnviz.wording.equations import Equation
from attnviz.wording.narration import Narration, narrate

MOST_AT_ONCE = 100
"""Steps whose charts are all sent to the browser together; of a longer translation each is sent when it is shown."""


def steps_at_once(trace: Trace, step: int) -> tuple[int, ...]:
    """Return the steps to send to the browser with 1-based `step`: all, unless there are too many."""
    count = len(trace.target_pieces)
    return tuple(range(1, count + 1)) if count <= MOST_AT_ONCE else (step,)


def words_of(trace: Trace, steps: tuple[int, ...]) -> Narration:
    """Return what each of the 1-based `steps` says of its stages."""
    return {step: narrate(trace, step - 1) for step in steps}


def stage(trace: Trace, number: int, step: int, theme: ThemeName, words: Narration, equation: Equation) -> None:
    """Draw stage `number` of 1-based `step`; `words` has the steps whose pictures the browser is given."""
    told = {i: next(stage for stage in stages if stage.number == number) for i, stages in words.items()}
    st.html(f'<h3><span class="number">{number}</span>{told[step].title}</h3>')
    _PICTURES[number](trace, {i: stage.sentence for i, stage in told.items()}, theme)
    st.latex(equation.latex)
    st.caption(equation.note)


def _energies(trace: Trace, sentences: dict[int, str], theme: ThemeName) -> None:
    _chart(trace, "energy", sentences, theme)


def _softmax(trace: Trace, sentences: dict[int, str], theme: ThemeName) -> None:
    _chart(trace, "softmax", sentences, theme)


def _context(trace: Trace, sentences: dict[int, str], theme: ThemeName) -> None:
    context_growth(trace, sentences, theme)
    st.caption(f"{say('One column for each unit.')} {_signed()}")


def _state(trace: Trace, sentences: dict[int, str], theme: ThemeName) -> None:
    _chart(trace, "state", sentences, theme)
    st.caption(f"{say('One column for each unit, in the order of the update gate.')} {_signed()}")


def _word(trace: Trace, sentences: dict[int, str], theme: ThemeName) -> None:
    _chart(trace, "maxout", sentences, theme)
    if trace.search.method == "forced":
        told = say("The likeliest pieces, the given one in violet; · continues a word. A click takes the logit apart.")
    else:
        told = say("The likeliest pieces, the chosen one in violet; · continues a word. A click takes the logit apart.")
    st.caption(told)
    _chart(trace, "candidates", dict.fromkeys(sentences, ""), theme)


def _chart(trace: Trace, name: str, sentences: dict[int, str], theme: ThemeName) -> None:
    """Draw picture `name` of all the steps that have a sentence, below it."""
    weights = weights_digest_of(trace) if name == "maxout" else None
    drawn = _drawn(trace, (trace_identity(trace), language(), weights), name, tuple(sentences), theme)
    chart(drawn, name, {i: ("", sentence) for i, sentence in sentences.items()})


def _signed() -> str:
    return say(
        "Blue is positive, red negative, stronger with the square root of the amount, so that small terms can be seen."
    )


_PICTURES: dict[int, Callable[[Trace, dict[int, str], ThemeName], None]] = {
    1: _energies, 2: _softmax, 3: _context, 4: _state, 5: _word,
}  # fmt: skip


@st.cache_data(max_entries=160, show_spinner=False)
def _drawn(
    _trace: Trace,
    of: tuple[object, ...],  # noqa: ARG001  it is the key of the cache, which cannot hash a trace
    name: str,
    steps: tuple[int, ...],
    theme: ThemeName,
) -> dict[int, str]:
    """Return picture `name` of each of the 1-based `steps` as JSON."""
    if name == "maxout":
        return {i: maxout_strips(_trace, i - 1, pairs_of(_trace, i), theme=theme).to_json() for i in steps}
    draw = {
        "energy": energy_bars, "softmax": softmax_bars, "state": state_strips, "candidates": figures.candidates,
    }[name]  # fmt: skip
    return {i: draw(_trace, i - 1, theme=theme).to_json() for i in steps}


def pairs_of(trace: Trace, step: int) -> NDArray[np.float32] | None:
    """Return the pairs of 1-based `step` before the maxout, or None where the weights are not at hand."""
    weights = weights_of(trace)
    return None if weights is None else readout.pairs(trace, weights, step - 1)
