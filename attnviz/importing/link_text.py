"""Links as programs write them: `0-0`, `1?2` or `1p2` where only possible, `0-0:0.9` with a probability."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import MOST_TOKENS

Link = tuple[int, int]
"""(Source token, target token), counted as the file counts."""
MOST_LINKS = MOST_TOKENS * 10
"""Of a pair."""

_SHARE = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
LINK = re.compile(rf"([0-9]{{1,6}})([-?pPsS])([0-9]{{1,6}})(?:[:/|=]({_SHARE})|-([0-9]*\.[0-9]+)(?:-[0-9]*\.[0-9]+)?)?")
"""A link, and its probability after a colon or other sign; simalign writes the mean and the largest similarity."""

_PLAIN = re.compile(r"(?:[0-9]{1,6}-[0-9]{1,6}(?:\s+|$))*")
"""Links without marks and probabilities, which most files have."""
_PLACE = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class Links:
    """The links of one pair."""

    all: frozenset[Link]
    possible: frozenset[Link] = frozenset()
    """Those of `all` that are only possible."""
    shares: Mapping[Link, float] = field(default_factory=dict)
    """The probability of each, where the file has it."""
    marked: bool = False
    """Whether the file says of links which are sure and which possible: people drew them."""

    def moved(self, source: int, target: int) -> Links:
        """Return the links with these numbers added to their places."""
        if source == target == 0:
            return self
        return self._mapped(lambda link: (link[0] + source, link[1] + target))

    def turned(self) -> Links:
        """Return the links with source and target exchanged."""
        return self._mapped(lambda link: (link[1], link[0]))

    def _mapped(self, to: Callable[[Link], Link]) -> Links:
        shares = {to(link): share for link, share in self.shares.items()}
        return Links(frozenset(map(to, self.all)), frozenset(map(to, self.possible)), shares, self.marked)


def are_links(text: str) -> bool:
    """Return whether a text is nothing but links, and at least one."""
    groups = text.split()
    return bool(groups) and all(map(LINK.fullmatch, groups))


def read_links(text: str) -> Links:
    """Return the links of a text, which may be blank; raise AttnvizError, saying which, where something is none."""
    groups = text.split()
    if len(groups) > MOST_LINKS:
        raise AttnvizError(
            gettext("There are {count} links; at most {most} can be read.", count=len(groups), most=MOST_LINKS)
        )
    if _PLAIN.fullmatch(text.strip()):
        places = [int(place) for place in _PLACE.findall(text)]
        return Links(frozenset(zip(places[::2], places[1::2], strict=True)))
    links, possible, shares = set[Link](), set[Link](), dict[Link, float]()
    sure, marked = set[Link](), False
    for group in groups:
        found = LINK.fullmatch(group)
        if found is None:
            raise AttnvizError(
                gettext(
                    "“{found}” is no link. Write them as 0-0 1?2: a source token before a target token, with - where "
                    "the link is sure and ? where it is only possible.",
                    found=group[:40],
                )
            )
        link = (int(found[1]), int(found[3]))
        links.add(link)
        (possible if found[2] in "?pP" else sure).add(link)
        marked |= found[2] != "-"
        if share := found[4] or found[5]:
            shares[link] = float(share)
    if shares and (len(shares) < len(links) or max(shares.values()) > 1):
        raise AttnvizError(gettext("Either every link has a probability, from 0 to 1, or none has one."))
    return Links(frozenset(links), frozenset(possible - sure), shares, marked=marked)


def links_of(pairs: Sequence[Link]) -> Links:
    """Return links that are known to be sound; raise AttnvizError where they are too many."""
    if len(pairs) > MOST_LINKS:
        raise AttnvizError(
            gettext("There are {count} links; at most {most} can be read.", count=len(pairs), most=MOST_LINKS)
        )
    return Links(frozenset(pairs))
