"""Replace the attention weights of a step by those of another step, the posterior, links or another model.

The tests use the mouse and the keyboard.
"""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace
from attnviz.analysis import load_weights, posterior
from attnviz.analysis.what_if_effects import weights_from_trace
from attnviz.translator import Translator
from tests.browser.conftest import Opener
from tests.browser.settled import settled
from tests.browser.test_intervention_controls import AT, EUROPEAN, STEP, expect_translation, expect_weight, weights
from tests.browser.test_page import expect_step
from tests.browser.texts import text_of
from tests.browser.views import EXAMPLE, NARROW, NARROW_DARK, SHOWN, WIDE_DARK, on_both, within
from tests.conftest import SHIPPED_MODEL

pytestmark = pytest.mark.browser

CARD_TEXTS = {
    "posterior": "uses its posterior attention",
    "model small-additive": "looks where small-additive looks",
}
"""Texts on the what-if card, by the source of the borrowed weights."""


@pytest.mark.nightly
@within(NARROW_DARK)
def test_weights_come_from_a_step_or_links_and_bad_links_show_an_error(open_page: Opener, greedy_trace: Trace) -> None:
    page = open_page(AT)
    expect_step(page, STEP)
    settled(page)
    page.locator(".weight_controls summary").click()
    page.locator(".weight_controls .of").select_option("5")
    page.locator(".weight_controls .take").click()
    expect(page.locator(".st-key-changed p").first).not_to_be_empty()
    settled(page)
    np.testing.assert_allclose(weights(page), greedy_trace.alignment[5], atol=2e-3)
    page.locator(".weight_controls .lender").select_option("links")
    page.locator(".weight_controls .links").fill("gold")
    page.locator(".weight_controls .take").click()
    expect(page.locator(".weight_controls .problem")).to_contain_text("“gold” is not a link")
    page.locator(".weight_controls .links").fill("4-1")
    page.locator(".weight_controls .links").press("Enter")
    expect_weight(page, EUROPEAN, 0.999, 1)
    expect(page.locator(".weight_controls .problem")).to_be_hidden()


@pytest.fixture(scope="module")
def lender_weights(greedy_trace: Trace) -> dict[str, np.ndarray]:
    """Return weights for STEP of the posterior, and of another model forced to the same translation."""
    other = Translator.load(SHIPPED_MODEL.parent / "small-additive", device="cpu")
    forced = other.translate(EXAMPLE, target=greedy_trace.translation)
    return {
        "posterior": posterior(greedy_trace, load_weights(SHIPPED_MODEL))[STEP - 1],
        "model small-additive": weights_from_trace(greedy_trace, STEP - 1, forced),
    }


def expect_row(page: Page, row: np.ndarray) -> None:
    """Wait until the bars show these weights."""
    page.wait_for_function(
        "(row) => document.querySelector('.st-key-softmax .chart')?._fullData?.[1].x"
        ".every((x, j) => Math.abs(x - row[j]) < 2e-3)",
        arg=row.tolist(),
    )


@pytest.mark.nightly
@within(WIDE_DARK, NARROW)
def test_weights_come_from_the_posterior_or_another_model(
    open_page: Opener, greedy_trace: Trace, lender_weights: dict[str, np.ndarray], snapshot: SnapshotAssertion
) -> None:
    page = open_page(AT)
    expect_step(page, STEP)
    settled(page)
    page.locator(".weight_controls summary").click()
    assert text_of(page.locator(".weight_controls .note")) == snapshot
    for lender, row in lender_weights.items():
        page.locator(".weight_controls .lender").select_option(lender)
        expect(page.locator(".weight_controls .of")).to_be_hidden()
        page.locator(".weight_controls .take").click()
        expect(page.locator(".what_ifs .card").last).to_contain_text(CARD_TEXTS[lender])
        expect_row(page, row)
        settled(page)
        page.locator(".weight_controls .undo").click()
        expect_translation(page, greedy_trace)


@pytest.mark.nightly
@on_both
def test_weights_can_be_borrowed_by_keyboard(
    open_page: Opener, greedy_trace: Trace, lender_weights: dict[str, np.ndarray]
) -> None:
    page = open_page(AT)
    expect_step(page, STEP)
    settled(page)
    page.locator(".weight_controls summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator(".weight_controls .lender")).to_be_focused()
    for lender, row in lender_weights.items():
        options = page.locator(".weight_controls .lender option").evaluate_all("(all) => all.map(({ value }) => value)")
        chosen = page.locator(".weight_controls .lender").input_value()
        for _ in range(options.index(lender) - options.index(chosen)):
            page.keyboard.press("ArrowDown")
        expect(page.locator(".weight_controls .lender")).to_have_value(lender)
        assert page.evaluate(f"() => {SHOWN}.step") == STEP - 1  # the arrows were the box's
        page.keyboard.press("Tab")
        expect(page.locator(".weight_controls .take")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".what_ifs .card").last).to_contain_text(CARD_TEXTS[lender])
        expect_row(page, row)
        settled(page)
        page.locator(".weight_controls .undo").focus()
        page.keyboard.press("Enter")
        expect_translation(page, greedy_trace)
        page.locator(".weight_controls .lender").focus()
