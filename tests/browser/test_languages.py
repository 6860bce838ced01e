"""Language switch: the page is translated in place, keeps all choices, and stores the language in the URL."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.server import READY
from tests.browser.settled import unfold
from tests.browser.views import at_night, open_settings, parameters_of

pytestmark = pytest.mark.browser
Opener = Callable[..., Page]

SENTENCE = "Two dogs play in the snow."


def switch(page: Page, language: str) -> None:
    page.locator(".st-key-lang button", has_text=re.compile(language, re.IGNORECASE)).click()
    expect(page.locator("html")).to_have_attribute("lang", language)


def left_and_right(page: Page, name: str) -> tuple[float, float]:
    box = page.locator(name).first.bounding_box()
    assert box
    return box["x"], box["x"] + box["width"]


def query_parameters(page: Page) -> dict[str, str]:
    return parameters_of(page.url)


def expect_french(page: Page, step: int) -> None:
    """Wait until every part of the page has turned French: what the server wrote, and what the browser did."""
    expect(page.locator(".facts h2")).to_have_text(re.compile(f"^Étape {step} sur "))
    expect(page.locator(".st-key-player .previous").last).to_contain_text("Précédent")
    expect(page.locator(".words .step")).to_contain_text(f"Étape {step}, ")
    expect(page.locator(".st-key-stage_1 h3").first).to_contain_text("Correspondance (énergie)")
    expect(page.locator(".st-key-energy .xtitle")).to_have_text("énergie e")
    expect(page.locator(".growth .build")).to_have_text("Construire")
    expect(page.locator(".growth output")).to_contain_text("lignes ajoutées")
    expect(page.locator(".st-key-energy-decomposition h3")).to_contain_text("Décomposition de l’énergie")
    expect(page.locator(".st-key-logit-attribution h3")).to_contain_text("Attribution du logit")
    expect(page.locator(".st-key-verification button")).to_contain_text("sont vérifiés")


def test_language_switch_translates_the_page_and_keeps_choices(open_page: Opener) -> None:
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
    assert query_parameters(page) == {
        "lang": "fr",
        "step": "3",
        "sentence": SENTENCE,
        "search": "beam 3",
        "by": "words",
        "depth": "everything",
    }
    page.reload()
    page.wait_for_selector(READY)
    expect_french(page, 3)
    switch(page, "en")
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 3 of "))
    expect(page.locator(".growth .build")).to_have_text("Build it up")


@pytest.mark.nightly
def test_french_page_stays_french_after_a_step(open_page: Opener) -> None:
    page = open_page("?lang=fr")
    expect_french(page, 1)
    page.keyboard.press("ArrowRight")
    expect_french(page, 2)
    expect(page.locator(".st-key-stage_2 .equation p")).to_contain_text("de somme 1")


def test_browser_locale_sets_the_initial_language(chromium: Browser, address: str) -> None:
    context = chromium.new_context(locale="fr-CA", viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(address)
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Étape 3 sur "))
    switch(page, "en")
    page.wait_for_url(re.compile("lang=en"))
    context.close()


@pytest.mark.parametrize(("width", "height"), [(390, 844), at_night(1440, 900)])
def test_french_texts_fit_their_controls(open_page: Opener, width: int, height: int) -> None:
    page = open_page("?lang=fr&step=2", width=width, height=height)
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Étape 2 sur "))
    assert page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth")
    ours = page.locator(".transport button, .growth button, .growth label, .facts button, .st-key-lang button")
    assert ours.count() > 10
    assert (
        ours.evaluate_all(
            "(nodes) => nodes.filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.textContent)"
        )
        == []
    )
    (_, right), (menu, _) = left_and_right(page, ".st-key-lang"), left_and_right(page, "[data-testid=stMainMenu]")
    assert right <= menu
    _, slider = left_and_right(page, ".st-key-player .slide")
    assert slider <= width


def touch_every_control(page: Page) -> None:
    """Change every control from its default, in English."""
    page.locator(".st-key-by button", has_text="words").click()
    for key in ("root", "end", "margins"):
        page.locator(f".st-key-{key} label").click()
    page.locator(".st-key-colours select").select_option(label="Cividis, safe for colour blindness")
    open_settings(page)
    page.locator(".st-key-search select").select_option(label="beam 3")
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("search=beam"))  # another translation, at its first step
    for _ in range(2):
        page.locator(".player .next").last.click()
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 3 "))
    page.locator(".growth input[value=strongest]").check()
    page.locator(".player .speed button").last.click()
    for key in ("energy_decomposition_table", "logit_attribution_table", "tables"):
        unfold(page.locator(f".st-key-{key}"))
    foil = page.locator(".word-choice [data-what=foil]")
    foil.fill(page.locator(".word-choice option").nth(4).get_attribute("value") or "")
    foil.press("Enter")
    page.wait_for_url(re.compile("foil="))


def current_choices(page: Page, code: str) -> dict[str, object]:
    """Return the language-independent state of the controls."""
    chart = page.locator(".st-key-heatmap .js-plotly-plot")
    return {
        "switches": [page.locator(f".st-key-{key} input").is_checked() for key in ("root", "end", "margins")],
        "scale": chart.evaluate("(chart) => JSON.stringify(chart.data[0].colorscale)"),
        "rows": chart.evaluate("(chart) => chart.data[0].z.length"),
        "foil": page.locator(".word-choice [data-what=foil]").input_value(),
        "order": page.locator(".growth input:checked").get_attribute("value"),
        "speed": page.locator(".player .speed [aria-pressed=true]").inner_text(),
        "link": {key: value for key, value in query_parameters(page).items() if key != "lang"},
    }


@pytest.mark.nightly
def test_language_switches_preserve_every_control(open_page: Opener) -> None:
    page = open_page(f"?sentence={SENTENCE}")
    touch_every_control(page)
    chosen = current_choices(page, "en")
    assert chosen["switches"] == [True, False, True]
    for code, step in (("fr", 3), ("en", 3), ("fr", 4), ("en", 4)):
        switch(page, code)
        expect(page.locator(".st-key-colours select")).to_have_value("cividis")
        expect(page.locator(".st-key-status")).to_contain_text("largeur 3" if code == "fr" else "width 3")
        expect(page.locator(".facts h2")).to_have_text(re.compile(f"^(Step|Étape) {step} "))
        if step == 3:
            assert current_choices(page, code) == chosen
        if (code, step) == ("en", 3):
            page.locator(".player .next").last.click()
        assert page.locator(".stException").count() == 0
