"""Store the level of detail of the page: the idea, the numbers, or everything."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, Literal, TypeGuard, get_args

DetailLevel = Literal["idea", "numbers", "everything"]
DEPTHS: tuple[DetailLevel, ...] = get_args(DetailLevel)
"""All levels, the lowest first; each includes those before it."""

NEWCOMER: DetailLevel = "idea"
"""Default level of a visitor without a link or a choice."""

DEPTH = "depth"
"""Session state key, widget key of the switch, and address parameter."""
_LINKED, _CHOSEN = "depth_linked", "depth_chosen"


def open_depth(session: MutableMapping[Any, Any], linked: Mapping[str, str], remembered: str | None) -> DetailLevel:
    """Return the current level: first that of the link, else the visitor's last choice, then the switch's value.

    `remembered` is the choice of an earlier session. A link sets the level, but only a turn of the switch counts as the
    visitor's own choice.
    """
    kept: str | None = session.get(DEPTH)
    if not is_depth(kept):
        asked = linked.get(DEPTH)
        kept = asked if is_depth(asked) else _own(session, remembered) or NEWCOMER
        session[DEPTH], session[_LINKED] = kept, is_depth(asked)
    return kept


def choose_depth(session: MutableMapping[Any, Any]) -> None:
    """Make the current level the visitor's own choice."""
    session[_CHOSEN] = session[DEPTH]


def chosen_depth(session: MutableMapping[Any, Any]) -> DetailLevel | None:
    """Return the level chosen last in this session, None where none was."""
    return _own(session, None)


def depth_address(session: MutableMapping[Any, Any], remembered: str | None) -> dict[str, str | None]:
    """Return the address parameter of the level; None where neither a link nor the visitor chose one."""
    chosen = session.get(_LINKED) or _own(session, remembered)
    return {DEPTH: session[DEPTH] if chosen else None}


def forget_depth(session: MutableMapping[Any, Any]) -> None:
    """Clear the current level, before another link is followed."""
    session.pop(DEPTH, None)


def shows(depth: DetailLevel, least: DetailLevel) -> bool:
    """Return whether elements of the level `least` are shown at `depth`."""
    return DEPTHS.index(depth) >= DEPTHS.index(least)


def is_depth(value: object) -> TypeGuard[DetailLevel]:
    """Return whether a value from an address or a browser is a level."""
    return value in DEPTHS


def _own(session: MutableMapping[Any, Any], remembered: str | None) -> DetailLevel | None:
    """Return the visitor's last choice, in this session or an earlier one."""
    chosen = session.get(_CHOSEN, remembered)
    return chosen if is_depth(chosen) else None
