"""The six attribution methods in words: names, explanations, and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attnviz.analysis.agreement import Agreement, agreement
from attnviz.analysis.attribution_methods import AttributionMethod, AttributionMethods
from attnviz.languages import gettext, ngettext
from attnviz.trace import Trace
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import decimal, percent


class Told(NamedTuple):
    """Texts about an attribution method."""

    name: str
    says: str
    """What it measures, in a few words."""
    unit: str
    """The unit of its numbers."""
    sentence: str
    """What it is and what it leaves out."""


def attribution_method_names() -> dict[AttributionMethod, Told]:
    """Return the texts about each attribution method."""
    return {
        "attention": Told(
            gettext("Attention α"),
            gettext("where the decoder looked"),
            gettext("weight"),
            gettext("Attention shows where the decoder looked, before it knew the word."),
        ),
        "posterior": Told(
            gettext("Posterior"),
            gettext("attention given the word"),
            gettext("share"),
            gettext(
                "Posterior attention is attention once the word is known, by Bayes’ rule. It multiplies the "
                "weight of a piece by the probability of the word if the decoder looks at that piece only. It "
                "uses this step alone; α′ in the heatmap also uses the other steps."
            ),
        ),
        "logit_attribution": Told(
            gettext("Logit attribution"),
            gettext("added to the logit"),
            gettext("logits"),
            gettext(
                "Logit attribution is what each piece adds to the logit of the word through attention, minus "
                "what it adds to the mean logit of all words. It leaves out what comes through the decoder state."
            ),
        ),
        "gradient": Told(
            gettext("Gradient × input"),
            gettext("effect of small input changes"),
            gettext("nats"),
            gettext(
                "Gradient × input is how fast the log probability of the word changes when the embedding of a "
                "piece is scaled, through encoder and decoder. It describes small changes only."
            ),
        ),
        "erased": Told(
            gettext("Erased from attention"),
            gettext("lost if not looked at"),
            gettext("nats"),
            gettext(
                "Erased from attention: how much log probability the word loses if this step cannot look at the "
                "piece. The annotations of its neighbours still contain information about it."
            ),
        ),
        "erased_input": Told(
            gettext("Erased from the input"),
            gettext("lost if not read"),
            gettext("nats"),
            gettext(
                "Erased from the input: how much log probability the word loses if the mean embedding of all "
                "pieces replaces that of the piece. No real word has this embedding."
            ),
        ),
    }


def step_agreement(trace: Trace, found: AttributionMethods, step: int) -> str:
    """Return how far the methods agree at 0-based `step`: top pieces, orders and shares."""
    told = attribution_method_names()
    first = {name: int(found.matrices[name][step].argmax()) for name in found.names}
    named, agreed = Counter(first.values()).most_common(1)[0]
    piece = quoted_name(trace.source_pieces[named])
    if agreed == len(first):
        start = gettext("All {count} attributions rank {piece} first.", count=len(first), piece=piece)
    else:
        others = "; ".join(
            gettext("{answer}: {piece}", answer=told[name].name, piece=quoted_name(trace.source_pieces[j]))
            for name, j in first.items()
            if j != named
        )
        start = gettext(
            "{agreed} of {count} attributions rank {piece} first. The others: {others}.",
            agreed=agreed,
            count=len(first),
            piece=piece,
            others=others,
        )
    return " ".join([start, *_orders_and_shares(agreement(found, step))])


def sentence_agreement(found: Agreement, steps: int) -> str:
    """Return how far the methods agree over all `steps` of a translation."""
    told = attribution_method_names()
    (one, other), (here, there) = ([told[name].name for name in pair] for pair in (found.together(), found.apart()))
    top = found.top[np.triu_indices(len(found.names), 1)]
    start = ngettext(
        "Over {count} step, “{one}” and “{other}” rank the same source piece first most often ({most}). “{here}” "
        "and “{there}” do so least often ({least}).",
        "Over {count} steps, “{one}” and “{other}” rank the same source piece first most often ({most}). "
        "“{here}” and “{there}” do so least often ({least}).",
        steps,
        one=one,
        other=other,
        most=percent(float(top.max())),
        here=here,
        there=there,
        least=percent(float(top.min())),
    )
    return " ".join([start, *_orders_and_shares(found)])


def _orders_and_shares(found: Agreement) -> Iterator[str]:
    """Yield sentences on Kendall's tau and on total variation, where they are defined for a pair."""
    pairs = np.triu_indices(len(found.names), 1)
    tau, variation = found.tau[pairs], found.variation[pairs]
    if np.isfinite(tau).any():
        yield gettext(
            "Kendall’s τ compares how two attributions order all source pieces; its mean over the pairs of "
            "attributions is {tau}.",
            tau=decimal(float(np.nanmean(tau))),
        )
    if np.isfinite(variation).any():
        yield gettext(
            "On average, two attributions disagree about {share} of the positive credit for a word (total variation).",
            share=percent(float(np.nanmean(variation))),
        )


def attributions_caveat() -> str:
    """Return what a comparison of attribution methods does and does not show."""
    return gettext(
        "The attributions answer different questions, so they can differ and all be right. Where they agree, the "
        "word depends on that piece by every measure. Where they differ, do not read any single one as the "
        "reason. Kendall’s τ is 1 for the same order and 0 for unrelated orders. It counts the many small "
        "entries as much as the few large ones, so it is low even where all attributions rank the same piece "
        "first."
    )
