"""Two files of links, uploaded on *Corpus*: the table, a row's pair with both heatmaps, steps, drawing its links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from syrupy.assertion import SnapshotAssertion

from tests.browser.conftest import Opener
from tests.browser.settled import settled, wait_until_still
from tests.browser.texts import text_of
from tests.snapshots import without_numbers

pytestmark = pytest.mark.browser

PAIR = "the green house .\tla maison verte ."
FIRST = f"{PAIR}\t0-0 1-2 2-1 3-3\n{PAIR}\t0-0 1-1 2-2 3-3\n"
OTHER = "0-0 1-2 2-1 3-3\n" * 2
ROWS = "[data-testid=stDataFrame]"


def test_two_files_become_a_table_whose_rows_open_side_by_side(
    open_page: Opener, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    (tmp_path / "first.txt").write_text(FIRST, encoding="utf-8")
    (tmp_path / "other.pharaoh").write_text(OTHER, encoding="utf-8")
    page = open_page("", path="corpus", ready=".st-key-corpus_foreign button")
    page.wait_for_selector(ROWS, timeout=60_000)
    for key, name in (("corpus_foreign", "first.txt"), ("corpus_other", "other.pharaoh")):
        page.locator(f".st-key-{key} button").first.click()
        page.locator("[data-testid=stPopoverBody] input[type=file]").set_input_files(tmp_path / name)
        expect(page.locator("[data-testid=stPopoverBody]")).to_have_count(0)
        expect(page.locator(".st-key-corpus_said")).to_contain_text("2 of 2 pairs of first.txt")
    assert without_numbers(text_of(page.locator(".st-key-corpus_agreement"))) == snapshot

    wait_until_still(page.locator(ROWS))
    box = page.locator(ROWS).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 12, box["y"] + 38 + 35 + 17)  # the box of the second row
    both = page.locator(".st-key-compared_attention")
    expect(both).to_contain_text("Only first.txt has “green” → “maison” (1-1).")
    settled(page, ".st-key-compared")
    names = both.locator(".chart").evaluate("(chart) => chart._fullData.map(({ name }) => name)")
    assert names[:3] == ["first", "other", "difference"]
    both.get_by_role("button", name="Only other.pharaoh has “green” → “verte” (1-2).").click()
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 3 of 4"))
    expect(both.locator(".chart-box > p").first).to_contain_text("“verte”. Most attention: first.txt “house” (1.00)")

    page.locator(".st-key-depth button", has_text="Numbers").click()  # a corpus opens pairs at Idea
    page.locator(".st-key-draw [role=switch], .st-key-draw input").first.click()
    page.locator(".link-cells .cell").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".drawn-score .rate")).to_contain_text("recall 100")
    page.locator(".st-key-compare_stop button").click()
    expect(both).to_have_count(0)
    expect(page.locator(".link-cells .marker.sure")).to_have_count(1)
