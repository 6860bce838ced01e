"""Sentences about the figures of the page *Why attention?*, with the numbers of the user's sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.analysis.forced_words import ForcedWords
from attnviz.analysis.prefixes import IMPROBABLE, Growth, JudgedTranslation
from attnviz.languages import gettext, ngettext
from attnviz.wording.labels import quote, shorten
from attnviz.wording.numbers import decimal, percent, significant, small
from attnviz.wording.scorers import texts_of

_MIN_RATIO = 10
"""Ratio of a word's probabilities from which two models are said to differ on it."""
_MOST_NAMED = 3


def attention_name(kind: str) -> str:
    """Return the name of a kind of attention."""
    return texts_of(kind).name


def short_name(kind: str) -> str:
    """Return the short name of a kind of attention, for a legend."""
    return texts_of(kind).short_name


def forgetting_sentences(forced_words: ForcedWords, other: int) -> list[str]:
    """Return where the model without attention falls behind model `other` (an index); empty if all have attention."""
    fixed = forced_words.fixed
    if fixed is None:
        return []
    lags, name = forced_words.lag(fixed, other), short_name(forced_words.attentions[other])
    parts = []
    if len(lags) >= 4:
        half = len(lags) // 2
        first, second = (float(np.exp(part.mean())) for part in (lags[:half], lags[half:]))
        parts.append(
            gettext(
                "In the first half of the words, the model with attention ({attention}) gives a word {first} "
                "times the probability that the fixed vector gives it. In the second half, this factor is "
                "{second} (geometric means).",
                attention=name,
                first=significant(first),
                second=significant(second),
            )
        )
        if second > first and second > 1:
            parts.append(
                gettext("The gap in probability between the fixed vector and attention grows along the sentence.")
            )
        elif first > 1 and second > 1:
            parts.append(gettext("The fixed vector does worse than attention from the beginning."))
        elif lags.mean() <= 0:
            parts.append(gettext("For this sentence one vector is enough."))
    parts.append(_largest_differences_sentence(forced_words, lags, fixed, other))
    return parts


def _largest_differences_sentence(forced_words: ForcedWords, lags: np.ndarray, fixed: int, other: int) -> str:
    """Return the words on which the two models differ most."""
    positions = [
        int(position)
        for position in np.argsort(-lags, kind="stable")[:_MOST_NAMED]
        if lags[position] >= np.log(_MIN_RATIO)
    ]
    if not positions:
        return gettext("No word is ten times likelier with attention than with the fixed vector.")
    listed = [
        gettext(
            "{word} ({fixed} against {other})",
            word=quote(shorten(forced_words.words[position], 20)),
            fixed=small(float(np.exp(forced_words.log_probabilities[fixed, position]))),
            other=small(float(np.exp(forced_words.log_probabilities[other, position]))),
        )
        for position in positions
    ]
    count = int((lags >= np.log(_MIN_RATIO)).sum())
    return gettext(
        "Words at least ten times less likely with the fixed vector than with attention: {count} of {all}, above "
        "all {listed}.",
        count=count,
        all=len(lags),
        listed=", ".join(listed),
    )


def gradient_share_sentences(kinds: Sequence[str], shares: Sequence[tuple[float, float] | None]) -> tuple[str, str]:
    """Return the share of the gradient that reaches the most-attended piece in models with these `kinds` of attention.

    `shares` are the share of the gradient that reaches the piece that additive attention attends to most, and the share
    that a uniform gradient would have, which is in the second sentence; None where unknown. Both sentences are empty if
    all are unknown.
    """
    known = [(kind, share) for kind, share in zip(kinds, shares, strict=True) if share is not None]
    if not known:
        return "", ""
    return (
        gettext(
            "Share of the gradient that reaches the right piece: {listed}",
            listed=", ".join(f"{short_name(kind)} {percent(share[0])}" for kind, share in known),
        ),
        gettext(
            "The right piece is the one with the largest weight under additive attention. A uniform gradient would "
            "give it {alike}.",
            alike=percent(known[0][1][1]),
        ),
    )


def small_length(length: float) -> str:
    """Return the norm of a gradient to two digits."""
    return small(length) if length < 1 else significant(length)


def growth_sentence(growth: Growth) -> str:
    """Return how many content words of the whole sentence each of the three models leaves out."""
    last = {kind: row[-1] for kind, row in zip(growth.attentions, growth.translations, strict=True)}
    return gettext(
        "By the estimate of a better model, the fixed vector leaves out {fixed} of the {all} content words of the "
        "whole sentence. General attention leaves out {general}, additive attention {additive}.",
        fixed=len(last["none"].omitted),
        all=len(last["none"].content),
        general=len(last["general"].omitted),
        additive=len(last["additive"].omitted),
    )


def judgement_note(judged: JudgedTranslation, score: float | None) -> str:
    """Return the left-out and improbable words of a translation, and its chrF2 `score` if any, a line for each."""
    parts = [
        ngettext(
            "{count} of {all} content words left out",
            "{count} of {all} content words left out",
            len(judged.omitted),
            all=len(judged.content),
        ),
        ngettext(
            "{count} of {all} French words below {limit}",
            "{count} of {all} French words below {limit}",
            judged.improbable,
            all=len(judged.words),
            limit=percent(IMPROBABLE),
        ),
    ]
    if score is not None:
        parts.append(f"chrF {decimal(score, 0)}")
    return "\n".join(parts)


def shares_by_length_sentence(buckets: tuple[str, str], shares: tuple[float, float]) -> str:
    """Return the BLEU of a fixed vector, as a share of that of additive attention, in the first and last bucket."""
    return gettext(
        "On sentences of {short} words, the fixed vector reaches {short_share} of the BLEU of additive attention. On "
        "sentences of {long} words, it reaches {long_share}.",
        short=_bucket_name(buckets[0]),
        short_share=percent(shares[0]),
        long=_bucket_name(buckets[1]),
        long_share=percent(shares[1]),
    )


def _bucket_name(bucket: str) -> str:
    return gettext("more than {count}", count=bucket[1:]) if bucket.startswith(">") else bucket


def length_sentence(words: int, bucket: str, scores: dict[str, float]) -> str:
    """Return the length bucket of a sentence, and the BLEU of each kind of attention there."""
    listed = ", ".join(f"{short_name(kind)} {decimal(score, 1)}" for kind, score in scores.items())
    return ngettext(
        "Your sentence has {count} word. BLEU for sentences of {bucket} words: {listed}.",
        "Your sentence has {count} words. BLEU for sentences of {bucket} words: {listed}.",
        words,
        bucket=bucket,
        listed=listed,
    )
