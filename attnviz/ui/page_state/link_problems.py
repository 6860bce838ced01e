"""Report invalid values of a link's parameters, one sentence each, until the visitor chooses another value."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attnviz.languages import gettext
from attnviz.ui.page_state.parameters import ValidValues
from attnviz.ui.page_state.view import Session, View, view_key
from attnviz.wording.labels import shorten

_READ, _NOTED, _INSTEAD = "link_read", "link_noted", "link_instead"
_LONGEST = 40
"""Largest length of a reported value, in characters."""


def read_link(session: Session, view: View, linked: Mapping[str, str], offered: Mapping[str, ValidValues]) -> None:
    """Note the invalid values of a link, once a session, given the valid ones of each parameter."""
    if not session.get(view.key(_READ)):
        session[view.key(_READ)] = True
        for name, values in offered.items():
            note_if_invalid(session, name, linked.get(name), values)


def note_if_invalid(session: Session, name: str, value: str | None, offered: ValidValues) -> None:
    """Store the `value` that a link gives the parameter `name`, if invalid; if `offered` is empty, any is valid."""
    if value is not None and offered and not _is_valid(value, offered):
        session[_NOTED] = session.get(_NOTED, {}) | {name: (value, offered)}


def link_problems(session: Session, parameters: Mapping[str, str | None]) -> dict[str, str]:
    """Return a sentence about each invalid value, by the name of its parameter.

    A sentence is dropped when the parameter changes in `parameters`, those of the server; the browser does the same for
    its own.
    """
    invalid = session.get(_NOTED)
    if not invalid:
        return {}
    first_values = session.setdefault(_INSTEAD, {})
    for name in list(invalid):
        if first_values.setdefault(name, parameters.get(name)) != parameters.get(name):
            del invalid[name]
    return {name: _sentence(name, value, offered) for name, (value, offered) in invalid.items()}


def forget_link(session: Session, view_id: str) -> None:
    """Clear the invalid values, before another link is read."""
    for name in (view_key(view_id, _READ), _NOTED, _INSTEAD):
        session.pop(name, None)


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
