"""Timeline of *How it learns* with the runs that come with the program: keys, slider, charts and URL."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from attnviz.trace.snapshots import Snapshots
from tests.browser.conftest import Opener
from tests.browser.settled import bring_into_sight
from tests.browser.test_learns import MARKED, open_learns
from tests.browser.views import on_both
from tests.conftest import SHIPPED_MODEL

pytestmark = pytest.mark.browser


@on_both
def test_keys_and_slider_update_charts_and_url(open_page: Opener) -> None:
    run = Snapshots.load(SHIPPED_MODEL.parent / "small-additive/snapshots/unguided.json")
    last = len(run.updates) - 1
    page = open_learns(open_page)
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(rf"update={run.updates[last - 1]}\b"))
    expect(page.locator(".timeline .now")).to_contain_text(f"After {run.updates[last - 1]} updates")
    first_cell = "document.querySelector('.st-key-heatmap_1-learns .js-plotly-plot').data[0].z[0][0]"
    weights = [float(run.sentences[0].words(run.alignments[0][moment]).alignment[0, 0]) for moment in (last - 1, last)]
    assert abs(weights[0] - weights[1]) > 1e-2
    page.wait_for_function(f"weight => Math.abs({first_cell} - weight) < 1e-3", arg=weights[0])
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(rf"update={run.updates[1]}\b"))
    slider = page.locator(".timeline input")
    slider.fill("2")
    assert slider.get_attribute("aria-valuetext") == page.locator(".timeline .now").inner_text()
    expect(page).to_have_url(re.compile(rf"update={run.updates[2]}\b"))
    bring_into_sight(page.locator(".st-key-quality-learns"))
    page.wait_for_function(MARKED, arg=run.updates[2])
    page.keyboard.press("End")
    expect(page).not_to_have_url(re.compile("update="))
