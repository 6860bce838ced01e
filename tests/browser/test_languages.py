"""Language switch: the page is translated in place, keeps all choices, and stores the language in the URL."""

import re

from playwright.sync_api import Page, expect

from tests.browser.server import READY
from tests.browser.views import open_share, parameters_of

SENTENCE = "Two dogs play in the snow."


def switch(page: Page, language: str) -> None:
    page.locator(".st-key-lang button", has_text=re.compile(language, re.IGNORECASE)).click()
    expect(page.locator("html")).to_have_attribute("lang", language)


def expect_french(page: Page, step: int) -> None:
    """Wait until every part of the page has turned French: what the server wrote, and what the browser did."""
    expect(page.locator(".facts h2")).to_have_text(re.compile(f"^Étape {step} sur "))
    expect(page.locator(".words .step")).to_contain_text(f"Étape {step}, ")
    expect(page.locator(".st-key-stage_1 h3").first).to_contain_text("Correspondance (énergie)")
    expect(page.locator(".st-key-energy .xtitle")).to_have_text("énergie e")
    expect(page.locator(".growth output")).to_contain_text("lignes ajoutées")
    expect(page.locator(".st-key-verification button")).to_contain_text("sont vérifiés")


def test_language_switch_translates_the_page_and_keeps_choices(open_page) -> None:
    page = open_page(f"?step=3&sentence={SENTENCE}&search=beam+3")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 3 of "))
    page.locator(".st-key-by button", has_text="words").click()
    translation = page.locator(".st-key-player .target").inner_text()
    switch(page, "fr")
    expect_french(page, 3)
    assert page.locator(".st-key-player .target").inner_text() == translation
    expect(page.locator(".st-key-status")).to_contain_text("recherche en faisceau, largeur 3")
    expect(page.locator(".st-key-by [aria-checked=true], .st-key-by [aria-pressed=true]")).to_have_text("mots")
    expect(page.locator(".st-key-sentence textarea")).to_have_value(SENTENCE)
    page.wait_for_url(re.compile("lang=fr"))
    linked = {"step": "3", "sentence": SENTENCE, "search": "beam 3", "depth": "everything"}
    assert parameters_of(page.url) == linked | {"lang": "fr", "by": "words"}
    page.reload()
    page.wait_for_selector(READY)
    expect_french(page, 3)
    page.keyboard.press("ArrowRight")
    expect_french(page, 4)
    drawn, read = page.locator(".js-plotly-plot text").all_text_contents(), page.locator("body").inner_text()
    assert any(re.search(r"\d,\d", text) for text in drawn)
    assert not [text for text in [*drawn, *read.splitlines()] if re.search(r"\d\.\d", text)]
    open_share(page)
    expect(page.get_by_label("Aide pour Marges")).to_be_attached()
    button = page.locator("[data-testid=stFileUploaderDropzone] button p")
    assert button.evaluate("node => getComputedStyle(node, '::after').content") == '"Choisir un fichier"'
    page.keyboard.press("Escape")
    switch(page, "en")
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 4 of "))


def test_browser_locale_sets_the_initial_language(chromium, address) -> None:
    context = chromium.new_context(locale="fr-CA", viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(address)
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Étape 3 sur "))
    switch(page, "en")
    page.wait_for_url(re.compile("lang=en"))
    context.close()
