"""Posterior attention, given the written word: balanced (the default) or by Bayes' rule; its sentences and equation.

`PosteriorAttention` has prior, likelihood and posterior by Bayes' rule, and the posterior attention of the heatmap.

Attention is computed before y_i is known: its query is s_{i-1}. Taken as a prior over annotations, Bayes' rule gives
the posterior (Deng et al. 2018; Shankar & Sarawagi 2019)

    alpha'_ij = alpha_ij p(y_i | s_{i-1}, y_{i-1}, c = h_j) / sum_k alpha_ik p(y_i | s_{i-1}, y_{i-1}, c = h_k)

Other kinds are defined in `posterior`. None of them says what caused the choice.

Symbols and sizes are those of `trace.trace`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from attnviz.analysis.labels import aligned, coloured_latex, decimal, number, percent, quoted_name
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.measures import ranked, ratios, total_variation
from attnviz.analysis.recomputation import Weights, softmax
from attnviz.analysis.step_equations import Equation, Texts
from attnviz.arguments import check_choice, check_whole_argument
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Array, OneLine, Trace, Words

PosteriorKind = Literal["balanced", "posterior"]
"""Kinds of posterior attention, defined in `posterior`."""
POSTERIOR_KINDS: tuple[PosteriorKind, ...] = get_args(PosteriorKind)
DEFAULT: PosteriorKind = "balanced"
"""The kind with the lowest AER on the development links (see the card of `en-fr`)."""

_EXACT = 1e-5
"""Differences of log likelihoods below this are rounding errors."""
_FAINT = 1e-6
"""Added to every column sum, so that columns near 0 are not scaled up."""


def likelihood(trace: Trace, weights: Weights | None = None) -> Array:
    """Return p(y_i | s_{i-1}, y_{i-1}, c = h_j): each step with one annotation as its context.

    With `readout_state="current"` the context passes through s_i as well.

    Args:
        trace: The translation.
        weights: Weights of the model that made it (`load_weights`); by default those of the installed model.

    Returns:
        Probabilities, (Ty, Tx), in [0, 1].

    Raises:
        AttnvizError: The model has no attention, or the weights are another model's.
    """
    return np.exp(Readouts(trace, weights).alone)


def posterior(trace: Trace, weights: Weights | None = None, kind: PosteriorKind = DEFAULT) -> Array:
    """Return the posterior attention of every step, given its piece y_i.

    alpha is the alignment after interventions. The kinds are

    - "posterior": alpha_ij p(y_i | c = h_j), normalised: Bayes' rule;
    - "balanced": alpha_ij^(3/4) p(y_i | c = h_j)^(3/4) exp(fit_ij / 4), normalised, divided by the square root of its
      column's sum, and normalised again: a piece that other steps are about counts less for this one. fit_ij is the
      logit that h_j with weight 1 adds to y_i through the step's maxout winners, minus its mean over the vocabulary.

    Args:
        trace: The translation.
        weights: Weights of the model that made it (`load_weights`); by default those of the installed model.
        kind: One of the kinds.

    Returns:
        Weights, (Ty, Tx); rows sum to 1. The sum over the vocabulary that normalises p uses float32 logits and is
        correct to about 1e-6; everything else is float64.

    Raises:
        AttnvizError: The model has no attention, or the weights are another model's.
        AttnvizError: There is no such kind.
    """
    check_choice("kind", kind, POSTERIOR_KINDS)
    return posterior_of(Readouts(trace, weights), kind)


def posterior_of(readouts: Readouts, kind: PosteriorKind = DEFAULT) -> Array:
    """Return `posterior`, (Ty, Tx), of a translation from its `readouts`."""
    return bayes(readouts.alignment, readouts.alone, readouts.fit() if kind == "balanced" else None)


def bayes(alignment: Array, log_likelihood: Array, fit: Array | None = None) -> Array:
    """Return alpha_ij p(y_i | c = h_j), normalised over rows, given alpha and log p, (S, Tx) each: (S, Tx).

    With a `fit` (S, Tx), that of `Readouts.fit`, return the kind "balanced" of all steps.
    """
    scores = _log(alignment) + log_likelihood
    if fit is not None:
        scores = 0.75 * scores + 0.25 * fit
        scores -= 0.5 * np.log(softmax(scores).sum(axis=0) + _FAINT)
    return softmax(scores)


def erasure_log_drops(readouts: Readouts) -> Array:
    """Return the drop of log p(y_i) when j is excluded and the other weights are renormalised, (Ty, Tx), in nats.

    Negative where the probability rises; 0 where the difference is rounding.
    """
    alignment = readouts.alignment
    remaining = alignment[:, None] * (1 - np.eye(alignment.shape[1]))
    # Where no weight is left to renormalise, the context is 0.
    remaining = ratios(remaining, remaining.sum(axis=2, keepdims=True))
    drops = readouts.log_likelihood(alignment[:, None]) - readouts.log_likelihood(remaining)
    return np.where(np.abs(drops) > _EXACT, drops, 0)


def posterior_words(trace: Trace, weights: Weights | None = None) -> Words:
    """Return the words of `trace` with posterior attention between them, merged as `Trace.words` merges alpha.

    Raise AttnvizError where the model has no attention or the weights are another model's.
    """
    words = trace.words()
    return dataclasses.replace(words, alignment=words.merged(posterior(trace, weights)))


def _log(values: Array) -> Array:
    """Return the logarithm of positive values and -inf for others, in the same shape."""
    return np.log(values, out=np.full_like(values, -np.inf), where=values > 0)


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorAttention(OneLine):
    """Prior, likelihood and posterior of every step and source piece, (Ty, Tx) each, in [0, 1]."""

    prior: Array
    """alpha_ij after interventions; rows sum to 1."""
    likelihood: Array
    """p(y_i | s_{i-1}, y_{i-1}, c = h_j), as `likelihood` returns it."""
    posterior: Array
    """p(j | y_i) by Bayes' rule, from prior and likelihood; rows sum to 1."""
    heatmap_posterior: Array
    """Posterior attention of the heatmap: the default kind of `analysis.posterior`, which normalises over steps too."""

    def change(self, step: int) -> float:
        """Return the total variation between prior and posterior of a step, from 0 to 1.

        Args:
            step: Step, 0-based.
        """
        check_whole_argument(gettext("step"), step, -len(self.prior), len(self.prior) - 1)
        return float(total_variation(self.posterior[step], self.prior[step]))


