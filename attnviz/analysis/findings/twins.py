"""Words that are the same on both sides: names, numbers, cognates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from attnviz.trace import Words


@lru_cache(maxsize=10_000)
def is_word(text: str) -> bool:
    """Return whether there is a letter or a digit in `text`, and it is neither `</s>` nor `<unk>`."""
    return any(character.isalnum() for character in text) and text not in ("</s>", "<unk>")


def twins(words: Words) -> Iterator[tuple[int, int]]:
    """Yield (target, source) of words that stand on both sides, once on each, and are more than one letter long."""
    source, target = ([word.casefold() for word in side] for side in (words.source, words.target))
    for i, same in enumerate(target):
        if len(words.target[i]) > 1 and is_word(words.target[i]) and target.count(same) == source.count(same) == 1:
            yield i, source.index(same)
