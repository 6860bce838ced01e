"""Texts read off a page, in the form in which snapshots hold them."""

from __future__ import annotations

import re

from playwright.sync_api import Locator

NUMBER = re.compile(r"[+\u2212-]?\d+(?:[.,\u202f]\d+)*(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?")


def text_of(box: Locator) -> str:
    """Return the text of a box on one line."""
    return " ".join(box.inner_text().split())


def without_numbers(text: str) -> str:
    """Return a text with `#` for each number: their last digits differ between machines."""
    return NUMBER.sub("#", text)
