"""Probabilities of the words of one translation by several models, under forced decoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Trace

Array = NDArray[np.float64]


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


def forced_words(traces: Sequence[Trace]) -> ForcedWords:
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
