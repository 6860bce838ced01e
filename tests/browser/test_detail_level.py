"""The control with three levels of detail (Idea, Numbers, Everything), and the first window of a new visitor."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from syrupy.assertion import SnapshotAssertion

from attnviz.ui.examples import DEFAULT_SENTENCE
from tests.browser.server import READY
from tests.browser.settled import settled
from tests.browser.test_page import expect_step, query, type_sentence
from tests.browser.texts import text_of
from tests.browser.views import SHOWN, at_night, everywhere, on_both, open_settings, open_share
from tests.snapshots import without_numbers
from tests.what_if_links import link, only

pytestmark = pytest.mark.browser
Opener = Callable[..., Page]

FIFTEEN = "The old man with the white beard sat alone on a bench in the park."
"""Fifteen words; the translation has more."""
LEVEL_CONTROL = ".st-key-depth"


def set_detail_level(page: Page, name: str) -> None:
    """Choose a detail level, and wait until the page shows it."""
    page.locator(LEVEL_CONTROL).get_by_role("radio", name=name, exact=True).click()
    page.wait_for_url(re.compile(f"depth={name.lower()}"))
    expect_equations(page, 0 if name == "Idea" else 5)
    settled(page, ".st-key-heatmap" if name == "Idea" else ".st-key-candidates")


def wait_until_idle(page: Page) -> None:
    settled(page, ".st-key-heatmap")


def french_words(page: Page) -> str:
    """Return the translation without its end mark, which Idea hides."""
    return page.locator(".player .target").inner_text().replace("</s>", "").strip()


def expect_equations(page: Page, count: int) -> None:
    expect(page.locator("[class*='st-key-stage_'] .katex-display")).to_have_count(count)


def count_parts(page: Page) -> dict[str, int]:
    """Count the parts that only some detail levels have."""
    names = {
        "equations": ".st-key-stages .katex-display",
        "energy-decomposition": ".st-key-energy-decomposition .js-plotly-plot",
        "logit-attribution": ".st-key-logit-attribution .js-plotly-plot",
        "verification": ".st-key-verification",
        "switches": ".st-key-heatmap_choices",
        "bars": ".st-key-stages .hand",
    }
    return {name: page.locator(selector).count() for name, selector in names.items()}


@pytest.mark.parametrize("lang", ["en", at_night("fr")])
@everywhere
def test_main_parts_fit_in_the_first_window(open_page: Opener, lang: str) -> None:
    page = open_page(f"?sentence={quote(FIFTEEN)}&depth=idea&lang={lang}")
    wait_until_idle(page)
    size = page.viewport_size
    assert size
    wide = size["width"] > 700
    for name in (".st-key-sentence", LEVEL_CONTROL, ".player .source", ".player .target", ".player .transport"):
        box = page.locator(name).first.bounding_box()
        assert box, name
        assert box["x"] >= 0, name
        assert box["x"] + box["width"] <= size["width"], name
        assert box["y"] + box["height"] <= size["height"], name
    rows = page.locator(".st-key-heatmap .heatmaplayer").bounding_box()
    assert rows
    if wide:
        step = page.locator(".st-key-facts li").last.bounding_box()
        assert step
        assert step["y"] + step["height"] <= size["height"], "all of the step"
        assert rows["y"] + rows["height"] <= size["height"], "all of the heatmap"
    else:
        assert rows["y"] + 2 * rows["height"] / 19 <= size["height"], "the top of the heatmap, of 19 rows"


@pytest.mark.parametrize("lang", ["en", "fr"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720)])
def test_idea_is_one_screen_in_which_a_stage_opens(open_page: Opener, width: int, height: int, lang: str) -> None:
    page = open_page(f"?depth=idea&lang={lang}&sentence={quote(DEFAULT_SENTENCE)}", width=width, height=height)
    wait_until_idle(page)
    diagram = page.locator(".st-key-diagram .drawing")
    page.wait_for_function(
        "document.querySelector('.st-key-heatmap .chart').getBoundingClientRect().bottom <= innerHeight"
    )
    for name in (
        ".player .transport",
        ".st-key-question",
        ".st-key-heatmap .chart",
        ".st-key-facts",
        ".st-key-diagram .drawing",
        ".st-key-context_choice",
    ):
        box = page.locator(name).first.bounding_box()
        assert box, name
        assert box["y"] + box["height"] <= height, name
        assert box["x"] + box["width"] <= width, name
    expect(page.locator(".player .row .end")).to_have_count(2)
    for mark in page.locator(".player .row .end").all():
        expect(mark).to_be_visible()
    share = page.locator(".st-key-facts li button").nth(1)
    share.click()
    picture, thin = page.locator(".st-key-attention .js-plotly-plot"), page.locator(".diagram.thin")
    expect(picture).to_be_visible()
    expect(thin.locator(".drawing")).to_be_visible()
    page.wait_for_url(re.compile("stage=2"))
    page.wait_for_function(
        """() => {
          const { top, bottom } = document.querySelector(".st-key-one_picture").getBoundingClientRect();
          return top > 0 && Math.floor(bottom) <= innerHeight;
        }"""
    )
    expect(page.locator(".st-key-facts")).to_be_in_viewport(ratio=0.8)
    page.reload()
    expect(picture).to_be_visible()
    share.click()
    expect(diagram).to_be_visible()
    expect(thin).to_have_count(0)
    page.wait_for_function("() => !new URLSearchParams(location.hash.slice(1)).has('stage')")


def test_the_end_mark_has_one_name_at_all_levels(open_page: Opener) -> None:
    page = open_page(f"?sentence={quote(FIFTEEN)}&depth=idea")
    wait_until_idle(page)
    page.keyboard.press("End")
    expect(page.locator(".player .target .current")).to_have_text("</s>")
    for part in (".diagram .drawing", ".st-key-facts"):
        expect(page.locator(part)).to_contain_text("</s>")
    set_detail_level(page, "Everything")
    wait_until_idle(page)
    expect(page.locator(".player .target .current")).to_have_text("</s>")
    expect(page.locator(".diagram .drawing")).to_contain_text("</s>")


def test_heatmap_follows_the_height_of_the_window(open_page: Opener) -> None:
    """The limit of its height is set by the style sheet, which may also arrive after the heatmap is drawn."""
    page = open_page(f"?depth=idea&sentence={quote(DEFAULT_SENTENCE)}", width=1280, height=720)
    wait_until_idle(page)
    chart = page.locator(".st-key-heatmap .chart")
    low = chart.evaluate("chart => chart.offsetHeight")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function("low => document.querySelector('.st-key-heatmap .chart').offsetHeight > low", arg=low)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.wait_for_function("low => document.querySelector('.st-key-heatmap .chart').offsetHeight === low", arg=low)


def test_forced_colours_keep_the_selection_visible(open_page: Opener) -> None:
    page = open_page(f"?depth=idea&stage=2&step=3&sentence={quote(DEFAULT_SENTENCE)}")
    page.emulate_media(forced_colors="active")
    settled(page, ".st-key-attention")
    for name in (".player .target .current", ".st-key-facts [aria-current]", ".page-links [aria-current]"):
        found = page.locator(name).first.evaluate("node => getComputedStyle(node).outlineStyle")
        assert found == "solid", name
    other = page.locator(".st-key-facts li button").first
    assert other.evaluate("node => getComputedStyle(node).outlineStyle") == "none"


@pytest.mark.nightly
def test_forced_colours_mark_the_chosen_speed_and_stage(open_page: Opener) -> None:
    page = open_page(f"?stage=2&sentence={quote(DEFAULT_SENTENCE)}")
    page.emulate_media(forced_colors="active")
    settled(page)
    for name in (
        ".player .speed [aria-pressed=true]",
        ".st-key-depth [aria-checked=true]",
        "[data-stage='2'] .st-key-stage_2 h3",
    ):
        assert page.locator(name).first.evaluate("node => getComputedStyle(node).outlineStyle") == "solid", name
    grip = page.locator(".st-key-softmax .hand").first
    assert grip.evaluate(
        "node => getComputedStyle(node, '::after').backgroundColor !== getComputedStyle(document.body).backgroundColor"
    )


@pytest.mark.nightly
@pytest.mark.parametrize("lang", ["en", "fr"])
@pytest.mark.parametrize("width", [640, 700, 768, 900, 1024, 1100, 1250])
def test_windows_between_phone_and_desktop_cut_nothing(open_page: Opener, width: int, lang: str) -> None:
    """A window of 1440 pixels at 200 % zoom is one of 720."""
    for level in ("idea", "everything"):
        page = open_page(f"?depth={level}&lang={lang}&sentence={quote(DEFAULT_SENTENCE)}", width=width, height=900)
        settled(page, ".st-key-heatmap")
        assert page.evaluate("document.querySelector('.stMain').scrollWidth <= innerWidth"), level
        about, languages, menu = (
            page.locator(name).bounding_box() for name in (".masthead .about", ".st-key-lang", ".stMainMenu button")
        )
        assert about
        assert languages
        assert menu
        assert about["width"] > 200, "the line below the title does not break into one word a line"
        assert about["x"] + about["width"] <= languages["x"] or about["y"] >= languages["y"] + languages["height"] - 1
        assert languages["x"] + languages["width"] <= menu["x"]
        page.close()


@pytest.mark.nightly
def test_step_stands_beside_a_long_heatmap(open_page: Opener) -> None:
    page = open_page(f"?depth=numbers&sentence={quote('The old man and his dog walked along the river. ' * 6)}")
    settled(page, ".st-key-candidates")
    heatmap, step = (page.locator(name).bounding_box() for name in (".st-key-heatmap", ".st-key-facts"))
    assert heatmap
    assert step
    assert step["x"] >= heatmap["x"] + heatmap["width"]
    assert step["y"] < heatmap["y"] + 100


@pytest.mark.nightly
@pytest.mark.parametrize("width", [1280, 1440])
def test_no_stage_leaves_an_empty_column(open_page: Opener, width: int) -> None:
    """The inside of an energy fills the space below stages 1 and 2, beside stage 3."""
    page = open_page(f"?sentence={quote(DEFAULT_SENTENCE)}", width=width)
    settled(page)
    names = (".st-key-stage_2", ".st-key-inside_energy", ".st-key-stage_3")
    second, inside, third = (page.locator(name).bounding_box() for name in names)
    assert second
    assert inside
    assert third
    assert 0 <= inside["y"] - (second["y"] + second["height"]) < 80
    assert abs(inside["y"] + inside["height"] - (third["y"] + third["height"])) < 300


def test_frozen_context_is_a_what_if_that_can_be_left(open_page: Opener) -> None:
    page = open_page(f"?depth=idea&sentence={quote(DEFAULT_SENTENCE)}")
    wait_until_idle(page)
    french, choice = page.locator(".player .target"), page.locator(".st-key-context_choice")
    before = french.inner_text()
    choice.get_by_role("button").click()
    page.wait_for_url(re.compile("what_if=1"))
    expect(french).not_to_have_text(before)
    expect(page.locator(".diagram.frozen")).to_be_visible()
    page.reload()
    expect(choice.get_by_role("radio").nth(1)).to_be_checked()
    choice.get_by_role("radio").nth(2).click()
    page.wait_for_url(re.compile("what_if=2"))
    drawer, cards = page.locator(".what_ifs .all"), page.locator(".what_ifs .card")
    expect(cards.first).to_be_hidden()
    expect(page.locator(".what_ifs .now")).to_contain_text("2 · ")
    drawer.click()
    expect(cards).to_have_count(3)
    expect(cards.first).to_be_visible()
    drawer.click()
    expect(cards.first).to_be_hidden()
    page.locator(".what_ifs .undo").click()
    page.wait_for_function("() => !new URL(location.href).searchParams.has('what_if')")
    expect(french).to_have_text(before, use_inner_text=True)
    choice.get_by_role("button").click()
    page.wait_for_url(re.compile("what_if=1"))
    choice.get_by_role("radio").first.click()
    page.wait_for_function("() => !new URL(location.href).searchParams.has('what_if')")
    assert french.inner_text() == before


def test_dragged_bar_shows_beside_the_hand_what_would_change(open_page: Opener, snapshot: SnapshotAssertion) -> None:
    page = open_page(f"?depth=idea&stage=2&step=3&sentence={quote(DEFAULT_SENTENCE)}")
    settled(page, ".st-key-attention")
    french, beside = page.locator(".player .target"), page.locator(".st-key-attention .consequence")
    written, before = french.locator(".current").inner_text().strip(), french.inner_text()
    expect(beside).to_be_hidden()
    bar = page.locator(".st-key-attention .hand").last
    box = bar.bounding_box()
    assert box
    height = box["height"]
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 6
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 0.75 * height, steps=6)
    expect(beside).to_be_visible()
    expect(beside.locator(".probability")).to_contain_text("→")
    expect(beside.locator(".probability")).to_contain_text(written)
    assert beside.locator(".outdated").inner_text() == snapshot
    box = beside.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["y"] + box["height"] <= page.evaluate("innerHeight")
    assert french.inner_text() == before, "nothing is changed before the bar is released"
    page.keyboard.press("Escape")
    expect(beside).to_be_hidden()
    page.mouse.up()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 0.75 * height, steps=6)
    expect(beside).to_be_visible()
    expect(beside).not_to_have_class(re.compile("stale"))
    announced = "".join(beside.locator(".translation > :not(del)").all_inner_texts())
    page.mouse.up()
    page.wait_for_url(re.compile("what_if=1"))
    expect(beside).to_be_hidden()
    if announced:
        expect(french).not_to_have_text(before)
        shown = "".join(french.locator(".word:not(.end)").all_inner_texts())
        assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", announced)


def test_nothing_moves_when_a_bar_is_released(open_page: Opener) -> None:
    """The next bar is where it was, also where the what-if writes other words, which the question asks for."""
    page = open_page(f"?depth=idea&stage=2&step=3&sentence={quote(DEFAULT_SENTENCE)}", width=1440, height=900)
    settled(page, ".st-key-attention")
    parts = (".st-key-question", ".st-key-heatmap .chart", ".st-key-facts", ".st-key-attention .hand")
    before = [page.locator(name).first.bounding_box()["y"] for name in parts]
    strips = page.locator(".st-key-attention .chart")
    shown: list[list[float]] = strips.evaluate("(chart) => Array.from(chart._fullData[4].z, (row) => [...row])")
    hand = page.locator(".st-key-attention .hand").nth(5).bounding_box()
    page.mouse.move(hand["x"] + hand["width"] / 2, hand["y"] + hand["height"] - 5)
    page.mouse.down()
    page.mouse.move(hand["x"] + hand["width"] / 2, hand["y"] + 15, steps=5)
    dragged: list[list[float]] = strips.evaluate("(chart) => Array.from(chart._fullData[4].z, (row) => [...row])")
    assert dragged[-1] != pytest.approx(shown[-1], abs=0.01), "the mixture follows the hand"
    assert [sum(column) for column in zip(*dragged[:-1], strict=True)] == pytest.approx(dragged[-1], abs=1e-4)
    page.mouse.up()
    page.wait_for_url(re.compile("what_if=1"))
    expect(page.locator(".st-key-what_if_cards")).to_be_visible()
    wait_until_idle(page)
    assert [page.locator(name).first.bounding_box()["y"] for name in parts] == pytest.approx(before, abs=1)


def test_networks_in_the_diagram_have_the_card_of_their_stage(open_page: Opener) -> None:
    page = open_page("?depth=idea&step=3")
    settled(page, ".st-key-heatmap")
    for name in ("GRU", "maxout"):
        page.locator(".st-key-diagram .term", has_text=name).hover()
        expect(page.locator(".term-card")).to_contain_text(name)
        page.mouse.move(5, 5)
        expect(page.locator(".term-card")).to_be_hidden()


def test_terms_have_a_card_on_hover_focus_and_click(open_page: Opener) -> None:
    page = open_page(f"?depth=idea&stage=2&sentence={quote(DEFAULT_SENTENCE)}")
    settled(page, ".st-key-attention")
    card, terms = page.locator(".term-card"), page.locator(".st-key-attention .term:visible")
    expect(card).to_be_hidden()
    page.locator(".st-key-facts li button").first.hover()
    expect(card).to_be_visible()
    expect(card).to_contain_text("Fit (energy)")
    page.mouse.move(5, 5)
    expect(card).to_be_hidden()
    mixture = terms.filter(has_text="mixture")
    mixture.click()
    expect(card).to_contain_text("Mixture (context vector)")
    expect(mixture).to_have_attribute("aria-describedby", re.compile("-term$"))
    sentence, shown = mixture.locator("xpath=ancestor::p").bounding_box(), card.bounding_box()
    assert sentence
    assert shown
    assert shown["y"] + shown["height"] <= sentence["y"] or shown["y"] >= sentence["y"] + sentence["height"]
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(mixture).to_be_focused()
    expect(card).to_be_visible()
    card.get_by_role("button").click()
    page.wait_for_url(re.compile("stage=3"))
    expect(card).to_be_hidden()
    expect(page.locator(".st-key-attention .js-plotly-plot")).to_be_visible()


@pytest.mark.nightly
@on_both
def test_each_detail_level_shows_its_parts(open_page: Opener) -> None:
    page = open_page("?depth=idea&step=3&stage=2")
    settled(page, ".st-key-attention")
    fewest = count_parts(page)
    assert fewest["bars"] > 5
    assert not any(number for name, number in fewest.items() if name != "bars")
    stages = page.locator(".st-key-facts li button")
    expect(stages.nth(1).locator(".title")).to_have_text("Share (attention weight)")
    for number, picture in enumerate(("attention", "attention", "attention", "state", "candidates")):
        stages.nth(number).click()
        expect(page.locator(f".st-key-{picture} .js-plotly-plot")).to_be_visible()
    expect(page.locator(".st-key-one_picture")).to_contain_text("a list of 1,024 numbers")
    set_detail_level(page, "Numbers")
    middle = count_parts(page)
    assert middle["equations"] == 5
    assert middle["bars"] == fewest["bars"]
    assert [middle[name] for name in ("energy-decomposition", "logit-attribution", "verification", "switches")] == [
        0,
        0,
        0,
        1,
    ]
    set_detail_level(page, "Everything")
    settled(page)
    assert all(count_parts(page).values())
    expect_step(page, 3)


def test_new_visitor_starts_at_idea_and_the_choice_is_remembered(open_page: Opener, address: str) -> None:
    page = open_page("?depth=idea")
    page.goto(address)  # without a link
    page.wait_for_selector(READY)
    wait_until_idle(page)
    assert count_parts(page)["equations"] == 0
    assert "depth" not in query(page)
    set_detail_level(page, "Numbers")
    page.wait_for_url(re.compile("depth=numbers"))
    other = page.context.new_page()
    other.goto(address)
    other.wait_for_selector(READY)
    expect(other.locator(LEVEL_CONTROL).get_by_role("radio", name="Numbers")).to_be_checked()
    other.wait_for_url(re.compile("depth=numbers"))
    linked = page.context.new_page()  # a link overrides the remembered level, and is not remembered itself
    linked.goto(f"{address}/?depth=everything")
    settled(linked)
    expect(linked.locator(LEVEL_CONTROL).get_by_role("radio", name="Everything")).to_be_checked()
    other.goto(address)
    other.wait_for_selector(READY)
    expect(other.locator(LEVEL_CONTROL).get_by_role("radio", name="Numbers")).to_be_checked()


@pytest.mark.nightly
def test_switching_detail_levels_preserves_the_state(open_page: Opener) -> None:
    """Change step, source piece, heatmap options, what-if and language between changes of the detail level."""
    page = open_page(f"?sentence=He+is+an+honest+man.&step=5&what_ifs={link(only(7, 4, 3))}&what_if=1&by=words")
    settled(page)
    before, french = query(page), french_words(page)
    expect(page.locator(".st-key-what_if_cards")).to_be_visible()
    for name in ("Idea", "Numbers", "Idea", "Everything"):
        set_detail_level(page, name)
        assert query(page) == before | {"depth": name.lower()}
        assert french_words(page) == french
        expect_step(page, 5)
    expect(page.get_by_role("radio", name="words")).to_be_checked()
    set_detail_level(page, "Idea")
    page.keyboard.press("ArrowLeft")
    expect_step(page, 4)
    page.keyboard.press("ArrowDown")
    page.wait_for_url(re.compile("source="))
    page.locator(".st-key-lang").get_by_role("radio", name="FR").click()
    expect(page.locator(LEVEL_CONTROL).get_by_role("radio", name="Idée")).to_be_checked()
    source = page.evaluate(f"{SHOWN}.source")
    page.locator(LEVEL_CONTROL).get_by_role("radio", name="Tout", exact=True).click()
    page.wait_for_url(re.compile("depth=everything"))
    settled(page)
    expect(page.locator(".facts h2")).to_contain_text("Étape 4")
    assert page.evaluate(f"{SHOWN}.source") == source
    assert french_words(page) == french


@pytest.mark.nightly
def test_back_and_forward_restore_the_detail_level(open_page: Opener) -> None:
    page = open_page("?depth=idea&sentence=We+eat.")
    wait_until_idle(page)
    type_sentence(page, "Two dogs play.")
    expect(page.locator(".player .source")).to_contain_text("dogs")
    page.wait_for_url(re.compile("Two"))
    set_detail_level(page, "Numbers")
    page.wait_for_url(re.compile("depth=numbers"))
    page.go_back()
    expect(page.locator(".player .source")).to_contain_text("eat")
    expect(page.locator(LEVEL_CONTROL).get_by_role("radio", name="Idea")).to_be_checked()
    page.go_forward()
    expect(page.locator(".player .source")).to_contain_text("dogs")
    expect(page.locator(LEVEL_CONTROL).get_by_role("radio", name="Numbers")).to_be_checked()


@pytest.mark.nightly
def test_detail_level_changes_by_keyboard(open_page: Opener) -> None:
    page = open_page("?depth=idea&step=2")
    wait_until_idle(page)
    page.locator(".st-key-translate button").focus()
    page.keyboard.press("Tab")
    expect(page.locator(LEVEL_CONTROL).get_by_role("radio", name="Idea")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.wait_for_url(re.compile("depth=numbers"))
    expect_equations(page, 5)
    expect_step(page, 2)


@pytest.mark.nightly
@on_both
def test_changed_weight_at_idea_level_changes_the_translation(open_page: Opener) -> None:
    page = open_page("?sentence=He+is+an+honest+man.&step=5&depth=idea&stage=2")
    settled(page, ".st-key-attention")
    before = page.locator(".player .target").inner_text()
    page.locator(".st-key-attention .hand").nth(3).focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("what_if=1"))
    expect(page.locator(".st-key-what_if_cards")).to_be_visible()
    expect(page.locator(".player .target")).not_to_have_text(before)


@pytest.mark.nightly
def test_model_without_attention_has_three_stages_at_idea_level(open_page: Opener, snapshot: SnapshotAssertion) -> None:
    page = open_page("?depth=idea&model=small-fixed", ready=".st-key-heatmap .js-plotly-plot")
    wait_until_idle(page)
    assert page.locator(".st-key-stages h3 .number").count() == 3
    texts = []
    for stage in page.locator(".st-key-facts li button").all():
        stage.click()
        sentence = page.locator("[class*=st-key-stage_] .chart-box > p:visible")
        expect(sentence).to_be_visible()
        texts.append(without_numbers(text_of(sentence)))
    assert texts == snapshot


@pytest.mark.nightly
def test_toolbar_boxes_contain_search_links_and_files(open_page: Opener) -> None:
    page = open_page("?depth=idea")
    wait_until_idle(page)
    expect(page.locator(".st-key-tools [data-testid=stPopoverButton]")).to_have_count(2)
    open_settings(page)
    page.locator(".st-key-search select").select_option(label="beam 3")
    expect(page.locator(".st-key-ran")).to_contain_text("beam search, width 3")
    page.keyboard.press("Escape")
    open_share(page)
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    expect(page.get_by_role("button", name="Whole trace, JSON")).to_be_visible()
    expect(page.locator("input[type=file]")).to_have_count(1)


def test_phone_shows_the_new_french_below_the_choice_of_the_context(
    open_page: Opener, snapshot: SnapshotAssertion
) -> None:
    page = open_page(f"?depth=idea&lang=fr&sentence={quote(DEFAULT_SENTENCE)}", width=390, height=844)
    wait_until_idle(page)
    choice = page.locator(".st-key-context_choice")
    choice.get_by_role("button").click()
    choice.locator("[role=radio]").nth(2).click()
    page.wait_for_url(re.compile("what_if=2"))
    expect(page.locator(".player .why")).to_have_text("poids tous égaux")
    outcome = page.locator(".st-key-context_outcome")
    expect(outcome.locator("ins").first).to_be_visible()
    expect(outcome.locator("ins").first).to_be_in_viewport()
    assert page.locator(".explanation").first.inner_text() == snapshot


def test_freezing_the_context_moves_nothing_that_is_in_the_window(open_page: Opener) -> None:
    query = f"?depth=idea&lang=fr&sentence={quote(DEFAULT_SENTENCE)}"
    for width, height in ((1280, 720), (390, 844)):
        page = open_page(query, width=width, height=height)
        wait_until_idle(page)
        choice = page.locator(".st-key-context_choice")
        choice.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
        top, drawing = "(node) => node.getBoundingClientRect().top", page.locator(".st-key-diagram .drawing")
        before = drawing.evaluate(top)
        choice.get_by_role("button").click()
        expect(page.locator(".what_ifs .now")).to_be_attached()
        wait_until_idle(page)
        choice.locator("[role=radio]").nth(2).click()
        expect(page.locator(".player .why")).to_have_text("poids tous égaux")
        assert abs(drawing.evaluate(top) - before) <= 2
        page.close()
