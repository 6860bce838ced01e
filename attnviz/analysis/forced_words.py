"""Several models led through one translation: how likely each found every word of it, and where they part."""

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
    """M models on the W words of one translation, `</s>` last."""

    words: tuple[str, ...]
    models: tuple[str, ...]
    attentions: tuple[str, ...]
    """The kind of each model's attention: "additive", "general" or "none"."""
    log_probabilities: Array
    """log p of each word in nats, given the words before it: of a word of several pieces their sum, (M, W)."""

    @property
    def fixed(self) -> int | None:
        """The first model without attention, by its place; None where there is none."""
        return self.attentions.index("none") if "none" in self.attentions else None

    def lag(self, behind: int, ahead: int) -> Array:
        """Return by how much model `ahead` finds each word likelier than model `behind`, in nats: (W,)."""
        return np.asarray(self.log_probabilities[ahead] - self.log_probabilities[behind])


def forced_words(traces: Sequence[Trace]) -> ForcedWords:
    """Return the words of the translation that all `traces` were led through, with what each made of them.

    Raise ValueError where there are none, and AttnvizError where they are not of one sentence and translation, or cut
    it into other words.
    """
    if not traces:
        raise ValueError("no translation is given")
    words = traces[0].words().target
    for trace in traces:
        if trace.words().target != words or trace.source_text != traces[0].source_text:
            raise AttnvizError(
                gettext(
                    "{model} and {other} were led through different words: they do not compare.",
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
