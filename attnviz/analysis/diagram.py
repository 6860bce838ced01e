"""The architecture diagram and the context vector: the units that are displayed, sums by source word, texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from attnviz.analysis.energy_equations import NEW, OLD, Symbol, WeightSymbols, symbols, terms
from attnviz.analysis.labels import decimal, percent, quote, quoted_name, subscript
from attnviz.analysis.measures import cosines, is_uniform, named_shares, ranked, weight_order, word_shares
from attnviz.languages import gettext, gettexts
from attnviz.trace import Aligned, Array, Floating, Head, Indices, Trace, float64

SHOWN_UNITS = 24
"""Number of units of a context vector that are displayed."""
WORDS = 6
"""Number of source words with a term of their own; the others form one more term."""


@dataclass(frozen=True)
class ContextUnits:
    """K units of c_i = sum_j alpha_ij h_j, and its terms by source word, in sentence order.

    All indices are 0-based, all numbers float64.
    """

    units: Indices
    """Units in which c_i is farthest from the mean of all steps' contexts, farthest first, (K,)."""
    mean: Array
    """That mean in these units, (K,)."""
    words: tuple[int, ...]
    """The source words with a term of their own."""
    terms: Array
    """Term of each word, the sum of alpha_ij h_j over its pieces, (W, K).

    The last is of all other words, where there are any.
    """
    weights: Array
    """The sums of alpha_ij of each term, (W,); they sum to 1."""
    context: Array
    """c_i in these units, (K,): the sum of the terms."""
    cosines: Array
    """Cosine of c_i with each annotation h_j over all units, (Tx,), in [-1, 1]; 0 where either is 0."""

    @property
    def partial_sums(self) -> Array:
        """The partial sum before each term, (W, K)."""
        return np.vstack([np.zeros(len(self.units)), np.cumsum(self.terms, axis=0)[:-1]])


def context_units(trace: Trace, step: int) -> ContextUnits:
    """Decompose the context vector of 0-based `step`.

    Raise ValueError without attention, where the context is the same at every step, and IndexError without the step.
    """
    if not trace.attends:
        raise ValueError("without attention a context is no sum of annotations, and the same at every step")
    alpha, annotations = float64(trace.alignment[step]), float64(trace.annotations)
    contexts = float64(trace.contexts)
    mean = contexts.mean(axis=0)
    units = np.array(ranked(np.abs(contexts[step] - mean))[:SHOWN_UNITS])
    groups = [list(group) for group in trace.words().source_groups]
    shares = np.array([alpha[group].sum() for group in groups])
    chosen = np.sort(ranked(shares)[:WORDS])
    term_groups = [groups[k] for k in chosen]
    other_pieces = [j for k, group in enumerate(groups) if k not in chosen for j in group]
    term_groups += [other_pieces] if other_pieces else []
    return ContextUnits(
        units,
        mean[units],
        tuple(chosen.tolist()),
        np.stack([alpha[group] @ annotations[np.ix_(group, units)] for group in term_groups]),
        np.array([alpha[group].sum() for group in term_groups]),
        contexts[step, units],
        np.clip(cosines(annotations, contexts[step]), -1, 1),
    )


SQUARES = 8
"""Number of units that represent a vector, or each direction of an annotation."""


@dataclass(frozen=True)
class DrawnUnits:
    """The displayed units (0-based, ascending) of each kind of vector, the same for the whole translation."""

    annotation: Indices
    """Forward units, then as many backward units where the encoder reads backwards."""
    context: Indices
    """The same as for annotations, or only the forward units for models without attention."""
    state: Indices
    readout: Indices


def drawn_units(trace: Trace) -> DrawnUnits:
    """Return the units with the largest variance over source pieces or steps."""
    hidden = trace.annotations.shape[1] // (1 + trace.reads_backwards)
    forward = most_varied(trace.annotations[:, :hidden])
    annotation = forward
    if trace.reads_backwards:
        annotation = np.concatenate([forward, hidden + most_varied(trace.annotations[:, hidden:])])
    context = annotation if trace.contexts.shape[1] > hidden else forward
    states = np.vstack([trace.initial_state[None], trace.states])
    return DrawnUnits(annotation, context, most_varied(states), most_varied(trace.readouts))


def most_varied(vectors: Floating) -> Indices:
    """Return the SQUARES units with the largest variance over `vectors`, (R, n), ascending; of equals the first."""
    spread = float64(vectors).var(axis=0)
    return np.sort(ranked(spread)[:SQUARES])


TERMS = 3
"""Number of source pieces with a strip of their own in the picture of fit, share and mixture."""


