"""Links that people drew between the words of one pair, and what those of an alignment have to do with them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.alignment_error import ErrorRate, Link, error_rate, mutual_links
from attnviz.analysis.measures import links
from attnviz.analysis.pharaoh import read_gold_links
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Aligned, Attention, Words

MOST_LINKS = 600
"""That can be given for a pair: they stand in the address of the page."""


@dataclass(frozen=True)
class GoldLinks:
    """Links that people drew between the words of a pair as it is shown, `</s>` left out, both counted from 0."""

    sure: frozenset[Link] = frozenset()
    possible: frozenset[Link] = frozenset()
    """Those that are only possible; the sure ones are not repeated here."""

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self.sure or self.possible)

    def text(self) -> str:
        """Return them as people write them, `0-0 1?2`, in the order of the target words."""
        drawn = [*((i, j, "-") for j, i in self.sure), *((i, j, "?") for j, i in self.possible)]
        return " ".join(f"{j}{mark}{i}" for i, j, mark in sorted(drawn))


@dataclass(frozen=True)
class LinkErrors:
    """The links of an alignment against those that people drew."""

    found: tuple[Link, ...]
    """A link for each target word, to the source word of its largest share."""
    missed: tuple[Link, ...]
    """Sure links that are not among those found, in the order of the target words, as all are here."""
    false: tuple[Link, ...]
    """Links found that are not even possible."""
    rate: ErrorRate | None
    """Of the links found; None where there is nothing to compare."""
    mutual: ErrorRate | None
    """Of those among them that are the largest share of their source word too."""


def counted_words(words: Words) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the source and the target words that links count: all but `</s>`."""
    source, target = (side[:-1] if side[-1] == "</s>" else side for side in (words.source, words.target))
    return source, target


def words_mark(source: Sequence[str], target: Sequence[str]) -> str:
    """Return what tells the words that links count from those of another pair: twelve letters and digits, of which the
    first six are those of the source."""
    texts = (json.dumps(list(side)) for side in (source, target))
    return "".join(hashlib.sha256(text.encode("utf-8")).hexdigest()[:6] for text in texts)


def read_links(text: str, words: Words) -> GoldLinks:
    """Return the links in a text, `i-j` sure and `i?j` or `ipj` only possible, between `words`.

    Raise AttnvizError, saying which, where one is no link or is of a word that there is not, and where they are too
    many.
    """
    sure, possible = read_gold_links(text)
    return within(GoldLinks(sure, possible - sure), words)


def within(gold: GoldLinks, words: Words) -> GoldLinks:
    """Return the links; raise AttnvizError, saying which, where one is of no word of the pair, and where they are too
    many."""
    drawn = gold.sure | gold.possible
    if len(drawn) > MOST_LINKS:
        raise AttnvizError(
            gettext("There are {count} links; at most {most} can be shown.", count=len(drawn), most=MOST_LINKS)
        )
    source, target = counted_words(words)
    for j, i in sorted(drawn, key=lambda link: link[::-1]):
        link = f"{j}{'-' if (j, i) in gold.sure else '?'}{i}"
        if j >= len(source):
            raise AttnvizError(
                gettext(
                    "The link {link} is out of range: the source words count from 0 to {last}.",
                    link=link,
                    last=len(source) - 1,
                )
            )
        if i >= len(target):
            raise AttnvizError(
                gettext(
                    "The link {link} is out of range: the target words count from 0 to {last}.",
                    link=link,
                    last=len(target) - 1,
                )
            )
    return gold


def carried(trace: Aligned) -> GoldLinks:
    """Return the links that a record carries itself: those of an `Attention`; links of `</s>` are of no word."""
    if not isinstance(trace, Attention):
        return GoldLinks()
    source, target = map(len, counted_words(trace.words()))
    sure, possible = (
        frozenset((j, i) for j, i in drawn if j < source and i < target) for drawn in (trace.sure, trace.possible)
    )
    return GoldLinks(sure, possible - sure)


def link_errors(words: Words, gold: GoldLinks, shares: NDArray[np.floating] | None = None) -> LinkErrors:
    """Return what the links of `words` have to do with `gold`, which must be `within` them; `shares`, (N, M), target by
    source words, stand in the place of the alignment: those after the word, say.

    The rule is that of `attnviz evaluate`: `</s>` left aside, each target word is linked to the source word of its
    largest share.
    """
    source, target = map(len, counted_words(words))
    between = np.asarray(words.alignment if shares is None else shares, dtype=np.float64)[:target, :source]
    if not between.size:
        return LinkErrors((), (), (), None, None)
    found, mutual = links(between), mutual_links(between)
    return LinkErrors(
        found=_in_order(set(found)),
        missed=_in_order(gold.sure - set(found)),
        false=_in_order(set(found) - gold.sure - gold.possible),
        rate=_rate(found, gold),
        mutual=_rate(mutual, gold),
    )


def _rate(found: list[Link], gold: GoldLinks) -> ErrorRate | None:
    return error_rate([found], [gold]) if found or gold.sure else None


def _in_order(some: set[Link] | frozenset[Link]) -> tuple[Link, ...]:
    return tuple(sorted(some, key=lambda link: link[::-1]))
