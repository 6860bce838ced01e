"""The row of page links at the top: six links fit in every window and language."""

from __future__ import annotations

import pytest
from playwright.sync_api import FloatRect, expect

from tests.browser.conftest import Opener
from tests.browser.views import on_both

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

LINKS = ".page-links a"


@pytest.fixture(scope="module")
def script() -> str:
    return "tests/browser/six_pages.py"


@pytest.mark.parametrize("code", ["en", "fr"])
@on_both
def test_six_page_links_fit_without_overlapping(open_page: Opener, code: str) -> None:
    page = open_page(f"?lang={code}", path="learns", ready=LINKS)
    expect(page.locator(LINKS)).to_have_count(6)
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    boxes = [link.bounding_box() for link in (*page.locator(LINKS).all(), page.locator(".st-key-lang"))]
    assert page.evaluate("document.querySelector('.stMain').scrollWidth <= innerWidth")
    for place, box in enumerate(boxes):
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= page.viewport_size["width"]
        assert box["height"] >= 24  # a finger's breadth: WCAG 2.5.8
        for other in boxes[:place]:
            assert _apart(box, other, "x", "width") or _apart(box, other, "y", "height"), (other, box)


def _apart(one: FloatRect, other: FloatRect, start: str, length: str) -> bool:
    """Return whether two boxes do not overlap along an axis, but for a pixel."""
    (_, end), (begin, _) = sorted((box[start], box[start] + box[length]) for box in (one, other))
    return end <= begin + 1
