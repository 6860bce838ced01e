"""`TourData`: a translation, its posterior attention, and the words and steps of the tour; marks for colours.

Sentences of the tour are plain text in which `coloured` marks names and `coloured_parts` finds them again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.findings.rules import is_word
from attnviz.analysis.tour import IllustrativeWord, WordAttention, illustrative_word, most_changed_word
from attnviz.text import join_pieces
from attnviz.trace.interventions import interventions_at
from attnviz.wording.labels import quote, quoted_name, shorten

LONGEST_WORD = 30
"""Characters of the longest word in a sentence."""
LEAST_SECOND = 0.15
"""Smallest share of the second word in a mixture that the tour shows."""
LEAST_SHARE = 0.01
"""Smallest share of attention from which a word is named besides the strongest."""

Kind = Literal["", "source", "target", "context"]
"""Colour of a part: none, encoder, decoder or context."""
Spans = list[tuple[Kind, str]]

_OPEN: dict[Kind, str] = {"source": "\x01", "target": "\x02", "context": "\x03"}
_CLOSE = "\x04"
_KINDS: dict[str, Kind] = {sign: kind for kind, sign in _OPEN.items()}
_MARKS = re.compile(f"[{''.join(_KINDS)}{_CLOSE}]")


_BORDER = re.compile(f"(?=[{''.join(_KINDS)}])|{_CLOSE}")
"""Where a coloured part begins or ends."""


def coloured(text: str, kind: Kind) -> str:
    """Return `text`, which may be user input, marked as a coloured part of a sentence."""
    return f"{_OPEN[kind]}{_MARKS.sub('', text)}{_CLOSE}"


def coloured_parts(sentence: str) -> Spans:
    """Return the parts of a `sentence` in order, each with its colour."""
    parts: Spans = []
    for part in _BORDER.split(sentence):
        if part:
            kind = _KINDS.get(part[0], "")
            parts.append((kind, part[1:] if kind else part))
    return parts


def plain(sentence: str) -> str:
    """Return a `sentence` without colour marks."""
    return _MARKS.sub("", sentence)


@dataclass(frozen=True, eq=False)
class TourData:
    """A translation and its posterior attention."""

    record: Any
    posterior_weights: NDArray[np.floating] | None
    """Posterior attention of the heatmap, (target words, source words), where known."""

    @cached_property
    def word(self) -> IllustrativeWord:
        """The word of the first six stops."""
        return illustrative_word(self.record)

    @cached_property
    def mixed_step(self) -> int:
        """The 0-based step of the stop on mixing: the word whose second share is largest, if at least LEAST_SECOND.

        Otherwise the tour's own word: a mixture of one word teaches that a context vector is a copy.
        """
        if not self.record.attends_once or len(self.record.source_pieces) < 2:
            return self.word.step
        seconds = np.sort(self.record.alignment, axis=1)[:, -2]
        words = [is_word(join_pieces([piece])) for piece in self.record.target_pieces]
        seconds = np.where(words, seconds, 0.0)
        return int(seconds.argmax()) if seconds.max() >= LEAST_SECOND else self.word.step

    @cached_property
    def attention(self) -> WordAttention:
        """The attention of whole words."""
        return WordAttention(self.record, self.record.words().alignment)

    @cached_property
    def crossed_word(self) -> int | None:
        """The neighbour that the word crosses, if there is one: the translator looks at them in the other order."""
        attention, word = self.attention, self.word.word
        if not attention.crosses(word):
            return None
        return word - 1 if word > 0 and attention.sources[word - 1] > attention.sources[word] else word + 1

    @property
    def explained_words(self) -> set[int]:
        """The target words that the stops explain, about which a question would be no question."""
        groups = self.record.words().target_groups
        mixed = {word for word, group in enumerate(groups) if self.mixed_step in group}
        crossed = set() if self.crossed_word is None else {self.crossed_word}
        return {self.word.word, self.posterior_word} | mixed | crossed

    @cached_property
    def posterior_word(self) -> int:
        """The target word of the stop on posterior attention."""
        return (
            self.word.word if self.posterior_weights is None else most_changed_word(self.record, self.posterior_weights)
        )

    @property
    def energies(self) -> NDArray[np.floating]:
        """Energies before the softmax at the word's step, (Tx,)."""
        energies: NDArray[np.floating] = self.record.displayed.energies[self.word.step]
        return energies

    @property
    def has_changed_weights(self) -> bool:
        """Whether an intervention changed the weights of the word's step."""
        return self.record.attends_once and bool(interventions_at(self.record.interventions, self.word.step))

    def source(self, word: int) -> str:
        """Return the label of a source word."""
        return coloured(quote(shorten(self.record.words().source[word], LONGEST_WORD)), "source")

    def target(self, word: int) -> str:
        """Return the label of a target word."""
        return coloured(quote(shorten(self.record.words().target[word], LONGEST_WORD)), "target")

    def piece(self, j: int) -> str:
        """Return the label of a source piece."""
        return coloured(quoted_name(self.record.source_pieces[j]), "source")

    def written(self, i: int) -> str:
        """Return the label of a target piece."""
        return coloured(quoted_name(self.record.target_pieces[i]), "target")

    def shares(self) -> list[float]:
        """Return the attention of the word's step to each source word."""
        alpha = self.record.alignment[self.word.step]
        return [float(alpha[list(group)].sum()) for group in self.record.words().source_groups]
