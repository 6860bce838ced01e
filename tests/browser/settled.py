"""When a page has come to rest."""

from __future__ import annotations

from playwright.sync_api import Page


def settled(page: Page, last: str = ".st-key-contrast") -> None:
    """Wait until the `last` chart of the page, by its box, is drawn and the server has nothing more to say."""
    page.wait_for_selector(f"{last} .js-plotly-plot")
    page.wait_for_selector("[data-waiting]", state="detached")
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
