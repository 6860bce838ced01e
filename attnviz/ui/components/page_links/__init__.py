"""Mount the links between the app's pages."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.languages import gettext
from attnviz.ui.components.loader import component


def page_links(titles: Mapping[str, str], current: str) -> None:
    """Draw a link to each page, given the titles by path, and mark the `current` one.

    One component draws all of them: separate ones change one after another, and two pages are marked in between.
    """
    pages = [{"path": path, "title": title} for path, title in titles.items()]
    data = {"pages": pages, "current": current, "label": gettext("Pages")}
    component("page_links", isolate=False)(key="pages", data=data, width="content")
