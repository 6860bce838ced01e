"""Whether the links of a file count tokens from 0 or from 1: told by all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from attnviz.errors import AttnvizError
from attnviz.importing.link_text import Links
from attnviz.languages import gettext

Ends = Literal["never", "consistent"]
"""Whether a place past the last token may be `</s>`: where every pair has both ends linked to one another."""


class CountingError(AttnvizError):
    """Links of a file that count neither from 0 nor from 1; the message names the pair."""


class Counted(NamedTuple):
    """The links of one pair, with what is known of its tokens."""

    links: Links
    source: int | None
    """How many source tokens there are; None where they are unknown."""
    target: int | None
    number: int
    """Of the pair, from 1."""


class _Extremes(NamedTuple):
    """The smallest and the largest place of the links of a pair on each side, and how many tokens there are."""

    low: tuple[int, int]
    high: tuple[int, int]
    counts: tuple[int | None, int | None]


class Counting(NamedTuple):
    """How links count."""

    base: int
    """0 or 1."""
    ends: bool
    """Whether a place past the last token is `</s>`."""
    remark: str = ""
    """Of REMARKS, where something was concluded or assumed."""


def counting_of(pairs: Iterable[Counted], ends: Ends = "consistent", base: int | None = None) -> Counting:
    """Return how the links of all pairs of a file count, which a format may say by its `base`.

    Otherwise links count from 0 where some link names token 0 or no link passes the last token, and from 1 where none
    names token 0 and some link passes the last token when counted from 0.
    Raise CountingError, naming the first pair that does not fit, where neither count fits.
    """
    linked = [pair for pair in pairs if pair.links.all]
    extremes = [_extremes(pair) for pair in linked]
    if base is not None:
        if _fit(extremes, base, 0):
            return Counting(base, ends=False, remark="counted-by-format" if base else "")
        if base == 0 and ends != "never" and _fit(extremes, 0, 1):
            return Counting(0, ends=True)
        raise _misfit(linked, base)
    from_0, with_ends, from_1 = (_fit(extremes, first, past) for first, past in ((0, 0), (0, 1), (1, 0)))
    if from_0:
        known = any(pair.source is not None or pair.target is not None for pair in linked)
        return Counting(0, ends=False, remark="counted-from-0-assumed" if from_1 and known else "")
    if from_1:
        return Counting(1, ends=False, remark="counted-from-1")
    if with_ends and ends != "never" and all(_reaches_end(pair) for pair in linked):
        return Counting(0, ends=True)
    zero = any(0 in link for pair in linked for link in pair.links.all)
    raise _misfit(linked, 0 if zero else 1)


def _extremes(pair: Counted) -> _Extremes:
    sources, targets = zip(*pair.links.all, strict=True)
    return _Extremes((min(sources), min(targets)), (max(sources), max(targets)), (pair.source, pair.target))


def _fit(pairs: Sequence[_Extremes], base: int, past: int) -> bool:
    """Return whether every link, counted from `base`, is of a token; `past` the last may be as many more."""
    return all(
        low >= base and (count is None or high - base < count + past)
        for pair in pairs
        for low, high, count in zip(*pair, strict=True)
    )


def _reaches_end(pair: Counted) -> bool:
    """Return whether both ends are linked to one another: what a program does that links `</s>` too."""
    return pair.source is None or pair.target is None or (pair.source, pair.target) in pair.links.all


def _misfit(pairs: Sequence[Counted], base: int) -> CountingError:
    """Return the error that names the first link, counted from `base`, of no token."""
    for pair in pairs:
        for side, count in enumerate((pair.source, pair.target)):
            if count is None:
                continue
            last = max(link[side] for link in pair.links.all)
            if last - base < count:
                continue
            told = {"number": pair.number, "link": last, "count": count, "base": base}
            if side == 0:
                return CountingError(
                    gettext(
                        "Pair {number} has a link of source token {link}, but there are {count}, counted from {base}. "
                        "Give the tokens that the links count.",
                        **told,
                    )
                )
            return CountingError(
                gettext(
                    "Pair {number} has a link of target token {link}, but there are {count}, counted from {base}. "
                    "Give the tokens that the links count.",
                    **told,
                )
            )
    return CountingError(gettext("A link names token 0, but the links of this format count from {base}.", base=base))
