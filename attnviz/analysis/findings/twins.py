"""Words that are the same on both sides: names, numbers, cognates."""

from __future__ import annotations

from collections.abc import Iterator

from attnviz.trace import Words


def is_word(text: str) -> bool:
    """Return whether there is a letter or a digit in `text`, and it is neither `</s>` nor `<unk>`."""
    return any(character.isalnum() for character in text) and text not in ("</s>", "<unk>")


def twins(words: Words) -> Iterator[tuple[int, int]]:
    """Yield (target, source) of words that stand on both sides, once on each, and are more than one letter long."""
    for i, word in enumerate(words.target):
        same = word.casefold()
        if len(word) > 1 and is_word(word) and [w.casefold() for w in words.target].count(same) == 1:
            places = [j for j, other in enumerate(words.source) if other.casefold() == same]
            if len(places) == 1:
                yield i, places[0]
