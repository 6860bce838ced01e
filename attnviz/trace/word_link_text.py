"""Read alignment links such as `0-0` or `1?2` as `Links`, and infer whether a file counts tokens from 0 or from 1."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from attnviz.errors import AttnvizError, user_error
from attnviz.languages import gettext
from attnviz.trace.tokens import MOST_TOKENS

Link = tuple[int, int]
"""(source token, target token), with the file's own counting."""
MOST_LINKS = MOST_TOKENS * 10
"""Largest number of links of a sentence pair."""

_SHARE = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,6})?"
LINK = re.compile(
    rf"\(?([0-9]{{1,18}})([-?pPsS:])([0-9]{{1,18}})"
    rf"(?:[-/:]([SPsp])|[:/|=]({_SHARE})|-([0-9]*\.[0-9]+)(?:-[0-9]*\.[0-9]+)?)?\)?"
)
"""A link with a mark, S or P, or its probability; SimAlign writes the mean and the largest similarity."""

_PAIR = re.compile(r"[(\[] *+([0-9]{1,18}) *+, *+([0-9]{1,18}) *+[)\]]")
"""A link as Python or JSON prints a pair."""
_LISTED_SIGNS = frozenset("[]{},")
_BLANKS = str.maketrans(dict.fromkeys("[]{},", " "))
_PLAIN = re.compile(r"(?:[0-9]{1,18}-[0-9]{1,18}(?:\s+|$))*")
"""Links without possible marks and probabilities: a fast path for most files."""
_PLACE = re.compile(r"[0-9]+")
_LISTED = 10
"""Number of faulty links that a message lists."""


@dataclass(frozen=True)
class Links:
    """Links of one sentence pair."""

    all: frozenset[Link]
    possible: frozenset[Link] = frozenset()
    """Links of `all` that are only possible."""
    shares: Mapping[Link, float] = field(default_factory=dict)
    """Probability of each link; empty where the file has none."""
    annotated: bool = False
    """Whether the file distinguishes sure from possible links, which means that people annotated them."""

    def moved(self, source: int, target: int) -> Links:
        """Return the links with `source` and `target` added to their indices."""
        if source == target == 0:
            return self
        return self._mapped(lambda link: (link[0] + source, link[1] + target))

    def swapped(self) -> Links:
        """Return the links with source and target swapped."""
        return self._mapped(lambda link: (link[1], link[0]))

    def _mapped(self, change: Callable[[Link], Link]) -> Links:
        if not self.all:
            return self
        shares = {change(link): share for link, share in self.shares.items()}
        return Links(frozenset(map(change, self.all)), frozenset(map(change, self.possible)), shares, self.annotated)


def are_links(text: str) -> bool:
    """Return whether `text` consists only of links, and has at least one."""
    groups = _groups(text)
    return bool(groups) and all(map(LINK.fullmatch, groups))


def is_line_of_links(line: str) -> bool:
    """Return whether a line has several links instead of a sentence; a single one may be the score of a match."""
    return are_links(line) and len(_groups(line)) > 1


def _groups(text: str) -> list[str]:
    """Return the links in a text, also those with commas between them or in lists as Python prints them, `[(0, 0)]`."""
    if _LISTED_SIGNS.isdisjoint(text):
        return text.split()
    return _PAIR.sub(r" \1-\2 ", text).translate(_BLANKS).split()


def parse_links(text: str) -> Links:
    """Return the links in `text`, which may be blank; raise AttnvizError, quoting it, for anything that is no link."""
    groups = _groups(text)
    _check_count(len(groups))
    if _PLAIN.fullmatch(text.strip()):
        indices = [int(index) for index in _PLACE.findall(text)]
        return Links(frozenset(zip(indices[::2], indices[1::2], strict=True)))
    links, possible, shares = set[Link](), set[Link](), dict[Link, float]()
    sure, annotated = set[Link](), False
    for group in groups:
        match = LINK.fullmatch(group)
        if match is None:
            raise user_error(
                "“{found}” is not a link. Write links as 0-0 1?2: source token, sign, target token. The sign "
                "is - for a sure link and ? for a link that is only possible.",
                found=group[:40],
            )
        link = (int(match[1]), int(match[3]))
        links.add(link)
        is_possible = (match[4] or match[2]) in tuple("?pP")
        (possible if is_possible else sure).add(link)
        annotated |= match[2] in "?pPsS" or bool(match[4])
        if share := match[5] or match[6]:
            shares[link] = float(share)
    if shares and (len(shares) < len(links) or max(shares.values()) > 1):
        raise user_error("Give a probability from 0 to 1 to every link, or to none.")
    return Links(frozenset(links), frozenset(possible - sure), shares, annotated=annotated)


def _check_count(links: int) -> None:
    if links > MOST_LINKS:
        raise user_error("A sentence pair has {count} links; at most {most} can be read.", count=links, most=MOST_LINKS)


def links_of(pairs: Sequence[Link]) -> Links:
    """Return `pairs` as links, without checking indices; raise AttnvizError where there are too many."""
    _check_count(len(pairs))
    return Links(frozenset(pairs))


Ends = Literal["never", "consistent"]
"""Whether an index just past the last token may be `</s>`: never, or where every pair links both ends."""


class CountingError(AttnvizError):
    """Raised where the links of a file fit neither counting from 0 nor from 1; the message names the pair."""


