"""Table of the address parameters of pages with a translation: name, owner, kind, valid values and format.

`components/state.js`, which gets this table as JSON, reads and writes the browser's parameters. The server's begin with
the link (`page_state.linked`), and the browser writes them into the address. A parameter missing there has its default.
Parameters of one page only belong to its fields (`ui.fields`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from attnviz.analysis.grid import FACES, UNITS
from attnviz.installed_models import installed_models
from attnviz.languages import LANGUAGES
from attnviz.lessons import shipped_lessons
from attnviz.palette import COLOURS
from attnviz.trace.parts import head_choices
from attnviz.ui.language import LANGUAGE
from attnviz.ui.page_state.detail_level import DETAIL_LEVEL
from attnviz.ui.page_state.gold import gold_text
from attnviz.ui.page_state.heads import current_heads
from attnviz.ui.page_state.inputs import MODEL, SEARCH, SEARCHES
from attnviz.ui.page_state.linked import Session, ValidValues, is_valid
from attnviz.ui.page_state.what_ifs import what_if_number, what_ifs_text
from attnviz.ui.resources import has_posterior
from attnviz.ui.view import DETAIL_LEVELS, View

OFF_ON, ON_OFF = ("0", "1"), ("1", "0")
"""Values of switches, the default first."""
POSTERIOR_OPEN = "after_word"
"""Name of the choice whether the section on posterior attention is open."""
OPTIONS: dict[str, tuple[str, ...]] = {
    "by": UNITS,
    "face": FACES,
    "colours": COLOURS,
    "root": OFF_ON,
    "end": ON_OFF,
    "margins": OFF_ON,
    POSTERIOR_OPEN: OFF_ON,
}
"""Values of each choice of a view, the default first: how its heatmap is drawn, and whether a section is open."""

Owner = Literal["browser", "server"]
Kind = Literal["number", "nearest", "name", "choice", "option", "text"]
"""Kinds of parameters.

A "number" counts from its first valid value in the address, and from 0 elsewhere; "nearest" is a number that is clipped
to the last valid value. A "name" is a number that is the same everywhere. An "option" is a choice that has its first
valid value by default.
"""
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
    text: Callable[[Session, View], str | None] | None = None
    """Formats the server's value for the address; None for one of the page (`set_page_address`)."""


def _option(name: str, values: tuple[str, ...]) -> Parameter:
    """Return the parameter of a display option; without posterior attention, only α can be shown."""

    def offered(view: View) -> tuple[str, ...]:
        return values[:1] if name == "face" and not has_posterior(view.trace) else values

    return Parameter(name, "browser", "option", offered)


def _piece_ids(view: View) -> range:
    return range(view.trace.vocabulary_size)


def _head_names(view: View) -> tuple[str, ...]:
    return tuple(head_choices(view.trace))


def _what_if_numbers(view: View) -> range:
    return range(len(view.what_ifs.what_ifs) + 1 if view.what_ifs and view.what_ifs.what_ifs else 0)


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
    Parameter("heads", "server", "choice", _head_names, lambda _, view: current_heads(view)),
    Parameter("what_ifs", "server", "text", text=what_ifs_text),
    Parameter("what_if", "server", "name", _what_if_numbers, what_if_number),
    Parameter("gold", "server", "text", text=gold_text),
    Parameter(DETAIL_LEVEL, "server", "choice", lambda _: DETAIL_LEVELS),
    Parameter("lesson", "server", "choice", lambda _: tuple(shipped_lessons())),
    Parameter(LANGUAGE, "server", "choice", lambda _: LANGUAGES),
    Parameter(MODEL, "server", "choice", lambda _: tuple(installed_models())),
    Parameter(SEARCH, "server", "choice", lambda _: SEARCHES),
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


def own_parameters(session: Session, view: View) -> dict[str, str | None]:
    """Return the server's parameters of `view`, by their names in the address."""
    return {view.key(one.name): one.text(session, view) for one in VIEW_PARAMETERS if one.text}


def offered_in(view: View) -> dict[str, ValidValues]:
    """Return the valid values of the parameters of `view`, by their names in the address."""
    return {view.key(parameter.name): parameter.offered(view) for parameter in VIEW_PARAMETERS}


def browser_values(view: View, linked: Mapping[str, str]) -> dict[str, str]:
    """Return the valid values in a link of the browser's parameters of `view`, by their plain names."""
    values = {}
    for parameter in VIEW_PARAMETERS:
        value = linked.get(view.key(parameter.name))
        if parameter.owner != "browser" or value is None:
            continue
        offered = parameter.offered(view)
        if parameter.kind == "nearest" and isinstance(offered, range) and is_valid(value, range(10**6)):
            value = str(min(int(value), offered[-1]))
        if is_valid(value, offered):
            values[parameter.name] = value[:LONGEST_TYPED] if parameter.kind == "text" else value
    return values


def has_tour(view: View) -> bool:
    """Return whether the app made the translation of `view`: imported attention lacks the stages of the tour."""
    return bool(view.trace.translated)
