"""How much of a translation the page tells: the idea, the numbers, or everything there is."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, Literal, TypeGuard, get_args

Depth = Literal["idea", "numbers", "everything"]
DEPTHS: tuple[Depth, ...] = get_args(Depth)
"""All depths, the shallowest first: each has what those before it have."""

NEWCOMER: Depth = "idea"
"""What a visitor begins with who has no link and has chosen nothing yet."""

DEPTH = "depth"
"""What is kept in the session, key of the dial, and address parameter."""
_SEEN, _LINKED, _CHOSEN = "depth_seen", "depth_linked", "depth_chosen"


def open_depth(session: MutableMapping[Any, Any], linked: Mapping[str, str], remembered: str | None) -> Depth:
    """Return the depth on show: at first that of the link, or else what the visitor chose last, now or as his browser
    `remembered` it; then what the dial says.

    A link is followed, but only what the dial was turned to is the visitor's own choice.
    """
    kept: str | None = session.get(DEPTH)
    if not is_depth(kept):
        asked = linked.get(DEPTH)
        kept = asked if is_depth(asked) else _own(session, remembered) or NEWCOMER
        session[DEPTH], session[_LINKED] = kept, is_depth(asked)
    elif kept != session[_SEEN]:
        session[_CHOSEN] = kept
    session[_SEEN] = kept
    return kept


def chosen_depth(session: MutableMapping[Any, Any]) -> Depth | None:
    """Return what the dial was turned to last in this visit, None where it was not."""
    return _own(session, None)


def depth_address(session: MutableMapping[Any, Any], remembered: str | None) -> dict[str, str | None]:
    """Return the address parameter of the depth; None where nobody chose one: neither a link, nor the visitor."""
    chosen = session.get(_LINKED) or _own(session, remembered)
    return {DEPTH: session[DEPTH] if chosen else None}


def forget_depth(session: MutableMapping[Any, Any]) -> None:
    """Forget which depth is on show: another link is to be followed."""
    session.pop(DEPTH, None)


def shows(depth: Depth, least: Depth) -> bool:
    """Return whether what belongs to the depth `least` is shown at `depth`."""
    return DEPTHS.index(depth) >= DEPTHS.index(least)


def is_depth(value: object) -> TypeGuard[Depth]:
    """Return whether what an address or a browser says is a depth."""
    return value in DEPTHS


def _own(session: MutableMapping[Any, Any], remembered: str | None) -> Depth | None:
    """Return what the visitor chose last, in this visit or before."""
    chosen = session.get(_CHOSEN, remembered)
    return chosen if is_depth(chosen) else None
