"""Lab: perturbation tests, the beam search and two translations side by side, with the state of *Translate*."""

import re
from functools import partial
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

from tests.browser.server import READY
from tests.browser.settled import go_to_page, wait_until_idle, wait_until_still
from tests.browser.test_axe import violations
from tests.browser.test_page import NEW, expect_step, query, type_sentence
from tests.browser.views import on_both

PERTURBATION_TESTS = ".st-key-perturbation-tests .js-plotly-plot .xtick"
"""A selector that matches once the page is drawn."""
CHART = ".st-key-comparison .js-plotly-plot"


def wait_until_drawn(page: Page) -> None:
    page.wait_for_selector(f"{CHART} .ytick")
    wait_until_idle(page)


def expect_row(page: Page, step: int, row: int) -> None:
    """Wait until player, picture and server are at 0-based `step`, which is in `row`."""
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", str(step))
    expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(step))
    page.wait_for_function(
        "([chart, row]) => document.querySelector(chart).layout.shapes.some(({ line, y0 }) => "
        "line.color === document.querySelector(chart).layout.meta.frame && y0 + 0.5 === row)",
        arg=[CHART, row],
    )


@on_both
def test_one_player_moves_both_translations(open_page) -> None:
    linked = {"section": "comparison", "sentence": "A girl is riding a red bicycle.", "step": "1"}
    page = open_page(f"?{urlencode(linked)}", path="lab", ready=f"{CHART} .ytick")
    wait_until_idle(page)
    expect_row(page, 0, 0)
    page.keyboard.press("ArrowRight")
    expect_row(page, 1, 1)
    expect(page.locator(".st-key-comparison .chart-box > p")).to_contain_text("“fille”: step 2 in both translations.")
    assert query(page)["step"] == "2"
    page.keyboard.press("End")
    expect_row(page, 7, 7)
    page.reload()
    wait_until_drawn(page)
    expect_row(page, 7, 7)

    # The choices of each comparison stay while another one, or another section, is shown.
    for kind in ("Two sentences", "A what-if"):
        page.locator(".st-key-compare").get_by_text(kind).click()
        expect(page.locator(".st-key-compare_told")).to_be_visible()
    page.locator(".st-key-section").get_by_text("Attributions").click()
    page.wait_for_selector(".st-key-attributions .js-plotly-plot .ytick")
    page.wait_for_url(lambda url: "compare=" not in url)
    page.locator(".st-key-section").get_by_text("Side by side").click()
    page.wait_for_url(re.compile("compare=what-if"))
    wait_until_idle(page)
    page.locator(".st-key-compare").get_by_text("Two models").click()
    wait_until_drawn(page)
    expect_row(page, 7, 7)


@on_both
def test_sections_of_the_lab_share_sentence_model_and_step_with_translate(open_page) -> None:
    page = open_page("?model=small-dot&search=beam+3&depth=numbers", width=1280, height=720)
    type_sentence(page, NEW, "snow")
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)
    go_to_page(page, "Lab")
    page.wait_for_selector(PERTURBATION_TESTS)
    wait_until_idle(page)
    shown = {"sentence": NEW, "model": "small-dot", "search": "beam 3", "step": "2"}
    assert query(page) | shown == query(page)

    # It opens on one question and one picture, within the window.
    section = page.locator(".st-key-perturbation-tests")
    expect(section.locator("h3")).to_have_text(re.compile(r"“.+”.*\?$"))
    expect(page.locator(".js-plotly-plot:visible")).to_have_count(1)
    for part in ("h3", ".js-plotly-plot", "p"):
        box = section.locator(part).bounding_box()
        assert box, part
        assert box["y"] + box["height"] <= 720, part
    assert violations(page) == []

    # A typed word gets its own attention; a clicked point selects its step.
    page.locator(".st-key-all_steps button").click()
    paragraph, box = page.locator(".st-key-perturbation-tests p"), page.locator(".word-choice [data-what=word]")
    box.fill("neige")
    page.keyboard.press("Enter")
    expect(paragraph).to_contain_text("“neige”")  # the server tries a hundred attention distributions
    wait_until_idle(page)
    picture = page.locator(".st-key-shuffled .js-plotly-plot")
    wait_until_still(picture)
    point = picture.locator(".point").nth(2).bounding_box()
    page.mouse.click(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", "2")
    expect(paragraph).not_to_contain_text("“neige”")

    # Keys in the list of sections change the section, not the step.
    page.locator(".st-key-section [role=radio]").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.wait_for_selector(".st-key-attributions .js-plotly-plot .ytick")
    assert query(page)["step"] == "3"
    go_to_page(page, "Translate")
    page.wait_for_selector(READY)
    expect(page.locator(".st-key-status")).to_contain_text("small-dot")
    expect_step(page, 3)

    # A finished hypothesis opens by mouse and keyboard, and is the what-if of *Translate*.
    page.goto(f"{page.url.partition('?')[0].rstrip('/')}/lab?{urlencode({'section': 'tree', 'sentence': NEW})}")
    entries, french = page.locator(".hypotheses li button"), page.locator(".player .target")
    expect(entries).to_have_count(5)
    for place, act in ((1, Locator.click), (2, partial(Locator.press, key="Enter"))):
        text = page.locator(".hypotheses li .text").nth(place).inner_text()
        act(entries.nth(place))
        expect(entries.nth(place)).to_have_attribute("aria-current", "true")
        expect(french).to_have_text(re.compile(r"\s*".join(map(re.escape, text.split()))))
        page.wait_for_url(f"**what_if={place}**")
    page.reload()
    expect(entries.nth(2)).to_have_attribute("aria-current", "true")
    page.get_by_text("The charts as tables").click()
    expect(page.locator(".st-key-tables_rows table")).to_be_visible()
