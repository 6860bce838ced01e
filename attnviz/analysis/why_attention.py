"""Why attention: prefixes of a sentence, forced words, gradients by distance, and sentences with their numbers.

`PrefixTranslations` are by several models, judged by another: improbable words, and content words of the source left
out. `ForcedWords` are the probabilities of one translation. `GradientNorms` are given; no model is run here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.energy_equations import texts_of
from attnviz.analysis.labels import decimal, percent, quote, significant, small
from attnviz.analysis.measures import ranked
from attnviz.analysis.word_classes import content_words
from attnviz.errors import user_error
from attnviz.languages import gettext, ngettext
from attnviz.trace import Array, Trace, float64
from attnviz.trace.parts import GradientNorms

_MOST_BINS = 14


@dataclass(frozen=True, eq=False)
class GradientDecay:
    """Quartiles of gradient norms, by distance between word and source piece."""

    distances: Array
    """Mean number of steps in each of the B bins, (B,)."""
    start: Array
    """Gradient through s_0, the recurrence alone: lower quartile, median and upper quartile, (3, B)."""
    contexts: Array
    """Gradient through the contexts: lower quartile, median and upper quartile, (3, B)."""
    near: tuple[float, float]
    """Medians through s_0 and through the contexts, over the nearest quarter of all pairs."""
    far: tuple[float, float]
    """Medians through s_0 and through the contexts, over the farthest quarter of all pairs."""


def distances(steps: int, pieces: int) -> NDArray[np.int64]:
    """Return the number of recurrent steps between each word and each source piece, without contexts, (Ty, Tx).

    These are i decoder steps (from 0) back to s_0, computed from the backward annotation of the first piece, and from
    there j steps of the encoder to piece j (from 0).
    """
    i, j = np.indices((steps, pieces))
    return np.asarray(i + j, dtype=np.int64)


def gradient_quartiles(signals: GradientNorms) -> GradientDecay:
    """Return the quartiles of gradient norms by distance."""
    steps_between = distances(*signals.start.shape)
    end = int(steps_between.max()) + 1
    edges = np.unique(np.linspace(0, end, min(end, _MOST_BINS) + 1).round().astype(int))
    groups = [(steps_between >= low) & (steps_between < high) for low, high in pairwise(edges)]
    start, contexts = (
        np.stack([np.quantile(values[group], [0.25, 0.5, 0.75]) for group in groups], axis=1)
        for values in (signals.start, signals.contexts)
    )
    means = np.array([steps_between[group].mean() for group in groups])
    near, far = (
        (float(np.median(signals.start[pairs])), float(np.median(signals.contexts[pairs])))
        for pairs in (
            steps_between <= np.quantile(steps_between, 0.25),
            steps_between >= np.quantile(steps_between, 0.75),
        )
    )
    return GradientDecay(means, start, contexts, near, far)


def gradient_share(signals: GradientNorms, attended: NDArray[np.integer]) -> tuple[float, float]:
    """Return the share of the gradient that reaches the most attended piece, mean over words, and its baseline.

    `attended` has that piece for each word, (Ty,). The baseline is a gradient that reaches all pieces equally; both are
    from 0 to 1.
    """
    shares = signals.whole / np.maximum(signals.whole.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return float(shares[np.arange(len(attended)), attended].mean()), 1 / signals.whole.shape[1]


FIRST = 5
"""Words of the shortest prefix."""
MOST_PREFIXES = 40
"""Largest number of prefixes; those of a longer sentence are several words apart."""
IMPROBABLE = 0.1
"""Probability below which a word of a translation is improbable."""
LEAST_PROBABILITY = 0.01
"""Probability below which a word of a translation renders no source word."""
_LEAST_SHARE = 0.5
"""Share of its posterior attention with which a word of a translation renders a source word."""


def prefixes(sentence: str) -> tuple[str, ...]:
    """Return the prefixes of `sentence` that end after a word, shortest first; the last is the sentence.

    A blank sentence has none.
    """
    words = sentence.split()
    between = max(1, math.ceil((len(words) - FIRST + 1) / MOST_PREFIXES))
    counts = range(len(words), min(FIRST, len(words)) - 1, -between) if words else ()
    return tuple(" ".join(words[:count]) for count in reversed(counts))


def largest_shares(shares: Array, log_probabilities: Array) -> Array:
    """Return the largest share of each source word in a target word that may render it, (W, S) and (W,) to (S,).

    `shares` is the posterior attention between words. Target words less probable than `LEAST_PROBABILITY` do not
    count.
    """
    probable = log_probabilities >= math.log(LEAST_PROBABILITY)
    return shares[probable].max(axis=0, initial=0)


@dataclass(frozen=True, eq=False)
class JudgedTranslation:
    """A translation, and the judgement of a model that was forced to write it."""

    text: str
    words: tuple[str, ...]
    """Words of the translation, with the blank before each; without `</s>`."""
    log_probabilities: Array
    """log p of each word given the words before it, summed over its pieces, in nats, (W,)."""
    source_words: tuple[str, ...]
    """Words of the source, with the blank before each; without `</s>`."""
    shares: Array
    """Largest share of each source word in a target word, in [0, 1], (S,): see `largest_shares`."""

    @property
    def improbable(self) -> int:
        """Number of words with a probability below `IMPROBABLE`."""
        return int((self.log_probabilities < math.log(IMPROBABLE)).sum())

    @property
    def content(self) -> tuple[int, ...]:
        """0-based content words of the source."""
        return content_words([word.strip() for word in self.source_words])

    @property
    def omitted(self) -> tuple[int, ...]:
        """0-based content words of the source that no target word renders."""
        return tuple(place for place in self.content if self.shares[place] < _LEAST_SHARE)


@dataclass(frozen=True, eq=False)
class PrefixTranslations:
    """Translations by M models of the N prefixes of a sentence, with the judgement of another model."""

    prefixes: tuple[str, ...]
    models: tuple[str, ...]
    attentions: tuple[str, ...]
    """Each model's kind of attention: "additive", "general" or "none"."""
    judge: str
    """The judging model."""
    translations: tuple[tuple[JudgedTranslation, ...], ...]
    """For each model, its translations of the N prefixes."""

    @property
    def sentence(self) -> str:
        """The whole sentence."""
        return self.prefixes[-1]

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of words of each prefix, divided by blanks."""
        return tuple(len(prefix.split()) for prefix in self.prefixes)


@dataclass(frozen=True, eq=False)
class ForcedWords:
    """Probabilities by M models of the W words of one translation, `</s>` last."""

    words: tuple[str, ...]
    models: tuple[str, ...]
    attentions: tuple[str, ...]
    """Each model's kind of attention: "additive", "general" or "none"."""
    log_probabilities: Array
    """log p of each word given the words before it, summed over its pieces, in nats, (M, W)."""

    @property
    def fixed(self) -> int | None:
        """Index of the first model without attention; None where there is none."""
        return self.attentions.index("none") if "none" in self.attentions else None

    def lag(self, model: int, better: int) -> Array:
        """Return the log probability of each word by model `better` minus that by `model`, in nats, (W,)."""
        return np.asarray(self.log_probabilities[better] - self.log_probabilities[model])


