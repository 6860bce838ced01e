"""Put the architecture diagram of the current step on the page, and make its payload; the browser draws it.

The drawing is in `ui/components/diagram`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.diagram import (
    DrawnUnits,
    diagram_caption,
    diagram_labels,
    diagram_scenes,
    diagram_terms,
    drawn_units,
    has_diagram,
    mixture,
    no_diagram_reason,
)
from attnviz.analysis.labels import percent, quote, shorten, subscript
from attnviz.analysis.stages import Narration, diagram_alt, lead_texts
from attnviz.analysis.what_if_effects import foils_of
from attnviz.figures.attention_figure import energy_range, finite_energies
from attnviz.languages import gettext, language
from attnviz.palette import STRONGEST
from attnviz.text import SPECIAL_PIECES, join_pieces, piece_name
from attnviz.trace import Trace
from attnviz.trace.interventions import interventions_at
from attnviz.ui.blocks import component, html, packed, plain_text
from attnviz.ui.payloads import Payload, PayloadRequest, UnknownPayloadError, makes_payload, payload_address
from attnviz.ui.step.stage_panels import narration, stage_names
from attnviz.ui.view import View

LETTERS = 14
"""Largest length of a piece in the diagram, in characters."""
_FOILS = 2
"""Number of pieces that are named besides the written one."""


def diagram_payload(trace: Trace, steps: Sequence[int], narration: Narration) -> Payload:
    """Return the payload of the diagram at these 0-based `steps`; `narration` has the sentences of the steps."""
    units, rows = drawn_units(trace), np.array(steps, dtype=np.intp)
    return {
        "language": language(),
        **_outline(trace),
        "readout": "current" if trace.reads_new_state else "previous",
        "steps": list(steps),
        "range": energy_range(finite_energies(trace), 0) if trace.attends else [0, 1],
        **_numbers(trace, units, rows),
        "previous": [shorten(piece_name(trace.previous_pieces[i]), LETTERS) for i in steps],
        "written": [shorten(piece_name(trace.target_pieces[i]), LETTERS) for i in steps],
        "likely": [percent(float(trace.probabilities[i])) for i in steps],
        "foils": [_foils(trace, i) for i in steps],
        "byHand": [trace.attends and bool(interventions_at(trace.interventions, i)) for i in steps],
        "frozen": bool(trace.interventions) and np.allclose(trace.alignment, trace.alignment[:1], atol=1e-6),
        "mixes": [mixture(trace, i) for i in steps],
        "alts": [diagram_alt(trace, i, narration[i]) for i in steps],
        "leads": [lead_texts(trace, i) if trace.attends else None for i in steps],
        "scenes": diagram_scenes(trace),
        "terms": diagram_terms(trace),
        "words": diagram_labels(trace),
    }


def _outline(trace: Trace) -> Payload:
    """Return what the height of the diagram depends on."""
    inner = {j for group in trace.words().source_groups for j in group[1:]}
    return {
        "attention": trace.config["attention"],
        "sources": [
            shorten(piece if piece in SPECIAL_PIECES else join_pieces([piece]) or "␣", LETTERS)
            for piece in trace.source_surfaces
        ],
        # whether each source piece continues the previous word
        "joined": [j in inner for j in range(len(trace.source_pieces))],
    }


def _numbers(trace: Trace, units: DrawnUnits, steps: NDArray[np.intp]) -> Payload:
    """Return energies and weights, and the drawn units of each vector."""
    annotations, states = trace.annotations[:, units.annotation], np.vstack([trace.initial_state[None], trace.states])
    states, readouts = states[:, units.state], trace.readouts[:, units.readout]
    return {
        "energies": packed(trace.energies[steps]),
        "weights": packed(trace.alignment[steps]),
        "annotations": packed(annotations),
        "contexts": packed(trace.contexts[steps][:, units.context]),
        "before": packed(states[steps]),
        "after": packed(states[steps + 1]),
        "readouts": packed(readouts[steps]),
        "squares": {name: len(getattr(units, name)) for name in ("annotation", "context", "state", "readout")},
        "limits": {"annotation": _limit(annotations), "state": _limit(states), "readout": _limit(readouts)},
    }


def _limit(values: NDArray[np.float32]) -> float:
    return float(np.quantile(np.abs(values), STRONGEST)) or 1.0


def _foils(trace: Trace, step: int) -> str:
    """Return the likeliest pieces that 0-based `step` did not write, with their probabilities."""
    foils = foils_of(trace, step)[:_FOILS]
    named = [f"{quote(shorten(piece_name(piece), LETTERS))} {percent(p)}" for _, piece, p in foils]
    return gettext("others: {others}", others=", ".join(named)) if named else ""


def diagram_panel(view: View) -> None:
    """Put the diagram of the current step on the page; its stages are links.

    From the level of detail "numbers" on it has the symbols of the equations.
    """
    html(f'<h2 class="section">{gettext("Architecture diagram at this step")}</h2>')
    if not has_diagram(view.trace):
        plain_text(no_diagram_reason(view.trace))
        return
    payload = {
        "at": payload_address(view, "diagram"),
        "stages": stage_names(view),
        "formulas": view.shows("numbers"),
        "outline": _outline(view.trace),
        "caption": diagram_caption(view.trace),
    }
    component("diagram", view.key("diagram"), payload)


@makes_payload("diagram", of_step=True)
def step_diagram_payload(request: PayloadRequest) -> Payload:
    """Return the payload of the diagram; raise UnknownPayloadError for an architecture without one."""
    if not has_diagram(request.trace):
        raise UnknownPayloadError("diagram")
    return diagram_payload(request.trace, request.steps, narration(request.trace, request.steps, simple=request.simple))


def diagram_table(trace: Trace, step: int) -> pd.DataFrame:
    """Return a row for each vector drawn at 0-based `step`.

    These are the annotations with energies and weights, then context, both states and readout; the last columns are the
    displayed units (`drawn_units`). Without attention there are no energies and weights.
    """
    units, before, after = drawn_units(trace), subscript(step), subscript(step + 1)
    vectors = {f"h{subscript(j)}": vector for j, vector in enumerate(trace.annotations[:, units.annotation], 1)}
    index = pd.Index([*vectors, f"c{after}", f"s{before}", f"s{after}", f"t{after}"], name=gettext("vector"))
    names = [piece_name(piece) for piece in trace.source_surfaces]
    names += ["", piece_name(trace.previous_pieces[step]), "", piece_name(trace.target_pieces[step])]
    table = pd.DataFrame({gettext("piece"): names}, index=index)
    if trace.attends:
        for symbol, values in (("e", trace.energies), ("α", trace.alignment)):
            table[symbol] = pd.Series(values[step].tolist(), index=list(vectors))
    rows = [
        *vectors.values(),
        trace.contexts[step][units.context],
        trace.previous_states[step][units.state],
        trace.states[step][units.state],
        trace.readouts[step][units.readout],
    ]
    for k, column in enumerate(zip_longest(*(row.tolist() for row in rows), fillvalue=math.nan), 1):
        table[gettext("square {k}", k=k)] = column
    return table
