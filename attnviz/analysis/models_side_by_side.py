"""Texts about translations of one sentence by several models side by side: facts, captions, BLEU and verification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from attnviz.analysis.labels import decimal, percent, power_of_ten, quote
from attnviz.analysis.measures import word_shares
from attnviz.analysis.verification import Verification
from attnviz.analysis.why_attention import attention_name, bucket_name
from attnviz.languages import gettext, ngettext
from attnviz.trace import Record


class ModelFacts(NamedTuple):
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


def facts_text(facts: ModelFacts) -> str:
    """Return the facts in one line."""
    parts = [
        gettext("{count} parameters", count=facts.parameters),
        gettext("{time} ms to translate this sentence on this server", time=decimal(facts.milliseconds, 0)),
    ]
    if facts.bleu is not None:
        parts.append(
            gettext(
                "BLEU {bleu} for sentences of {bucket} words",
                bleu=decimal(facts.bleu, 1),
                bucket=bucket_name(facts.bucket),
            )
        )
    return " · ".join(parts)


def step_caption(trace: Record, step: int) -> str:
    """Return where 0-based `step` attends most and the probability of its piece."""
    sure = gettext(
        "gives the written piece a probability of {share}", share=percent(np.exp(trace.log_probabilities[step]))
    )
    looks = gettext("looks nowhere")
    if trace.attends:
        shares = word_shares(trace, step)
        most = int(shares.argmax())
        looks = gettext(
            "looks most at {word} (weight {weight})",
            word=quote(trace.words().source[most], 20),
            weight=decimal(shares[most]),
        )
    return gettext("{looks}; {sure}", looks=looks, sure=sure)


def heatmaps_caption() -> str:
    """Return how to read the small heatmaps."""
    return gettext(
        "Rows are French words, columns are English words. Point at a cell to see its French word and its English "
        "word. The brighter a cell, the larger its weight (the shade is √α). For the transformer, the weight is the "
        "mean over all heads. The model with a fixed vector has no attention."
    )


def by_length_sentence(unmeasured_models: Sequence[str], larger_model: str) -> str:
    """Return what the figure by length shows, and which models were not measured.

    `larger_model` names a model that is larger than the others.
    """
    sentence = gettext(
        "BLEU is measured on test sentences, on which none of the models was trained. When the test sentences are "
        "resampled at random, the BLEU stays within the error bar 95 times in 100. The figure marks the length of your "
        "sentence."
    )
    if larger_model not in unmeasured_models:
        sentence += " " + gettext(
            "{model} is larger than the other models and was trained on far more text, so its line says nothing about "
            "its form of attention.",
            model=larger_model,
        )
    if not unmeasured_models:
        return sentence
    return (
        sentence
        + " "
        + gettext(
            "For these models, the BLEU by sentence length was not measured: {names}.",
            names=", ".join(unmeasured_models),
        )
    )


def bleu_gap_sentence(
    additive: Mapping[str, float], transformer: Mapping[str, float], parameters: tuple[int, int]
) -> str:
    """Return how the BLEU of the small transformer compares with that of the additive model, by length bucket.

    `parameters` are the numbers of parameters of the additive model and of the transformer. Empty where they share no
    bucket.
    """
    gaps = [score - transformer[words] for words, score in additive.items() if words in transformer]
    losses = [gap for gap in gaps if gap > 0]
    if not gaps:
        return ""
    sizes = gettext(
        "The small transformer has {transformer} parameters, the small additive model {additive}.",
        additive=parameters[0],
        transformer=parameters[1],
    )
    if not losses:
        at_least = gettext(
            "At every sentence length, the transformer’s BLEU is at least as high as that of the small additive model."
        )
        return f"{sizes} {at_least}"
    sentence = f"{sizes} " + ngettext(
        "Both were trained for a short time. The transformer’s BLEU is below that of the small additive model at "
        "{count} of {all} sentence lengths, by up to {most} points.",
        "Both were trained for a short time. The transformer’s BLEU is below that of the small additive model at "
        "{count} of {all} sentence lengths, by up to {most} points.",
        len(losses),
        all=len(gaps),
        most=decimal(max(losses), 1),
    )
    return (
        sentence
        + " "
        + gettext(
            "This does not show that recurrence is better: the training of the transformer was not tuned, and it was "
            "not tested whether longer training would close the gap."
        )
    )


def combined_badge_text(verifications: Sequence[Verification], step: int) -> str:
    """Return the verification badge of 0-based `step` for several models."""
    whole = Verification(tuple(check for one in verifications for check in one.checks))
    if whole.holds:
        return gettext(
            "All {numbers} numbers of step {step} are verified in {count} models; the recomputed numbers differ by at "
            "most {largest}",
            numbers=whole.numbers,
            step=step + 1,
            count=len(verifications),
            largest=power_of_ten(whole.largest_difference),
        )
    return gettext("Step {step}: some numbers failed verification", step=step + 1)
