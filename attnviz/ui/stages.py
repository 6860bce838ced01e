"""The five stages of the step on show: for each a sentence, a picture and its equation, with this step's numbers.

Sentences and pictures of all steps are in the browser already; the equations follow from the server.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from attnviz import figures
from attnviz.analysis import readout
from attnviz.figures.equations import Equation
from attnviz.figures.narration import Stage, narrate
from attnviz.figures.palette import ThemeName
from attnviz.figures.stages import MOST_ROWS, context_frame, energy_bars, softmax_bars
from attnviz.figures.strips import maxout_strips, state_strips
from attnviz.languages import language, say
from attnviz.trace import Trace
from attnviz.ui.charts import chart
from attnviz.ui.components import component
from attnviz.ui.resources import trace_identity, weights_digest_of, weights_of

MOST_AT_ONCE = 100
"""Steps whose charts are all sent to the browser together; of a longer translation each is sent when it is shown."""

Words = dict[int, tuple[Stage, ...]]


def steps_at_once(trace: Trace, step: int) -> tuple[int, ...]:
    """Return the steps to send to the browser with 1-based `step`: all, unless there are too many."""
    count = len(trace.target_pieces)
    return tuple(range(1, count + 1)) if count <= MOST_AT_ONCE else (step,)


def words_of(trace: Trace, steps: tuple[int, ...]) -> Words:
    """Return what each of the 1-based `steps` says of its stages."""
    return {step: narrate(trace, step - 1) for step in steps}


def stage(trace: Trace, number: int, step: int, theme: ThemeName, words: Words, equation: Equation) -> None:
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
    """Hand the annotations to the browser once, which multiplies out every step itself."""
    units = trace.contexts.shape[1]
    long = len(trace.source_pieces) > MOST_ROWS
    record = {
        "figure": context_frame(trace, theme=theme).to_json(),
        "thinned": context_frame(trace, thinned=True, theme=theme).to_json() if long else None,
        "annotations": _packed(trace.annotations[:, :units]),
        "alpha": _packed(trace.alignment),
        "units": units,
        "captions": {str(i): sentence for i, sentence in sentences.items()},
        "words": {
            "build": say("Build it up"), "stop": say("Stop"), "added": say("Pieces added"),
            "order": say("Rows of stages 1 to 3"), "sentence": say("as in the sentence"),
            "strongest": say("strongest first"), "more": say("{n} more"), "sum": say("sum = {c}"),
            "part": say("sum so far"), "count": say("{k} of {n}"), "all": say("all {n} rows added: {c}"),
            "some": say("{k} of {n} rows added, Σα = {weight}"),
        },
    }  # fmt: skip
    component("growth", "html", "css", isolate=False)(key="growth", data=record)
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


def _packed(values: NDArray[np.float32]) -> str:
    """Return an array as the browser reads it: little-endian float32 in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")
