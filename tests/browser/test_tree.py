"""Lab section with the beam search as a tree: hover, clicks, keyboard, touch, scrolling and downloads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import Opener
from tests.browser.contrast import faint
from tests.browser.settled import WAIT_UNTIL_STILL, bring_into_sight, wait_until_idle
from tests.browser.test_page import NEW, query
from tests.browser.views import address_with, everywhere, on_both

pytestmark = pytest.mark.browser

CHART = ".st-key-tree .js-plotly-plot"
LONG = (
    "An admitting privilege is the right of a doctor to admit a patient to a hospital or a medical centre to carry out "
    "a diagnosis or a procedure, based on his status as a health care worker at a hospital."
)
PLACE = """([part, place]) => {
  const chart = document.querySelector(".st-key-tree .js-plotly-plot"), { xaxis, yaxis } = chart._fullLayout;
  const { x, y, text, customdata } = chart._fullData.find((trace) => trace.name === part);
  const i = place < 0 ? x.length + place : place, box = chart.getBoundingClientRect();
  return {
    x: box.left + xaxis._offset + xaxis.c2p(x[i]), y: box.top + yaxis._offset + yaxis.c2p(y[i]), text: text[i],
    node: customdata[i],
  };
}"""
MARKED_PATH = """() => [...document.querySelectorAll(".st-key-tree .cursor polyline")].flatMap(({ points }) =>
  [...points].map(({ x, y }) => [Math.round(x), Math.round(y)]))"""
"""JavaScript for the points of the marked path."""
TREE = "document.querySelector('.st-key-tree .js-plotly-plot').layout.meta.tree"


def open_tree(page: Page, address: str, **parameters: str) -> None:
    query = urlencode({"page": "lab", "section": "tree", "sentence": NEW} | parameters)
    page.goto(f"{address}/{address_with(query)}")
    page.wait_for_selector(CHART)
    page.wait_for_selector(".hypotheses li")
    wait_until_idle(page)


def label_position(page: Page, part: str, number: int) -> dict[str, Any]:
    """Return where a label is in the window, the chart scrolled to it, what it says, and the number of its node."""
    chart = page.locator(CHART)
    bring_into_sight(chart)
    found: dict[str, Any] = page.evaluate(PLACE, [part, number])
    shift = found["x"] - page.viewport_size["width"] / 2  # type: ignore[index]
    page.evaluate("(by) => { document.querySelector('.st-key-tree .scroll').scrollLeft += by; }", shift)
    found = page.evaluate(PLACE, [part, number])
    if not 80 < found["y"] < page.viewport_size["height"] - 20:  # type: ignore[index]
        page.mouse.move(200, 400)
        page.mouse.wheel(0, found["y"] - 400)
        chart.evaluate(WAIT_UNTIL_STILL)
        found = page.evaluate(PLACE, [part, number])
    return found


def click_label(page: Page, found: dict[str, Any]) -> None:
    """Click a label, once Plotly knows that the pointer is there."""
    page.mouse.move(found["x"], found["y"])
    marked = "(count) => document.querySelector('.st-key-tree .cursor polyline')?.points.length === count"
    page.wait_for_function(marked, arg=11 * len(hypothesis_pieces(page, found["node"])))
    page.mouse.click(found["x"], found["y"])
    page.wait_for_function(SINGLE, arg=page.evaluate("performance.now()"))


SINGLE = "(clicked) => performance.now() - clicked > 400"
"""JavaScript for whether the double-click time is over, so that Plotly counts the next click as a single one."""


def shown_translation(page: Page) -> str:
    return " ".join(page.locator(".player .target").inner_text().split())


def hypothesis_pieces(page: Page, node: int) -> list[int]:
    """Return the ids of a hypothesis, by its node."""
    tree, found = page.evaluate(TREE), []
    while node >= 0:
        found.insert(0, tree["pieces"][node])
        node = tree["parents"][node]
    return found


def path_points(page: Page, node: int) -> list[list[int]]:
    """Return the points of the links that lead to a hypothesis, as the figure has them."""
    found: list[list[int]] = page.evaluate(
        """(node) => {
      const chart = document.querySelector(".st-key-tree .js-plotly-plot"), { xaxis, yaxis } = chart._fullLayout;
      const { parents } = chart.layout.meta.tree, way = [];
      for (let here = node; here >= 0; here = parents[here]) {
        const labels = chart.data.find(({ customdata }) => customdata?.includes(here));
        const links = chart.data.find(({ name }) => name === "links: " + labels.name);
        const pieces = []; // the points of each link, which end with a null
        let link = [];
        links.x.forEach((x, i) => {
          if (x === null) pieces.push(link), link = [];
          else link.push([Math.round(xaxis._offset + xaxis.c2p(x)), Math.round(yaxis._offset + yaxis.c2p(links.y[i]))]);
        });
        way.unshift(...pieces[labels.customdata.indexOf(here)]);
      }
      return way;
    }""",
        node,
    )
    return found


@on_both
def test_finished_hypothesis_opens_by_mouse_and_keyboard(open_page: Opener, address: str) -> None:
    page = open_page()
    open_tree(page, address, search="beam 5")
    paragraph = page.locator(".st-key-tree p").inner_text()
    assert "of the 5 finished" in paragraph
    expect(page.locator(".hypotheses li")).to_have_count(5)
    expect(page.locator(".hypotheses [aria-current]")).to_have_count(1)
    first = shown_translation(page)
    second = page.locator(".hypotheses li .text").nth(1).inner_text()
    page.locator(".hypotheses li button").nth(1).click()
    expect(page.locator(".hypotheses li button").nth(1)).to_have_attribute("aria-current", "true")
    wait_until_idle(page)
    assert shown_translation(page).removesuffix("</s>").strip() == second
    assert "has rank 2 among the finished" in page.locator(".st-key-tree p").inner_text()
    page.wait_for_url("**what_if=1**")
    third = page.locator(".hypotheses li button").nth(2)
    third.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".hypotheses li button").nth(2)).to_have_attribute("aria-current", "true")
    page.wait_for_url("**what_if=2**")
    page.goto(page.url)  # a link opens the same
    page.wait_for_selector(".hypotheses [aria-current]")
    expect(page.locator(".hypotheses li button").nth(2)).to_have_attribute("aria-current", "true")
    assert shown_translation(page) != first
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.nightly
@on_both
def test_clicked_dropped_hypothesis_is_continued(open_page: Opener, address: str) -> None:
    page = open_page()
    open_tree(page, address, search="beam 5")
    twig = label_position(page, "twig", 1)
    wanted = hypothesis_pieces(page, twig["node"])
    click_label(page, twig)
    page.wait_for_url("**what_if=1**")
    wait_until_idle(page)
    shown = page.evaluate(TREE)["shown"]
    assert shown[: len(wanted)] == wanted
    assert shown[-1] == page.evaluate(TREE)["end"]


@pytest.mark.nightly
def test_click_on_a_node_opens_its_hypothesis_or_step(open_page: Opener, address: str) -> None:
    page = open_page()
    open_tree(page, address, search="beam 5")
    inner = label_position(page, "winner", 2)
    click_label(page, inner)
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", "2")
    assert "what_if" not in query(page)
    last = label_position(page, "winner", -1)  # it is the current translation already
    click_label(page, last)
    ends = page.evaluate("""() => {
      const chart = document.querySelector(".st-key-tree .js-plotly-plot");
      const { text } = chart.data.find((trace) => trace.name === "finished");
      return text.flatMap((piece, i) => piece.includes("/s") ? [i] : []);
    }""")
    finished = label_position(page, "finished", ends[0])
    wanted = hypothesis_pieces(page, finished["node"])
    click_label(page, finished)
    page.wait_for_url("**what_if=1**")
    wait_until_idle(page)
    assert page.evaluate(TREE)["shown"] == wanted
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", "2")  # the step stays


@pytest.mark.nightly
def test_hover_explains_a_hypothesis_and_marks_its_path(open_page: Opener, address: str) -> None:
    page = open_page()
    open_tree(page, address, search="beam 5")
    twig = label_position(page, "twig", 2)
    page.mouse.move(twig["x"], twig["y"])
    hover = page.locator(f"{CHART} .hovertext")
    expect(hover).to_contain_text("log p(")
    expect(hover).to_contain_text("outside the beam")
    expect(hover).to_contain_text("of width 5")
    assert page.evaluate(MARKED_PATH) == path_points(page, twig["node"])
    page.mouse.move(5, 5)
    assert page.evaluate(MARKED_PATH) == []  # only the current translation is marked


@pytest.mark.nightly
@on_both
def test_hovered_list_entry_is_marked_in_the_tree(open_page: Opener, address: str) -> None:
    page = open_page()
    open_tree(page, address, search="beam 5", width="4")
    listed = page.locator(".hypotheses li button")
    listed.nth(2).focus()
    third = page.evaluate(MARKED_PATH)
    ends = page.evaluate(TREE)["shown"]
    assert len(third) % 11 == 0
    assert len(third) // 11 >= 0.5 * len(ends)  # a link for each of its pieces
    listed.nth(1).hover()
    second = page.evaluate(MARKED_PATH)
    assert second != third
    page.mouse.move(5, 5)
    listed.nth(1).click()
    expect(listed.nth(1)).to_have_attribute("aria-current", "true")
    wait_until_idle(page)
    page.mouse.move(5, 5)
    assert page.evaluate(MARKED_PATH) == second  # the current hypothesis is not the best one


@pytest.mark.nightly
@on_both
def test_current_step_column_is_marked_and_scrolled_into_view(open_page: Opener, address: str) -> None:
    page = open_page()
    open_tree(page, address, sentence=LONG, width="12", search="beam 5")
    scroll = ".st-key-tree .scroll"
    assert page.evaluate(f"document.querySelector('{scroll}').scrollWidth") > 3000
    assert page.evaluate(f"document.querySelector('{scroll}').scrollLeft") == 0
    page.keyboard.press("End")
    steps = page.evaluate("document.querySelector('.st-key-room').attnvizView.step")
    assert steps > 40
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", str(steps - 1))
    page.wait_for_function(
        """(step) => {
      const chart = document.querySelector(".st-key-tree .js-plotly-plot"), { xaxis } = chart._fullLayout;
      const [band] = chart.layout.shapes, [x0, x1] = chart.layout.meta.spans[step];
      const box = chart.closest(".scroll").getBoundingClientRect(), left = chart.getBoundingClientRect().left;
      const middle = left + xaxis._offset + xaxis.c2p((x0 + x1) / 2);
      return band.x0 === x0 && band.x1 === x1 && middle > box.left && middle < box.right;
    }""",
        arg=steps - 1,
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.nightly
@on_both
def test_beam_width_changes_the_tree_and_the_url(open_page: Opener, address: str) -> None:
    page = open_page()
    open_tree(page, address, search="beam 5")
    before = page.evaluate(TREE)["pieces"]
    page.locator(".st-key-width").get_by_text("12", exact=True).click()
    expect(page.locator(".hypotheses li")).to_have_count(12)
    wait_until_idle(page)
    page.wait_for_url("**width=12**")
    assert len(page.evaluate(TREE)["pieces"]) > len(before)
    page.locator(".page-links a").first.press("Enter")
    page.wait_for_selector(".st-key-heatmap .js-plotly-plot")
    page.go_back()
    expect(page.locator(".hypotheses li")).to_have_count(12)


@pytest.mark.nightly
@everywhere
def test_text_has_enough_contrast(open_page: Opener, address: str) -> None:
    page = open_page()
    open_tree(page, address, search="beam 5", width="12")
    assert faint(page, more_than=30) == []


@pytest.fixture
def telephone(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    context.set_default_timeout(30_000)
    yield context
    context.close()


@pytest.mark.nightly
def test_tap_opens_a_hypothesis(telephone: BrowserContext, address: str) -> None:
    page = telephone.new_page()
    open_tree(page, address, search="beam 5")
    twig = label_position(page, "twig", 1)
    wanted = hypothesis_pieces(page, twig["node"])
    page.touchscreen.tap(twig["x"], twig["y"])
    page.wait_for_url("**what_if=1**")
    wait_until_idle(page)
    assert page.evaluate(TREE)["shown"][: len(wanted)] == wanted


@pytest.mark.nightly
def test_tree_can_be_downloaded_as_image_and_csv(open_page: Opener, address: str, tmp_path: Path) -> None:
    page = open_page()
    open_tree(page, address, search="beam 5", width="3")
    page.locator(".st-key-downloads button").first.click()
    for form in ("PNG", "SVG", "CSV"):
        with page.expect_download() as coming:
            page.get_by_role("button", name=f"Beam search, width 3, {form}").click()
        path = tmp_path / coming.value.suggested_filename
        coming.value.save_as(path)
        content = path.read_bytes()
        if form == "CSV":
            lines = content.decode("utf-8-sig").splitlines()
            assert len(lines) == 1 + len(page.evaluate(TREE)["pieces"])
            assert lines[0].startswith("hypothesis,step,continues,piece")
        else:
            assert content.startswith(b"\x89PNG" if form == "PNG" else b"<svg")
            assert len(content) > 10_000


@pytest.mark.nightly
def test_tree_has_alt_text_and_a_table(open_page: Opener, address: str) -> None:
    page = open_page()
    open_tree(page, address, search="beam 5")
    alt = page.locator(CHART).get_attribute("aria-label")
    assert alt
    assert "was chosen" in alt
    page.get_by_text("All hypotheses as a table").click()
    expect(page.locator(".st-key-tree_rows table")).to_be_visible()
