"""One selection in the player, the heatmap and all charts: chosen, held, hovered and released, and growing contexts."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz import Trace
from attnviz.analysis.measures import weight_order
from attnviz.architectures import narrate
from attnviz.translator import Translator
from tests.browser.conftest import Opener
from tests.browser.settled import settled
from tests.browser.test_accessibility import FOCUSED
from tests.browser.test_page import expect_step, framed_row, steps
from tests.browser.views import EXAMPLE, at_night, on_both, on_screen, parameters_of
from tests.conftest import SHIPPED_MODEL

pytestmark = pytest.mark.browser


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


@on_both
def test_source_piece_is_selected_by_arrows_charts_and_words_and_released(open_page: Opener, opening: Trace) -> None:
    page = open_page("?step=2")
    settled(page)
    best = weight_order(opening, 1)[0] + 1
    expect_source(page, best)
    assert "source" not in address_of(page)
    page.keyboard.press("ArrowDown")
    expect_source(page, best + 1)
    page.wait_for_url(re.compile(rf"source={best + 1}\b"))
    page.keyboard.press("ArrowRight")
    expect_step(page, 3)
    expect_source(page, best + 1)
    page.keyboard.press("Escape")
    expect_source(page, weight_order(opening, 2)[0] + 1)
    page.wait_for_url(lambda url: "source=" not in url)
    press_on(page, "energy", float(opening.energies[2, 3]) / 2, 3)
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
def test_outcome_leads_to_its_stage_below_the_sticky_bar(open_page: Opener, opening: Trace) -> None:
    page = open_page("?step=2&source=4")
    settled(page)
    bar = page.locator(".player .bar")
    expect(bar).to_be_hidden()
    page.locator(".facts button").nth(4).click()
    expect(page.locator(".st-key-stage_5 h3").first).to_be_in_viewport(timeout=45_000)
    page.wait_for_url(re.compile("stage=5"))
    expect(page.locator(".facts button[aria-current=location] .number")).to_have_text("5")
    expect(bar.locator(".at")).to_have_text(f"2 of {steps(page)}")
    expect(bar.locator(".attended")).to_contain_text("the")
    bar.get_by_role("button", name="Next step").click()
    expect_step(page, 3)
    expect(bar.locator(".wrote")).to_have_text(opening.target_pieces[2].removeprefix("▁"))
    press_on(page, "candidates", 0.3, 1)  # anywhere in the row: the bar itself may be too short to be hit
    page.wait_for_url(re.compile(rf"word={opening.top_ids[2][1]}\b"))
    page.locator(".facts li button").nth(2).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-stage_3")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.st-key-stage_3') !== null")


def test_selected_piece_is_marked_as_held_and_can_be_released(open_page: Opener) -> None:
    page = open_page("?step=2")
    expect_step(page, 2)
    shown, follow = page.locator(".player .shown"), page.locator(".player .follow")
    expect(follow).to_be_hidden()
    expect(shown.locator(".name")).to_have_text("Looks at")
    expect(shown.locator(".why")).to_contain_text("largest weight")
    for way in ("click", "keyboard", "Escape"):
        page.locator(".player .source .word").nth(3).click()
        word = page.locator(".player .source .held").inner_text()
        page.locator("body").press("ArrowRight")
        expect(shown.locator(".name")).to_have_text("Examined")
        expect(shown.locator(".seen").first).to_have_text(word)
        expect(shown.locator(".why")).to_have_text("your choice, fixed")
        page.wait_for_url(re.compile("source="))
        if way == "click":
            follow.click()
        elif way == "keyboard":
            follow.focus()
            page.keyboard.press("Enter")
            assert page.evaluate(FOCUSED)["key"] == "player", "the focus stays in the player"
        else:
            page.keyboard.press("Escape")
        expect(follow).to_be_hidden()
        expect(shown.locator(".name")).to_have_text("Looks at")
        page.wait_for_url(lambda url: "source=" not in url)
    page.keyboard.press("Space")  # plays, also after a click on a word
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_each_sentence_is_one_tab_stop_that_arrow_keys_move_in(open_page: Opener) -> None:
    page = open_page("?step=2&depth=idea")
    settled(page, ".st-key-heatmap")
    english, french = page.locator(".player .source .word"), page.locator(".player .target .word")
    current = page.locator(".player .source .current")
    for words in (english, french):
        assert words.evaluate_all("(words) => words.filter((word) => word.tabIndex === 0).length") == 1
    current.focus()
    page.keyboard.press("Home")
    expect(english.first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(english.nth(1)).to_be_focused()
    expect(english.nth(1)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(english.nth(1)).to_be_focused()
    expect_step(page, 2)
    page.keyboard.press("Escape")
    expect(current).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(".player .target [aria-current=step]")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect_step(page, 3)
    expect(page.locator(".player .target [aria-current=step]")).to_be_focused()
    page.keyboard.press("Home")
    expect(french.first).to_be_focused()
    expect_step(page, 1)
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED)["name"].startswith("Play"), "Previous is disabled at the first step"
    page.keyboard.press("ArrowRight")  # outside the sentences, steps do not move the focus
    expect_step(page, 2)
    assert page.evaluate(FOCUSED)["name"].startswith("Play")


LIT = """([piece]) => {
  const chart = (key) => document.querySelector(`.st-key-${key} .js-plotly-plot`);
  const light = (key) => document.querySelector(`.st-key-${key} .cursor .pointing`)?.getBoundingClientRect();
  const middle = (key, axis, value) => {
    const box = chart(key).getBoundingClientRect(), drawn = chart(key)._fullLayout[axis];
    return (axis === "xaxis" ? box.x : box.y) + drawn._offset + drawn.c2p(value);
  };
  const over = (box, axis, place) => axis === "xaxis"
    ? box && box.left < place && place < box.right
    : box && box.top < place && place < box.bottom;
  const { columns } = chart("heatmap").layout.meta, { lines } = chart("units").layout.meta;
  return {
    column: over(light("heatmap"), "xaxis", middle("heatmap", "xaxis", columns[piece])),
    energy: over(light("energy"), "yaxis", middle("energy", "yaxis", piece)),
    softmax: over(light("softmax"), "yaxis", middle("softmax", "yaxis", piece)),
    strip: over(light("growth"), "yaxis", middle("growth", "yaxis", piece)),
    units: over(light("units"), "yaxis", middle("units", "yaxis", lines[piece])),
    ribbon: document.querySelectorAll(".diagram .ribbon")[piece].classList.contains("seen"),
  };
}"""


ALL = dict.fromkeys(("column", "energy", "softmax", "strip", "units", "ribbon"), True)


def open_with_diagram(open_page: Opener, query: str = "?step=3") -> Page:
    """Open the page and wait until every highlightable part is drawn."""
    page = open_page(query)
    settled(page)
    page.wait_for_selector(".diagram .ribbon[d]", state="attached")
    return page


def tints(page: Page, name: str) -> Any:
    """Return how strongly each word of a sentence of the player is coloured, as a share of the strongest colour."""
    words = page.locator(f".player {name} .word")
    shares = words.evaluate_all("(words) => words.map((word) => parseFloat(word.style.getPropertyValue('--weight')))")
    return np.array(shares) / 100


def test_hovered_word_is_highlighted_in_every_chart(open_page: Opener, opening: Trace) -> None:
    page = open_with_diagram(open_page)
    asked: list[str] = []
    words = opening.words()
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.context.set_offline(True)
    for k in (1, 3):
        word = page.locator(".player .source .word").nth(k)
        word.hover()
        piece = words.source_groups[k][0]
        expect(word).to_have_class(re.compile("pointed"))
        found = page.evaluate(LIT, [piece])
        assert {name: found[name] for name in ALL} == ALL
        # The attention of each French word to it, averaged over the steps of the word.
        attention = [
            np.mean([opening.alignment[i, list(words.source_groups[k])].sum() for i in group])
            for group in words.target_groups
        ]
        np.testing.assert_allclose(tints(page, ".target"), 0.36 * np.sqrt(attention), atol=0.012)
    page.mouse.move(2, 2)
    expect(page.locator(".pointing")).to_have_count(0)
    assert asked == []


TEXT = (
    "When I was a child my grandmother used to tell me stories about the sea and every summer we went to the beach "
    "together to look for the shells that she had described in the long letters which our father kept in a small "
    "wooden box under the bed of the house where we lived until the war had taken everything from us ."
)


def sentence(words: int) -> str:
    """Return a query that opens a sentence of so many words."""
    return f"?sentence={quote(' '.join([*TEXT.split()[: words - 1], '.']))}"


def geometry(page: Page) -> dict[str, Any]:
    """Return the sizes of the heatmap: of its cells, of the chart, and of the box it is scrolled in."""
    found: dict[str, Any] = page.evaluate(
        """() => {
          const scroll = document.querySelector(".st-key-heatmap .scroll");
          const { xaxis, yaxis, _size } = scroll.querySelector(".chart")._fullLayout;
          const [rows, columns] = [yaxis, xaxis].map(({ range }) => Math.abs(range[1] - range[0]));
          return { wide: xaxis._length / columns, high: yaxis._length / rows, box: scroll.clientWidth,
                   chart: scroll.scrollWidth, left: _size.l };
        }"""
    )
    return found


@pytest.mark.parametrize("cases", [[(15, 0.9)], at_night([(3, 0.9), (8, 0.9), (25, 0.9), (40, 0.7), (50, 0.7)])])
def test_cells_are_nearly_square_and_fit_the_box(open_page: Opener, cases: list[tuple[int, float]]) -> None:
    for words, least in cases:
        size = geometry(page := open_page(sentence(words)))
        assert least <= size["wide"] / size["high"] <= 1.6, words
        assert size["chart"] <= size["box"], f"the heatmap of {words} words scrolls although it fits"
        if words == 3:
            expect(page.locator(".st-key-heatmap .rows svg, .st-key-heatmap .names svg")).to_have_count(0)
        page.close()


def test_number_of_a_cell_is_that_of_the_panel_of_its_step(open_page: Opener) -> None:
    """Each piece of a word that takes several steps has its own row, with the weights of its own step."""
    page = open_page(f"?sentence={quote('The zyxwvut plays.')}&target={quote('Le zyxwvut joue.')}")
    settled(page)
    (first, last), *_ = page.locator(".player .target .word").evaluate_all(
        "(words) => words.map((word) => [...word.querySelectorAll('.piece')].map((one) => Number(one.dataset.index)))"
        ".filter((steps) => steps.length > 1).map((steps) => [steps[0], steps.at(-1)])"
    )
    assert last > first
    for step in (first, last):
        for column in (0, 2):
            at = on_screen(page, "heatmap", column, step)
            page.mouse.move(5, 5)
            page.mouse.move(*at)
            tooltip = page.locator(".st-key-heatmap .hoverlayer")
            expect(tooltip).to_contain_text("α = ")
            number = float(re.findall(r"α = ([0-9.]+)", str(tooltip.text_content()))[-1])
            page.mouse.click(*at)
            expect(page.locator(".facts h2")).to_have_text(re.compile(f"^Step {step + 1} of "))
            page.wait_for_function(
                """([column, number]) => {
                  const { data } = document.querySelector(".st-key-softmax .js-plotly-plot");
                  const shown = data.find(({ mode, xaxis }) => mode === "text" && xaxis === "x2")?.text[column];
                  return shown && Math.abs(Number(shown) - number) <= 0.0051;
                }""",
                arg=[column, number],
            )
