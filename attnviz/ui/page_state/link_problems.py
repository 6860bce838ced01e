"""Note invalid values of the link that the visitor followed, one sentence each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attnviz.languages import gettext
from attnviz.ui.page_state.parameters import ValidValues
from attnviz.ui.page_state.view import Session
from attnviz.wording.labels import shorten

_READ, _NOTED = "link_read", "link_noted"
_LONGEST = 40
"""Largest length of a reported value, in characters."""


def read_link(session: Session, linked: Mapping[str, str], offered: Mapping[str, ValidValues]) -> None:
    """Note the invalid values of a link, once for each link, given the valid ones of each parameter."""
    if not session.get(_READ):
        session[_READ] = True
        for name, values in offered.items():
            note_if_invalid(session, name, linked.get(name), values)


def note_if_invalid(session: Session, name: str, value: str | None, offered: ValidValues) -> None:
    """Store the `value` that a link gives the parameter `name`, if invalid; if `offered` is empty, any is valid."""
    if value is not None and offered and not _is_valid(value, offered):
        session[_NOTED] = session.get(_NOTED, {}) | {name: (value, offered)}


def link_problems(session: Mapping[Any, Any]) -> dict[str, tuple[str, str]]:
    """Return each invalid value and a sentence about it, by the name of its parameter."""
    noted = session.get(_NOTED, {})
    return {name: (value, _sentence(name, value, offered)) for name, (value, offered) in noted.items()}


def drop_link_problems(session: Session) -> None:
    """Drop the invalid values, when the visitor goes to another page."""
    session.pop(_NOTED, None)


def forget_link(session: Session) -> None:
    """Drop the invalid values before another link is read."""
    drop_link_problems(session)
    session.pop(_READ, None)


def _is_valid(value: str, offered: ValidValues) -> bool:
    if isinstance(offered, range):
        return bool(re.fullmatch("[0-9]{1,6}", value)) and int(value) in offered
    return value in offered


def _sentence(name: str, value: str, offered: ValidValues) -> str:
    value = shorten(value, _LONGEST)
    if isinstance(offered, range):
        return gettext(
            "In this link “{name}” is “{value}”, but it must be a whole number from {first} to {last}.",
            name=name,
            value=value,
            first=offered[0],
            last=offered[-1],
        )
    return gettext(
        "In this link “{name}” is “{value}”, but it must be one of these: {listed}.",
        name=name,
        value=value,
        listed=", ".join(offered),
    )
