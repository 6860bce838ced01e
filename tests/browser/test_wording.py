"""Texts that JavaScript writes: localized numbers, and translated texts of Streamlit widgets."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.views import open_share

pytestmark = pytest.mark.browser
Opener = Callable[..., Page]


@pytest.mark.nightly
def test_numbers_are_french_when_the_theme_script_loads_late(open_page: Opener, profile: BrowserContext) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    profile.route("**/theme/theme.js", hold)
    page = open_page("?lang=fr")
    expect(page.locator(".player .source .word").first).to_have_attribute("title", re.compile(r"^α = 0,\d{4}$"))
    assert held  # the program that hands the language to the page had not come yet
    for route in held:
        route.continue_()
    profile.unroute("**/theme/theme.js", hold)


def test_french_page_has_decimal_commas_and_no_english_streamlit_text(open_page: Opener) -> None:
    page = open_page("?lang=fr&sentence=Where+is+the+nearest+station%2C+please%3F&step=7")
    nearest = page.locator(".player .source .word").nth(3)
    expect(nearest).to_have_attribute("title", re.compile(r"^α = 0,\d{4} \(les deux sous-mots\)$"))
    expect(page.locator(".player .source .word").first).to_have_attribute("title", re.compile(r"^α = 0,\d{4}$"))
    expect(page.locator(".js-plotly-plot").nth(4)).to_be_attached()
    drawn = page.locator(".js-plotly-plot text").all_text_contents()
    read = page.locator("body").inner_text()
    assert any(re.search(r"\d,\d", text) for text in drawn)
    assert not [text for text in [*drawn, *read.splitlines()] if re.search(r"\d\.\d", text)]
    open_share(page)
    expect(page.get_by_label("Aide pour Marges")).to_be_attached()
    button = page.locator("[data-testid=stFileUploaderDropzone] button p")
    assert button.evaluate("node => getComputedStyle(node, '::after').content") == '"Choisir un fichier"'
