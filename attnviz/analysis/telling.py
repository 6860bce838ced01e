"""Which words of a translation tell most of how it looked: the rules by which the tour and its questions choose.

Words are those of `Record.words`, by 0-based index; a look is *clear* where one source word has at least half of it,
and a fifth more than any other; words *cross* where two neighbours looked clearly, and the later one further left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.word_classes import is_content, is_mark
from attnviz.text import SPECIAL_PIECES
from attnviz.trace import Record
from attnviz.trace.interventions import acting_on

Array = NDArray[np.floating]

CLEAR = 0.5
"""Share of a look from which on it is clear where it went."""
LEAD = 0.2
"""By how much of a look its strongest source word is before every other where it is clear."""
SHARED = 0.95
"""Share up to which something is left for other words, so that there is something to compare with."""
MOVED = 0.1
"""Total variation from which on a look turned out to be about something else than it seemed."""
_ALIKE = 1e-6
"""Shares that differ by less are the same."""


@dataclass(frozen=True, eq=False)
class Looks:
    """A translation word by word, with where each word looked."""

    record: Record
    shares: Array
    """(target words, source words), rows sum to 1."""

    @cached_property
    def sources(self) -> tuple[int, ...]:
        """Of each target word the source word it looked at most, the first of equals."""
        return tuple(int(k) for k in self.shares.argmax(axis=1))

    def strongest(self, word: int) -> tuple[int, ...]:
        """Return all source words that have the largest share of the look of a target word."""
        row = self.shares[word]
        return tuple(int(k) for k in np.flatnonzero(row >= row.max() - _ALIKE))

    def makes_sense(self, word: int) -> bool:
        """Return whether it can be asked where a target word looked, and be answered by a word: both have a letter or a
        digit, and the model knows them."""
        words, record = self.record.words(), self.record
        source = self.sources[word]
        sides = (
            (words.target[word], words.target_groups[word], record.target_pieces),
            (words.source[source], words.source_groups[source], record.source_pieces),
        )
        return not any(is_mark(text) or {pieces[i] for i in group} & {*SPECIAL_PIECES} for text, group, pieces in sides)

    def is_clear(self, word: int) -> bool:
        """Return whether the look of a target word is clear."""
        shares = np.sort(self.shares[word])[::-1]
        return bool(shares[0] >= CLEAR and (len(shares) == 1 or shares[0] - shares[1] >= LEAD))

    def crosses(self, word: int) -> bool:
        """Return whether a target word and a neighbour of it looked in the other order than they stand."""
        if not self._tells(word):
            return False
        here, sources = self.sources[word], self.sources
        before = word > 0 and self._tells(word - 1) and sources[word - 1] > here
        after = word + 1 < len(sources) and self._tells(word + 1) and sources[word + 1] < here
        return before or after

    def _tells(self, word: int) -> bool:
        return self.makes_sense(word) and self.is_clear(word)


@dataclass(frozen=True)
class Telling:
    """A target word, where in the translation it begins, and the source word it looked at most; all 0-based."""

    word: int
    step: int
    source: int


def telling_word(record: Record) -> Telling:
    """Return the word of which the tour tells: by its first step, the first that is best by these, in their order.

    It makes sense, its look was not changed by hand, and is clear; it crosses a neighbour; it stands at another place
    than the word it looked at; it is a content word; it and that word are of one piece each; something of the look is
    left for others; and of all these the one with the largest share. Where nothing makes sense it is the first word.
    """
    words = record.words()
    first = np.array([group[0] for group in words.target_groups])
    groups = [list(group) for group in words.source_groups]
    shares = np.stack([record.alignment[first][:, group].sum(axis=1) for group in groups], axis=1)
    looks = Looks(record, shares)

    def rank(word: int) -> tuple[float, ...]:
        source, share = looks.sources[word], float(shares[word].max())
        whole = len(words.target_groups[word]) == len(words.source_groups[source]) == 1
        by_hand = record.attends_once and bool(acting_on(record.interventions, int(first[word])))
        return (
            looks.makes_sense(word),
            not by_hand,
            looks.is_clear(word),
            looks.crosses(word),
            source != word,
            is_content(words.target[word], "target"),
            whole,
            share <= SHARED,
            share,
        )

    best = max(range(len(words.target)), key=rank)
    return Telling(best, int(first[best]), looks.sources[best])


def turning_word(record: Record, after: Array) -> int:
    """Return the target word whose look turned out to be about something else than it seemed: of those that make sense
    before and `after` the word, (Ty, Tx) in words, and of which it is clear then what they were about, the
    one of the largest total variation between the two; where there is none, that of all words. Words of one piece that
    looked at such go before others where one of them moved by `MOVED` at least: the page shows their shares alike
    everywhere."""
    words, before = record.words(), record.words().alignment
    looks, later = Looks(record, before), Looks(record, after)
    moved = 0.5 * np.abs(after - before).sum(axis=1)

    def rank(word: int) -> tuple[float, ...]:
        sources = {looks.sources[word], later.sources[word]}
        whole = {len(words.target_groups[word]), *(len(words.source_groups[source]) for source in sources)} == {1}
        sensible = later.makes_sense(word) and looks.makes_sense(word) and later.is_clear(word)
        return sensible, whole and moved[word] >= MOVED, moved[word]

    return max(range(len(moved)), key=rank)
