"""The control with three levels of detail (Idea, Numbers, Everything), and the first window of a new visitor."""

import re

import pytest
from playwright.sync_api import Page, expect

from attnviz.ui.examples import DEFAULT_SENTENCE
from tests.browser.server import READY
from tests.browser.settled import settled
from tests.browser.test_page import query
from tests.browser.views import NARROW, WIDE, at_night, within

LEVEL_CONTROL = ".st-key-depth"


PARTS = {
    "equations": "[class*='st-key-stage_'] .katex-display",
    "waterfalls": ".st-key-energy-decomposition .js-plotly-plot, .st-key-logit-attribution .js-plotly-plot",
    "verification": ".st-key-verification",
    "switches": ".st-key-heatmap_choices",
}
"""Selectors of the parts that only some levels have."""


def expect_parts(page: Page, **counts: int) -> None:
    for name, count in counts.items():
        expect(page.locator(PARTS[name])).to_have_count(count)


@pytest.mark.parametrize(
    ("lang", "width", "height"), [("fr", 1280, 720), at_night("en", 1440, 900), at_night("en", 1280, 720)]
)
def test_idea_is_one_screen_in_which_a_stage_opens(open_page, width: int, height: int, lang: str) -> None:
    page = open_page(f"?depth=idea&lang={lang}&sentence={DEFAULT_SENTENCE}", width=width, height=height)
    settled(page, ".st-key-heatmap")
    diagram = page.locator(".st-key-diagram .drawing")
    page.wait_for_function(
        "() => document.querySelector('.st-key-heatmap .chart').getBoundingClientRect().bottom <= innerHeight"
    )
    parts = (".player .transport", ".st-key-question", ".st-key-heatmap .chart", ".st-key-facts")
    for name in (*parts, ".st-key-diagram .drawing", ".diagram .run", ".st-key-context_choice"):
        box = page.locator(name).first.bounding_box()
        assert box, name
        assert box["y"] + box["height"] <= height, name
        assert box["x"] + box["width"] <= width, name
    share = page.locator(".st-key-facts li button").nth(1)
    share.click()
    picture, thin = page.locator(".st-key-attention .js-plotly-plot"), page.locator(".diagram.thin")
    expect(picture).to_be_visible()
    expect(thin.locator(".drawing")).to_be_visible()
    page.wait_for_url(re.compile("stage=2"))
    page.wait_for_function("""() => {
      const { top, bottom } = document.querySelector(".st-key-one_picture").getBoundingClientRect();
      return top > 0 && Math.floor(bottom) <= innerHeight;
    }""")
    expect(page.locator(".st-key-facts")).to_be_in_viewport(ratio=0.8)
    page.reload()
    expect(picture).to_be_visible()
    share.click()
    expect(diagram).to_be_visible()
    expect(thin).to_have_count(0)
    page.wait_for_function("() => !new URLSearchParams(location.hash.slice(1)).has('stage')")
    page.keyboard.press("End")  # the end mark has one name in all parts
    for part in (".player .target .current", ".diagram .drawing", ".st-key-facts"):
        expect(page.locator(part)).to_contain_text("</s>")


@within(WIDE._replace(width=1280, height=720), NARROW)
def test_frozen_context_is_a_what_if_that_moves_nothing_and_can_be_left(open_page) -> None:
    page = open_page(f"?depth=idea&sentence={DEFAULT_SENTENCE}")
    settled(page, ".st-key-heatmap")
    french, choice = page.locator(".player .target"), page.locator(".st-key-context_choice")
    before, drawing = french.inner_text(), page.locator(".st-key-diagram .drawing")
    top = "(node) => node.getBoundingClientRect().top"
    choice.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
    place = drawing.evaluate(top)
    choice.get_by_role("button").click()
    page.wait_for_url(re.compile("what_if=1"))
    expect(french).not_to_have_text(before)
    expect(page.locator(".diagram.frozen")).to_be_visible()
    settled(page, ".st-key-heatmap")
    choice.get_by_role("radio").nth(2).click()
    page.wait_for_url(re.compile("what_if=2"))
    expect(page.locator(".player .why")).to_have_text("all weights equal")
    if page.viewport_size["width"] < 700:  # elsewhere the French itself is in sight
        expect(page.locator(".st-key-context_outcome ins").first).to_be_in_viewport()
    assert abs(drawing.evaluate(top) - place) <= 2, "nothing moves in the window"
    page.reload()
    expect(choice.get_by_role("radio").nth(2)).to_be_checked()
    page.locator(".what_ifs .undo").click()
    page.wait_for_function("() => !new URL(location.href).searchParams.has('what_if')")
    expect(french).to_have_text(before, use_inner_text=True)


