"""Page *How it learns* with the runs that come with the program: timeline, charts, URL, and its page for a lecture."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from attnviz.trace.snapshots import Snapshots
from tests.browser.settled import wait_until_idle
from tests.browser.test_axe import violations
from tests.browser.test_saved_page import choose_language
from tests.browser.views import NARROW_DARK, download, on_both

READY = ".st-key-heatmap_1-learns .js-plotly-plot .ytick"
CELLS = """([number, weights]) => {
  const shown = document.querySelector(`.st-key-heatmap_${number}-learns .js-plotly-plot`).data[0].z;
  return weights.every((row, i) => row.every((share, j) => Math.abs(shown[i][j] - share) < 1e-3));
}"""
"""JavaScript for whether a heatmap shows these weights."""
TICK_ENDS = "(all) => all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right])"


@pytest.fixture(scope="module")
def runs(shipped_model) -> list[Snapshots]:
    """Return the unguided and the guided run that come with the program."""
    folder = shipped_model.parent / "small-additive/snapshots"
    return [Snapshots.load(folder / f"{name}.json") for name in ("unguided", "guided")]


def words(run: Snapshots, update: int) -> list[list[float]]:
    """Return the weights of the first sentence after an update."""
    return run.sentences[0].words(run.alignments[0][run.moment(update)]).alignment.tolist()


@on_both
def test_keys_slider_and_play_update_charts_and_url(open_page, runs) -> None:
    updates = runs[0].updates
    page = open_page("", path="learns", ready=READY)
    wait_until_idle(page)
    now, slider = page.locator(".timeline .now"), page.locator(".timeline input")
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(rf"update={updates[-2]}\b"))
    expect(now).to_contain_text(f"After {updates[-2]:,} updates")
    for number, run in enumerate(runs, 1):
        page.wait_for_function(CELLS, arg=[number, words(run, updates[-2])])
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(rf"update={updates[1]}\b"))
    slider.fill("2")
    assert slider.get_attribute("aria-valuetext") == now.inner_text()
    expect(page).to_have_url(re.compile(rf"update={updates[2]}\b"))
    slider.fill(str(len(updates) - 2))
    page.locator(".timeline .play").click()
    expect(page.locator(".timeline .verb")).to_have_text("Pause")
    expect(page.locator(".timeline .verb")).to_have_text("Play")
    expect(now).to_contain_text(f"After {updates[-1]:,} updates")
    expect(page).not_to_have_url(re.compile("update="))
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    ticks = page.locator(".st-key-learnt_1-learns .xtick text").evaluate_all(TICK_ENDS)
    assert all(right + 5 < left for (_, right), (left, _) in pairwise(ticks)), ticks


@pytest.mark.nightly
def test_downloaded_lecture_page_works_offline(open_page, open_from_disk, runs) -> None:
    updates = runs[0].updates
    page = open_page(f"?update={updates[1]}", path="learns", ready=READY)
    wait_until_idle(page)
    page.locator(".st-key-downloads-learns button").click()
    saved = download(page, page.locator(".st-key-lecture_page-learns a"))
    alone = open_from_disk(saved.path().read_text(encoding="utf-8"), "", NARROW_DARK)
    for key, update in (("", updates[1]), ("ArrowRight", updates[2]), ("Home", updates[0])):
        if key:
            alone.keyboard.press(key)
        for number, run in enumerate(runs, 1):
            alone.wait_for_function(CELLS, arg=[number, words(run, update)])
    choose_language(alone, "Français")
    expect(alone.locator(".st-key-learns_opening h2")).to_have_text("Comment il apprend")
    expect(alone.get_by_role("img", name=re.compile("Après 0 mise"))).to_have_count(2)
    assert alone.evaluate("document.documentElement.scrollWidth") <= 390