def forced_word_probabilities(traces: Sequence[Trace]) -> ForcedWords:
    """Return the words of the translation that all `traces` were forced to write, with their probabilities.

    Raise ValueError without traces, and AttnvizError where sentence, translation or words differ.
    """
    if not traces:
        raise ValueError("no translation is given")
    words = traces[0].words().target
    for trace in traces:
        if trace.words().target != words or trace.source_text != traces[0].source_text:
            raise user_error(
                "{model} and {other} cannot be compared: their sentences or translations differ.",
                model=traces[0].model,
                other=trace.model,
            )
    logs = [
        [float(float64(trace.log_probabilities[list(group)]).sum()) for group in trace.words().target_groups]
        for trace in traces
    ]
    kinds = tuple(str(trace.config["attention"]) for trace in traces)
    return ForcedWords(words, tuple(trace.model for trace in traces), kinds, np.array(logs))


_MIN_RATIO = 10
"""Ratio of a word's probabilities from which two models are said to differ on it."""
_MOST_NAMED = 3


def attention_name(kind: str) -> str:
    """Return the name of a kind of attention."""
    return texts_of(kind).name


def short_kind_name(kind: str) -> str:
    """Return the short name of a kind of attention, for a legend."""
    return texts_of(kind).short_name


def forgetting_sentences(forced_words: ForcedWords, other: int) -> list[str]:
    """Return where the model without attention falls behind model `other` (an index); empty if all have attention."""
    fixed = forced_words.fixed
    if fixed is None:
        return []
    lags, name = forced_words.lag(fixed, other), short_kind_name(forced_words.attentions[other])
    parts = []
    if len(lags) >= 4:
        half = len(lags) // 2
        first, second = (float(np.exp(part.mean())) for part in (lags[:half], lags[half:]))
        parts.append(
            gettext(
                "With attention ({attention}), a word in the first half of the translation is on average {first} times "
                "as probable as with the fixed vector. In the second half, a word is {second} times as probable with "
                "attention as with the fixed vector (geometric means).",
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
    positions = [position for position in ranked(lags)[:_MOST_NAMED] if lags[position] >= np.log(_MIN_RATIO)]
    if not positions:
        return gettext("No word is ten times likelier with attention than with the fixed vector.")
    listed = [
        gettext(
            "{word} ({fixed} against {other})",
            word=quote(forced_words.words[position], 20),
            fixed=small(np.exp(forced_words.log_probabilities[fixed, position])),
            other=small(np.exp(forced_words.log_probabilities[other, position])),
        )
        for position in positions
    ]
    count = int((lags >= np.log(_MIN_RATIO)).sum())
    return gettext(
        "Words at least ten times less likely with the fixed vector than with attention, {count} of {all}: {listed}."
        if count == len(listed)
        else "Words at least ten times less likely with the fixed vector than with attention: {count} of {all}, above "
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
            "Share of the gradient that reaches the most-attended piece: {listed}",
            listed=", ".join(f"{short_kind_name(kind)} {percent(share[0])}" for kind, share in known),
        ),
        gettext(
            "The most-attended piece is the one with the largest weight under additive attention. If the gradient were "
            "spread evenly over all pieces, {alike} of it would reach the most-attended piece.",
            alike=percent(known[0][1][1]),
        ),
    )


def small_length(length: float) -> str:
    """Return the norm of a gradient to two digits."""
    return small(length) if length < 1 else significant(length)


def growth_sentence(growth: PrefixTranslations) -> str:
    """Return how many content words of the whole sentence each of the three models leaves out."""
    last = {kind: row[-1] for kind, row in zip(growth.attentions, growth.translations, strict=True)}
    return gettext(
        "A better model estimates that the fixed vector leaves out {fixed} of the {all} content words of the whole "
        "sentence, general attention {general}, and additive attention {additive}.",
        fixed=len(last["none"].omitted),
        all=len(last["none"].content),
        general=len(last["general"].omitted),
        additive=len(last["additive"].omitted),
    )


def judgement_note(judged: JudgedTranslation, score: float | None) -> str:
    """Return the left-out and improbable words of a translation, and its chrF2 `score` if any, a line for each."""
    parts = [
        ngettext(
            "{count} of {all} English content words left out",
            "{count} of {all} English content words left out",
            len(judged.omitted),
            all=len(judged.content),
        ),
        ngettext(
            "{count} of {all} French words with p below {limit}",
            "{count} of {all} French words with p below {limit}",
            judged.improbable,
            all=len(judged.words),
            limit=percent(IMPROBABLE),
        ),
    ]
    if score is not None:
        parts.append(f"chrF2 {decimal(score, 0)}")
    return "\n".join(parts)


def shares_by_length_sentence(
    buckets: tuple[str, str], fixed: tuple[float, float], additive: tuple[float, float]
) -> tuple[str, str]:
    """Return the BLEU of a fixed vector beside that of additive attention, in the first and last bucket.

    The second sentence, on how far both fall, is empty where attention does not fall or falls more.
    """
    (short, long), (short_share, long_share) = (
        buckets,
        [a / b if b else 0.0 for a, b in zip(fixed, additive, strict=True)],
    )
    sentence = gettext(
        "The fixed vector reaches {short_share} of the BLEU of additive attention on sentences of {short} words, and "
        "{long_share} on sentences of {long} words.",
        short=bucket_name(short),
        short_share=percent(short_share),
        long=bucket_name(long),
        long_share=percent(long_share),
    )
    if additive[1] >= additive[0] or long_share >= short_share:
        return sentence, ""
    harder = gettext(
        "Long sentences are harder with attention too: the BLEU of additive attention falls from {before} to {after}. "
        "With the fixed vector, BLEU falls from {fixed_before} to {fixed_after}.",
        before=decimal(additive[0], 1),
        after=decimal(additive[1], 1),
        fixed_before=decimal(fixed[0], 1),
        fixed_after=decimal(fixed[1], 1),
    )
    return sentence, harder


def bucket_name(bucket: str) -> str:
    """Return the numbers of words of a length bucket, "11-20" or ">50", as in a sentence."""
    first, _, last = bucket.lstrip(">").partition("-")
    return gettext("{first} to {last}", first=first, last=last) if last else gettext("more than {count}", count=first)


def length_sentence(words: int, bucket: str, scores: dict[str, float]) -> str:
    """Return the length bucket of a sentence, and the BLEU of each kind of attention there."""
    listed = ", ".join(f"{short_kind_name(kind)} {decimal(score, 1)}" for kind, score in scores.items())
    return ngettext(
        "Your sentence has {count} word. BLEU for sentences of {bucket} words: {listed}.",
        "Your sentence has {count} words. BLEU for sentences of {bucket} words: {listed}.",
        words,
        bucket=bucket_name(bucket),
        listed=listed,
    )
