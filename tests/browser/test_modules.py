"""Loading of our JavaScript: one script, fetched once, and again after a failure; an older page is loaded again."""

import json
import time

import pytest
from playwright.sync_api import Route, expect

from attnviz.browser_modules import APP_MODULES, page_style
from attnviz.browser_programs import KATEX, PLOTLY
from tests.browser.server import READY

MOST = 489_000
"""Maximum size of the script in bytes, uncompressed, with the markup and the style sheets of all components.

The style sheet of the page, which is in the script too, counts apart.
"""
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
    assert len(APP_MODULES.text.encode()) - len(json.dumps(page_style())) <= MOST


def test_page_is_measured_with_its_style_however_late_streamlits_scripts_arrive(chromium, address) -> None:
    """Without its style sheet the page would scroll to the stage of the link, which opens in place."""

    def late(route: Route) -> None:
        time.sleep(1)
        route.continue_()

    with chromium.new_context(viewport={"width": 1440, "height": 900}) as context:
        page = context.new_page()
        page.route("**/static/js/Html.*.js", late)
        page.goto(f"{address}?depth=idea#stage=2")
        expect(page.locator(".st-key-attention .hand").last).to_be_attached(timeout=60_000)
        page.wait_for_timeout(1500)  # nothing shows that it does not scroll
        assert page.evaluate("document.querySelector('.stMain').scrollTop") == 0


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
