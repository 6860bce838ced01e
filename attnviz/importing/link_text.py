"""`Links`, and their text: `0-0`, `1?2` or `1p2` where only possible, `0-0:0.9` with a probability."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import MOST_TOKENS

Link = tuple[int, int]
"""(source token, target token), with the file's own counting."""
MOST_LINKS = MOST_TOKENS * 10
"""Largest number of links of a sentence pair."""

_SHARE = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
LINK = re.compile(rf"([0-9]{{1,6}})([-?pPsS])([0-9]{{1,6}})(?:[:/|=]({_SHARE})|-([0-9]*\.[0-9]+)(?:-[0-9]*\.[0-9]+)?)?")
"""A link and its probability after `:` or another sign; SimAlign writes the mean and the largest similarity."""

_PLAIN = re.compile(r"(?:[0-9]{1,6}-[0-9]{1,6}(?:\s+|$))*")
"""Links without possible marks and probabilities: a fast path for most files."""
_PLACE = re.compile(r"[0-9]+")


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
        shares = {change(link): share for link, share in self.shares.items()}
        return Links(frozenset(map(change, self.all)), frozenset(map(change, self.possible)), shares, self.annotated)


def are_links(text: str) -> bool:
    """Return whether `text` consists only of links, and has at least one."""
    groups = text.split()
    return bool(groups) and all(map(LINK.fullmatch, groups))


def read_links(text: str) -> Links:
    """Return the links in `text`, which may be blank; raise AttnvizError, quoting it, for anything that is no link."""
    groups = text.split()
    if len(groups) > MOST_LINKS:
        raise AttnvizError(
            gettext(
                "A sentence pair has {count} links; at most {most} can be read.", count=len(groups), most=MOST_LINKS
            )
        )
    if _PLAIN.fullmatch(text.strip()):
        indices = [int(index) for index in _PLACE.findall(text)]
        return Links(frozenset(zip(indices[::2], indices[1::2], strict=True)))
    links, possible, shares = set[Link](), set[Link](), dict[Link, float]()
    sure, annotated = set[Link](), False
    for group in groups:
        match = LINK.fullmatch(group)
        if match is None:
            raise AttnvizError(
                gettext(
                    "“{found}” is not a link. Write links as 0-0 1?2: source token, sign, target token. The sign "
                    "is - for a sure link and ? for a link that is only possible.",
                    found=group[:40],
                )
            )
        link = (int(match[1]), int(match[3]))
        links.add(link)
        (possible if match[2] in "?pP" else sure).add(link)
        annotated |= match[2] != "-"
        if share := match[4] or match[5]:
            shares[link] = float(share)
    if shares and (len(shares) < len(links) or max(shares.values()) > 1):
        raise AttnvizError(gettext("Give a probability from 0 to 1 to every link, or to none."))
    return Links(frozenset(links), frozenset(possible - sure), shares, annotated=annotated)


def links_of(pairs: Sequence[Link]) -> Links:
    """Return `pairs` as links, without checking indices; raise AttnvizError where there are too many."""
    if len(pairs) > MOST_LINKS:
        raise AttnvizError(
            gettext("A sentence pair has {count} links; at most {most} can be read.", count=len(pairs), most=MOST_LINKS)
        )
    return Links(frozenset(pairs))
