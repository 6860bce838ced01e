"""Find words that are spelled alike on both sides: names, numbers, cognates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from attnviz.trace import Words


@lru_cache(maxsize=10_000)
def is_word(text: str) -> bool:
    """Return whether `text` has a letter or digit and is not a special piece."""
    return any(character.isalnum() for character in text) and text not in ("</s>", "<unk>")


def same_spellings(words: Words) -> Iterator[tuple[int, int]]:
    """Yield (target, source) of words that occur once on each side and are longer than one letter."""
    source, target = ([word.casefold() for word in side] for side in (words.source, words.target))
    for i, folded in enumerate(target):
        if len(words.target[i]) > 1 and is_word(words.target[i]) and target.count(folded) == source.count(folded) == 1:
            yield i, source.index(folded)