def test_dragged_bar_shows_beside_the_hand_what_would_change(open_page) -> None:
    page = open_page(f"?depth=idea&stage=2&step=3&sentence={DEFAULT_SENTENCE}")
    settled(page, ".st-key-attention")
    french, beside = page.locator(".player .target"), page.locator(".st-key-attention .consequence")
    written, before = french.locator(".current").inner_text().strip(), french.inner_text()
    parts = (".st-key-question", ".st-key-heatmap .chart", ".st-key-facts", ".st-key-attention .hand")
    places = [page.locator(name).first.bounding_box()["y"] for name in parts]
    strips = page.locator(".st-key-attention .chart")
    rows = "(chart) => Array.from(chart._fullData[4].z, (row) => [...row])"
    shown: list[list[float]] = strips.evaluate(rows)
    bar = page.locator(".st-key-attention .hand").last.bounding_box()
    x, y = bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] - 6

    def drag() -> None:
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y - 0.75 * bar["height"], steps=6)
        expect(beside).to_be_visible()

    expect(beside).to_be_hidden()
    drag()
    expect(beside.locator(".probability")).to_contain_text("→")
    expect(beside.locator(".probability")).to_contain_text(written)
    box = beside.bounding_box()
    assert box["x"] >= 0
    assert box["y"] + box["height"] <= page.evaluate("innerHeight")
    dragged: list[list[float]] = strips.evaluate(rows)
    assert dragged[-1] != pytest.approx(shown[-1], abs=0.01), "the mixture follows the hand"
    assert [sum(column) for column in zip(*dragged[:-1], strict=True)] == pytest.approx(dragged[-1], abs=1e-4)
    assert french.inner_text() == before, "nothing is changed before the bar is released"
    page.keyboard.press("Escape")
    expect(beside).to_be_hidden()
    page.mouse.up()

    drag()
    page.mouse.up()
    page.wait_for_url(re.compile("what_if=1"))
    expect(beside).to_be_hidden()
    expect(page.locator(".st-key-what_if_cards")).to_be_visible()
    settled(page, ".st-key-heatmap")
    now = [page.locator(name).first.bounding_box()["y"] for name in parts]
    assert now == pytest.approx(places, abs=1), "the next bar is where it was"
    undo = page.locator(".st-key-attention .undo")
    undo.click()
    expect(french).to_have_text(before, use_inner_text=True)
    expect(undo).to_be_hidden()


def test_new_visitor_starts_at_idea_and_the_choice_is_remembered(open_page, address) -> None:
    page = open_page(None)
    settled(page, ".st-key-heatmap")
    assert "depth" not in query(page)
    expect_parts(page, equations=0, waterfalls=0, verification=0, switches=0)
    speed = page.locator(".player .speed [aria-pressed=true]")
    expect(speed).to_have_text("½×")
    page.locator(LEVEL_CONTROL).get_by_role("radio", name="Numbers", exact=True).click()
    expect(speed).to_have_text("1×")
    expect_parts(page, equations=5, waterfalls=0, verification=0, switches=1)
    page.wait_for_url(re.compile("depth=numbers"))
    other = page.context.new_page()
    other.goto(address)
    other.wait_for_selector(READY)
    expect(other.locator(LEVEL_CONTROL).get_by_role("radio", name="Numbers")).to_be_checked()
    other.wait_for_url(re.compile("depth=numbers"))
    linked = page.context.new_page()  # a link overrides the remembered level, and is not remembered itself
    linked.goto(f"{address}/?depth=everything")
    settled(linked)
    expect(linked.locator(LEVEL_CONTROL).get_by_role("radio", name="Everything")).to_be_checked()
    expect_parts(linked, equations=5, waterfalls=2, verification=1, switches=1)
    other.goto(address)
    other.wait_for_selector(READY)
    expect(other.locator(LEVEL_CONTROL).get_by_role("radio", name="Numbers")).to_be_checked()


CUT = """
() => [...document.querySelectorAll(".st-key-stages .katex-display")]
  .filter((node) => node.scrollWidth > node.clientWidth).map((node) => node.textContent)
"""
"""JavaScript for the equations that are cut off."""


@pytest.mark.nightly
@pytest.mark.parametrize("lang", ["en", "fr"])
@pytest.mark.parametrize("level", ["idea", "everything"])
def test_windows_between_phone_and_desktop_cut_nothing(open_page, level: str, lang: str) -> None:
    """A window of 1440 pixels at 200 % zoom is one of 720."""
    page = open_page(f"?depth={level}&lang={lang}&sentence={DEFAULT_SENTENCE}", width=1440)
    settled(page, ".st-key-heatmap")
    for width in (1250, 1100, 1024, 900, 768, 700, 640):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("() => document.querySelector('.stMain').scrollWidth <= innerWidth")
        heads = (".masthead .about", ".st-key-lang", ".stMainMenu button")
        about, languages, menu = (page.locator(name).bounding_box() for name in heads)
        assert about["width"] > 200, "the line below the title does not break into one word a line"
        assert about["x"] + about["width"] <= languages["x"] or about["y"] >= languages["y"] + languages["height"] - 1
        assert languages["x"] + languages["width"] <= menu["x"]
        assert page.evaluate(CUT) == [], f"equations in {width} pixels"
