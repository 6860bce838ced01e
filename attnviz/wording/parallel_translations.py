"""Sentences about several translators side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from attnviz.analysis.verification import Verification
from attnviz.languages import gettext, ngettext
from attnviz.trace import Record
from attnviz.wording.labels import quote, shorten
from attnviz.wording.numbers import decimal, percent, power_of_ten, thousands
from attnviz.wording.why import attention_name


class Facts(NamedTuple):
    """Facts about a translator and one of its translations."""

    parameters: int
    milliseconds: float
    bucket: str
    """The length bucket of the sentence, in words, as "11-20"."""
    bleu: float | None
    """BLEU in that bucket, where measured."""


def model_name(trace: Record) -> str:
    """Return the name of the kind of model."""
    if trace.config.get("architecture") == "transformer":
        return gettext("Transformer")
    return attention_name(str(trace.config["attention"]))


def facts_told(facts: Facts) -> str:
    """Return the facts in one line."""
    told = [
        gettext("{count} parameters", count=thousands(facts.parameters)),
        gettext("{time} ms for this sentence on this server", time=decimal(facts.milliseconds, 0)),
    ]
    if facts.bleu is not None:
        told.append(gettext("BLEU {bleu} at {bucket} words", bleu=decimal(facts.bleu, 1), bucket=facts.bucket))
    return " · ".join(told)


def note(trace: Record, step: int) -> str:
    """Return where 0-based `step` attends most and the probability of its piece."""
    sure = gettext(
        "gives its piece a probability of {share}", share=percent(float(np.exp(trace.log_probabilities[step])))
    )
    if not trace.attends:
        return gettext("{looks}; {sure}", looks=gettext("looks nowhere"), sure=sure)
    words = trace.words()
    shares = [float(trace.alignment[step, list(group)].sum()) for group in words.source_groups]
    most = int(np.argmax(shares))
    looks = gettext(
        "looks most at {word}, {weight}", word=quote(shorten(words.source[most], 20)), weight=decimal(shares[most])
    )
    return gettext("{looks}; {sure}", looks=looks, sure=sure)


def looks_told() -> str:
    """Return how to read the small heatmaps."""
    return gettext(
        "Rows are French words, columns are English words. Point at a cell to see both words. The brighter a "
        "cell, the larger the weight (the shade is √α); for the transformer it is the mean of all heads. The "
        "fixed vector has no attention."
    )


def by_length_sentence(missing: Sequence[str], larger: str) -> str:
    """Return what the figure by length shows, and which models were not measured.

    `larger` names a model that is larger than the others.
    """
    told = gettext(
        "Measured on sentences that none of the models was trained on. The error bars contain 95 of 100 "
        "resamplings. The length of your sentence is marked."
    )
    if larger not in missing:
        told += " " + gettext(
            "{model} is larger and was trained on far more text. The height of its line says little about its "
            "attention, but you can compare how the lines fall with the length.",
            model=larger,
        )
    if not missing:
        return told
    return told + " " + gettext("Not measured by length: {names}.", names=", ".join(missing))


def standing(additive: Mapping[str, float], transformer: Mapping[str, float]) -> str:
    """Return how the BLEU of the small transformer compares with that of the additive model, by length bucket.

    Empty where they share no bucket.
    """
    behind = [score - transformer[words] for words, score in additive.items() if words in transformer]
    missing = [one for one in behind if one > 0]
    if not behind:
        return ""
    if not missing:
        return gettext(
            "At these small, equal sizes, the transformer scores at least as high as the additive model at every "
            "length."
        )
    told = ngettext(
        "These models are small, equal in size and trained for a short time. The transformer scores below the "
        "additive model at {count} of {all} lengths, by up to {most} BLEU.",
        "These models are small, equal in size and trained for a short time. The transformer scores below the "
        "additive model at {count} of {all} lengths, by up to {most} BLEU.",
        len(missing),
        all=len(behind),
        most=decimal(max(missing), 1),
    )
    return (
        told
        + " "
        + gettext(
            "Nothing was tuned for the transformer, and transformers are known to need longer training. Whether "
            "that would close the gap was not tested."
        )
    )


def combined_badge(verifications: Sequence[Verification], step: int) -> str:
    """Return the verification badge of 0-based `step` for several models."""
    if all(one.holds for one in verifications):
        return gettext(
            "All {numbers} numbers of step {step} check out in {count} models, max |Δ| = {largest}",
            numbers=thousands(sum(one.numbers for one in verifications)),
            step=step + 1,
            count=len(verifications),
            largest=power_of_ten(max(one.largest_difference for one in verifications)),
        )
    return gettext("Step {step}: not all numbers check out", step=step + 1)


def misfit_of(trace: Record) -> str:
    """Return that a translation was not made by the loaded model."""
    return gettext("A translation was not made with the current weights of “{model}”", model=trace.model)
