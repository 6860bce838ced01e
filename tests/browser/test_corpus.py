"""The page *Corpus* in Chromium: the sample measured, marked, sorted out, a pair opened, and back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener

pytestmark = pytest.mark.browser

ROWS = "[data-testid=stDataFrame]"


def test_a_walk_through_a_corpus(open_page: Opener) -> None:
    page = open_page("", path="corpus", ready=".st-key-corpus_sample button")
    page.get_by_role("button", name="Take the sample").click()
    page.wait_for_selector(ROWS, timeout=60_000)
    said = page.locator(".st-key-corpus_said")
    expect(said).to_contain_text("50 of 50 pairs")

    plot = page.locator(".js-plotly-plot .nsewdrag").first
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] * 0.6)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] - 2, steps=5)
    page.mouse.up()
    expect(said).to_contain_text(re.compile(r"^\D*[1-9] of 50 pairs"))
    expect(page).to_have_url(re.compile("brush="))
    marked = page.locator(".js-plotly-plot .selectionlayer path")
    expect(marked.first).to_be_attached()
    page.reload()
    expect(said).to_contain_text(re.compile(r"^\D*[1-9] of 50 pairs"), timeout=60_000)
    expect(marked.first).to_be_attached()
    said.get_by_role("button").click()
    expect(said).to_contain_text("50 of 50 pairs")
    expect(marked).to_have_count(0)

    page.get_by_text("Possible omissions").click()
    expect(said).to_contain_text(re.compile(r"^\D*[1-9]\d? of 50 pairs"))
    expect(page).to_have_url(re.compile("show=omitted"))
    place = page.url

    rows = page.locator(ROWS).bounding_box()
    assert rows is not None
    page.mouse.click(rows["x"] + 16, rows["y"] + 35 + 17)
    page.wait_for_selector(".st-key-alignment", timeout=60_000)
    expect(page).to_have_url(re.compile("target="))
    page.go_back()
    page.wait_for_selector(ROWS)
    expect(page).to_have_url(place)
    expect(said).to_contain_text(re.compile(r"^\D*[1-9]\d? of 50 pairs"))
