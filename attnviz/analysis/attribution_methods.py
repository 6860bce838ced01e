"""Six attributions of a word to the source pieces: numbers, agreement of the methods, names and sentences.

They answer different questions in different units, and none is the cause. Attention is where the decoder attended
before the word was known; posterior attention takes the word into account; logit attribution is what entered the logit
through the context; gradient × input is how the word follows a small change of the input; erasure, at the attention or
at the input, is what is lost without a piece.

Gradient and erasure at the input need the network: they are given (`Translator.attributions`), the others computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType, NoneType
from typing import Literal, NamedTuple, cast, get_args

import numpy as np

from attnviz.analysis.labels import decimal, percent, quoted_name
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.measures import ratios, total_variation
from attnviz.analysis.posterior import erasure_log_drops, posterior_of
from attnviz.analysis.recomputation import Weights
from attnviz.arguments import check_choice, check_each, check_whole_argument
from attnviz.languages import gettext, ngettext
from attnviz.trace import Array, Attention, OneLine, Trace, float64
from attnviz.trace.parts import Attributions

AttributionMethod = Literal["attention", "posterior", "logit_attribution", "gradient", "erased", "erased_input"]
ATTRIBUTION_METHODS: tuple[AttributionMethod, ...] = get_args(AttributionMethod)
"""All attribution methods, in display order; erasure is measured at the attention and at the input."""
UNSIGNED_METHODS: tuple[AttributionMethod, ...] = ("attention", "posterior")
"""The methods whose attributions are weights, never negative."""


@dataclass(frozen=True, eq=False, repr=False)
class AttributionMethods(OneLine):
    """The attributions of a translation; without the network, those that need gradients are missing."""

    matrices: Mapping[AttributionMethod, Array]
    """(Ty, Tx) each.

    Shares from 0 to 1 for attention and posterior, logits for the logit attribution, nats for the others.
    """

    @property
    def names(self) -> tuple[AttributionMethod, ...]:
        """The available methods, in display order."""
        return tuple(name for name in ATTRIBUTION_METHODS if name in self.matrices)

    def shares(self, name: AttributionMethod) -> Array:
        """Return the attribution of one method on a common scale.

        Args:
            name: The method.

        Returns:
            Attributions, (Ty, Tx), from -1 to 1. Each entry is divided by the sum of absolute values of its row; a row
            of zeros stays.
        """
        check_choice("name", name, self.matrices)
        return ratios(self.matrices[name], np.abs(self.matrices[name]).sum(axis=1, keepdims=True))

    def support(self, name: AttributionMethod) -> Array:
        """Return the positive part of an attribution.

        Args:
            name: The method.

        Returns:
            Shares, (Ty, Tx), normalised so that rows sum to 1. A row without positive entries is nan.
        """
        check_choice("name", name, self.matrices)
        positive = np.maximum(self.matrices[name], 0)
        return ratios(positive, positive.sum(axis=1, keepdims=True), np.nan)


def attribution_methods(
    trace: Trace, weights: Weights | None = None, attributions: Attributions | None = None
) -> AttributionMethods:
    """Return all attributions for every step of a translation.

    - "attention": alpha_ij after interventions;
    - "posterior": alpha_ij p(y_i | c = h_j), normalised, by Bayes' rule, unlike the default kind of `posterior`;
    - "logit_attribution": what alpha_ij h_j adds to the logit of y_i through the maxout's winners, minus what it adds
      to the mean logit of the vocabulary, which changes no probability; with `readout_state="current"`, without the
      part via s_i;
    - "gradient": d log p(y_i) / d E x_j . E x_j;
    - "erased": the drop of log p(y_i) when j is excluded from the attention and the other weights are renormalised;
    - "erased_input": the drop of log p(y_i) when E x_j becomes the mean embedding.

    Args:
        trace: The translation.
        weights: Weights of the model that made it (`load_weights`); by default those of the installed model.
        attributions: Result of `Translator.attributions`; without it "gradient" and "erased_input" are missing.

    Returns:
        The attributions by method.

    Raises:
        AttnvizError: The model has no attention, or the weights are another model's.
    """
    readouts = Readouts(trace, weights)
    matrices: dict[AttributionMethod, Array] = {
        "attention": readouts.alignment,
        "posterior": posterior_of(readouts, "posterior"),
        "logit_attribution": readouts.alignment * readouts.fit(),
        "erased": erasure_log_drops(readouts),
    }
    check_each(gettext("attributions"), (attributions,), (Attributions, NoneType))
    if attributions is not None:
        matrices |= {"gradient": attributions.gradient, "erased_input": attributions.erased}
    return AttributionMethods(MappingProxyType(matrices))


def recorded_attributions(record: Attention) -> AttributionMethods:
    """Return the attributions that another program computed for a record, besides its attention.

    They are named as those of `attribution_methods`: "gradient", and "erased_input" for `record.erased`.
    """
    found = {"attention": record.alignment, "gradient": record.gradient, "erased_input": record.erased}
    matrices = {name: float64(matrix) for name, matrix in found.items() if matrix.size}
    return AttributionMethods(MappingProxyType(cast("dict[AttributionMethod, Array]", matrices)))


def added_logits(trace: Trace, weights: Weights | None = None) -> Array:
    """Return what each source piece adds to the logit of the written piece.

    These are the source terms of the logit attribution of every step.

    Args:
        trace: The translation.
        weights: Weights of the model that made it (`load_weights`); by default those of the installed model.

    Returns:
        Logits, (Ty, Tx), signed.

    Raises:
        AttnvizError: The model has no attention, or the weights are another model's.
    """
    readouts = Readouts(trace, weights)
    return readouts.alignment * readouts.fit(centred=False)


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(OneLine):
    """Pairwise agreement of A attribution methods, at one step or averaged over several."""

    names: tuple[AttributionMethod, ...]
    top: Array
    """Whether both have the same top source piece, (A, A), 0 or 1; over several steps the share of steps."""
    tau: Array
    """Kendall's tau-b of their orders, (A, A), from -1 (reversed) over 0 to 1 (the same)."""
    variation: Array
    """Total variation of their positive parts, (A, A), from 0 (the same) to 1 (disjoint)."""

    def least_agreeing(self) -> tuple[AttributionMethod, AttributionMethod]:
        """Return the two methods that agree on the top piece at the fewest steps; the first of equals."""
        return self._pair(self.top.argmin())

    def most_agreeing(self) -> tuple[AttributionMethod, AttributionMethod]:
        """Return the two different methods that agree on the top piece at the most steps; the first of equals."""
        return self._pair(np.where(np.triu(np.ones(self.top.shape), 1) > 0, self.top, -1).argmax())

    def _pair(self, place: np.intp) -> tuple[AttributionMethod, AttributionMethod]:
        first, second = np.unravel_index(place, self.top.shape)
        return self.names[first], self.names[second]


