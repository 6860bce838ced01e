"""Store the level of detail of the page: the idea, the numbers, or everything."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, Literal, TypeGuard, get_args

DetailLevel = Literal["idea", "numbers", "everything"]
DETAIL_LEVELS: tuple[DetailLevel, ...] = get_args(DetailLevel)
"""All levels, the lowest first; each includes those before it."""

DEFAULT_LEVEL: DetailLevel = "idea"
"""Default level of a visitor without a link or a choice."""

DETAIL_LEVEL = "depth"
"""Session state key, widget key of the switch, and address parameter."""
_LINKED, _CHOSEN = "depth_linked", "depth_chosen"


def open_detail_level(
    session: MutableMapping[Any, Any], linked: Mapping[str, str], earlier_choice: str | None
) -> DetailLevel:
    """Return the current level: that of the switch, at first that of the link, else the visitor's last choice.

    `earlier_choice` is that of an earlier session. A link sets the level, but only the switch makes it the visitor's
    own choice.
    """
    level: str | None = session.get(DETAIL_LEVEL)
    if not is_detail_level(level):
        linked_level = linked.get(DETAIL_LEVEL)
        level = (
            linked_level
            if is_detail_level(linked_level)
            else _visitors_choice(session, earlier_choice) or DEFAULT_LEVEL
        )
        session[DETAIL_LEVEL], session[_LINKED] = level, is_detail_level(linked_level)
    return level


def choose_detail_level(session: MutableMapping[Any, Any]) -> None:
    """Make the current level the visitor's own choice."""
    session[_CHOSEN] = session[DETAIL_LEVEL]


def chosen_detail_level(session: MutableMapping[Any, Any]) -> DetailLevel | None:
    """Return the level chosen last in this session, None where none was."""
    return _visitors_choice(session, None)


def detail_level_address(session: MutableMapping[Any, Any], earlier_choice: str | None) -> dict[str, str | None]:
    """Return the address parameter of the level; None where neither a link nor the visitor chose one."""
    chosen = session.get(_LINKED) or _visitors_choice(session, earlier_choice)
    return {DETAIL_LEVEL: session[DETAIL_LEVEL] if chosen else None}


def forget_detail_level(session: MutableMapping[Any, Any]) -> None:
    """Clear the current level, before another link is followed."""
    session.pop(DETAIL_LEVEL, None)


def shows(level: DetailLevel, element_level: DetailLevel) -> bool:
    """Return whether elements of the level `element_level` are shown at `level`."""
    return DETAIL_LEVELS.index(level) >= DETAIL_LEVELS.index(element_level)


def is_detail_level(value: object) -> TypeGuard[DetailLevel]:
    """Return whether a value from an address or a browser is a level."""
    return value in DETAIL_LEVELS


def _visitors_choice(session: MutableMapping[Any, Any], earlier_choice: str | None) -> DetailLevel | None:
    """Return the visitor's last choice, in this session or an earlier one."""
    chosen = session.get(_CHOSEN, earlier_choice)
    return chosen if is_detail_level(chosen) else None
