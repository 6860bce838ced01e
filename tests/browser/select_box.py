"""Opening a box of choices as a person does."""

from __future__ import annotations

from playwright.sync_api import Error, Locator, Page, expect


def options(page: Page, box: str) -> Locator:
    """Return the open options of the box that a selector names.

    A click that finds the page busy may bring only the keyboard to the box; then the arrow key opens it.
    """
    page.locator(f"{box} input").click()
    found = page.get_by_test_id("stSelectboxVirtualDropdown").get_by_role("option")  # the page has other options, too
    try:
        found.first.wait_for(timeout=5_000)
    except Error:
        page.keyboard.press("ArrowDown")
        found.first.wait_for()
    return found


def choose(page: Page, box: str, option: str) -> None:
    """Choose the option of this name. Until the list is gone, Escape would close it, and not the box that it is in."""
    found = options(page, box)
    found.and_(page.get_by_role("option", name=option, exact=True)).click()
    expect(found).to_have_count(0)