def agreement(methods: AttributionMethods, step: int | None = None) -> Agreement:
    """Return how far the methods agree at a step, or over all steps.

    Args:
        methods: Result of `attribution_methods`.
        step: Step, 0-based; None is all steps.

    Returns:
        Means over the steps at which a number is defined. An order with ties only has no tau, a step without positive
        attributions has no shares. nan where there is no such step.

    Raises:
        AttnvizError: There is no such step.
    """
    check_each(gettext("attributions"), (methods,), (AttributionMethods,))
    names = methods.names
    count = len(methods.matrices[names[0]])
    if step is not None:
        check_whole_argument(gettext("step"), step, -count, count - 1)
    steps = slice(None) if step is None else slice(range(count)[step], range(count)[step] + 1)
    values = np.stack([methods.matrices[name][steps] for name in names], axis=1)
    support = np.stack([methods.support(name)[steps] for name in names], axis=1)
    best = values.argmax(axis=2)
    top = (best[:, :, None] == best[:, None]).mean(axis=0)
    variation = total_variation(support[:, :, None], support[:, None])
    return Agreement(names, top, _mean(np.stack([kendall(rows) for rows in values])), _mean(variation))


def kendall(values: Array) -> Array:
    """Return Kendall's tau-b of each two rows of `values` (A, Tx): (A, A), from -1 to 1 (Kendall 1945).

    Concordant minus discordant pairs, over the geometric mean of the numbers of untied pairs of both rows. nan where a
    row has ties only.
    """
    signs = np.sign(values[:, :, None] - values[:, None]).reshape(len(values), -1)
    counts = (signs**2).sum(axis=1)
    scale = np.sqrt(counts[:, None] * counts)
    return np.clip(ratios(signs @ signs.T, scale, np.nan), -1, 1)


def _mean(by_step: Array) -> Array:
    """Return the mean over the first axis without nan, (S, A, A) to (A, A); nan where all are nan."""
    finite = np.isfinite(by_step)
    return ratios(np.where(finite, by_step, 0).sum(axis=0), finite.sum(axis=0), np.nan)


class MethodTexts(NamedTuple):
    """Texts about an attribution method."""

    name: str
    summary: str
    """What it measures, in a few words."""
    unit: str
    """The unit of its numbers."""
    sentence: str
    """What it is and what it leaves out."""


