"""The parameters of the address, in one table: name, owner, and what each can be.

The browser's are read and written by `components/state.js`, which gets them from here as JSON; the server's are read
where a link is followed, and written into the address by the browser. What is not in the address has its default.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from attnviz.analysis.grid import FACES
from attnviz.ui.page_state.view import View

Owner = Literal["browser", "server"]
Kind = Literal["number", "nearest", "name", "choice", "text"]
"""A "number" is counted from its first value in the address and from 0 elsewhere; one beyond the last of the "nearest"
kind is taken for the last. A "name" is a number that is the same everywhere."""
Offered = range | Collection[str]
"""What a parameter can be: whole numbers, or words; an empty collection where only its own module can tell."""

STAGES = 5
STOPS = 8
"""Stops of the tour."""
LONGEST_TYPED = 80
"""Characters of a typed word that a link may carry."""
SWITCH = ("0", "1")
ORDERS = ("sentence", "strongest")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a view's address."""

    name: str
    owner: Owner
    kind: Kind
    offered: Callable[[View], Offered] = lambda _: ()

    def can_be(self, view: View, value: str) -> bool:
        """Return whether a link may give it this value."""
        offered = self.offered(view)
        if isinstance(offered, range):
            return _is_number(value) and int(value) in offered
        return not offered or value in offered


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) < 7


def _vocabulary(view: View) -> range:
    return range(view.trace.vocabulary_size)


VIEW_PARAMETERS = (
    Parameter("step", "browser", "nearest", lambda view: range(1, view.steps + 1)),
    Parameter("source", "browser", "number", lambda view: range(1, len(view.trace.source_pieces) + 1)),
    Parameter("word", "browser", "number", _vocabulary),
    Parameter("rival", "browser", "number", _vocabulary),
    Parameter("typed_word", "browser", "text"),
    Parameter("typed_rival", "browser", "text"),
    Parameter("stage", "browser", "name", lambda _: range(1, STAGES + 1)),
    Parameter("tour", "browser", "name", lambda _: range(1, STOPS + 1)),
    Parameter("order", "browser", "choice", lambda _: ORDERS),
    Parameter("by", "server", "choice", lambda _: ("words", "pieces")),
    Parameter("face", "server", "choice", lambda _: FACES),
    Parameter("colours", "server", "choice", lambda _: ("paper", "cividis")),
    *(Parameter(name, "server", "choice", lambda _: SWITCH) for name in ("root", "end", "margins", "after_word")),
    Parameter("heads", "server", "choice"),
    Parameter("branches", "server", "text"),
    Parameter("branch", "server", "name"),
    Parameter("gold", "server", "text"),
)
"""Those of a view. In the address their names bear the mark of the view, but for the page's own."""


def browser_parameters(view: View) -> list[dict[str, Any]]:
    """Return the browser's parameters of `view` as JSON: see `ViewParameter` in `components/types.d.ts`."""
    return [_exported(one, view) for one in VIEW_PARAMETERS if one.owner == "browser"]


def _exported(one: Parameter, view: View) -> dict[str, Any]:
    offered = one.offered(view)
    numbers = offered if isinstance(offered, range) else range(0)
    return {
        "name": one.name,
        "key": view.key(one.name),
        "kind": one.kind,
        "first": numbers.start,
        "last": LONGEST_TYPED if one.kind == "text" else numbers.stop - 1,
        "values": [] if isinstance(offered, range) else list(offered),
    }


def offered_in(view: View, names: Collection[str] = ()) -> dict[str, Offered]:
    """Return what each parameter of `view` can be by its name in the address, of those called `names`, or of all."""
    return {view.key(one.name): one.offered(view) for one in VIEW_PARAMETERS if not names or one.name in names}


def linked_values(view: View, linked: Mapping[str, str], owner: Owner) -> dict[str, str]:
    """Return what a link gives the parameters of an `owner`, by their plain names; what cannot be is left out."""
    found = {}
    for one in VIEW_PARAMETERS:
        value = linked.get(view.key(one.name))
        if one.owner != owner or value is None:
            continue
        if one.kind == "nearest" and _is_number(value) and isinstance(offered := one.offered(view), range):
            value = str(min(int(value), offered[-1]))
        if one.can_be(view, value):
            found[one.name] = value[:LONGEST_TYPED] if one.name.startswith("typed") else value
    return found


def can_be_toured(view: View) -> bool:
    """Return whether `view` is of a translation of ours: another program's attention does not say how it came about."""
    return bool(view.trace.translated)
