"""What the tour tells of: a translation, the words chosen of it, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.heads import open_head
from attnviz.analysis.telling import Telling, telling_word, turning_word
from attnviz.trace.interventions import acting_on
from attnviz.wording.coloured import coloured
from attnviz.wording.labels import quote, quoted_name, shorten

LONGEST = 30
"""Characters of a word in a sentence."""
LEAST = 0.01
"""Share of a look from which a word is named beside the strongest."""


@dataclass(frozen=True, eq=False)
class Toured:
    """A translation, and what its looks were about after the word."""

    record: Any
    after: NDArray[np.floating] | None
    """What the heatmap has after the word, the default of `analysis.posterior`: (target words, source words), where it
    is known."""

    @cached_property
    def word(self) -> Telling:
        """The word of the first six stops."""
        return telling_word(self.record)

    @cached_property
    def turned(self) -> int:
        """The target word of the stop after the word."""
        return self.word.word if self.after is None else turning_word(self.record, self.after)

    @cached_property
    def opened(self) -> Any:
        """The record with one look at a step: of a transformer, that of the head that is opened."""
        return open_head(self.record).trace if self.record.has_heads else self.record

    @cached_property
    def energies(self) -> NDArray[np.floating]:
        """What the softmax of the word's step is taken of, (Tx,)."""
        found: NDArray[np.floating] = (
            open_head(self.record).scores if self.record.has_heads else self.record.energies
        )[self.word.step]
        return found

    @property
    def by_hand(self) -> bool:
        """Whether the weights of the word's step were changed, and are no softmax of its energies."""
        return self.record.attends_once and bool(acting_on(self.record.interventions, self.word.step))

    def source(self, word: int) -> str:
        """Return the name of a source word."""
        return coloured(quote(shorten(self.record.words().source[word], LONGEST)), "source")

    def target(self, word: int) -> str:
        """Return the name of a target word."""
        return coloured(quote(shorten(self.record.words().target[word], LONGEST)), "target")

    def piece(self, j: int) -> str:
        """Return the name of a source piece."""
        return coloured(quoted_name(self.record.source_pieces[j]), "source")

    def written(self, i: int) -> str:
        """Return the name of a target piece."""
        return coloured(quoted_name(self.record.target_pieces[i]), "target")

    def shares(self) -> list[float]:
        """Return how much the word's step looked at each source word."""
        alpha = self.record.alignment[self.word.step]
        return [float(alpha[list(group)].sum()) for group in self.record.words().source_groups]
