"""Wait until a page, a chart or an element has stopped changing."""

from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect

from attnviz.ui.pages import all_pages

WAYS = {page.title(): page.path for page in all_pages()}
"""Paths of the pages, by the text of their link."""


def settled(page: Page, last: str = ".st-key-contrast") -> None:
    """Wait until the chart in the container `last` is drawn and the server is idle."""
    page.wait_for_selector(f"{last} .js-plotly-plot")
    wait_until_idle(page)


def go_to_page(page: Page, name: str) -> None:
    """Click a page link, and wait until the page is drawn."""
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.locator(".page-links [aria-current]")).to_have_text(name)
    expect(page).to_have_title(f"{name} · attnviz")
    page.wait_for_url(lambda url: urlsplit(url).path == f"/{WAYS[name]}")
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    expect(page.locator(".stApp")).not_to_contain_text("The sentence is empty")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def wait_until_idle(page: Page) -> None:
    """Wait until nothing waits for its numbers and the server has nothing more to say."""
    page.wait_for_selector("[data-waiting]", state="detached")
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')


def bring_into_sight(node: Locator) -> None:
    """Scroll to an element, and wait for the frame that lays it out: a chart out of sight feels no pointer."""
    node.scroll_into_view_if_needed()
    node.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wait_until_still(node: Locator) -> None:
    """Wait until an element stops moving: charts drawn above it push it down."""
    bring_into_sight(node)
    node.evaluate(WAIT_UNTIL_STILL)


WAIT_UNTIL_STILL = """async (node) => {
  const where = () => node.getBoundingClientRect().top;
  for (let since = performance.now(), last = where(); performance.now() - since < 500; ) {
    await new Promise(requestAnimationFrame);
    if (where() !== last) [since, last] = [performance.now(), where()];
  }
}"""
