"""Posterior attention of a step in words and as an equation template: prior × likelihood → posterior."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.posterior import PosteriorAttention
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Trace
from attnviz.wording.equations import Equation, Texts
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import aligned, coloured, decimal, number, percent

_MOST_TERMS = 2
"""Number of products of the sum that are written out before the dots."""
_SMALL_CHANGE = 0.05
"""Total variation between prior and posterior below which the text says that the word changes little."""


def posterior_title() -> str:
    """Return the title of a step's section on posterior attention."""
    return gettext("After the word: posterior attention")


def posterior_heading() -> str:
    """Return the heading of the three columns."""
    return gettext("Prior × likelihood → posterior")


def posterior_sentence(trace: Trace, attention: PosteriorAttention, step: int) -> str:
    """Return the posterior attention of 0-based `step` as a sentence."""
    if len(trace.source_pieces) == 1:
        return gettext("There is only one source piece, so knowing the word does not change the attention.")
    prior, posterior = attention.prior[step], attention.posterior[step]
    first, last = int(prior.argmax()), int(posterior.argmax())
    names = {
        "first": quoted_name(trace.source_pieces[first]),
        "last": quoted_name(trace.source_pieces[last]),
        "word": quoted_name(trace.target_pieces[step]),
    }
    shares = {
        "before": percent(float(prior[last])),
        "after": percent(float(posterior[last])),
        "likely": percent(float(attention.likelihood[step, last])),
    }
    if first != last:
        return gettext(
            "Before the word was known, {first} had the largest weight, {most}. The probability of {word} would have "
            "been {less} with the annotation of {first} alone and {likely} with the annotation of {last} alone. So "
            "{last} has the largest weight once the word is known: the weight of {last} goes from {before} to {after}.",
            most=percent(float(prior[first])),
            less=percent(float(attention.likelihood[step, first])),
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
    other = int(np.argsort(-np.where(np.arange(len(prior)) == last, -1, prior), kind="stable")[0])
    return gettext(
        "The probability of {word} would have been {likely} with the annotation of {last} alone and {less} with the "
        "annotation of {other} alone. So the weight of {last} goes from {before} to {after} once the word is known.",
        other=quoted_name(trace.source_pieces[other]),
        less=percent(float(attention.likelihood[step, other])),
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
    """Return the equation template of all steps; `texts_of_step` and `texts_of_cells` fill it."""
    ink = palette(theme)
    word = coloured(ink.decoder, "y_{⟦i⟧}")

    def likelihood(j: str) -> str:
        return rf"p({word} \mid {coloured(ink.encoder, f'h_{{{j}}}')})"

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


def texts_of_step(attention: PosteriorAttention, step: int) -> Texts:
    """Return the texts of 0-based `step` that hold for all source pieces: the products of the sum."""
    prior, likelihood = attention.prior[step], attention.likelihood[step]
    largest = np.argsort(-prior * likelihood, kind="stable")[:_MOST_TERMS]
    terms = [rf"{number(float(prior[j]))} \cdot {number(float(likelihood[j]))}" for j in largest]
    return {"i": str(step + 1), "products": " + ".join(terms + ([r"\cdots"] if len(prior) > _MOST_TERMS else []))}


def texts_of_source(source: int) -> Texts:
    """Return the texts of 0-based source piece `source` that hold for all steps."""
    return {"j": str(source + 1)}


def texts_of_cells(attention: PosteriorAttention, step: int) -> dict[str, list[str]]:
    """Return the texts of a step for each source piece, as lists."""
    rows = {
        "prior": attention.prior,
        "likelihood": attention.likelihood,
        "posterior": attention.posterior,
    }
    texts = {name: [number(float(value)) for value in values[step]] for name, values in rows.items()}
    return texts | {"heatmap_posterior": [decimal(float(value)) for value in attention.heatmap_posterior[step]]}
