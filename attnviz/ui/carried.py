"""What stands in a widget is carried from page to page.

To Streamlit a widget is another one on each page, also where its key is the same: what the session has under the key
when a page begins is that of the page before, and gone as soon as the widget is drawn, unless it is put there again.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

_CARRIED, _PAGES = "carried", "pages_drawn"


def carry(session: MutableMapping[Any, Any], key: str) -> None:
    """Have the value of the widget of this `key` carried from page to page, from now on."""
    session[_CARRIED] = {*session.get(_CARRIED, ()), key}


def arrive(session: MutableMapping[Any, Any], page: str) -> None:
    """Put again what is carried, before anything of `page` is drawn, if another one was drawn last, or begun."""
    pages = session[_PAGES] = {*session.get(_PAGES, ()), page}
    if len(pages) > 1:
        for key in session.get(_CARRIED, ()):
            if key in session:
                session[key] = session[key]


def arrived(session: MutableMapping[Any, Any], page: str) -> None:
    """Note that `page` was drawn to its end: a run that was broken off may not have come to the widgets."""
    session[_PAGES] = {page}
