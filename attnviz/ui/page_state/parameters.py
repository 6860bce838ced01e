"""Table of a view's address parameters: name, owner (browser or server), kind and valid values.

`components/state.js`, which gets this table as JSON, reads and writes the browser's parameters. The server's are read
when a link is followed, and the browser writes them into the address. A parameter missing there has its default.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from attnviz.ui.page_state.choices import OPTIONS
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import has_posterior

Owner = Literal["browser", "server"]
Kind = Literal["number", "nearest", "name", "choice", "option", "text"]
"""Kinds of parameters.

A "number" counts from its first valid value in the address, and from 0 elsewhere; "nearest" is a number that is clipped
to the last valid value. A "name" is a number that is the same everywhere. An "option" is a choice that has its first
valid value by default.
"""
ValidValues = range | Collection[str]
"""Valid values of a parameter: whole numbers, or words; empty if only its own module validates it."""

STAGES, STOPS = 5, 8
"""Number of stages of a step, and of stops of the tour."""
LONGEST_TYPED = 80
"""Largest length of a typed word in a link, in characters."""
ORDERS = ("sentence", "strongest")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a view's address."""

    name: str
    owner: Owner
    kind: Kind
    offered: Callable[[View], ValidValues] = lambda _: ()

    def is_valid(self, view: View, value: str) -> bool:
        """Return whether a link may have this value."""
        offered = self.offered(view)
        if isinstance(offered, range):
            return _is_number(value) and int(value) in offered
        return not offered or value in offered


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) < 7


def _option(name: str, values: tuple[str, ...]) -> Parameter:
    """Return the parameter of a display option; without posterior attention, only α can be shown."""

    def offered(view: View) -> tuple[str, ...]:
        return values[:1] if name == "face" and not has_posterior(view.trace) else values

    return Parameter(name, "browser", "option", offered)


def _piece_ids(view: View) -> range:
    return range(view.trace.vocabulary_size)


VIEW_PARAMETERS = (
    Parameter("step", "browser", "nearest", lambda view: range(1, view.steps + 1)),
    Parameter("source", "browser", "number", lambda view: range(1, len(view.trace.source_pieces) + 1)),
    Parameter("word", "browser", "number", _piece_ids),
    Parameter("foil", "browser", "number", _piece_ids),
    Parameter("typed_word", "browser", "text"),
    Parameter("typed_foil", "browser", "text"),
    Parameter("stage", "browser", "name", lambda _: range(1, STAGES + 1)),
    Parameter("tour", "browser", "name", lambda _: range(1, STOPS + 1)),
    Parameter("order", "browser", "choice", lambda _: ORDERS),
    *(_option(name, values) for name, values in OPTIONS.items()),
    Parameter("form", "browser", "option", lambda view: view.forms),
    Parameter("heads", "server", "choice"),
    Parameter("what_ifs", "server", "text"),
    Parameter("what_if", "server", "name"),
    Parameter("gold", "server", "text"),
)
"""Parameters of a view. In the address their names end with the view's id, except those of the page's own view."""


def browser_parameters(view: View) -> list[dict[str, Any]]:
    """Return the browser's parameters of `view` as JSON: see `ViewParameter` in `components/types.d.ts`."""
    own = (parameter for parameter in VIEW_PARAMETERS if parameter.owner == "browser")
    return [_as_json(parameter, view) for parameter in own if parameter.kind != "option" or parameter.offered(view)]


def _as_json(parameter: Parameter, view: View) -> dict[str, Any]:
    offered = parameter.offered(view)
    numbers = offered if isinstance(offered, range) else range(0)
    return {
        "name": parameter.name,
        "key": view.key(parameter.name),
        "kind": parameter.kind,
        "first": numbers.start,
        "last": LONGEST_TYPED if parameter.kind == "text" else numbers.stop - 1,
        "values": [] if isinstance(offered, range) else list(offered),
    }


def offered_in(view: View, names: Collection[str] = ()) -> dict[str, ValidValues]:
    """Return the valid values of the parameters of `view` in `names`, or of all, by name in the address."""
    return {
        view.key(parameter.name): parameter.offered(view)
        for parameter in VIEW_PARAMETERS
        if not names or parameter.name in names
    }


def linked_values(view: View, linked: Mapping[str, str], owner: Owner) -> dict[str, str]:
    """Return the valid values in a link of the parameters of an `owner`, by their plain names."""
    values = {}
    for parameter in VIEW_PARAMETERS:
        value = linked.get(view.key(parameter.name))
        if parameter.owner != owner or value is None:
            continue
        if parameter.kind == "nearest" and _is_number(value) and isinstance(offered := parameter.offered(view), range):
            value = str(min(int(value), offered[-1]))
        if parameter.is_valid(view, value):
            values[parameter.name] = value[:LONGEST_TYPED] if parameter.name.startswith("typed") else value
    return values


def has_tour(view: View) -> bool:
    """Return whether the app made the translation of `view`: imported attention lacks the stages of the tour."""
    return bool(view.trace.translated)
