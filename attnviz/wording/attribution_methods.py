"""The six attribution methods in words: names, explanations, and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attnviz.analysis.agreement import Agreement, agreement
from attnviz.analysis.attribution_methods import Answer, AttributionMethods
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


def told_answers() -> dict[Answer, Told]:
    """Return the texts about each attribution method."""
    return {
        "attention": Told(
            gettext("Attention α"),
            gettext("where it looked"),
            gettext("weight"),
            gettext("Attention is where the decoder looked. It looked before it knew the word."),
        ),
        "posterior": Told(
            gettext("Posterior"),
            gettext("what the look was about"),
            gettext("share"),
            gettext(
                "The posterior is attention once the word is known, by Bayes: the weight of a piece times how likely "
                "the word is if that piece alone is looked at. It asks this step alone; α′ of the heatmap asks the "
                "others too."
            ),
        ),
        "ledger": Told(
            gettext("Ledger"),
            gettext("what entered the logit"),
            gettext("logits"),
            gettext(
                "The ledger is what each looked-at piece added to the logit of the word, less what it added to all "
                "words alike. What came through the decoder’s state is not in it."
            ),
        ),
        "gradient": Told(
            gettext("Gradient × input"),
            gettext("how it follows the input"),
            gettext("nats"),
            gettext(
                "Gradient × input is how fast the log probability of the word moves along the embedding of a piece, "
                "through encoder and decoder. It speaks of small changes."
            ),
        ),
        "erased": Told(
            gettext("Erased from the look"),
            gettext("lost if not looked at"),
            gettext("nats"),
            gettext(
                "Erased from the look: how much log probability the word loses if this step must not look at the "
                "piece. Its neighbours’ annotations still know of it."
            ),
        ),
        "erased_input": Told(
            gettext("Erased from the input"),
            gettext("lost if not read"),
            gettext("nats"),
            gettext(
                "Erased from the input: how much log probability the word loses if the piece is read as the mean of "
                "all pieces, a word that nobody ever wrote."
            ),
        ),
    }


def step_agreement(trace: Trace, found: AttributionMethods, step: int) -> str:
    """Return how far the methods agree at 0-based `step`: top pieces, orders and shares."""
    told = told_answers()
    first = {name: int(found.matrices[name][step].argmax()) for name in found.names}
    named, agreed = Counter(first.values()).most_common(1)[0]
    piece = quoted_name(trace.source_pieces[named])
    if agreed == len(first):
        start = gettext("All {count} answers name {piece} first.", count=len(first), piece=piece)
    else:
        others = "; ".join(
            gettext("{answer}: {piece}", answer=told[name].name, piece=quoted_name(trace.source_pieces[j]))
            for name, j in first.items()
            if j != named
        )
        start = gettext(
            "{agreed} of {count} answers name {piece} first. The others: {others}.",
            agreed=agreed,
            count=len(first),
            piece=piece,
            others=others,
        )
    return " ".join([start, *_orders_and_shares(agreement(found, step))])


def sentence_agreement(found: Agreement, steps: int) -> str:
    """Return how far the methods agree over all `steps` of a translation."""
    told = told_answers()
    (one, other), (here, there) = ([told[name].name for name in pair] for pair in (found.together(), found.apart()))
    top = found.top[np.triu_indices(len(found.names), 1)]
    start = ngettext(
        "Over {count} step “{one}” and “{other}” name the same source piece first most often ({most}), “{here}” "
        "and “{there}” least often ({least}).",
        "Over {count} steps “{one}” and “{other}” name the same source piece first most often ({most}), “{here}” "
        "and “{there}” least often ({least}).",
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
            "Kendall’s τ between their orders of all source pieces is {tau} in the mean of the pairs.",
            tau=decimal(float(np.nanmean(tau))),
        )
    if np.isfinite(variation).any():
        yield gettext(
            "Of what they say speaks for a word, {share} lies elsewhere from one answer to another (total variation, "
            "in the mean).",
            share=percent(float(np.nanmean(variation))),
        )


def answers_caveat() -> str:
    """Return what a comparison of attribution methods does and does not show."""
    return gettext(
        "They answer different questions, so that they may differ and all be right. Where they agree, the word hangs "
        "on that piece by every measure here; where they do not, no single one of them should be read as the reason. "
        "Kendall’s τ is 1 for the same order and 0 for none in common; it counts the many small entries as much as the "
        "few large, so that it is low even where all name the same piece first."
    )
