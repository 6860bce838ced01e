"""Page *How it learns*: the timeline of training snapshots, links, live training runs and the lecture page."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from attnviz.trace.snapshots import Snapshots
from tests.benchmarks.saved_models import main
from tests.browser.conftest import Opener
from tests.browser.contrast import faint
from tests.browser.server import running_server
from tests.browser.test_saved_page import choose_language
from tests.browser.views import everywhere, on_both
from tests.conftest import SHIPPED_MODEL
from tests.small_run import LINKS, MOMENTS, kept_run

pytestmark = pytest.mark.browser

READY = ".st-key-heatmap_1-learns .js-plotly-plot .ytick"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of `models`, one with the snapshots of two real runs, and of `runs`, with one to watch."""
    root = tmp_path_factory.mktemp("learns")
    models, runs = root / "models", root / "runs"
    (models / "small/snapshots").mkdir(parents=True)
    (models / "en-fr").symlink_to(SHIPPED_MODEL)
    (root / "links.jsonl").write_text(LINKS, encoding="utf-8")
    for name, guidance in (("unguided", 0.0), ("guided", 0.5)):
        run = kept_run(root / "kept", guidance=guidance, name=name)
        arguments = [str(run), "-o", str(models / f"small/snapshots/{name}.json"), "--limit", "6"]
        assert main([*arguments, "--links", str(root / "links.jsonl"), "--device", "cpu"]) == 0
    (runs / "mine/model/snapshots").mkdir(parents=True)
    shutil.copy(root / "kept/unguided/log.csv", runs / "mine")
    for path in sorted((root / "kept/unguided/model/snapshots").glob("*.json"))[:2]:
        shutil.copy(path, runs / "mine/model/snapshots")
    return root


@pytest.fixture(scope="module")
def start_page(folders: Path) -> Iterator[Callable[[str], str]]:
    """Return what runs the program with the models and runs of `folders`."""
    with ExitStack() as pages:
        log, settings = folders / "page.log", {"ATTNVIZ_RUNS": str(folders / "runs")}
        address, _ = pages.enter_context(running_server(folders / "models", log, **settings))
        yield lambda _: address


def open_learns(open_page: Opener, query: str = "", **window: Any) -> Page:
    page = open_page(f"?x=1{query}", path="learns", ready=READY, **window)
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    return page


CELLS = """([number, weights]) => {
  const shown = document.querySelector(`.st-key-heatmap_${number}-learns .js-plotly-plot`).data[0].z;
  return weights.every((row, i) => row.every((share, j) => Math.abs(shown[i][j] - share) < 1e-3));
}"""
"""JavaScript for whether a heatmap shows these weights."""


MARKED = """(update) => {
  const { x0, x1 } = document.querySelector(".st-key-quality-learns .js-plotly-plot").layout.shapes[0];
  return Math.abs(20 * (2 ** ((x0 + x1) / 2) - 1) / update - 1) < 0.02;
}"""
"""JavaScript for whether the mark across the curves stands at an update, on their scale."""


def expected(folders: Path, name: str, moment: int) -> list[list[float]]:
    run = Snapshots.load(folders / f"models/small/snapshots/{name}.json")
    shares: list[list[float]] = run.sentences[0].words(run.alignments[0][moment]).alignment.tolist()
    return shares


