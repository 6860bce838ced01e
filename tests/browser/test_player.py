"""Player and toolbar of the page *Translate*: pieces of words, held pieces, focus, invalid input and layout."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from syrupy.assertion import SnapshotAssertion

from tests.browser.settled import bring_into_sight, settled
from tests.browser.test_accessibility import BOX, BOXES, FOCUSED
from tests.browser.test_page import expect_step, query, steps, type_sentence
from tests.browser.texts import text_of
from tests.browser.views import SHOWN, at_night

pytestmark = pytest.mark.browser
Opener = Callable[..., Page]

RARE = "The zyxwvut plays with qwxyzzy."
"""Two words that the tokenizer splits into pieces."""
FORCED = f"?sentence={quote(RARE)}&target={quote('Le zyxwvut joue.')}"


def framed_column(page: Page) -> float | None:
    chart = page.locator(".st-key-heatmap .js-plotly-plot")
    found = chart.evaluate("(chart) => chart.layout.shapes.length > 1 ? chart.layout.shapes[1].x0 + 0.5 : null")
    return None if found is None else float(found)


def expect_column(page: Page, column: int) -> None:
    page.wait_for_function(
        """(column) => {
          const shapes = document.querySelector(".st-key-heatmap .js-plotly-plot").layout.shapes;
          return shapes.length > 1 && shapes[1].x0 + 0.5 === column;
        }""",
        arg=column,
    )


def pieces_of(page: Page, name: str) -> list[list[str]]:
    """Return the pieces of each word of a sentence of the player."""
    return [word.locator(".piece").all_inner_texts() for word in page.locator(f".player {name} .word").all()]


@pytest.mark.nightly
def test_arrows_select_words_in_word_view(open_page: Opener) -> None:
    page = open_page(f"?sentence={quote(RARE)}&by=words")
    expect_step(page, 1)
    words = pieces_of(page, ".source")
    assert any(len(pieces) > 1 for pieces in words), "nothing is tested"
    for _ in words:
        page.keyboard.press("ArrowUp")
    expect_column(page, 0)
    for column in range(1, len(words)):
        page.keyboard.press("ArrowDown")
        expect_column(page, column)
    page.keyboard.press("ArrowDown")
    expect_column(page, len(words) - 1)
    keys = page.locator(".keys")
    expect(keys).to_be_hidden()
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    expect(keys).to_contain_text("English word")
    page.keyboard.press("?")
    expect(keys).to_be_hidden()


@pytest.mark.nightly
def test_arrows_select_pieces_in_step_view(open_page: Opener) -> None:
    page = open_page(f"?sentence={quote(RARE)}&source=1")
    expect_step(page, 1)
    words = pieces_of(page, ".source")
    count = sum(map(len, words))
    expect(page.locator(".st-key-heatmap .xtick")).to_have_count(len(words))
    page.keyboard.press("?")
    expect(page.locator(".keys")).to_contain_text("English piece")
    page.keyboard.press("Escape")
    for piece in range(2, count + 1):
        page.keyboard.press("ArrowDown")
        expect_column(page, piece - 1)
        assert page.evaluate(f"{SHOWN}.source") == piece - 1


@pytest.mark.nightly
def test_heading_says_which_piece_of_a_word_the_step_wrote(open_page: Opener, snapshot: SnapshotAssertion) -> None:
    page = open_page(FORCED)
    expect_step(page, 1)
    part = page.locator(".facts .part")
    words = pieces_of(page, ".target")
    assert max(map(len, words)) > 1
    labels = []
    for step, (k, pieces) in enumerate([(k, word) for word in words for k in range(len(word))], 1):
        expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(step - 1))
        labels.append(text_of(part))
        assert bool(labels[-1]) == (len(pieces) > 1)
        if labels[-1]:
            assert re.findall(r"\d+", labels[-1]) == [str(k + 1), str(len(pieces))]
            assert f"“{''.join(pieces)}”" in labels[-1]
        page.keyboard.press("ArrowRight")
    assert labels == snapshot(name="parts of words")
    in_short, more = (
        page.locator(".st-key-alignment .explanation").first,
        page.locator(".st-key-how_to_read .explanation"),
    )
    page.get_by_text("How to read the heatmap").click()
    expect(more).to_be_visible()
    by_steps, short = text_of(more), text_of(in_short)
    assert [short, by_steps] == snapshot(name="by steps")
    page.get_by_role("radio", name="words").click()
    expect(in_short).not_to_have_text(short)
    expect(more).to_be_visible()
    expect(more).not_to_have_text(by_steps)
    by_words = text_of(more)
    assert {str(steps(page)), str(len(words))} <= set(re.findall(r"\d+", by_words))
    assert by_words == snapshot(name="by words")


@pytest.mark.nightly
def test_pieces_are_shown_as_parts_of_their_word(open_page: Opener) -> None:
    page = open_page(FORCED, width=390, height=844)
    expect_step(page, 1)
    assert ["".join(pieces) for pieces in pieces_of(page, ".source")][1] == "zyxwvut"
    joint = page.locator(".player .source .piece + .piece").first
    assert "gradient" in joint.evaluate("(node) => getComputedStyle(node).backgroundImage")
    first = page.locator(".player .source .word > .piece:first-child").first
    assert first.evaluate("(node) => getComputedStyle(node).backgroundImage") == "none"
    page.locator(".player .target .word", has_text="zyxwvut").locator(".piece").nth(1).click()
    bring_into_sight(page.locator(".st-key-stage_5"))
    wrote = page.locator(".player .bar .wrote")
    expect(wrote).to_have_text("zyxwvut")
    expect(wrote.locator(".chosen")).to_have_text(wrote.locator(".piece").nth(1).inner_text())


@pytest.mark.parametrize("way", ["click", at_night("keyboard"), at_night("Escape")])
def test_selected_piece_is_marked_as_held_and_can_be_released(
    open_page: Opener, way: str, snapshot: SnapshotAssertion
) -> None:
    page = open_page("?step=2")
    expect_step(page, 2)
    shown, follow = page.locator(".player .shown"), page.locator(".player .follow")
    expect(follow).to_be_hidden()
    strongest = text_of(shown.locator(".why"))
    assert strongest == snapshot(name="strongest")
    page.locator(".player .source .word").nth(3).click()
    word = page.locator(".player .source .held").inner_text()
    page.locator("body").press("ArrowRight")
    expect_step(page, 3)
    expect(shown.locator(".seen").first).to_have_text(word)
    expect(shown.locator(".why")).not_to_have_text(strongest)
    assert text_of(shown.locator(".why")) == snapshot(name="held")
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
    expect(shown.locator(".why")).to_have_text(strongest)
    page.wait_for_url(lambda url: "source=" not in url)


@pytest.mark.nightly
@pytest.mark.parametrize("lang", ["en", "fr"])
def test_toolbar_buttons_fit_on_two_lines_on_a_phone(open_page: Opener, lang: str) -> None:
    page = open_page(f"?lang={lang}", width=390, height=844)
    boxes = page.locator(".st-key-tools [data-testid=stPopoverButton]")
    expect(boxes).to_have_count(2)
    settled(page)
    places = boxes.evaluate_all("(nodes) => nodes.map((node) => node.getBoundingClientRect().toJSON())")
    assert len({round(place["y"]) for place in places}) == 1
    above = page.locator(".st-key-translate button, .st-key-tools [role=radio]")
    expect(above).to_have_count(4)
    places += above.evaluate_all("(nodes) => nodes.map((node) => node.getBoundingClientRect().toJSON())")
    middles = sorted(place["y"] + place["height"] / 2 for place in places)
    assert sum(below - above > 5 for above, below in pairwise(middles)) == 1, "two lines"
    expect(page.locator(".st-key-status")).to_be_hidden()
    arrow = page.locator(".st-key-more button [data-testid=stIconMaterial]").bounding_box()
    assert arrow, "Streamlit replaces the icon while the button is pressed"
    page.mouse.click(arrow["x"] + arrow["width"] / 2, arrow["y"] + arrow["height"] / 2)
    ran = re.compile(r"beam search, width 5$|recherche en faisceau, largeur 5$")
    expect(page.locator(".st-key-ran")).to_have_text(ran)


@pytest.mark.nightly
@pytest.mark.parametrize("width", [1440, 390])
def test_too_long_text_shows_an_error_and_the_box_stays_small(open_page: Opener, width: int) -> None:
    page = open_page(f"?sentence={quote('Two dogs play.')}&step=2", width=width)
    expect_step(page, 2)
    before = query(page)
    french = page.locator(".player .target").inner_text()
    long = "word " * 504
    type_sentence(page, long)
    expect(page.locator(".st-key-problem")).to_contain_text("504 words")
    expect(page.locator(".st-key-problem")).to_be_in_viewport()
    assert page.locator(".st-key-sentence textarea").bounding_box()["height"] <= 240  # type: ignore[index]
    expect(page.locator(".player .target")).to_have_text(french)
    settled(page)
    assert query(page) == before
    type_sentence(page, "We eat.")
    page.wait_for_url(re.compile(r"sentence=We\+eat"))


@pytest.mark.nightly
@pytest.mark.parametrize("backwards", [False, True], ids=["Tab", "Shift+Tab"])
def test_tab_closes_a_popover_and_returns_to_its_button(open_page: Opener, backwards: bool) -> None:
    page = open_page(f"?sentence={quote('Two dogs play.')}")
    settled(page)
    for key in BOXES:
        button = page.locator(f".st-key-{key} button").first
        button.focus()
        page.keyboard.press("Enter")
        settled(page)
        expect(page.locator(BOX)).to_be_focused()
        for _ in range(60):
            page.keyboard.press("Shift+Tab" if backwards else "Tab")
            assert page.evaluate(FOCUSED) is not None, f"{key}: the focus left the page"
            if button.evaluate("(node) => node === document.activeElement"):
                break
        expect(button).to_be_focused()
        expect(page.locator(BOX)).to_have_count(0)
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUSED) is not None


@pytest.mark.nightly
def test_french_glossary_explains_the_decimal_comma(open_page: Opener) -> None:
    page = open_page("?lang=fr")
    page.locator(".st-key-glossary button").click()
    expect(page.locator(BOX)).to_contain_text("virgule décimale")


@pytest.mark.nightly
def test_space_plays_after_a_click_on_a_word(open_page: Opener) -> None:
    page = open_page()
    expect_step(page, 1)
    page.locator(".player .target .word").nth(1).click()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press("Space")
    page.locator(".player .source .word").nth(1).click()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


@pytest.mark.nightly
def test_click_on_blank_space_shows_no_focus_ring(open_page: Opener) -> None:
    page = open_page()
    expect_step(page, 1)
    page.mouse.click(8, 500)
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)
    assert page.evaluate("() => document.querySelector('.stMain').matches(':focus-visible')") is False


@pytest.mark.nightly
def test_held_piece_is_labelled_examined(open_page: Opener) -> None:
    page = open_page()
    expect_step(page, 1)
    name = page.locator(".player .shown .name")
    expect(name).to_have_text("Looks at")
    page.locator(".player .source .word").last.click()
    expect(name).to_have_text("Examined")
    page.keyboard.press("Escape")
    expect(name).to_have_text("Looks at")


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


@pytest.mark.nightly
def test_step_slider_has_a_unique_name(open_page: Opener) -> None:
    page = open_page("?step=2")
    expect_step(page, 2)
    expect(page.get_by_role("slider", name="Step", exact=True)).to_have_count(1)


@pytest.mark.nightly
def test_sticky_bar_does_not_overlap_the_menu(open_page: Opener) -> None:
    page = open_page("?step=2", width=390, height=844)
    expect_step(page, 2)
    settled(page)  # charts drawn above the stage would move it
    bring_into_sight(page.locator(".st-key-stage_5"))
    expect(page.locator(".player .bar .pair")).to_be_visible()
    menu = page.locator("[data-testid=stMainMenu]").bounding_box()
    assert menu
    inside = page.locator(".player .bar").evaluate(
        """(bar, bottom) => Math.max(...[...bar.children].map((node) => node.getBoundingClientRect())
          .filter(({ top }) => top < bottom).map(({ right }) => right))""",
        menu["y"] + menu["height"],
    )
    assert inside <= menu["x"]


@pytest.mark.nightly
def test_punctuation_stays_on_the_line_of_its_word(open_page: Opener) -> None:
    text = "An unforgettably beautiful photograph of Kristallnacht, taken by grandmother."
    page = open_page(f"?sentence={quote(text)}", width=390, height=844)
    breaks = set()
    for width in range(300, 420, 10):
        page.set_viewport_size({"width": width, "height": 844})
        lines = page.locator(".player").evaluate(
            """(player) => [".source", ".target"].map((name) => [...player.querySelectorAll(`${name} .word`)]
              .filter(({ offsetWidth }) => offsetWidth)
              .map((word) => [word.innerText, Math.round(word.getClientRects()[0].bottom)]))"""
        )
        for words in lines:
            breaks |= {text for (_, above), (text, below) in pairwise(words) if below - above > 10}
    assert breaks, "no line was broken"
    assert not breaks & {",", "."}
