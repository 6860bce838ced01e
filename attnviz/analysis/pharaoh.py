"""Write and read word links as text in Pharaoh format, which alignment tools exchange: `i-j i-j …`."""

from __future__ import annotations

import re

from attnviz.analysis.measures import links
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Aligned, Attention, Words


def pharaoh(words: Words, threshold: float | None = None) -> str:
    """Return the links of a translation as `i-j`, source before target, both 0-based, without `</s>`.

    Each target word links to the source word with the largest share in `words.alignment` (attention, or posterior
    attention from `posterior_words`), and to none where that is `</s>`; with a `threshold`, to all with at least that
    share.
    """
    return " ".join(f"{j}-{i}" for j, i in _strongest_links(words, threshold))


def links_text(record: Aligned, threshold: float | None = None) -> str:
    """Return the links of a record between its words, as `pharaoh` does.

    Where a file had links instead of weights, return all of them, with `i?j` for possible ones.
    """
    return " ".join(f"{j}{'?' if possible else '-'}{i}" for j, i, possible in word_links(record, threshold))


def word_links(record: Aligned, threshold: float | None = None) -> list[tuple[int, int, bool]]:
    """Return the links of `links_text`: source word, target word (0-based), and whether it is only a possible link."""
    words = record.words()
    if not isinstance(record, Attention) or not words.links:
        return [(j, i, False) for j, i in _strongest_links(words, threshold)]
    ends = [len(side) - (side[-1] == "</s>") for side in (words.source, words.target)]
    possible = {*record.possible} - {*record.sure}
    return [(j, i, (j, i) in possible) for j, i in words.links if j < ends[0] and i < ends[1]]


def _strongest_links(words: Words, threshold: float | None) -> list[tuple[int, int]]:
    """Return the links of `pharaoh`, (source word, target word)."""
    # Drop the row of </s>, but keep its column: a word that attends to it most has no counterpart.
    rows, last = (len(side) - (side[-1] == "</s>") for side in (words.target, words.source))
    return [(j, i) for j, i in links(words.alignment[:rows], threshold) if j < last]


def read_pharaoh(text: str) -> list[tuple[int, int]]:
    """Return the links (source word, target word), both 0-based, of a text in Pharaoh format.

    Raise AttnvizError where a link is malformed or there is none.
    """
    matches = [re.fullmatch(r"([0-9]{1,6})-([0-9]{1,6})", item) for item in text.split()]
    if not matches or None in matches:
        wrong = next((item for item, link in zip(text.split(), matches, strict=True) if link is None), text)
        raise AttnvizError(
            gettext(
                "“{found}” is not a link. Write links as 0-0 1-2: the source word, then the target word, both "
                "counted from 0.",
                found=wrong[:40],
            )
        )
    return [(int(link[1]), int(link[2])) for link in matches if link]


def read_gold_links(text: str) -> tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]:
    """Return the sure and the possible links (source word, target word), 0-based, of a text of gold links.

    `i-j` is sure, `i?j` or `ipj` only possible. Raise AttnvizError where a link is malformed or there is none.
    """
    sure: set[tuple[int, int]] = set()
    possible: set[tuple[int, int]] = set()
    for item in text.split() or [text]:
        link = re.fullmatch(r"([0-9]{1,6})([-?p])([0-9]{1,6})", item)
        if link is None:
            raise AttnvizError(
                gettext(
                    "“{found}” is not a link. Write links as 0-0 1?2: the source word, then the target word, "
                    "both counted from 0. The sign - marks a sure link, the sign ? a possible link.",
                    found=item[:40],
                )
            )
        (sure if link[2] == "-" else possible).add((int(link[1]), int(link[3])))
    return frozenset(sure), frozenset(possible)