def posterior_attention(trace: Trace, weights: Weights | None = None) -> PosteriorAttention:
    """Return prior, likelihood and posterior of every step.

    Args:
        trace: The translation.
        weights: Weights of the model that made it (`load_weights`); by default those of the installed model.

    Returns:
        The three distributions.

    Raises:
        AttnvizError: The model has no attention, or the weights are another model's.
    """
    readouts = Readouts(trace, weights)
    return PosteriorAttention(
        readouts.alignment,
        np.exp(readouts.alone),
        posterior_of(readouts, "posterior"),
        posterior_of(readouts),
    )


_MOST_TERMS = 2
"""Number of products of the sum that are written out before the dots."""
_SMALL_CHANGE = 0.05
"""Total variation between prior and posterior below which the text says that the word changes little."""


def posterior_title() -> str:
    """Return the title of a step's section on posterior attention."""
    return gettext("After the word: posterior attention")


def posterior_heading() -> str:
    """Return the heading of the columns of prior, likelihood and posterior."""
    return gettext("Prior × likelihood → posterior")


def posterior_sentence(trace: Trace, attention: PosteriorAttention, step: int) -> str:
    """Return the posterior attention of 0-based `step` as a sentence."""
    if len(trace.source_pieces) == 1:
        return gettext("There is only one source piece, so knowing the word does not change the attention.")
    prior, posterior = attention.prior[step], attention.posterior[step]
    first, last = int(prior.argmax()), int(posterior.argmax())
    names = {
        "first": quoted_name(trace.source_surfaces[first]),
        "last": quoted_name(trace.source_surfaces[last]),
        "word": quoted_name(trace.target_pieces[step]),
    }
    shares = {
        "before": percent(prior[last]),
        "after": percent(posterior[last]),
        "likely": percent(attention.likelihood[step, last]),
    }
    if first != last:
        return gettext(
            "Before the word was known, {first} had the largest weight, {most}. The probability of {word} would have "
            "been {less} with the annotation of {first} alone and {likely} with the annotation of {last} alone. So "
            "{last} has the largest weight once the word is known: the weight of {last} goes from {before} to {after}.",
            most=percent(prior[first]),
            less=percent(attention.likelihood[step, first]),
            **names,
            **shares,
        )
    if attention.change(step) < _SMALL_CHANGE:
        return gettext(
            "Knowing the word changes the attention little: the weight of {last} goes from {before} to {after}. With "
            "the annotation of {last} alone, {word} would have had probability {likely}.",
            **names,
            **shares,
        )
    other = next(j for j in ranked(prior) if j != last)
    return gettext(
        "The probability of {word} would have been {likely} with the annotation of {last} alone and {less} with the "
        "annotation of {other} alone. So the weight of {last} goes from {before} to {after} once the word is known.",
        other=quoted_name(trace.source_surfaces[other]),
        less=percent(attention.likelihood[step, other]),
        **names,
        **shares,
    )


