"""Values of a link that cannot be: a sentence about each, until something else is chosen in its place."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attnviz.languages import gettext
from attnviz.ui.page_state.parameters import Offered
from attnviz.ui.page_state.view import Session, View, view_key
from attnviz.wording.labels import shorten

_READ, _NOTED, _INSTEAD = "link_read", "link_noted", "link_instead"
_LONGEST = 40
"""Characters of a value that are told."""


def read_link(session: Session, view: View, linked: Mapping[str, str], offered: Mapping[str, Offered]) -> None:
    """Note what of the link of a visit cannot be, by what each parameter can: the first time only."""
    if not session.get(view.key(_READ)):
        session[view.key(_READ)] = True
        for name, values in offered.items():
            note(session, name, linked.get(name), values)


def note(session: Session, name: str, value: str | None, offered: Offered) -> None:
    """Keep that a link gives the parameter `name` a `value` that is none of those `offered`, where it does; where
    nothing is offered, there is nothing to be told."""
    if value is not None and offered and not _is_one(value, offered):
        session[_NOTED] = session.get(_NOTED, {}) | {name: (value, offered)}


def link_problems(session: Session, parameters: Mapping[str, str | None]) -> dict[str, str]:
    """Return a sentence about each value that was noted, by the name of its parameter, and forget those in whose place
    something else was chosen since, by the server's `parameters` of what is on show; of others the browser knows it."""
    noted = session.get(_NOTED)
    if not noted:
        return {}
    instead = session.setdefault(_INSTEAD, {})
    for name in list(noted):
        if instead.setdefault(name, parameters.get(name)) != parameters.get(name):
            del noted[name]
    return {name: _sentence(name, value, offered) for name, (value, offered) in noted.items()}


def forget_link(session: Session, view_id: str) -> None:
    """Forget what was noted: another link is to be read."""
    for name in (view_key(view_id, _READ), _NOTED, _INSTEAD):
        session.pop(name, None)


def _is_one(value: str, offered: Offered) -> bool:
    if isinstance(offered, range):
        return bool(re.fullmatch("[0-9]{1,6}", value)) and int(value) in offered
    return value in offered


def _sentence(name: str, value: str, offered: Offered) -> str:
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
