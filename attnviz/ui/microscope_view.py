"""The energy microscope on the page: the cell on show, taken apart into alignment units.

Queries, keys and v_a of the whole sentence go to the browser once, which moves from cell to cell by itself.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from attnviz.analysis.microscope import SATURATED, microscope, score_vector
from attnviz.analysis.recomputation import Weights
from attnviz.figures.labels import piece_name
from attnviz.figures.microscope import MARK, UNITS, hover_template, microscope_figure, microscope_table
from attnviz.figures.palette import ThemeName
from attnviz.languages import language, say
from attnviz.trace import Trace
from attnviz.ui.components import component
from attnviz.ui.resources import trace_identity


def microscope_view(trace: Trace, weights: Weights | None, step: int, source: int, theme: ThemeName) -> None:
    """Draw the energy e_ij of 1-based `step` and `source` piece as the sum of its units.

    `weights` are needed only for a trace that lacks v_a.
    """
    kind = trace.config["attention"]
    if kind == "none":
        st.text(say("This model has no attention: no energy is computed, so there is none to take apart."))
        return
    try:
        score = score_vector(trace, weights)
    except ValueError:
        st.text(say("This trace lacks the vector v_a, and the model that made it, “{model}”, is not here: the energy "
                    "cannot be taken apart. Put the model in the folder of models.", model=trace.model))  # fmt: skip
        return
    record = _record(trace, score, (trace_identity(trace), len(score), theme, language()))
    component("microscope", "html", "css", isolate=False)(key="microscope", data=record)
    st.html(f'<p class="reading">{_legend(kind)}</p>')
    _table(trace, weights, step, source)


def _legend(kind: str) -> str:
    if kind == "dot":
        return say(
            '<span class="wide"><span class="decoder">The state’s</span> and <span class="encoder">the projected '
            "annotation’s</span> number of each unit, and the running sum of their products, which ends at the "
            "energy.</span>"
        )
    return say(
        '<span class="wide"><span class="decoder">The query’s</span> and <span class="encoder">the key’s</span> number '
        "of each unit with their sum (◆), its tanh, the unit’s learned weight v, and the running sum, which ends at "
        "the energy. </span>▮ marks a saturated unit, |tanh| ≥ {saturated}. One layer over the concatenation [s ; h] "
        "is the same map as W<sub>a</sub> s + U<sub>a</sub> h.", saturated=SATURATED,
    )  # fmt: skip


@st.cache_data(max_entries=32, show_spinner=False)
def _record(
    _trace: Trace,
    _score: NDArray[Any],
    what: tuple[object, int, ThemeName, str],  # the key of the cache, which cannot hash a trace
) -> dict[str, Any]:
    return microscope_record(_trace, _score, what[2])


def microscope_record(trace: Trace, score: NDArray[Any], theme: ThemeName) -> dict[str, Any]:
    """Return what the browser needs to draw any cell: the three operands, and a figure of one cell to fill.

    It is the same at every step, so that it is sent once. `score` is v_a, (n',).
    """
    bounded = trace.config["attention"] == "additive"
    units = microscope(trace, {"decoder.attention.score": score}, 0, 0)
    return {
        "identity": repr((trace_identity(trace), theme, language())),
        "queries": _packed(trace.queries), "keys": _packed(trace.keys), "score": _packed(score), "width": len(score),
        "peaks": (trace.alignment.argmax(axis=1) + 1).tolist(),
        "sources": [piece_name(piece) for piece in trace.source_pieces],
        "targets": [piece_name(piece) for piece in trace.target_pieces],
        "wide": microscope_figure(units, theme=theme).to_json(),
        "narrow": microscope_figure(units, operands=False, theme=theme).to_json(),
        "bounded": bounded, "saturated": SATURATED, "named": UNITS,
        "words": _words(bounded),
    }  # fmt: skip


def _words(bounded: bool) -> dict[str, str]:
    """Return what the browser fills in: names of numbers in braces."""
    return {
        "heading": say("Energy microscope: step {i} at “{word}”"),
        "unit": say("unit {k}"),
        "mark": MARK,
        "more": say("{n} more units: {c}"),
        "hover": hover_template(bounded),
        "sentence": say(
            "Should “{target}” look at “{word}”? {n} units vote, {for} for and {against} against, and the energy is "
            "the sum of their votes: {energy}. The {named} strongest, by name below, bring {part}; unit {largest} says "
            "most, {c}. {flat} are saturated: whatever query and key say beyond that, their vote stays."
        ),
        "product": say(
            "Should “{target}” look at “{word}”? The energy is a dot product, {energy}: the sum of {n} products, {for} "
            "for and {against} against. The {named} largest, by name below, bring {part}; unit {largest} says most, "
            "{c}."
        ),
    }


def _packed(values: NDArray[Any]) -> str:
    """Return the numbers as little-endian float32 in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def _table(trace: Trace, weights: Weights | None, step: int, source: int) -> None:
    """Offer all units of the cell as a table, made only when opened."""
    box = st.expander(say("All units of this energy as a table"), key="microscope_table", on_change="rerun")
    if not box.open:
        return
    units = microscope(trace, weights, step - 1, source - 1)
    with box:
        # By number: the words of the cell may hold markup.
        st.markdown(say("Step {step}, source piece {source}: the running sum ends at e = {energy:.6f}",
                        step=step, source=source, energy=units.energy))  # fmt: skip
        st.dataframe(microscope_table(units), height=420)