def posterior_caption() -> str:
    """Return how the three columns relate to the heatmap after the word."""
    return gettext(
        "The three columns (prior, likelihood, posterior) apply Bayes’ rule to this step alone. ◇ marks α′, the "
        "posterior attention of the heatmap. α′ is a little flatter than the posterior column. α′ also includes what "
        "each annotation adds to the logit of the word. α′ is lower for a piece that other steps are aligned with. Of "
        "all variants of posterior attention tested, α′ gives the best word links."
    )


def posterior_equation(trace: Trace, theme: ThemeName = "light") -> Equation:
    """Return the equation template of all steps; `posterior_texts_of_step` and `posterior_texts_of_cells` fill it."""
    ink = palette(theme)
    word = coloured_latex(ink.decoder, "y_{⟦i⟧}")

    def likelihood(j: str) -> str:
        return rf"p({word} \mid {coloured_latex(ink.encoder, f'h_{{{j}}}')})"

    count = len(trace.source_pieces)
    total = rf"\sum_{{k=1}}^{{{count}}} \alpha_{{⟦i⟧,k}}\; {likelihood('k')}"
    lines = (
        rf"p(⟦j⟧ \mid {word}) &= \frac{{\alpha_{{⟦i⟧,⟦j⟧}}\; {likelihood('⟦j⟧')}}}{{{total}}}",
        r"&= \frac{⟦prior⟧ \cdot ⟦likelihood⟧}{⟦products⟧}",
        r"&= ⟦posterior⟧",
    )
    current = trace.reads_new_state
    state_note = (
        gettext("In this model, the annotation also acts through the new state, which the output is computed from.")
        if current
        else ""
    )
    note = gettext(
        "Bayes’ rule: the prior is the weight of a piece, read as the probability that the model uses the annotation "
        "of this piece. The likelihood is the probability of the word if the context were the annotation of the piece "
        "alone. In the heatmap “After the word”, this piece has α′ = {posterior}.",
        posterior="⟦heatmap_posterior⟧",
    )
    return Equation(6, aligned(*lines), " ".join(filter(None, (note, state_note))))


def posterior_texts_of_step(attention: PosteriorAttention, step: int) -> Texts:
    """Return the texts of 0-based `step` that hold for all source pieces: the products of the sum."""
    prior, likelihood = attention.prior[step], attention.likelihood[step]
    largest = ranked(prior * likelihood)[:_MOST_TERMS]
    terms = [rf"{number(prior[j])} \cdot {number(likelihood[j])}" for j in largest]
    return {"i": str(step + 1), "products": " + ".join(terms + ([r"\cdots"] if len(prior) > _MOST_TERMS else []))}


def posterior_texts_of_source(source: int) -> Texts:
    """Return the texts of 0-based source piece `source` that hold for all steps."""
    return {"j": str(source + 1)}


def posterior_texts_of_cells(attention: PosteriorAttention, step: int) -> dict[str, list[str]]:
    """Return the texts of a step for each source piece, as lists."""
    rows = {name: getattr(attention, name)[step] for name in ("prior", "likelihood", "posterior")}
    texts = {name: list(map(number, row)) for name, row in rows.items()}
    return texts | {"heatmap_posterior": list(map(decimal, attention.heatmap_posterior[step]))}
