"""When a page has come to rest."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect

WAYS = {
    "Translate": "",
    "Why attention?": "why",
    "How it learns": "learns",
    "To the transformer": "transformer",
    "Lab": "lab",
    "Corpus": "corpus",
}
"""The paths of the pages, by their names at the top."""


def settled(page: Page, last: str = ".st-key-contrast") -> None:
    """Wait until the `last` chart of the page, by its box, is drawn and the server has nothing more to say."""
    page.wait_for_selector(f"{last} .js-plotly-plot")
    page.wait_for_selector("[data-waiting]", state="detached")
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')


def on_page(name: str) -> Callable[[str], bool]:
    """Return whether an address is that of the page of this name."""
    return lambda url: parse_qs(urlsplit(url).query).get("page", [""]) == [WAYS[name]]


def go(page: Page, name: str) -> None:
    """Go to a page by its name at the top, and wait until it is drawn."""
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.locator(".page-links [aria-current]")).to_have_text(name)
    page.wait_for_url(on_page(name))
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    expect(page.locator(".stApp")).not_to_contain_text("The sentence is empty")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def stays(node: Locator) -> None:
    """Wait until a node stays where it is: as long as pictures above it are drawn, it goes further down."""
    node.scroll_into_view_if_needed()
    node.evaluate(STAYS)


def unfold(box: Locator) -> None:
    """Open a box."""
    title = box.locator("summary").first
    stays(title)
    title.click()


STAYS = """async (node) => {
  const where = () => node.getBoundingClientRect().top;
  for (let since = performance.now(), last = where(); performance.now() - since < 500; ) {
    await new Promise(requestAnimationFrame);
    if (where() !== last) [since, last] = [performance.now(), where()];
  }
}"""
