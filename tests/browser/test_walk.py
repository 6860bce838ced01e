"""Random actions on every control: no error appears, and the sentence is not lost."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.views import NARROW_DARK, WIDE
from tests.browser.walker import Walker

pytestmark = [pytest.mark.browser, pytest.mark.nightly]
Opener = Callable[..., Page]

ACTIONS, FEWEST = 45, 12
"""Number of actions, and the minimum on a busy machine."""
LIMIT = 50
"""Seconds after which a walk ends."""


@pytest.mark.parametrize(
    ("open_page", "query", "seed"), [(WIDE, "", 1), (NARROW_DARK, "?lang=fr", 2)], indirect=["open_page"], ids=str
)
def test_random_actions_cause_no_errors(open_page: Opener, query: str, seed: int) -> None:
    page = open_page(query)
    walker, end = Walker(page, seed), time.monotonic() + LIMIT
    while len(walker.steps) < ACTIONS and time.monotonic() < end:
        walker.step()
        assert walker.faults == [], "\n".join(walker.steps)
    assert len(walker.steps) >= FEWEST, "the page was too slow for enough actions"
    assert sum("out of reach" in step for step in walker.steps) < len(walker.steps) / 2, walker.steps
