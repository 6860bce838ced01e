"""Words that may stand in one another's place: of one kind, but, as far as the pairs tell, of different meanings.

A kind is a look, an ending and a class of frequency. What a word means is told by the pieces of the other language that
a lexicon learnt from the pairs links it to: words that share one are not exchanged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED, replacing
from attnviz.text import EOS, PAD, SPACE, Tokenizer

Word = tuple[int, ...]
"""Ids of its pieces."""

_FEWEST = 4
"""Times a word has to occur, and words that a kind has to have."""
_COMMONEST = 1e-3
"""Share of all words above which one is left alone: with function words exchanged, a translation may still be one."""
_FEW = 200
"""Times that a word may occur in any case, however few the pairs."""
_LETTERS = 3
_LONGEST = 5
"""Pieces of the longest word that is exchanged."""
_NONE = -1


class WordFinder:
    """Finds the words in a sentence of ids: runs of letters and digits."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Take the tokenizer that the ids are of."""
        pieces = tokenizer.pieces(range(len(tokenizer)))
        self.texts = [piece.replace(SPACE, "") for piece in pieces]
        first = [piece.startswith(SPACE) for piece in pieces]
        known = [index > EOS for index in range(len(pieces))]
        spells = [text.isalnum() for text in self.texts]
        self._opens = [k and f and (s or not t) for k, f, s, t in zip(known, first, spells, self.texts, strict=True)]
        self._goes_on = [k and s and not f for k, s, f in zip(known, spells, first, strict=True)]
        self.digits = {text: index for index, text in enumerate(self.texts) if text.isdigit() and not first[index]}

    def words(self, ids: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield where each word of `ids` begins and ends."""
        start = _NONE
        for place, index in enumerate(ids):
            if self._goes_on[index]:
                start = place if start == _NONE else start
                continue
            if start != _NONE:
                yield start, place
            start = place if self._opens[index] else _NONE
        if start != _NONE:
            yield start, len(ids)

    def spelling(self, word: Iterable[int]) -> str:
        """Return the text of a word, without its blank."""
        return "".join(self.texts[index] for index in word)

    def look(self, word: Word) -> tuple[str, bool, bool] | None:
        """Return ending, whether it is capitalised, and whether a blank stands before it; None for a short word, or one
        with digits, which is not to be looked up."""
        text = self.spelling(word)
        if len(text) < _LETTERS or not text.isalpha():
            return None
        return text[-2:].lower(), text[0].isupper(), self._opens[word[0]]


@dataclass(frozen=True)
class Exchanges:
    """The words of one language by kind, N of them."""

    words: NDArray[np.int32]
    """Ids of the pieces of each, PAD where it is over, (N, pieces)."""
    kinds: NDArray[np.int32]
    """The kind of each, counted from 0, (N,)."""
    counterparts: NDArray[np.int32]
    """The pieces of the other language that each of the K pieces is linked to, -1 where there are fewer, (K, links)."""

    @cached_property
    def _members(self) -> list[list[Word]]:
        found: list[list[Word]] = [[] for _ in range(int(self.kinds.max(initial=-1)) + 1)]
        for kind, row in zip(self.kinds.tolist(), self.words.tolist(), strict=True):
            found[kind].append(tuple(index for index in row if index != PAD))
        return found

    @cached_property
    def _kind(self) -> dict[Word, int]:
        return {word: kind for kind, words in enumerate(self._members) for word in words}

    def means(self, word: Word) -> frozenset[int]:
        """Return the pieces of the other language that the pieces of `word` are linked to."""
        return frozenset(self.counterparts[list(word)].ravel().tolist()) - {_NONE}

    def another(self, word: Word, random: np.random.Generator) -> Word | None:
        """Return a word of the same kind with no piece linked to what a piece of `word` is linked to; None where `word`
        is not exchanged, or where a few draws find none."""
        kind = self._kind.get(word)
        if kind is None:
            return None
        members, means = self._members[kind], self.means(word)
        for place in random.integers(len(members), size=8).tolist():
            found: Word = members[place]
            if found != word and not means & self.means(found):
                return found
        return None


def learn_exchanges(
    sentences: Sequence[Sequence[int]], finder: WordFinder, counterparts: NDArray[np.int32]
) -> Exchanges:
    """Return the kinds of the words of these `sentences`, ids of one language; a sentence's first word, which is
    capitalised whatever it is, does not count. `counterparts` (K, links)."""
    counts: Counter[Word] = Counter()
    for ids in sentences:
        counts.update(tuple(ids[start:end]) for start, end in finder.words(ids) if start > 0)
    most = max(_FEW, _COMMONEST * counts.total())
    kinds: dict[tuple[object, ...], list[Word]] = {}
    for word, count in sorted(counts.items()):
        look = finder.look(word) if _FEWEST <= count <= most and len(word) <= _LONGEST else None
        if look:
            kinds.setdefault((*look, math.log2(count) // 2), []).append(word)
    members = [words for words in kinds.values() if len(words) >= _FEWEST]
    rows = np.full((sum(map(len, members)), _LONGEST), PAD, dtype=np.int32)
    for row, word in zip(rows, (word for words in members for word in words), strict=True):
        row[: len(word)] = word
    return Exchanges(rows, np.repeat(np.arange(len(members), dtype=np.int32), list(map(len, members))), counterparts)


def save_exchanges(path: Path, sides: Sequence[Exchanges]) -> None:
    """Write those of source and target to `path` (.npz), whole or not at all."""
    arrays = {
        f"{side}_{name}": getattr(found, name)
        for side, found in zip(("source", "target"), sides, strict=True)
        for name in ("words", "kinds", "counterparts")
    }
    with replacing(path) as beside, beside.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load_exchanges(path: Path, vocabulary_size: int) -> tuple[Exchanges, Exchanges]:
    """Read what `save_exchanges` wrote; raise AttnvizError, naming the file, where it is missing, damaged or of another
    vocabulary than one of `vocabulary_size` pieces."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            source, target = (
                Exchanges(*(arrays[f"{side}_{name}"] for name in ("words", "kinds", "counterparts")))
                for side in ("source", "target")
            )
        for side in (source, target):
            _check(side, vocabulary_size)
    except DAMAGED as error:
        raise AttnvizError(f"The words to exchange, {path}, cannot be read ({error}). Restore the file.") from error
    return source, target


def _check(side: Exchanges, vocabulary_size: int) -> None:
    """Raise ValueError unless the arrays fit one another and the vocabulary."""
    words, kinds, counterparts = side.words, side.kinds, side.counterparts
    if any(array.dtype != np.int32 for array in (words, kinds, counterparts)) or words.ndim != 2:
        raise ValueError("its arrays are of other kinds")
    if kinds.shape != words.shape[:1] or ((kinds < 0) | (kinds >= max(1, len(kinds)))).any():
        raise ValueError("its kinds do not fit its words")
    if counterparts.ndim != 2 or len(counterparts) != vocabulary_size:
        raise ValueError(f"it is of another tokenizer than one of {vocabulary_size} pieces")
    last = max(words.max(initial=0), counterparts.max(initial=0))
    if words.min(initial=0) < PAD or (words[:, :1] <= EOS).any() or last >= vocabulary_size:
        raise ValueError("it holds an id of no piece")
