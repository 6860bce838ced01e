"""Page *To the transformer*: the row of weights in five forms, and every exhibit behind it, by mouse and keyboard."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from attnviz.ui.examples import DEFAULT_SENTENCE
from tests.browser.settled import bring_into_sight, wait_until_idle
from tests.browser.test_axe import violations
from tests.browser.views import COUNT_MESSAGES, download, on_both

SENTENCE = "sentence=Two+dogs+play+in+the+snow."
ROW = ".attention-row .weights td"
FORMS = {"Additive": "additive", "General": "general", "Dot product": "product", "Scaled": "scaled", "Heads": "heads"}
EXHIBITS = {"General": "dot", "Dot product": "pair", "Heads": "heads"}

SHARES = """(cells) => cells.map(({ textContent }) =>
  ({ "<": 0, ">": 0.995 })[textContent[0]] ?? parseInt(textContent) / 100)"""


def form_button(page: Page, name: str) -> Locator:
    return page.locator(".st-key-form-energies").get_by_role("radio", name=name, exact=True)


def assert_form(page: Page, name: str) -> None:
    """Check that everything shows the form: button, address, numbers in the cells, and their shades."""
    expect(form_button(page, name)).to_have_attribute("aria-checked", "true")
    default = name == "Additive"
    page.wait_for_url(lambda url: ("form-energies=" not in url) if default else f"form-energies={FORMS[name]}" in url)
    expect(page.locator(".attention-row .head:visible")).to_have_count(4 if name == "Heads" else 0)
    expect(page.locator(".attention-row .energies")).to_be_visible(visible=name != "Heads")
    assert sum(page.locator(ROW).evaluate_all(SHARES)) == pytest.approx(1, abs=0.05)
    marks = page.locator(".attention-row .katex-html .mord.text", has_text="changed")
    expect(marks).to_have_count(0 if default else 1)


@on_both
def test_five_forms_change_the_row_and_ask_nothing_of_the_server(open_page) -> None:
    page = open_page(f"?{SENTENCE}", path="transformer", ready=ROW)
    wait_until_idle(page)
    page.emulate_media(reduced_motion="reduce")  # no cell is looked at while it fades
    page.evaluate(COUNT_MESSAGES)
    form_button(page, "Additive").focus()
    for name in FORMS:
        assert_form(page, name)
        if name in ("Additive", "Heads"):
            assert violations(page) == []
        if name != "Heads":
            page.keyboard.press("ArrowRight")
    assert page.evaluate("window.sent") == 0

    page.go_back()
    assert_form(page, "Scaled")
    wait_until_idle(page)
    page.reload()
    page.wait_for_selector(ROW)
    assert_form(page, "Scaled")
    wait_until_idle(page)
    page.go_back()
    assert_form(page, "Dot product")

    # The words are one tab stop, too.
    page.locator(".attention-row .words [aria-current]").focus()
    page.keyboard.press("End")
    word = page.locator(".attention-row .words [aria-current]")
    expect(word).to_have_text("</s>")
    expect(word).to_be_focused()
    # A table and an equation that are too wide for a phone are stops, too.
    for place in (".scroll[data-scrolls]", ".katex-display[data-scrolls]", ".exhibit"):
        if page.locator(f".attention-row {place}").count():
            page.keyboard.press("Tab")
            expect(page.locator(f".attention-row {place}")).to_be_focused()
    assert page.evaluate("document.querySelector('.stMain').scrollWidth <= innerWidth")


@pytest.mark.nightly
@pytest.mark.parametrize(("lang", "width", "height"), [("fr", 1280, 720), ("en", 1440, 900)])
def test_row_fits_one_screen_in_every_form(open_page, width: int, height: int, lang: str) -> None:
    sentence = f"sentence={DEFAULT_SENTENCE}"
    page = open_page(f"?{sentence}&lang={lang}", path="transformer", ready=ROW, width=width, height=height)
    wait_until_idle(page)
    forms = page.locator(".st-key-form-energies").get_by_role("radio")
    for k in range(len(FORMS)):
        forms.nth(k).click()
        expect(forms.nth(k)).to_have_attribute("aria-checked", "true")
        expect(page.locator(".attention-row .katex")).to_be_visible()
        box, badge = (page.locator(name).bounding_box() for name in (".attention-row", ".verification .badge"))
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= badge["y"]
        assert badge["y"] + badge["height"] <= height
    assert page.evaluate("document.querySelector('.stMain').scrollTop") == 0


@on_both
def test_row_is_saved_and_each_exhibit_opens_behind_its_form_and_works(open_page) -> None:
    page = open_page(f"?{SENTENCE}", path="transformer", ready=ROW)
    wait_until_idle(page)
    expect(page.locator(".verification .badge")).to_contain_text("verified in 3 models")
    page.locator(".st-key-downloads_of_row button").first.click()
    rows = page.locator("[class*=st-key-export_row] .picture")
    expect(rows).to_have_count(6)
    assert download(page, rows.nth(4).get_by_text("SVG", exact=True)).suggested_filename.endswith("-heads.svg")
    page.keyboard.press("Escape")
    button, exhibit = page.locator(".attention-row .exhibit"), page.locator("[class*='st-key-exhibit_']")
    expect(exhibit).to_have_count(0)
    for name, exhibit_name in EXHIBITS.items():
        form_button(page, name).click()
        expect(button).to_have_attribute("aria-expanded", "false")
        button.click()
        page.wait_for_url(re.compile(f"exhibit={exhibit_name}"))
        expect(button).to_have_attribute("aria-expanded", "true")
        if page.viewport_size["width"] > 700:
            expect(page.locator(f".st-key-exhibit_{exhibit_name} h2")).to_be_in_viewport()
        wait_until_idle(page)
        expect(exhibit).to_have_count(1)
        assert_form(page, name)
        if name == "General":  # the exhibit and the row show the same step, and both listen to keys
            bring_into_sight(page.locator("[class*=st-key-energy-decomposition]").first)
            page.evaluate("document.activeElement.blur()")
            page.keyboard.press("ArrowRight")
            page.wait_for_url(re.compile("step-energies="))
            word = page.locator(".attention-row .words [aria-current]")
            expect(word).to_have_text(page.locator(".player .target [aria-current]").first.inner_text())
        if name == "Dot product":
            text = page.locator(".st-key-bag-two p").inner_text()
            page.get_by_role("button", name="Swap them").click()
            expect(page.locator(".st-key-bag-two p")).not_to_have_text(text, use_inner_text=True)
        assert page.evaluate("document.querySelector('.stMain').scrollWidth <= innerWidth")

    # A head, by the keyboard and by the mouse: one of the encoder, whose sentence asks itself.
    opened = page.locator("button.cell[aria-checked='true']")
    expect(page.locator("button.cell")).to_have_count(36)
    code = opened.get_attribute("data-code")
    opened.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: "head=" in url and f"head={code}" not in url)
    expect(opened).to_be_focused()
    page.locator("button.cell[data-code='encoder.1.2']").click()
    page.wait_for_url(re.compile(r"head=encoder\.1\.2"))
    wait_until_idle(page)
    expect(page.locator(".player .target")).to_have_attribute("lang", "en")
    bring_into_sight(page.locator(".st-key-stage_1-head"))
    expect(page.locator(".st-key-stage_1-head .js-plotly-plot")).to_be_visible()

    page.get_by_role("button", name="Compare all five models").click()
    page.wait_for_url(re.compile("exhibit=answers"))
    expect(page.locator(".lane")).to_have_count(5)
    page.locator(".lanes .next").focus()
    page.keyboard.press("End")
    expect(page.locator(".lane .target").last).to_contain_text("</s>")
    page.go_back()
    page.wait_for_url(re.compile("exhibit=heads"))
    expect(exhibit).to_have_count(1)
    assert_form(page, "Heads")
    wait_until_idle(page)
    button.click()
    expect(exhibit).to_have_count(0)
    page.wait_for_url(lambda url: "exhibit=" not in url)