@dataclass(frozen=True)
class WeightedSum:
    """SQUARES units of c_i = sum_j alpha_ij h_j, or of z_i = sum_j alpha_ij v_j of a head, and its largest terms.

    All indices are 0-based.
    """

    units: Indices
    """The units, the same at every step: those in which the values h_j or v_j differ most, ascending, (K,)."""
    values: Array
    """h_j or v_j in these units, (Tx, K)."""
    pieces: list[int]
    """The source pieces with the largest weights, largest first."""
    weights: list[float]
    """Their weights, and the sum of all others where there are any, (R,)."""
    terms: Array
    """Their terms alpha_ij h_j, and the sum of all others where there are any, (R, K)."""
    total: Array
    """c_i or z_i, (K,): the sum of the terms."""


def weighted_sum(attention: Trace | Head, step: int) -> WeightedSum:
    """Return the largest terms of the context of 0-based `step`, of a trace that attends, or of a head."""
    units = most_varied(attention.values)
    alpha, values = float64(attention.alignment[step]), float64(attention.values[:, units])
    order = weight_order(attention, step)
    groups = [[j] for j in order[:TERMS]] + ([order[TERMS:]] if len(order) > TERMS else [])
    return WeightedSum(
        units,
        values,
        order[:TERMS],
        [float(alpha[group].sum()) for group in groups],
        np.stack([alpha[group] @ values[group] for group in groups]),
        float64(attention.contexts[step, units]),
    )


def has_diagram(trace: Any) -> bool:
    """Return whether the diagram fits this translator, which reads in both directions and attends before it moves."""
    return bool(trace.recurrent and trace.queries_previous_state and trace.reads_backwards)


def no_diagram_reason(trace: Aligned) -> str:
    """Return why there is no diagram of a translator, and where its step is described."""
    return gettext(
        "The architecture diagram shows only translators that read the sentence in both directions. This translator "
        "reads the sentence forwards only. The stages below explain this step."
        if trace.recurrent and not getattr(trace, "reads_backwards", True)
        else "The architecture diagram shows only translators that attend before their state changes. This translator "
        "attends after its state has changed. The stages below explain this step."
        if trace.recurrent
        else "The architecture diagram shows recurrent translators only. The stages explain what a transformer does at "
        "this step."
    )


def diagram_caption(trace: Trace) -> str:
    """Return how weights and vectors are drawn."""
    squares = gettext(
        "The diagram draws a state as {count} squares, and an annotation and the context vector as {count} for each "
        "direction of reading. The squares show the numbers that vary most. Blue is positive, red negative.",
        count=SQUARES,
    )
    ribbons = gettext(
        "The thickness of a ribbon shows its attention weight; together the ribbons are always as wide as the context "
        "vector."
    )
    fixed = gettext("There are no attention weights: every step gets the same context vector.")
    return f"{ribbons if trace.attends else fixed} {squares}"


def diagram_labels(trace: Trace) -> dict[str, str]:
    """Return the names of the parts."""
    return gettexts(
        {
            "source": "English piece",
            "forward": "read forwards",
            "backward": "read backwards",
            "annotation": "annotation",
            "state": "previous state",
            "previous": "previous word",
            "hand": "by hand",
            "again": "reused in the next step",
            "start": "first state",
            "query": "query",
            "key": "key",
            "show": "Show this step",
            "pause": "Pause",
            "resume": "Go on",
            "next": "Next",
            "repeat": "Show again",
            "close": "Close",
            "moment": "Moment of the step",
            "speed": "Speed",
            "sum": "sum {sum}",
            "count": "{k} of {n} pieces: {weight} of the weight.",
            "byHand": "The weights of this step were set by hand. They sum to 100 %.",
        }
    ) | {
        "cell": str(trace.form["cell"]).upper(),
        "maxout": "maxout" if trace.has_maxout else gettext("joined"),
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


_LEAST_SHARE = 0.05
"""Smallest share of a source word that is named in a context."""


def mixture(trace: Trace, step: int) -> str:
    """Return the source words of the context of 0-based `step` by weight, strongest first.

    Without attention, return what the context is.
    """
    if not trace.attends:
        return gettext("the encoder’s last state, at every step")
    if is_uniform(trace, step):
        return gettext("{share} each", share=percent(trace.alignment[step, 0]))
    words = trace.words()
    shares = word_shares(trace, step)
    named = named_shares(shares, _LEAST_SHARE)
    return ", ".join(f"{percent(shares[k])} {quote(words.source[k], 20)}" for k in named)


NEAREST = 3
"""Number of annotations that are named."""


def context_sentence(trace: Trace, units: ContextUnits, step: int) -> str:
    """Return the source words in the context of 0-based `step`, and the annotations most similar to it."""
    nearest = ", ".join(
        f"{quoted_name(trace.source_surfaces[j])} {decimal(units.cosines[j])}" for j in ranked(units.cosines)[:NEAREST]
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
