"""Return the addresses of a view's payloads, which contain all steps or, for long translations, one."""

from __future__ import annotations

from attnviz.palette import ThemeName
from attnviz.ui.shared_payloads import address
from attnviz.ui.view import View

MOST_AT_ONCE = 100
"""Largest number of steps that the browser fetches at once; in longer translations it fetches each when it is shown."""


def all_at_once(view: View) -> bool:
    """Return whether the browser fetches the payloads of all steps at once."""
    return view.steps <= MOST_AT_ONCE


def payload_address(view: View, name: str, theme: ThemeName) -> str:
    """Return the address of the payload `name` of `view`."""
    return address(view.trace, name, theme, every=all_at_once(view))
