"""Word links as text, in the format of the Pharaoh decoder that alignment tools exchange: `i-j i-j …`."""

from __future__ import annotations

import re

from attnviz.analysis.measures import links
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Words


def pharaoh(words: Words, threshold: float | None = None) -> str:
    """Return the links of a translation as `i-j`, source before target, both from 0, `</s>` left out.

    Each target word is linked to the source word with the largest share in `words.alignment` (of attention, or, from
    `words_after`, of the posterior), and to none where that is `</s>`; with a `threshold`, to all with at least that
    share.
    """
    # The row of </s> goes; its column stays until the links are drawn, for a word that looked most at the end of the
    # sentence has no counterpart.
    rows, last = (len(side) - (side[-1] == "</s>") for side in (words.target, words.source))
    return " ".join(f"{i}-{j}" for i, j in links(words.alignment[:rows], threshold) if i < last)


def read_pharaoh(text: str) -> list[tuple[int, int]]:
    """Return the (source word, target word) links, both from 0, of a text as `pharaoh` writes it; raise AttnvizError
    where something in it is no link, or there is none."""
    found = [re.fullmatch(r"([0-9]{1,6})-([0-9]{1,6})", one) for one in text.split()]
    if not found or None in found:
        wrong = next((one for one, link in zip(text.split(), found, strict=True) if link is None), text)
        raise AttnvizError(
            gettext(
                "“{found}” is no link. Write them as 0-0 1-2: a source word before a target word, both counted from 0.",
                found=wrong[:40],
            )
        )
    return [(int(link[1]), int(link[2])) for link in found if link]


def read_gold_links(text: str) -> tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]:
    """Return the sure and the possible (source word, target word) links, from 0, of a text of links that people drew:
    `i-j` is sure, and `i?j` or `ipj` only possible. Raise AttnvizError where something in it is no link, or there is
    none.
    """
    sure: set[tuple[int, int]] = set()
    possible: set[tuple[int, int]] = set()
    for one in text.split() or [text]:
        link = re.fullmatch(r"([0-9]{1,6})([-?p])([0-9]{1,6})", one)
        if link is None:
            raise AttnvizError(
                gettext(
                    "“{found}” is no link. Write them as 0-0 1?2: a source word before a target word, both counted "
                    "from 0, with - where the link is sure and ? where it is only possible.",
                    found=one[:40],
                )
            )
        (sure if link[2] == "-" else possible).add((int(link[1]), int(link[3])))
    return frozenset(sure), frozenset(possible)