@pytest.mark.nightly
@on_both
def test_timeline_plays_from_first_to_last_snapshot(open_page: Opener, folders: Path) -> None:
    page = open_learns(open_page, motion=True)
    now = page.locator(".timeline .now")
    expect(now).to_contain_text(f"After {MOMENTS[-1]} updates")
    page.locator(".timeline .play").click()
    expect(now).to_contain_text("Before the first update")
    expect(page.locator(".timeline .verb")).to_have_text("Pause")
    expect(page.locator(".timeline .verb")).to_have_text("Play", timeout=20_000)
    expect(now).to_contain_text(f"After {MOMENTS[-1]} updates")
    for number, name in enumerate(("unguided", "guided"), 1):
        page.wait_for_function(CELLS, arg=[number, expected(folders, name, len(MOMENTS) - 1)])
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.nightly
def test_link_opens_an_update_sentence_and_run(open_page: Opener) -> None:
    page = open_learns(open_page, f"&update={MOMENTS[1]}&pair=2&runs=2")
    expect(page.locator(".timeline .now")).to_contain_text(f"After {MOMENTS[1]} updates: validation loss")
    expect(page.locator(".st-key-heatmap_2-learns")).to_have_count(0)
    page.locator(".st-key-learns_runs").get_by_text("Side by side", exact=True).click()
    expect(page.locator(".st-key-heatmap_2-learns .js-plotly-plot")).to_have_count(1)
    expect(page.locator(".timeline .now")).to_have_text(f"After {MOMENTS[1]} updates")
    expect(page).to_have_url(re.compile(r"pair=2"))
    expect(page).not_to_have_url(re.compile(r"runs="))


@pytest.mark.nightly
def test_new_snapshots_of_a_running_training_appear(open_page: Opener, folders: Path) -> None:
    page = open_learns(open_page, "&training=run:mine")
    now, more = page.locator(".timeline .now"), sorted((folders / "kept/unguided/model/snapshots").glob("*.json"))
    expect(now).to_contain_text(f"After {int(more[1].stem)} updates")
    shutil.copy(more[2], folders / "runs/mine/model/snapshots")
    expect(now).to_contain_text(f"After {int(more[2].stem)} updates", timeout=30_000)


@pytest.mark.nightly
@everywhere
def test_text_has_enough_contrast(open_page: Opener) -> None:
    page = open_learns(open_page)
    assert faint(page, more_than=60) == []


@pytest.mark.nightly
def test_link_and_back_button_open_the_page(open_page: Opener) -> None:
    page = open_page("")
    page.locator(".page-links").get_by_text("How it learns", exact=True).click()
    page.wait_for_selector(READY)
    page.locator(".timeline .previous").click()
    page.locator(".page-links").get_by_text("Translate", exact=True).click()
    page.wait_for_selector(".st-key-heatmap .js-plotly-plot .ytick")
    expect(page).not_to_have_url(re.compile("update="))
    page.go_back()
    page.wait_for_selector(READY)


@pytest.mark.nightly
def test_downloaded_lecture_page_works_offline(
    open_page: Opener, chromium: Browser, folders: Path, tmp_path: Path
) -> None:
    page = open_learns(open_page, "&update=20")
    page.locator(".st-key-downloads-learns button").click()
    button = page.locator(".st-key-lecture_page-learns a")
    expect(button).to_be_visible()
    with page.expect_download() as made:
        button.click()
    made.value.save_as(path := tmp_path / "lecture.html")
    asked: list[str] = []
    with chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark", offline=True) as context:
        alone = context.new_page()
        alone.on("request", lambda request: asked.append(request.url) if request.url != path.as_uri() else None)
        alone.on("console", lambda message: asked.append(message.text) if message.type == "error" else None)
        alone.on("pageerror", lambda error: asked.append(str(error)))
        alone.goto(path.as_uri())
        now = alone.locator(".timeline .now")

        def expect_moment(moment: int, caption: str) -> None:
            expect(now).to_contain_text(caption)
            for number, name in enumerate(("unguided", "guided"), 1):
                alone.wait_for_function(CELLS, arg=[number, expected(folders, name, moment)])

        expect(alone.locator(READY).first).to_be_attached()
        expect_moment(1, "After 20 updates")
        alone.locator(".timeline .next").click()
        expect_moment(2, "After 60 updates")
        alone.keyboard.press("Home")
        expect_moment(0, "Before the first update")
        choose_language(alone, "Français")
        expect(alone.locator(".st-key-learns_opening h2")).to_have_text("Comment il apprend")
        expect_moment(0, "Avant la première mise à jour")
        expect(alone.get_by_role("img", name=re.compile("après 0 mise"))).to_have_count(2)
        alone.locator(".st-key-rules-learns summary").click()
        expect(alone.locator(".rules dd").first).to_be_visible()
        assert alone.evaluate("document.documentElement.scrollWidth") <= 390
    assert asked == []
