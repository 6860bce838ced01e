"""Where the browser finds the records of a view, and for how many steps at a time."""

from __future__ import annotations

from attnviz.palette import ThemeName
from attnviz.ui.page_state.view import View
from attnviz.ui.records import address

MOST_AT_ONCE = 100
"""Steps whose pictures the browser is given together; of a longer translation each is given when it is shown."""


def all_at_once(view: View) -> bool:
    """Return whether the browser fetches the pictures of all steps together."""
    return view.steps <= MOST_AT_ONCE


def place_of(view: View, name: str, theme: ThemeName) -> str:
    """Return where the browser finds the record `name` of `view`."""
    return address(view.trace, name, theme, every=all_at_once(view))
