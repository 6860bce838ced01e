"""Two views on one page: actions in one view do not change the other."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.server import running_page
from tests.browser.views import parameters_of
from tests.figures.synthetic import trace

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

STEPS = len(trace().target_pieces)


@pytest.fixture(scope="module")
def two_views(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("none")
    with running_page(folder, folder / "page.log", "tests/browser/two_views_app.py") as running:
        yield running


@pytest.fixture
def page(chromium: Browser, two_views: str) -> Iterator[Page]:
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(two_views)
    for name in "ab":
        expect_step(page, name, 0)
        page.wait_for_selector(f".st-key-heatmap-{name} .js-plotly-plot .ytick", timeout=120_000)
        page.wait_for_selector(f".st-key-candidates-{name} .js-plotly-plot", timeout=120_000)
    yield page
    page.close()
    assert errors == []


def expect_step(page: Page, view: str, step: int) -> None:
    """Wait until browser and server both show `step` in `view`."""
    room = page.locator(f".st-key-room-{view}")
    expect(room.locator(".facts h2")).to_have_text(f"Step {step + 1} of {STEPS}", timeout=60_000)
    expect(room).to_have_attribute("data-step", str(step))
    expect(room.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(step))


def shown(page: Page, view: str) -> dict[str, object]:
    found: dict[str, object] = page.locator(f".st-key-room-{view}").evaluate("(root) => root.attnvizView")
    return {name: found[name] for name in ("step", "source", "order", "speed")}


def framed_row(page: Page, view: str) -> float:
    chart = page.locator(f".st-key-heatmap-{view} .js-plotly-plot")
    return float(chart.evaluate("(chart) => chart.layout.shapes[0].y0 + 0.5"))


def test_stepping_one_view_does_not_change_the_other(page: Page) -> None:
    before = shown(page, "b")
    page.locator(".st-key-room-a .player .next").last.click()
    expect_step(page, "a", 1)
    page.locator(".st-key-room-a .player .target .word").last.click()
    expect_step(page, "a", STEPS - 1)
    page.locator(".st-key-room-a").get_by_text("strongest first").click()
    page.locator(".st-key-room-a").get_by_role("button", name="2×").click()
    expect_step(page, "b", 0)
    assert shown(page, "b") == before
    assert framed_row(page, "b") == 0
    assert framed_row(page, "a") > 0
    assert shown(page, "a") | {"source": 0} == {"step": STEPS - 1, "source": 0, "order": "strongest", "speed": 2}


def test_keys_control_the_last_used_view(page: Page) -> None:
    page.keyboard.press("ArrowRight")
    expect_step(page, "a", 1)  # the first, before any was touched
    page.locator(".st-key-room-b .player .next").last.click()
    expect_step(page, "b", 1)
    page.keyboard.press("ArrowRight")
    expect_step(page, "b", 2)
    page.locator(".st-key-room-a .section").first.click()
    page.keyboard.press("End")
    expect_step(page, "a", STEPS - 1)
    page.locator(".st-key-room-b .player .next").last.focus()
    page.keyboard.press("Home")
    expect_step(page, "b", 0)
    expect_step(page, "a", STEPS - 1)


def test_clicked_word_selects_the_piece_its_model_attends_to_most(page: Page) -> None:
    """Both rooms show the same pieces; each has its own weights behind its words."""
    for name, seed in (("a", 0), ("b", 1)):
        room, made = page.locator(f".st-key-room-{name}"), trace(seed=seed)
        for number, group in enumerate(made.words().source_groups[:3]):
            room.locator(".player .source .word").nth(number).click()
            best = max(group, key=lambda j: float(made.alignment[0, j]))
            page.wait_for_function(
                "([name, best]) => document.querySelector(`.st-key-room-${name}`).attnvizView.source === best",
                arg=[name, best],
            )


def test_each_view_has_its_own_url_parameters(page: Page) -> None:
    page.locator(".st-key-room-a .player .next").last.click()
    page.locator(".st-key-room-b").get_by_text("words", exact=True).click()
    page.locator(".st-key-room-b .player .source .word").nth(2).click()
    page.wait_for_url(re.compile("source-b=4"))
    page.wait_for_url(re.compile("step-a=2"))
    page.wait_for_url(re.compile("by-b=words"))
    assert set(parameters_of(page.url)) == {"step-a", "source-b", "by-b"}
    page.reload()
    expect_step(page, "a", 1)
    expect_step(page, "b", 0)
    assert shown(page, "b")["source"] == 3
    # What views share is the library and the folders of modules; no view has a state there.
    shared = page.evaluate("Object.keys(window).filter((name) => name.startsWith('attnviz'))")
    assert set(shared) <= {"attnvizFolders", "attnvizLoading"}
