"""Numbers in the browser (energy decomposition, logit attribution, verification) equal those of Python."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from attnviz import Trace, Translator
from attnviz.text import Tokenizer, piece_name
from attnviz.ui.step.logit_attribution_panel import parse_piece
from tests.browser.conftest import Opener
from tests.browser.settled import bring_into_sight, settled
from tests.browser.views import EXAMPLE, SHOWN, on_both
from tests.conftest import SHIPPED_MODEL

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def trace() -> Trace:
    if not SHIPPED_MODEL.is_dir():
        pytest.skip("models/en-fr is not there")
    return Translator.load(SHIPPED_MODEL, "cpu").translate(EXAMPLE, beam=5)


def chart(page: Page, key: str):
    found = page.locator(f".st-key-{key} .js-plotly-plot")
    expect(found.locator(".ytick").first).to_be_attached()
    bring_into_sight(found)
    return found


def bars(page: Page, key: str, name: str) -> list[float]:
    """Return the lengths of the bars that the chart in `key` draws under this name."""
    return chart(page, key).evaluate(
        "(chart, name) => Array.from(chart.data.find((trace) => trace.name === name).x)", name
    )


@pytest.mark.nightly
@on_both
def test_energy_decomposition_follows_the_selected_cell(open_page: Opener, trace: Trace) -> None:
    page = open_page("?step=3")
    heading = page.locator(".st-key-energy-decomposition h3")

    def expect_cell(step: int, source: int) -> None:
        name = piece_name(trace.source_pieces[source])
        expect(heading).to_have_text(f"Energy decomposition: step {step} at “{name}”")
        energy = float(trace.energies[step - 1, source])
        assert bars(page, "energy-decomposition", "sum")[-1] == pytest.approx(energy, abs=1e-5)

    expect_cell(3, int(trace.alignment[2].argmax()))
    heading.click()  # away from any widget that keeps the arrows
    page.keyboard.press("ArrowRight")
    strongest = int(trace.alignment[3].argmax())
    expect_cell(4, strongest)
    page.keyboard.press("ArrowDown")
    moved = page.evaluate(f"() => {SHOWN}.source")
    assert moved != strongest
    expect_cell(4, moved)
    traces = chart(page, "energy-decomposition").evaluate("(chart) => chart.data.length")
    assert traces == (10 if page.viewport_size["width"] > 700 else 5)


@on_both
def test_logit_attribution_sums_to_the_logit_and_contrast_to_the_log_odds(open_page: Opener, trace: Trace) -> None:
    page = open_page("?step=4")
    settled(page)  # charts below the window are drawn later
    own = piece_name(trace.target_pieces[3])
    expect(page.locator(".st-key-logit-attribution h3")).to_contain_text(f"“{own}”")
    *entries, logit = bars(page, "logit-attribution", "sum")
    assert sum(entries) == pytest.approx(logit, abs=1e-6)
    *_, difference = bars(page, "contrast", "sum")
    other = next(k for k, index in enumerate(trace.top_ids[3]) if index != trace.target_ids[3])
    odds = np.log(trace.probabilities[3] / trace.top_probabilities[3][other])
    assert difference == pytest.approx(float(odds), abs=1e-4)
    expect(page.locator(".st-key-contrast h3")).to_contain_text(f"and not “{piece_name(trace.top_pieces[3][other])}”")
    check_typed_words(page)


def test_typed_word_is_kept_while_the_words_of_the_step_arrive(open_page: Opener) -> None:
    page, held, is_held = open_page("?step=4"), list[Route](), True
    page.route(re.compile("/word-boxes"), lambda route: held.append(route) if is_held else route.continue_())
    page.reload()
    word, foil = (page.locator(f".word-choice [data-what={what}]") for what in ("word", "foil"))
    word.fill("chaton")
    expect(foil).to_have_value("")
    is_held = False
    for route in held:
        route.continue_()
    expect(foil).not_to_have_value("")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-contrast h3")).to_contain_text("“chaton”")


def type_word(page: Page, what: str, text: str) -> None:
    box = page.locator(f".word-choice [data-what={what}]")
    box.click()
    box.fill(text)
    page.keyboard.press("Enter")


def check_typed_words(page: Page) -> None:
    """Type words in both boxes of the logit attribution, the last in pieces and one that the model has never seen."""
    tokenizer = Tokenizer.load(SHIPPED_MODEL / "tokenizer.model")
    house, car = (piece_name(tokenizer.piece(parse_piece(word, tokenizer)[0] or 0)) for word in ("maison", "voiture"))
    type_word(page, "word", "maison")
    expect(page.locator(".st-key-logit-attribution h3")).to_contain_text(f"“{house}”")
    page.wait_for_url(re.compile(r"[?&#]word=\d+\b"))  # which is written after the picture
    type_word(page, "foil", "voiture")
    expect(page.locator(".st-key-contrast h3")).to_have_text(f"Why “{house}” and not “{car}”")
    page.wait_for_url(re.compile(r"[?&#]foil=\d+\b"))
    page.reload()
    expect(page.locator(".st-key-contrast h3")).to_have_text(f"Why “{house}” and not “{car}”")
    type_word(page, "word", "chaton")
    heading = page.locator(".st-key-contrast h3")
    expect(heading).to_contain_text("“chaton”")
    expect(heading).to_contain_text(f"“{car}”")
    expect(page.locator(".word-choice [data-what=word]")).to_have_value("chaton")
    type_word(page, "word", "北京")
    expect(page.locator(".st-key-inside_word")).to_contain_text("“北京”")


@on_both
def test_every_step_is_verified_and_a_finding_selects_its_step(open_page: Opener) -> None:
    page = open_page("?step=2")
    badge = page.locator(".st-key-verification button").first
    expect(badge).to_contain_text(re.compile(r"\bstep 2\b.* \d·10"))
    page.keyboard.press("ArrowRight")
    expect(badge).to_contain_text(re.compile(r"\bstep 3\b.* \d·10"))
    badge.click()
    expect(page.locator(".receipt")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".receipt")).to_be_hidden()
    check_click_on_finding(page)


def check_click_on_finding(page: Page) -> None:
    """Click the first finding, and wait until its step is shown."""
    expect(page.locator(".words .summary")).not_to_be_empty()
    first = page.locator(".words li:visible button").first
    step = first.get_attribute("data-step")
    first.click()
    expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(step))
    expect(first).to_have_attribute("aria-current", "step")
    expect(page.locator(".words .step")).to_contain_text(f"Step {int(step or 0) + 1}, ")
