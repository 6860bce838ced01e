"""Loading of our JavaScript: one script, fetched once, and again after a failure; an older page is loaded again."""

import pytest
from playwright.sync_api import Route, expect

from attnviz.browser_modules import APP_MODULES
from attnviz.browser_programs import KATEX, PLOTLY
from tests.browser.server import READY

MOST = 489_000
"""Maximum size of the script in bytes, uncompressed, with the markup and the style sheets of all components."""
FETCHED = r"""
() => performance.getEntriesByType("resource")
  .map(({ name }) => name)
  .filter((name) => /\.js$/.test(name) && !/\/static\/js\//.test(name))
"""


def test_each_script_is_fetched_once(chromium, address) -> None:
    """Open two pages as a new visitor, whose cache is empty, and check the requests for scripts."""
    with chromium.new_context() as context:
        page = context.new_page()
        page.add_init_script("performance.setResourceTimingBufferSize(2000)")
        page.add_init_script("if (!sessionStorage.old) window.attnvizScript = sessionStorage.old = 'attnviz-older.js'")
        page.goto(f"{address}?depth=everything")
        page.wait_for_selector(READY, timeout=120_000)
        expect(page.locator(".st-key-diagram svg .word").first).to_be_attached()
        page.keyboard.press("ArrowRight")
        page.locator('.page-links a[data-page="why"]').click()
        expect(page.locator(".st-key-why_opening")).to_be_visible()
        expect(page.locator(".st-key-by_length-why .js-plotly-plot")).to_be_visible()
        assert page.evaluate("performance.getEntriesByType('navigation')[0].type") == "reload", "after an older version"
        fetched = page.evaluate(FETCHED)
    known = {f"{address}/{program.file_name}" for program in (APP_MODULES, KATEX, PLOTLY)}
    assert f"{address}/{APP_MODULES.file_name}" in fetched
    assert len(fetched) == len(set(fetched))
    assert set(fetched) <= known
    assert len(APP_MODULES.text.encode()) <= MOST


@pytest.mark.nightly
def test_failed_request_for_the_script_is_repeated(open_page, profile) -> None:
    """The server may be busy or restarting."""
    refused = []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.abort()

    profile.route(f"**/{APP_MODULES.file_name}", refuse, times=3)
    open_page()
    assert len(refused) == 3