class Counted(NamedTuple):
    """Links of one sentence pair and its numbers of tokens."""

    links: Links
    source: int | None
    """Number of source tokens; None where unknown."""
    target: int | None
    number: int
    """Number of the pair, from 1."""


class _Extremes(NamedTuple):
    """Smallest and largest index of a pair's links, and its numbers of tokens, each (source, target)."""

    low: tuple[int, int]
    high: tuple[int, int]
    counts: tuple[int | None, int | None]


class Counting(NamedTuple):
    """Result of `infer_counting`: how the links of a file count tokens."""

    base: int
    """Index of the first token, 0 or 1."""
    ends: bool
    """Whether an index just past the last token means `</s>`."""
    remark: str = ""
    """Key of REMARKS where the base was inferred or assumed; empty otherwise."""


def infer_counting(pairs: Iterable[Counted], ends: Ends = "consistent", base: int | None = None) -> Counting:
    """Return how the links of all pairs of a file count; `base` is given where the format specifies it.

    Otherwise links count from 0 where some link has index 0 or no link exceeds the last token. They count from 1
    where no link has index 0 and some link, counted from 0, exceeds the last token.
    Raise CountingError, naming the first pair that does not fit, where neither base fits.
    """
    linked = [pair for pair in pairs if pair.links.all]
    extremes = [_extremes(pair) for pair in linked]
    if base is not None:
        if _all_fit(extremes, base, 0):
            return Counting(base, ends=False, remark="counted-by-format" if base else "")
        if base == 0 and ends != "never" and _all_fit(extremes, 0, 1):
            return Counting(0, ends=True)
        raise _misfit_error(linked, base)
    fits_from_0, fits_with_ends, fits_from_1 = (
        _all_fit(extremes, first, beyond) for first, beyond in ((0, 0), (0, 1), (1, 0))
    )
    if fits_from_0:
        known = any(pair.source is not None or pair.target is not None for pair in linked)
        return Counting(0, ends=False, remark="counted-from-0-assumed" if fits_from_1 and known else "")
    if fits_from_1:
        return Counting(1, ends=False, remark="counted-from-1")
    if fits_with_ends and ends != "never" and all(_reaches_end(pair) for pair in linked):
        return Counting(0, ends=True)
    has_index_0 = any(0 in link for pair in linked for link in pair.links.all)
    raise _misfit_error(linked, 0 if has_index_0 else 1)


def _extremes(pair: Counted) -> _Extremes:
    sources, targets = zip(*pair.links.all, strict=True)
    return _Extremes((min(sources), min(targets)), (max(sources), max(targets)), (pair.source, pair.target))


def _all_fit(pairs: Sequence[_Extremes], base: int, beyond: int) -> bool:
    """Return whether every link, counted from `base`, is to a token, or at most `beyond` positions past the last."""
    return all(
        low >= base and (count is None or high - base < count + beyond)
        for pair in pairs
        for low, high, count in zip(*pair, strict=True)
    )


def _reaches_end(pair: Counted) -> bool:
    """Return whether a link joins the positions after the last tokens, as in programs that align `</s>` too."""
    return pair.source is None or pair.target is None or (pair.source, pair.target) in pair.links.all


def listed_links(faulty: Sequence[tuple[int, Link]]) -> str:
    """Return links, each with the number of its pair, as text: the first ten, and how many there are."""
    pairs = dict[int, list[str]]()
    for number, (j, i) in faulty[:_LISTED]:
        pairs.setdefault(number, []).append(f"{j}-{i}")
    texts = (gettext("pair {number}: {links}", number=number, links=" ".join(links)) for number, links in pairs.items())
    return "; ".join(texts) + (f" … ({len(faulty)})" if len(faulty) > _LISTED else "")


def _misfit_error(pairs: Sequence[Counted], base: int) -> CountingError:
    """Return the error for links, counted from `base`, to tokens that do not exist: the first in words, then all."""
    faulty, message = list[tuple[int, Link]](), ""
    for pair in pairs:
        for link in sorted(pair.links.all):
            misfits = [
                side
                for side, count in enumerate((pair.source, pair.target))
                if link[side] < base or (count is not None and link[side] - base >= count)
            ]
            if misfits:
                message = message or _misfit_text(pair, link, misfits[0], base)
                faulty.append((pair.number, link))
    if len(faulty) > 1:
        every = gettext("All links out of range: {links}.", links=listed_links(faulty))
        message = f"{message} {every}"
    return CountingError(message)


def _misfit_text(pair: Counted, link: Link, side: int, base: int) -> str:
    """Return a sentence about a link to a token that does not exist on a side, 0 for the source."""
    values = {"number": pair.number, "link": link[side], "count": (pair.source, pair.target)[side], "base": base}
    if link[side] < base:
        return gettext(
            "In pair {number}, a link names token {link}, but in this format, token numbers start at {base}.",
            **values,
        )
    if side == 0:
        return gettext(
            "In pair {number}, a link refers to source token {link}, but the number of source tokens is "
            "only {count} (the first is token {base}). Give the tokens of the text that the links were "
            "made for.",
            **values,
        )
    return gettext(
        "In pair {number}, a link refers to target token {link}, but the number of target tokens is only "
        "{count} (the first is token {base}). Give the tokens of the text that the links were made for.",
        **values,
    )
