"""A transformer model on the page *Translate*: heads, steps, and switching to a recurrent model and back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.transformer_steps import HEAD_STAGES
from attnviz.architectures import narrate
from tests.browser.conftest import Opener
from tests.browser.settled import settled
from tests.browser.views import at_night, open_settings
from tests.figures import synthetic

pytestmark = pytest.mark.browser

CELLS = "JSON.stringify(document.querySelector('.st-key-heatmap .js-plotly-plot').data[0].z)"
"""The numbers of the heatmap, as text."""


def wait_until_idle(page: Page) -> None:
    settled(page, ".st-key-candidates")


def stage_titles(page: Page) -> list[str]:
    return page.locator(".facts li .title").all_text_contents()


def choose_model(page: Page, name: str) -> None:
    """Choose a model in the toolbar's box, as a visitor does, and close the box."""
    open_settings(page)
    page.locator(".st-key-model select").select_option(label=name)
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-model")).to_have_count(0)


@pytest.mark.nightly
@pytest.mark.parametrize("width", [1440, at_night(390)])
def test_head_choice_survives_steps_and_model_switches(
    open_page: Opener, width: int, snapshot: SnapshotAssertion
) -> None:
    page = open_page("?model=small-transformer", width=width)
    wait_until_idle(page)
    titles = stage_titles(page)
    assert titles == snapshot(name="stages")
    expect(page.locator(".verification .badge")).to_contain_text("verified")
    page.evaluate(f"window.before = {CELLS}")

    page.locator("body").press("ArrowRight")
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", "1")
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 2 of"))
    page.locator("[class*='st-key-heads'] select").select_option(label="Head 3 of layer 2")
    page.wait_for_function(f"() => {CELLS} !== window.before")
    wait_until_idle(page)
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 2 of"))
    expect(page).to_have_url(re.compile(r"heads=2\.3"))
    expect(page.locator(".st-key-energy")).to_contain_text("Head 3 of layer 2.")
    head = page.evaluate(CELLS)

    for _ in range(2):
        choose_model(page, "small-additive")
        expect(page.locator(".facts li .title").nth(2)).to_have_text(narrate(synthetic.trace(), 0)[2].title)
        wait_until_idle(page)
        expect(page.locator("[class*='st-key-heads']")).to_have_count(0)
        expect(page).not_to_have_url(re.compile("heads="))
        expect(page.locator(".st-key-stages .js-plotly-plot").nth(4)).to_be_attached()
        choose_model(page, "small-transformer")
        expect(page.locator(".facts li .title").nth(2)).to_have_text(HEAD_STAGES[2].title())
        wait_until_idle(page)
        assert page.evaluate(CELLS) == head
        expect(page).to_have_url(re.compile(r"heads=2\.3"))
        expect(page.locator(".st-key-stages .js-plotly-plot")).to_have_count(6)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.nightly
def test_back_restores_the_head_choice(open_page: Opener) -> None:
    page = open_page("?model=small-transformer&step=3&heads=1.1")
    wait_until_idle(page)
    page.evaluate(f"window.before = {CELLS}")
    page.locator("[class*='st-key-heads'] select").select_option(label="Mean of all heads")
    expect(page).not_to_have_url(re.compile("heads="))
    page.wait_for_function(f"() => {CELLS} !== window.before")
    page.go_back()
    page.wait_for_function(f"() => {CELLS} === window.before")
    wait_until_idle(page)
    expect(page).to_have_url(re.compile(r"heads=1\.1"))
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 3 of"))
