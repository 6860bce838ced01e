"""Loading of JavaScript modules: each is fetched once, also under a base URL path, and failed requests are retried."""

from collections import Counter
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from attnviz.browser_modules import url_folder
from tests.browser.server import READY

MOST = 489_000
"""Maximum total size of the modules in bytes, uncompressed, with the markup and the style sheets of all components."""
FETCHED = r"""
() => performance.getEntriesByType("resource")
  .filter(({ name }) => /\/attnviz-[^?]*\.js$/.test(name))
  .map(({ name, decodedBodySize }) => [name, decodedBodySize])
"""


def test_each_module_is_fetched_once(chromium: Browser, address: str) -> None:
    """Open two pages as a new visitor, whose cache is empty, and check the requests for modules."""
    with chromium.new_context() as context:
        page = context.new_page()
        page.add_init_script("performance.setResourceTimingBufferSize(2000)")
        page.goto(f"{address}?depth=everything")
        page.wait_for_selector(READY, timeout=120_000)
        expect(page.locator(".st-key-diagram svg .word").first).to_be_attached()
        page.keyboard.press("ArrowRight")
        page.locator('.page-links a[data-page="why"]').click()
        expect(page.locator(".st-key-why_opening")).to_be_visible()
        expect(page.locator(".st-key-by_length-why .js-plotly-plot")).to_be_visible()
        fetched = page.evaluate(FETCHED)
    assert {name: times for name, times in Counter(name for name, _ in fetched).items() if times > 1} == {}
    root = f"{address}/{url_folder()}/"
    assert [name for name, _ in fetched if not name.startswith(root)] == []
    paths = {name.removeprefix(root) for name, _ in fetched}
    assert {"ui/components/blocks.js", "ui/components/diagram/plan.js", "figures/constants.js"} <= paths
    assert 0 < sum(size for _, size in fetched) <= MOST


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["blocks", "view", "chart/selection"])
def test_failed_module_request_is_retried(open_page: Callable[..., Page], profile: BrowserContext, name: str) -> None:
    """Retry works for entry modules and for imported ones: the server may be busy or restarting."""
    address, refused = f"**/ui/components/{name}.js", []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.abort()

    profile.route(address, refuse, times=3)
    open_page()
    assert len(refused) == 3
