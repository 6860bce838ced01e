"""Texts read off a page, in the form in which snapshots hold them."""

from __future__ import annotations

from playwright.sync_api import Locator


def text_of(box: Locator) -> str:
    """Return the text of a box on one line."""
    return " ".join(box.inner_text().split())
