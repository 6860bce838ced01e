"""Prefixes of a sentence; data classes of their judged translations, and of the probabilities of forced words.

The translations are by several models, the judgement by another: improbable words, and content words of the source left
out. No model is run here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.word_classes import content_words
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Trace
from attnviz.trace.parts import Array

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


def largest_shares(shares: NDArray[np.float64], log_probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest share of each source word in a target word that may render it, (W, S) and (W,) to (S,).

    `shares` is the posterior attention between words. Target words less probable than `LEAST_PROBABILITY` do not
    count.
    """
    probable = log_probabilities >= math.log(LEAST_PROBABILITY)
    largest: NDArray[np.float64] = shares[probable].max(axis=0, initial=0)
    return largest


@dataclass(frozen=True, eq=False)
class JudgedTranslation:
    """A translation, and the judgement of a model that was forced to write it."""

    text: str
    words: tuple[str, ...]
    """Words of the translation, with the blank before each; without `</s>`."""
    log_probabilities: NDArray[np.float64]
    """log p of each word given the words before it, summed over its pieces, in nats, (W,)."""
    source_words: tuple[str, ...]
    """Words of the source, with the blank before each; without `</s>`."""
    shares: NDArray[np.float64]
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
            raise AttnvizError(
                gettext(
                    "{model} and {other} cannot be compared: their sentences or translations differ.",
                    model=traces[0].model,
                    other=trace.model,
                )
            )
    logs = [
        [float(trace.log_probabilities[list(group)].astype(np.float64).sum()) for group in trace.words().target_groups]
        for trace in traces
    ]
    kinds = tuple(str(trace.config["attention"]) for trace in traces)
    return ForcedWords(words, tuple(trace.model for trace in traces), kinds, np.array(logs))
