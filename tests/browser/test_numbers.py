"""Numbers in the browser (energy decomposition, logit attribution, verification) equal those of Python."""

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from attnviz.text import Tokenizer, piece_name
from attnviz.ui.step.logit_attribution_panel import parse_piece
from tests.browser.settled import bring_into_sight, settled
from tests.browser.views import on_both
from tests.conftest import SHIPPED_MODEL


def bars(page: Page, key: str) -> list[float]:
    """Return the lengths of the bars of the waterfall in `key`."""
    found = page.locator(f".st-key-{key} .js-plotly-plot")
    expect(found.locator(".ytick").first).to_be_attached()
    bring_into_sight(found)
    return found.evaluate("(chart) => Array.from(chart.data.find(({ name }) => name === 'sum').x)")


def word_box(page: Page, what: str) -> Locator:
    return page.locator(f".word-choice [data-what={what}]")


def type_word(page: Page, what: str, text: str) -> None:
    box = word_box(page, what)
    box.click()
    box.fill(text)
    page.keyboard.press("Enter")


@on_both
def test_waterfalls_and_badge_follow_step_piece_and_typed_words(open_page, opening) -> None:
    page = open_page("?step=3")
    settled(page)  # charts below the window are drawn later
    badge = page.locator(".st-key-verification button").first
    expect(badge).to_contain_text(re.compile(r"\bstep 3\b.* \d·10"))
    page.keyboard.press("ArrowRight")
    expect(badge).to_contain_text(re.compile(r"\bstep 4\b.* \d·10"))
    badge.click()
    expect(page.locator(".receipt")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".receipt")).to_be_hidden()

    heading = page.locator(".st-key-energy-decomposition h3")
    source = int(opening.alignment[3].argmax())
    expect(heading).to_have_text(f"Energy decomposition: step 4 at “{piece_name(opening.source_pieces[source])}”")
    assert bars(page, "energy-decomposition")[-1] == pytest.approx(float(opening.energies[3, source]), abs=1e-5)
    other = next(k for k, index in enumerate(opening.top_ids[3]) if index != opening.target_ids[3])
    odds = np.log(opening.probabilities[3] / opening.top_probabilities[3][other])
    assert bars(page, "contrast")[-1] == pytest.approx(float(odds), abs=1e-4)
    attributed, contrast = (page.locator(f".st-key-{key} h3") for key in ("logit-attribution", "contrast"))
    expect(attributed).to_contain_text(f"“{piece_name(opening.target_pieces[3])}”")
    expect(contrast).to_contain_text(f"and not “{piece_name(opening.top_pieces[3][other])}”")

    # Typed words: the last in pieces, and one that the model has never seen.
    tokenizer = Tokenizer.load(SHIPPED_MODEL / "tokenizer.model")
    house, car = (piece_name(tokenizer.piece(parse_piece(word, tokenizer)[0] or 0)) for word in ("maison", "voiture"))
    type_word(page, "word", "maison")
    expect(attributed).to_contain_text(f"“{house}”")
    page.wait_for_url(re.compile(r"[?&#]word=\d+\b"))  # which is written after the picture
    type_word(page, "foil", "voiture")
    expect(contrast).to_have_text(f"Why “{house}” and not “{car}”")
    page.wait_for_url(re.compile(r"[?&#]foil=\d+\b"))
    page.reload()
    expect(contrast).to_have_text(f"Why “{house}” and not “{car}”")
    # A finding leads to its step.
    first = page.locator(".words li:visible button").first
    step = first.get_attribute("data-step")
    first.click()
    expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(step))
    expect(first).to_have_attribute("aria-current", "step")
    expect(page.locator(".words .step")).to_contain_text(f"Step {int(step or 0) + 1}, ")


@pytest.mark.nightly
def test_typed_word_is_kept_while_the_words_of_the_step_arrive(open_page) -> None:
    page, held, is_held = open_page("?step=4"), list[Route](), True
    page.route(re.compile("/word-boxes"), lambda route: held.append(route) if is_held else route.continue_())
    page.reload()
    word_box(page, "word").fill("chaton")
    expect(word_box(page, "foil")).to_have_value("")
    is_held = False
    for route in held:
        route.continue_()
    expect(word_box(page, "foil")).not_to_have_value("")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-contrast h3")).to_contain_text("“chaton”")
