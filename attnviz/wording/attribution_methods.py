"""Names and explanations of the six attribution methods, and sentences about how far the methods agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attnviz.analysis.attribution_methods import Agreement, AttributionMethod, AttributionMethods, agreement
from attnviz.languages import gettext, ngettext
from attnviz.trace import Trace
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import decimal, percent


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
                "Logit attribution is what a piece adds to the logit of the word through attention. attnviz "
                "subtracts what the piece adds, on average, to the logits of all pieces of the vocabulary. Logit "
                "attribution leaves out what comes through the decoder state."
            ),
        ),
        "gradient": MethodTexts(
            gettext("Gradient × input"),
            gettext("effect of small input changes"),
            gettext("nats"),
            gettext(
                "Gradient × input is how fast the log probability of the word changes when the embedding of a piece "
                "is scaled. The gradient goes through the decoder and the encoder. Gradient × input describes small "
                "changes only."
            ),
        ),
        "erased": MethodTexts(
            gettext("Erased from attention"),
            gettext("log p lost if piece masked"),
            gettext("nats"),
            gettext(
                "Erased from attention: the step cannot attend to the piece. The number says how much log "
                "probability the word loses. The annotations of neighbouring pieces still contain information about "
                "the erased piece."
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
    piece = quoted_name(trace.source_pieces[top_piece])
    if count == len(first):
        start = gettext("All {count} attributions rank {piece} first.", count=len(first), piece=piece)
    else:
        others = "; ".join(
            gettext("{answer}: {piece}", answer=texts[name].name, piece=quoted_name(trace.source_pieces[j]))
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
        most=percent(float(top.max())),
        here=here,
        there=there,
        least=percent(float(top.min())),
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
            tau=decimal(float(np.nanmean(tau))),
        )
    if np.isfinite(variation).any():
        yield gettext(
            "On average, two methods give {share} of a word’s positive attribution to different source pieces (total "
            "variation).",
            share=percent(float(np.nanmean(variation))),
        )


def attributions_caveat() -> str:
    """Return what a comparison of attribution methods does and does not show."""
    return gettext(
        "The attributions answer different questions, so they can differ and all be right. If all attributions "
        "agree on a piece, the word depends on that piece by every measure. If the attributions differ, no "
        "single attribution gives the reason for the word. Kendall’s τ is 1 if two attributions rank the pieces "
        "in the same order, and 0 if their orders are unrelated. Kendall’s τ counts the many small values as "
        "much as the few large values. So τ can be low even where all attributions rank the same piece first."
    )
