"""Texts of the architecture diagram (labels, symbols, text alternative), of the context vector and of its units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from attnviz.analysis.context_units import SHOWN_UNITS, SQUARES, ContextUnits
from attnviz.analysis.energy_equations import NEW, OLD, Symbol, WeightSymbols, symbols, terms
from attnviz.analysis.labels import quote, quoted_name, shorten, subscript
from attnviz.analysis.measures import is_uniform
from attnviz.analysis.numbers import decimal, percent
from attnviz.analysis.stages import StageText
from attnviz.languages import gettext
from attnviz.trace import Aligned, Trace


def has_diagram(trace: Any) -> bool:
    """Return whether the diagram fits this translator, which reads in both directions and attends before it moves."""
    return bool(trace.recurrent and trace.queries_previous_state and trace.reads_backwards)


def no_diagram_reason(trace: Aligned) -> str:
    """Return why there is no diagram of a translator, and where its step is described."""
    if trace.recurrent and not getattr(trace, "reads_backwards", True):
        return gettext(
            "The architecture diagram shows only translators that read the sentence in both directions. This "
            "translator reads the sentence forwards only. The stages below explain this step."
        )
    if trace.recurrent:
        return gettext(
            "The architecture diagram shows only translators that attend before their state changes. This "
            "translator attends after its state has changed. The stages below explain this step."
        )
    return gettext(
        "The architecture diagram shows recurrent translators only. The stages explain what a transformer does "
        "at this step."
    )


def diagram_caption(trace: Trace) -> str:
    """Return how weights and vectors are drawn."""
    squares = gettext(
        "The diagram draws a state as {count} squares, and an annotation and the context vector as {count} for each "
        "direction of reading. The squares show the numbers that vary most. Blue is positive, red negative.",
        count=SQUARES,
    )
    ribbons = gettext(
        "The thickness of a ribbon shows its attention weight; together the ribbons are always as wide as the "
        "context vector."
    )
    fixed = gettext("There are no attention weights: every step gets the same context vector.")
    return f"{ribbons if trace.attends else fixed} {squares}"


def diagram_labels(trace: Trace) -> dict[str, str]:
    """Return the names of the parts."""
    return {
        "source": gettext("English piece"),
        "forward": gettext("read forwards"),
        "backward": gettext("read backwards"),
        "annotation": gettext("annotation"),
        "state": gettext("previous state"),
        "previous": gettext("previous word"),
        "cell": str(trace.form["cell"]).upper(),
        "maxout": "maxout" if trace.has_maxout else gettext("joined"),
        "hand": gettext("by hand"),
        "again": gettext("reused in the next step"),
        "start": gettext("first state"),
        "query": gettext("query"),
        "key": gettext("key"),
        "show": gettext("Show this step"),
        "pause": gettext("Pause"),
        "resume": gettext("Go on"),
        "next": gettext("Next"),
        "repeat": gettext("Show again"),
        "close": gettext("Close"),
        "moment": gettext("Moment of the step"),
        "speed": gettext("Speed"),
        "sum": gettext("sum {sum}"),
        "count": gettext("{k} of {n} pieces: {weight} of the weight."),
        "byHand": gettext("The weights of this step were set by hand. They sum to 100 %."),
    }


def diagram_scenes(trace: Trace) -> list[dict[str, str]]:
    """Return the scenes in which a step is computed before the reader's eyes, in their order.

    Each has a name, a title, a sentence, and perhaps a second one with an example. The browser fills in the numbers.
    """
    state = gettext(
        "The {cell} computes the new state from the previous state, the context vector and the previous word.",
        cell=str(trace.form["cell"]).upper(),
    )
    last = [
        ("state", gettext("State"), state, ""),
        ("word", gettext("Word"), gettext("Each French piece gets a probability. “{word}” gets {share}."), ""),
    ]
    if not trace.attends:
        fixed = gettext("The encoder’s last state is the context vector. It is the same at every step.")
        return _scenes([("context", gettext("Context vector"), fixed, ""), *last])
    return _scenes(
        [
            (
                "query",
                gettext("Query"),
                gettext("The decoder’s previous state gives the query. It meets the key that each annotation gives."),
                "",
            ),
            (
                "energy",
                gettext("Energies"),
                gettext("Each meeting gives an energy: how well query and key fit."),
                gettext("“{best}” has the highest, {energy}."),
            ),
            (
                "exponential",
                gettext("Exponential"),
                gettext("The exponential makes small differences large. The largest number counts as 1."),
                gettext("“{best}” has {apart} more energy than “{second}”, so its number is {times} as large."),
            ),
            (
                "weight",
                gettext("Weights"),
                gettext("Divided by their sum, {sum}, the numbers are the attention weights. They sum to 100 %."),
                "",
            ),
            (
                "context",
                gettext("Mixture"),
                gettext("Each annotation, times its weight, is added to the context vector."),
                "",
            ),
            *last,
        ]
    )


def _scenes(rows: Iterable[tuple[str, str, str, str]]) -> list[dict[str, str]]:
    return [dict(zip(("name", "title", "sentence", "example"), row, strict=True)) for row in rows]


def diagram_terms(trace: Trace) -> dict[str, Any]:
    """Return the symbols in the equations, by the part of the diagram where they are displayed."""
    trace_terms = terms(trace)
    key = " + ".join(filter(None, (f"{trace_terms.key} h_j", trace_terms.key_bias)))
    return {
        "query": symbols(f"{trace_terms.query} s_{{{OLD}}}") if trace_terms.key else [],
        "key": symbols(key) if trace_terms.key else [],
        "energy": symbols(trace_terms.energy),
        "embedded": symbols(trace_terms.embedded),
        "inside": symbols(" , ".join(trace_terms.intermediates)),
        "moving": _weight_symbols(trace_terms.recurrence),
        "readout": _weight_symbols(trace_terms.readout),
        "scores": symbols(" , ".join(filter(None, (trace_terms.logit_weights, trace_terms.logit_bias)))),
        "chance": symbols(f"p ( y_{{{NEW}}} )"),
    }


def _weight_symbols(weights: WeightSymbols) -> dict[str, list[Symbol]]:
    return {name: symbols(latex) for name, latex in asdict(weights).items()}


_MOST_NAMED, _LEAST_SHARE = 3, 0.05
"""Largest number of source words named in a context, and the smallest share of a named word."""


def mixture(trace: Trace, step: int) -> str:
    """Return the source words of the context of 0-based `step` by weight, strongest first.

    Without attention, return what the context is.
    """
    if not trace.attends:
        return gettext("the encoder’s last state, at every step")
    if is_uniform(trace, step):
        return gettext("{share} each", share=percent(float(trace.alignment[step, 0])))
    words = trace.words()
    shares = [float(trace.alignment[step, list(group)].sum()) for group in words.source_groups]
    order = sorted(range(len(shares)), key=lambda k: -shares[k])
    named = [k for k in order[:_MOST_NAMED] if shares[k] >= _LEAST_SHARE] or order[:1]
    return ", ".join(f"{percent(shares[k])} {quote(shorten(words.source[k], 20))}" for k in named)


def diagram_alt(trace: Trace, step: int, stages: Iterable[StageText]) -> str:
    """Return the text alternative of the diagram at 0-based `step`: the encoder, then the outcome of each stage."""
    start = gettext(
        "The architecture diagram at step {step} of {count}.", step=step + 1, count=len(trace.target_pieces)
    )
    encoder_sentence = gettext(
        "The encoder has read {count} English pieces in both directions; each piece has an annotation.",
        count=len(trace.source_pieces),
    )
    return " ".join([start, encoder_sentence, *(_stage_sentence(stage) for stage in stages)])


def _stage_sentence(stage: StageText) -> str:
    return gettext("{title}: {outcome}.", title=stage.title, outcome=stage.outcome)


NEAREST = 3
"""Number of annotations that are named."""


def context_sentence(trace: Trace, units: ContextUnits, step: int) -> str:
    """Return the source words in the context of 0-based `step`, and the annotations most similar to it."""
    nearest = ", ".join(
        f"{quoted_name(trace.source_pieces[j])} {decimal(float(units.cosines[j]))}" for j in units.nearest[:NEAREST]
    )
    return gettext(
        "By attention weight, the context vector {context} consists of {mixture}. The annotations most similar in "
        "direction to the context vector (by cosine) are {nearest}.",
        context=f"c{subscript(step + 1)}",
        mixture=mixture(trace, step),
        nearest=nearest,
    )


def displayed_units_caption(trace: Trace) -> str:
    """Return which units are displayed, and how to read the figure."""
    return gettext(
        "The columns are {count} of the {all} units: those in which the context vector of this step differs most from "
        "its mean over all steps. The unit with the largest difference comes first. In each row, a bar adds a word’s "
        "weight times the word’s annotation: blue bars go up, red bars go down. The thin line is the sum of the rows "
        "above. → marks units of the forward half (read forwards), ← units of the backward half.",
        count=min(SHOWN_UNITS, trace.contexts.shape[1]),
        all=trace.contexts.shape[1],
    )
