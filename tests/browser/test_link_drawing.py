"""Links drawn on the heatmap by mouse, keyboard and finger: marks, score, Undo, files that are read back."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.settled import go_to_page, settled, wait_until_still
from tests.browser.test_axe import violations
from tests.browser.test_page import type_sentence
from tests.browser.views import download, open_file

QUERY = "?sentence=The+green+house+is+large.&target=La+maison+verte+est+grande.&depth=numbers&draw=1"
GRID, BAR, RATE = ".link-cells", ".link-drawing", ".drawn-score .rate"


def middle_of(page: Page, row: int, column: int) -> tuple[float, float]:
    """Return the position in the window of the middle of a cell."""
    grid = page.locator(GRID)
    wait_until_still(grid)
    box = grid.bounding_box()
    rows, columns = (int(grid.get_attribute(f"aria-{name}count") or 0) for name in ("row", "col"))
    return box["x"] + (column + 0.5) * box["width"] / columns, box["y"] + (row + 0.5) * box["height"] / rows


def marks(page: Page, kind: str) -> list[str]:
    return page.locator(f"{GRID} .marker.{kind}").evaluate_all("(marks) => marks.map(({ dataset }) => dataset.link)")


@pytest.mark.nightly
def test_links_are_drawn_by_finger_on_a_telephone(chromium, address) -> None:
    with chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as context:
        page = context.new_page()
        page.goto(f"{address}/{QUERY}")
        page.wait_for_selector(GRID, timeout=120_000)
        settled(page, ".st-key-heatmap")
        for row, column in ((0, 0), (1, 2), (1, 2), (3, 3)):
            page.touchscreen.tap(*middle_of(page, row, column))
        expect(page.locator(f"{GRID} .marker.sure")).to_have_count(2)
        assert (marks(page, "sure"), marks(page, "possible")) == (["0-0", "3-3"], ["2-1"])
        expect(page.locator(RATE)).to_contain_text("recall 100")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


PAIRS = "the green house .\tla maison verte .\t0-0 1-1 2-2 3-3\na dog sleeps\tun chien dort\t0-0 1-1 2-1\n"


def test_links_of_a_file_are_corrected_kept_undone_and_saved(open_page, tmp_path) -> None:
    (tmp_path / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    page = open_page("?depth=numbers")
    open_file(page)
    page.locator("input[type=file]").first.set_input_files(tmp_path / "pairs.tsv")
    expect(page.locator(".st-key-notice")).to_contain_text("pairs.tsv")
    page.keyboard.press("Escape")
    settled(page, ".st-key-look")
    page.locator(".st-key-draw [role=switch], .st-key-draw input").first.click()
    expect(page.locator(GRID)).to_be_visible()
    for row, column in ((0, 0), (1, 2), (2, 1), (3, 3), (3, 3)):
        page.mouse.click(*middle_of(page, row, column))
    # two of the four links are right: 1 - (1 + 2) / (4 + 3)
    expect(page.locator(RATE)).to_contain_text(re.compile(r"rate of the file 0\.57, precision 50.%, recall 33.%"))
    drawn = {"sure": ["0-0", "2-1", "1-2"], "possible": ["3-3"], "false": ["1-1", "2-2"]}
    assert {kind: marks(page, kind) for kind in drawn} == drawn
    page.wait_for_url(re.compile(r"gold=[0-9a-f]{12}\.0-0\.2-1\.1-2\.3p3"))

    # Each pair has its own links and its own Undo.
    step, back = page.get_by_test_id("stNumberInputStepUp"), page.get_by_test_id("stNumberInputStepDown")
    sure, undo = page.locator(f"{GRID} .marker.sure"), page.locator(f"{BAR} .undo")
    step.click()  # at once: the last edit may still be on its way
    expect(page.locator(".player .source")).to_contain_text("sleeps")
    expect(page.locator(f"{GRID} .marker")).to_have_count(0)
    settled(page, ".st-key-look")
    page.mouse.click(*middle_of(page, 0, 1))
    expect(sure).to_have_count(1)
    back.click()
    expect(sure).to_have_count(3)
    go_to_page(page, "Lab")
    go_to_page(page, "Translate")
    expect(page.locator(f"{GRID} .marker")).to_have_count(6)
    assert {kind: marks(page, kind) for kind in drawn} == drawn
    settled(page, ".st-key-look")
    saved = {}
    for place in (0, 1):
        file = download(page, page.locator(f"{BAR} .files").nth(place).get_by_text("NAACL"))
        saved[place] = file.path().read_text(encoding="utf-8")
    assert saved[0] == "1 1 1 S\n1 2 3 S\n1 3 2 S\n1 4 4 P\n"
    assert saved[1] == saved[0] + "2 2 1 S\n"
    undo.click()
    expect(page.locator(f"{GRID} .marker.possible")).to_have_count(0)
    expect(sure).to_have_count(4)
    type_sentence(page, "A dog sleeps.", "sleeps")
    expect(page.locator(f"{GRID} .marker")).to_have_count(0)
    expect(undo).to_be_disabled()


def test_links_are_drawn_by_keyboard_reloaded_and_replaced_by_a_file(open_page, tmp_path) -> None:
    (tmp_path / "gold.pharaoh").write_text("0-0 2-1 1?2\n", encoding="utf-8")
    page = open_page(QUERY)
    settled(page, ".st-key-heatmap")
    cell = page.locator(f"{GRID} .cell")
    cell.focus()
    for key in ("Space", "ArrowDown", "ArrowRight", "ArrowRight", "Enter", "ArrowDown", "ArrowLeft", "Enter", "Enter"):
        page.keyboard.press(key)
    expect(cell).to_have_attribute("aria-label", "green → verte: possible link")
    expect(page.locator(f"{BAR} .where")).to_contain_text("green → verte: possible link · α =")
    page.keyboard.press("End")
    page.keyboard.press("PageDown")
    expect(cell).to_have_attribute("aria-label", ". → .: no link")  # the end mark has no links
    page.keyboard.press("Enter")
    page.keyboard.press("Control+z")
    assert (marks(page, "sure"), marks(page, "possible")) == (["0-0", "2-1"], ["1-2"])
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 2 of 7"))
    page.wait_for_url(re.compile(r"gold=[0-9a-f]{12}\.0-0\.2-1\.1p2"))
    assert violations(page) == []
    page.reload()
    expect(page.locator(f"{GRID} .marker.possible")).not_to_have_count(0)
    expect(page.locator(RATE)).to_contain_text("error rate")

    page.locator(".st-key-gold_box button").first.click()
    opened = page.locator(".st-key-gold_box .opened:popover-open")
    opened.locator("input[type=file]").set_input_files(tmp_path / "gold.pharaoh")
    expect(opened).to_have_count(0)
    assert (marks(page, "sure"), marks(page, "possible")) == (["0-0", "2-1"], ["1-2"])
