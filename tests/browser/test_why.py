"""Page *Why attention?*: translations that step together, charts, links, tables and downloads."""

from playwright.sync_api import Locator, Page, expect

from attnviz.analysis.why_attention import prefixes
from attnviz.evaluation.example_sentences import TECHNOLOGY
from tests.browser.settled import bring_into_sight, wait_until_idle
from tests.browser.test_axe import violations
from tests.browser.test_page import query
from tests.browser.views import on_both

SECTIONS = ".st-key-section_gradients-why > summary"
"""A selector that matches once the page is drawn."""
GROWN = ".st-key-lanes-length .lane"
"""The rows of the growing sentence."""


def lanes(page: Page, view: str = "why") -> Locator:
    return page.locator(f".st-key-lanes-{view} .lanes")


def wait_for_step(page: Page, step: int, view: str = "why") -> None:
    """Wait until the page is at a step, counted from 1."""
    expect(page.locator(f".st-key-room-{view}")).to_have_attribute("data-step", str(step - 1))
    expect(lanes(page, view).locator(".at")).to_have_value(str(step - 1))


def step_three_translations(page: Page) -> None:
    """Open the translations of three models, and step through them."""
    page.locator(".st-key-section_translations-why > summary").click()
    lanes(page).locator(".name").first.click()  # until then, keys belong to the growing sentence
    three = lanes(page).locator(".lane")
    expect(three).to_have_count(3)
    strips = [three.nth(k).locator("canvas").evaluate("canvas => canvas.toDataURL()") for k in range(3)]
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 2)
    after = [three.nth(k).locator("canvas").evaluate("canvas => canvas.toDataURL()") for k in range(3)]
    assert [one == other for one, other in zip(strips, after, strict=True)] == [True, False, False]  # the fixed vector
    lanes(page).locator(".next").click()
    wait_for_step(page, 3)
    assert query(page)["step-why"] == "3"
    transport = lanes(page).locator(".transport").bounding_box()
    slider = lanes(page).locator(".at")
    last = int(slider.get_attribute("max") or 0)
    slider.fill(str(last - 1))
    lanes(page).locator(".play").click()
    wait_for_step(page, last + 1)
    expect(lanes(page).locator(".verb")).to_have_text("Play")
    expect(three.nth(2).locator(".part:not(.later)").last).to_have_text("</s>")
    assert lanes(page).locator(".transport").bounding_box() == transport, "the layout does not shift"


@on_both
def test_page_opens_short_on_a_whole_sentence_and_shortens_it(open_page) -> None:
    page = open_page("", path="why", ready=f"{GROWN} .target")
    wide = page.viewport_size["width"] > 1000
    page.wait_for_selector(SECTIONS)
    assert page.evaluate("document.querySelector('.stMain').scrollHeight") < (2350 if wide else 4450)
    rows = lanes(page, "length")
    expect(rows.locator(".lane")).to_have_count(4)
    slider, fixed = rows.locator(".at"), rows.locator(".lane").first
    last = int(slider.get_attribute("max") or 0)
    wait_for_step(page, last + 1, "length")
    expect(rows.locator(".where")).to_have_text("42 of 42 words")
    expect(fixed.locator(".source .text")).to_contain_text("protection of personal data.")
    assert fixed.locator("s").count() > 2 * rows.locator(".lane").nth(2).locator("s").count()
    expect(rows.locator(".lane .target .text").last).to_contain_text("Les technologies ont transformé")
    assert page.evaluate("document.querySelector('.stMain').scrollWidth <= innerWidth")
    wait_until_idle(page)
    height, asked = rows.bounding_box()["height"], []
    page.on("request", lambda request: asked.append(request.url))
    slider.focus()
    page.keyboard.press("ArrowLeft")
    wait_for_step(page, last, "length")
    expect(rows.locator(".where")).to_have_text("41 of 42 words")
    page.keyboard.press("Home")
    expect(fixed.locator(".source .text")).to_have_text(prefixes(TECHNOLOGY)[0])
    expect(rows.locator(".lane .target .text").last).to_be_empty()
    assert rows.bounding_box()["height"] == height  # nothing below moves
    assert asked == []
    assert query(page)["step-length"] == "1"
    page.keyboard.press("End")
    expect(fixed.locator(".source .text")).to_contain_text("protection of personal data.")
    assert "step-length" not in query(page)
    assert violations(page) == []

    # Closed sections fetch nothing; an opened one draws its chart in its width.
    bring_into_sight(page.locator(SECTIONS))
    wait_until_idle(page)
    assert not [url for url in asked if "forced-words" in url or "gradient-share" in url or "signals" in url]
    page.get_by_role("heading", name="4. All three models").click()
    chart = page.locator(".st-key-forced_words-why .chart")
    bring_into_sight(chart)
    expect(chart.locator(".main-svg").first).to_be_visible()
    assert chart.evaluate("chart => chart._fullLayout.width === chart.clientWidth")
    assert [url for url in asked if "forced-words" in url]
    step_three_translations(page)
