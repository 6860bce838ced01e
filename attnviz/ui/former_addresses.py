"""Convert addresses of earlier versions to current ones, to which the server redirects, so that old links work."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode

PATHS = ("why", "learns", "transformer", "lab", "corpus")
"""Paths of pages from before `page` was in the address."""
PARAMETERS = {
    "rival": "foil",
    "typed_rival": "typed_foil",
    "branches": "what_ifs",
    "branch": "what_if",
    "other_branch": "other_what_if",
}
"""Current names of parameters by their former names; a hyphen and the id of a second view may follow."""
VALUES = {
    ("section", "answers"): "attributions",
    ("section", "trials"): "perturbation-tests",
    ("compare", "branch"): "what-if",
}
"""Current values by the current name of the parameter and the former value."""


def current_address(path: str, query: Iterable[tuple[str, str]]) -> str | None:
    """Return the current address for that of an earlier version, None if it is current already or not of a page."""
    folders, _, page = path.rpartition("/")
    if page not in ("", *PATHS):
        return None
    parameters = list(query)
    current = [_current_parameter(name, value) for name, value in parameters]
    if page:
        current = [("page", page), *(one for one in current if one[0] != "page")]
    return f"{folders}/?{urlencode(current)}" if page or current != parameters else None


def _current_parameter(key: str, value: str) -> tuple[str, str]:
    name, hyphen, view = key.partition("-")
    name = PARAMETERS.get(name, name)
    return f"{name}{hyphen}{view}", VALUES.get((name, value), value)
