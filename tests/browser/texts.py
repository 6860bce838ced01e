"""Read texts from a page in the form that snapshots store."""

from __future__ import annotations

from playwright.sync_api import Locator


def text_of(box: Locator) -> str:
    """Return the text of a box on one line."""
    return " ".join(box.inner_text().split())
