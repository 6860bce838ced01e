"""The step view: five stages, the growing context vector, keys, links, and one selection shared by all charts."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz import Trace
from attnviz.analysis.measures import weight_order
from attnviz.architectures import narrate
from attnviz.figures.grammar import THINNED_ROWS
from attnviz.translator import Translator
from tests.browser.settled import bring_into_sight, settled
from tests.browser.test_page import expect_step, framed_row, steps
from tests.browser.views import EXAMPLE, SHOWN, on_both, on_screen, parameters_of
from tests.conftest import SHIPPED_MODEL

pytestmark = pytest.mark.browser
Opener = Callable[..., Page]

LONG = "Two men in blue shirts are playing guitar on a busy street " * 5
PICTURES = ("energy", "softmax", "growth", "state", "maxout", "candidates")


@pytest.fixture(scope="module")
def opening() -> Trace:
    """Return the trace of the sentence the page opens with here."""
    if not SHIPPED_MODEL.is_dir():
        pytest.skip("models/en-fr is not there")
    return Translator.load(SHIPPED_MODEL, device="cpu").translate(EXAMPLE, beam=5)


def plot(page: Page, key: str) -> Any:
    return page.locator(f".st-key-{key} .js-plotly-plot")


def layout(page: Page, key: str) -> dict[str, Any]:
    return cast("dict[str, Any]", plot(page, key).evaluate("(chart) => JSON.parse(JSON.stringify(chart.layout))"))


def address_of(page: Page) -> dict[str, str]:
    return parameters_of(page.url)


def expect_source(page: Page, piece: int) -> None:
    """Wait until heatmap, sentence, energies, softmax and strips all mark 1-based source `piece`, in sentence order."""
    page.wait_for_function(
        """([piece]) => {
          const chart = (key) => document.querySelector(`.st-key-${key} .js-plotly-plot`);
          if (!["heatmap", "energy", "softmax", "growth"].every(chart)) return false;
          const band = (key) => chart(key).layout.shapes.find((shape) => shape.xref === "paper");
          const frame = chart("growth").layout.shapes.find(
            (shape) => shape.type === "rect" && shape.line.width === 2 && shape.yref !== "y2");
          const heatmap = chart("heatmap").layout;
          const cell = heatmap.shapes[1];
          return document.querySelector(".st-key-room").attnvizView.source === piece - 1
            && ["energy", "softmax"].every((key) => band(key)?.y0 + 0.5 === piece - 1)
            && frame?.y0 + 0.5 === piece - 1
            && cell?.x0 + 0.5 === heatmap.meta.columns[piece - 1]
            && cell?.y0 === heatmap.shapes[0].y0;
        }""",
        arg=[piece],
    )
    expect(page.locator(".player .source .current")).to_have_count(1)


def press_on(page: Page, key: str, x: float, y: float) -> None:
    """Click the picture `key` at a point of its axes."""
    left, top = on_screen(page, key, x, y)
    page.mouse.move(left - 2, top)
    page.mouse.click(left, top)


@on_both
def test_each_stage_is_complete_and_follows_steps_offline(open_page: Opener, opening: Trace) -> None:
    page = open_page("?step=3")
    expect_step(page, 3)
    for stage in narrate(opening, 2):
        room = page.locator(f".st-key-stage_{stage.number}")
        expect(room.locator("h3").first).to_have_text(f"{stage.number}{stage.title}")
        expect(room.locator(".chart-box > p").first).to_have_text(stage.sentence.replace("\u00a0", " "))
        expect(room.locator(".katex").first).to_be_visible()
        expect(room.locator(".js-plotly-plot").first).to_be_attached()
        expect(page.locator(".facts .outcome").nth(stage.number - 1)).to_have_text(stage.outcome.replace("\u00a0", " "))
    for key in PICTURES:
        assert len(plot(page, key).get_attribute("aria-label")) > 20
    settled(page)
    page.context.set_offline(True)  # the next step's pictures and sentences are here already
    page.keyboard.press("ArrowRight")
    for stage in narrate(opening, 3):
        sentence = page.locator(f".st-key-stage_{stage.number} .chart-box > p").first
        expect(sentence).to_have_text(stage.sentence.replace("\u00a0", " "))
    drawn = plot(page, "softmax").evaluate("(chart) => Array.from(chart._fullData[1].x)")
    np.testing.assert_allclose(drawn, opening.alignment[3], atol=1e-6)


@on_both
def test_growing_context_ends_at_the_context_vector(open_page: Opener, opening: Trace) -> None:
    page = open_page("?step=2", motion=True)
    expect_step(page, 2)
    expect(page.locator(".growth output")).to_have_text(re.compile("^all .* c₂$"))  # drawn below the window, so later
    page.locator(".growth .added").evaluate(
        "(range) => { range.value = 0; range.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    expect(page.locator(".growth output")).to_have_text(re.compile(r"^0 of \d+ rows added, Σα = 0.00$"))
    assert not np.any(plot(page, "growth").evaluate("(chart) => chart.runningSum()"))
    page.locator(".growth .added").press("ArrowRight")
    expect(page.locator(".growth output")).to_have_text(re.compile("^1 of"))
    first = opening.alignment[1, 0] * opening.annotations[0]
    np.testing.assert_allclose(plot(page, "growth").evaluate("(chart) => chart.runningSum()"), first, atol=1e-6)
    page.get_by_role("button", name="2×").click()
    page.get_by_role("button", name="Build it up").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(page.locator(".growth output")).to_have_text(re.compile("^all .* c₂$"))
    np.testing.assert_allclose(
        plot(page, "growth").evaluate("(chart) => chart.runningSum()"), opening.contexts[1], atol=1e-5
    )
    drawn = plot(page, "growth").evaluate("(chart) => Array.from(chart._fullData[1].z[0])")
    np.testing.assert_allclose(drawn, opening.contexts[1], atol=1e-5)


@pytest.mark.nightly
@on_both
def test_strongest_first_orders_the_rows_of_three_stages(open_page: Opener, opening: Trace) -> None:
    page = open_page("?step=2")
    expect_step(page, 2)
    page.get_by_text("strongest first").click()
    order = weight_order(opening, 1)
    places = [order.index(j) for j in range(len(order))]
    for key in ("energy", "softmax"):
        page.wait_for_function(
            "([key, places]) => JSON.stringify(Array.from(document.querySelector(`.st-key-${key} .js-plotly-plot`)"
            "?._fullData?.[0].y ?? [])) === JSON.stringify(places)",
            arg=[key, places],
        )
    page.wait_for_function(
        "() => document.querySelector('.st-key-growth .js-plotly-plot')?.layout?.yaxis?.ticktext"
        "?.map((label) => Number(label.split(/\\s+/).at(-1))).every((weight, k, all) => !k || weight <= all[k - 1])"
    )
    labels = layout(page, "growth")["yaxis"]["ticktext"]
    weights = [float(label.split()[-1]) for label in labels]
    assert weights == sorted(weights, reverse=True)
    page.keyboard.press("ArrowDown")
    page.wait_for_function(f"(piece) => {SHOWN}.source === piece", arg=order[1])


@on_both
def test_arrows_select_a_source_piece_and_escape_releases_it(open_page: Opener, opening: Trace) -> None:
    page = open_page("?step=2")
    expect_step(page, 2)
    best = weight_order(opening, 1)[0] + 1
    expect_source(page, best)
    assert "source" not in address_of(page)
    page.keyboard.press("ArrowDown")
    expect_source(page, best + 1)
    page.wait_for_url(re.compile(rf"source={best + 1}\b"))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect_source(page, max(best - 1, 1))
    page.keyboard.press("ArrowRight")
    expect_step(page, 3)
    expect_source(page, max(best - 1, 1))
    page.keyboard.press("Escape")
    expect_source(page, weight_order(opening, 2)[0] + 1)
    page.wait_for_url(lambda url: "source=" not in url)


@pytest.mark.nightly
@on_both
def test_home_and_end_go_to_the_first_and_the_last_step(open_page: Opener) -> None:
    page = open_page("?step=2")
    expect_step(page, 2)
    page.keyboard.press("End")
    expect_step(page, steps(page))
    page.keyboard.press("Home")
    expect_step(page, 1)


@pytest.mark.nightly
def test_double_speed_shortens_the_time_per_step(open_page: Opener) -> None:
    page = open_page()
    settled(page)
    page.get_by_role("button", name="2×").click()
    expect(page.get_by_role("button", name="2×")).to_have_attribute("aria-pressed", "true")
    page.evaluate(
        """() => {
          window.times = [];
          document.querySelector(".st-key-room").addEventListener("attnviz:step", ({ detail }) => {
            if (!times.length || times.at(-1)[0] !== detail) times.push([detail, performance.now()]);
          });
        }"""
    )
    page.keyboard.press("Space")
    page.wait_for_function(f"() => {SHOWN}.step >= 6")
    page.keyboard.press("Space")
    times = [time for _, time in page.evaluate("() => times")]
    # A busy machine may be late with a step, but not early, and not with every one.
    shortest = min(later - earlier for earlier, later in pairwise(times))
    assert 400 <= shortest <= 850


@on_both
def test_click_on_a_chart_or_word_selects_the_piece_everywhere(open_page: Opener, opening: Trace) -> None:
    page = open_page("?step=2")
    settled(page)
    press_on(page, "energy", float(opening.energies[1, 3]) / 2, 3)
    expect_source(page, 4)
    press_on(page, "growth", 40, 5)
    expect_source(page, 6)
    row = steps(page) - 2
    press_on(page, "heatmap", 1, row)
    expect_step(page, row + 1)
    assert framed_row(page) == row
    expect_source(page, 2)
    page.locator(".player .source .word").first.click()
    expect_source(page, 1)
    page.wait_for_url(re.compile(r"source=1\b"))
    page.locator(".player .source .word").first.click()  # a second click releases it
    page.wait_for_url(lambda url: "source=" not in url)


def test_a_link_opens_step_source_word_and_stage(open_page: Opener) -> None:
    page = open_page("?step=3&source=5&word=9&stage=4")
    expect_step(page, 3)
    expect_source(page, 5)
    expect(page.locator(".st-key-stage_4")).to_be_in_viewport()
    assert {"step": "3", "source": "5", "word": "9", "stage": "4"}.items() <= address_of(page).items()
    page.reload()
    expect_step(page, 3)
    expect_source(page, 5)
    page.locator(".st-key-sentence textarea").fill("Two dogs play in the snow.")
    page.keyboard.press("Control+Enter")
    expect_step(page, 1)
    page.wait_for_url(lambda url: not re.search(r"\b(step|source|word|stage)=", url))


@pytest.mark.nightly
def test_outcome_button_scrolls_to_its_stage(open_page: Opener) -> None:
    page = open_page()
    expect_step(page, 1)
    page.locator(".facts button").nth(4).click()
    expect(page.locator(".st-key-stage_5 h3").first).to_be_in_viewport(timeout=45_000)
    page.wait_for_url(re.compile("stage=5"))
    marked = page.locator(".facts button[aria-current=location] .number")
    expect(marked).to_have_text("5")
    expect(page.locator("[data-stage='5'] .st-key-stage_5")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)
    expect(marked).to_have_text("5")


@pytest.mark.nightly
def test_enter_on_an_outcome_moves_the_focus_into_its_stage(open_page: Opener) -> None:
    page = open_page()
    settled(page)
    page.locator(".facts li button").nth(2).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-stage_3")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.st-key-stage_3') !== null")


@pytest.mark.nightly
def test_sticky_bar_appears_when_scrolled_down(open_page: Opener, opening: Trace) -> None:
    page = open_page("?step=2&source=4", width=390, height=844)
    expect_step(page, 2)
    bar = page.locator(".player .bar")
    expect(bar).to_be_hidden()
    settled(page)  # charts drawn above the stage would move it
    bring_into_sight(page.locator(".st-key-stage_5"))
    expect(bar).to_be_visible()
    expect(bar.locator(".at")).to_have_text(f"2 of {steps(page)}")
    expect(bar.locator(".attended")).to_contain_text("the")
    bar.get_by_role("button", name="Next step").click()
    expect_step(page, 3)
    expect(bar.locator(".wrote")).to_have_text(opening.target_pieces[2].removeprefix("▁"))


@pytest.mark.nightly
@on_both
def test_click_on_a_candidate_selects_its_word(open_page: Opener, opening: Trace) -> None:
    page = open_page("?step=2")
    expect_step(page, 2)
    settled(page)  # a chart that is redrawn ignores clicks
    press_on(page, "candidates", 0.3, 1)  # anywhere in the row: the bar itself may be too short to be hit
    page.wait_for_url(re.compile(rf"word={opening.top_ids[1][1]}\b"))
    page.keyboard.press("ArrowRight")
    expect_step(page, 3)
    page.wait_for_url(lambda url: "word=" not in url)


@pytest.mark.nightly
def test_reduced_motion_builds_the_context_in_few_steps(open_page: Opener, opening: Trace) -> None:
    page = open_page()
    expect_step(page, 1)
    page.emulate_media(reduced_motion="reduce")
    output = page.locator(".growth output")
    expect(output).to_have_text(re.compile("^all "))
    page.evaluate(
        """() => {
          const output = document.querySelector(".growth output");
          window.outputs = [];
          new MutationObserver(() => outputs.push(output.textContent)).observe(output, { childList: true });
        }"""
    )
    page.get_by_role("button", name="Build it up").click()
    expect(output).to_have_text(re.compile("^0 of "))
    expect(output).to_have_text(re.compile("^all "))
    counts = [text.split()[0] for text in page.evaluate("() => outputs")]
    stride = -(-len(opening.source_pieces) // 5)
    assert list(dict.fromkeys(counts)) == [*map(str, range(0, len(opening.source_pieces), stride)), "all"]
    transition = page.locator(".player .source .word").first.evaluate(
        "(node) => getComputedStyle(node).transitionDuration"
    )
    assert transition == "0s"


@pytest.mark.nightly
def test_long_sentence_shows_only_the_most_attended_pieces_first(open_page: Opener) -> None:
    page = open_page(f"?sentence={LONG.strip().replace(' ', '+')}&step=4")
    expect_step(page, 4)
    for key in ("energy", "softmax", "growth"):
        labels = layout(page, key)["yaxis"]["ticktext"]
        assert len(labels) == THINNED_ROWS + 1
        assert "more" in labels[-1]
    page.get_by_text("sentence order").click()
    page.wait_for_function(
        "rows => document.querySelector('.st-key-energy .js-plotly-plot').layout.yaxis.tickvals.length > rows + 1",
        arg=THINNED_ROWS,
    )


@pytest.mark.nightly
@pytest.mark.parametrize(("width", "columns"), [(1440, 3), (900, 2), (390, 1)])
def test_stage_columns_depend_on_the_window_width(open_page: Opener, width: int, columns: int) -> None:
    page = open_page("?step=2", width=width)
    settled(page)
    boxes = [page.locator(f".st-key-stage_{number}").bounding_box() for number in range(1, 6)]
    assert sum(abs(box["y"] - boxes[0]["y"]) < 2 for box in boxes) == columns
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width + 1 for box in boxes)
    if columns == 3:
        tops = page.evaluate(
            """() => ["energy", "softmax", "growth"].map((key) => {
              const chart = document.querySelector(`.st-key-${key} .js-plotly-plot`);
              return chart.getBoundingClientRect().top + chart._fullLayout.yaxis._offset;
            })"""
        )
        assert max(tops) - min(tops) < 1, "the rows of the three charts are aligned"
    for key in PICTURES:
        chart = plot(page, key).bounding_box()
        assert chart["width"] <= width


@pytest.mark.nightly
@pytest.mark.parametrize("dark", [False, True])
def test_charts_use_the_theme_colours(open_page: Opener, tmp_path: Path, dark: bool) -> None:
    page = open_page("?step=2", dark=dark)
    expect_step(page, 2)
    expect(page.locator(".st-key-energy .ytick text").first).to_have_css(
        "fill", "rgb(112, 200, 152)" if dark else "rgb(35, 119, 74)"
    )