def attribution_method_texts() -> dict[AttributionMethod, MethodTexts]:
    """Return the texts about each attribution method."""
    return {
        "attention": MethodTexts(
            gettext("Attention α"),
            gettext("where the decoder looked"),
            gettext("weight"),
            gettext("Attention shows where the decoder looked before it knew the word."),
        ),
        "posterior": MethodTexts(
            gettext("Posterior"),
            gettext("attention given the word"),
            gettext("share"),
            gettext(
                "Posterior attention is attention once the word is known, by Bayes’ rule. Bayes’ rule multiplies the "
                "weight of a piece by the probability that the word would have if the decoder looked only at that "
                "piece. The posterior attention shown here uses only one step; α′ in the heatmap also uses the other "
                "steps of the translation."
            ),
        ),
        "logit_attribution": MethodTexts(
            gettext("Logit attribution"),
            gettext("added to the logit"),
            gettext("logits"),
            gettext(
                "Logit attribution is what a piece adds to the logit of the word through attention. attnviz subtracts "
                "what the piece adds, on average, to the logits of all pieces of the vocabulary. Logit attribution "
                "leaves out what comes through the decoder state."
            ),
        ),
        "gradient": MethodTexts(
            gettext("Gradient × input"),
            gettext("effect of small input changes"),
            gettext("nats"),
            gettext(
                "Gradient × input is how fast the log probability of the word changes when the embedding of a piece is "
                "scaled. The gradient goes through the decoder and the encoder. Gradient × input describes small "
                "changes only."
            ),
        ),
        "erased": MethodTexts(
            gettext("Erased from attention"),
            gettext("log p lost if piece masked"),
            gettext("nats"),
            gettext(
                "Erased from attention: the step cannot attend to the piece. The number says how much log probability "
                "the word loses. The annotations of neighbouring pieces still contain information about the erased "
                "piece."
            ),
        ),
        "erased_input": MethodTexts(
            gettext("Erased from the input"),
            gettext("lost if not read"),
            gettext("nats"),
            gettext(
                "Erased from the input: the mean embedding of all pieces replaces the embedding of the piece. The "
                "number says how much log probability the word loses. No real word has the mean embedding."
            ),
        ),
    }


def step_agreement_sentence(trace: Trace, methods: AttributionMethods, step: int) -> str:
    """Return how far the methods agree at 0-based `step`: top pieces, orders and shares."""
    texts = attribution_method_texts()
    first = {name: int(methods.matrices[name][step].argmax()) for name in methods.names}
    top_piece, count = Counter(first.values()).most_common(1)[0]
    piece = quoted_name(trace.source_surfaces[top_piece])
    if count == len(first):
        start = gettext("All {count} attributions rank {piece} first.", count=len(first), piece=piece)
    else:
        others = "; ".join(
            gettext("{answer}: {piece}", answer=texts[name].name, piece=quoted_name(trace.source_surfaces[j]))
            for name, j in first.items()
            if j != top_piece
        )
        start = gettext(
            "{agreed} of {count} attributions rank {piece} first. The other attributions rank first: {others}.",
            agreed=count,
            count=len(first),
            piece=piece,
            others=others,
        )
    return " ".join([start, *_orders_and_shares(agreement(methods, step))])


def overall_agreement_sentence(pairwise: Agreement, steps: int) -> str:
    """Return how far the methods agree over all `steps` of a translation."""
    texts = attribution_method_texts()
    (one, other), (here, there) = (
        [texts[name].name for name in pair] for pair in (pairwise.most_agreeing(), pairwise.least_agreeing())
    )
    top = pairwise.top[np.triu_indices(len(pairwise.names), 1)]
    start = ngettext(
        "Over {count} step, “{one}” and “{other}” most often rank the same source piece first ({most}). “{here}” and "
        "“{there}” least often rank the same source piece first ({least}).",
        "Over {count} steps, “{one}” and “{other}” most often rank the same source piece first ({most}). “{here}” and "
        "“{there}” least often rank the same source piece first ({least}).",
        steps,
        one=one,
        other=other,
        most=percent(top.max()),
        here=here,
        there=there,
        least=percent(top.min()),
    )
    return " ".join([start, *_orders_and_shares(pairwise)])


def _orders_and_shares(pairwise: Agreement) -> Iterator[str]:
    """Yield sentences on Kendall's tau and on total variation, where they are defined for a pair."""
    pairs = np.triu_indices(len(pairwise.names), 1)
    tau, variation = pairwise.tau[pairs], pairwise.variation[pairs]
    if np.isfinite(tau).any():
        yield gettext(
            "Kendall’s τ compares how two attributions order all source pieces; its mean over the pairs of "
            "attributions is {tau}.",
            tau=decimal(np.nanmean(tau)),
        )
    if np.isfinite(variation).any():
        yield gettext(
            "On average, two methods give {share} of a word’s positive attribution to different source pieces (total "
            "variation).",
            share=percent(np.nanmean(variation)),
        )


def colours_sentence() -> str:
    """Return what the colours of the methods side by side mean."""
    return gettext(
        "The colour of a cell shows the cell’s share of its row. Attention and posterior attention are shares without "
        "a sign, from black, 0, to white, 1: they say how much, not for or against. The other methods have signs: blue "
        "counts for the word of the row, red against it."
    )


def attributions_caveat() -> str:
    """Return what a comparison of attribution methods does and does not show."""
    return gettext(
        "The attributions answer different questions, so they can differ and all be right. If all attributions agree "
        "on a piece, the word depends on that piece by every measure. If the attributions differ, no single "
        "attribution gives the reason for the word. Kendall’s τ is 1 if two attributions rank the pieces in the same "
        "order, and 0 if their orders are unrelated. Kendall’s τ counts the many small values as much as the few large "
        "values. So τ can be low even where all attributions rank the same piece first."
    )
