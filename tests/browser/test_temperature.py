"""Temperature of the attention softmax: for one step and for all steps, up to uniform weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz import Trace
from attnviz.trace.interventions import Temperature
from attnviz.translator import Translator
from tests.browser.conftest import Opener
from tests.browser.settled import bring_into_sight, settled
from tests.browser.test_intervention_controls import (
    AT,
    EUROPEAN,
    STEP,
    expect_outdated,
    expect_translation,
    expect_weight,
    weights,
    what_ifs,
)
from tests.browser.test_page import expect_step
from tests.browser.views import EXAMPLE, NARROW, NARROW_DARK, WIDE, WIDE_DARK, within
from tests.what_if_links import link

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


@within(WIDE_DARK)
def test_temperature_is_previewed_and_applied_on_enter(open_page: Opener, greedy_trace: Trace) -> None:
    page = open_page(AT)
    expect_step(page, STEP)
    settled(page)
    strongest = int(greedy_trace.alignment[STEP - 1].argmax())
    slider = page.locator(".weight_controls .degrees")
    slider.focus()
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    tau = 10**0.8
    energies = greedy_trace.energies[STEP - 1].astype(float) / tau
    softmax = np.exp(energies - energies.max()) / np.exp(energies - energies.max()).sum()
    expect_weight(page, strongest, softmax[strongest] - 2e-3, softmax[strongest] + 2e-3)
    expect_outdated(page, True)
    assert not what_ifs(page)
    page.keyboard.press("Escape")
    expect_weight(page, strongest, 0.9, 1)
    expect_outdated(page, False)
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-changed p").first).not_to_be_empty()
    settled(page)
    np.testing.assert_allclose(weights(page), softmax, atol=2e-3)
    expect(page.locator(".weight_controls .heat output")).to_have_text("τ = 6.31")
    page.get_by_label("all steps", exact=True).check()
    expect(page.locator(".weight_controls .heat output")).to_have_text("τ = 1.00")


def slide(page: Page, to: float) -> None:
    """Drag the thumb of the temperature to a share of the slider's width."""
    slider = page.locator(".weight_controls .degrees")
    bring_into_sight(slider)
    settled(page)  # charts drawn near the window would move the slider under the mouse
    box = slider.bounding_box()
    assert box
    down = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, down)
    page.mouse.down()
    page.mouse.move(box["x"] + to * box["width"], down, steps=5)


def expect_uniform_weights(page: Page, translator: Translator[Trace], text: str) -> None:
    """Wait until every step has uniform weights, and the resulting translation is shown."""
    flat = translator.translate(EXAMPLE, interventions=[Temperature(math.inf)], beam=1)
    expect_translation(page, flat)
    expect(page.locator(".what_ifs .card").last).to_contain_text(text)
    expect_step(page, STEP)
    page.wait_for_function(
        "(share) => document.querySelector('.st-key-softmax .chart')._fullData[1].x.every((x) => Math.abs(x - share)"
        " < 1e-6)",
        arg=1 / len(flat.source_ids),
    )
    badge = page.locator(".verification .badge")
    bring_into_sight(badge)
    expect(badge).to_contain_text("verified")


@within(WIDE, NARROW)
def test_temperature_of_all_steps_by_mouse_reaches_uniform_weights(
    open_page: Opener, translator: Translator[Trace], greedy_trace: Trace
) -> None:
    page = open_page(AT)
    expect_step(page, STEP)
    settled(page)
    page.get_by_label("all steps", exact=True).check()
    slide(page, 1.1)
    expect(page.locator(".weight_controls .heat output")).to_have_text("τ = ∞")
    count = len(greedy_trace.source_ids)
    expect_weight(page, EUROPEAN, 1 / count - 1e-6, 1 / count + 1e-6)
    assert not what_ifs(page)
    page.mouse.up()
    expect_uniform_weights(page, translator, "Every step gets the mean of all annotations")
    assert what_ifs(page) == [link(Temperature(math.inf))]
    page.reload()
    expect_uniform_weights(page, translator, "Every step gets the mean of all annotations")
    page.get_by_label("all steps", exact=True).check()
    expect(page.locator(".weight_controls .heat output")).to_have_text("τ = ∞")
    slide(page, -0.1)
    expect(page.locator(".weight_controls .heat output")).to_have_text("τ = 0.010")
    page.mouse.up()
    hard = translator.translate(EXAMPLE, interventions=[Temperature(0.01)], beam=1)
    expect_translation(page, hard)
    assert len(page.locator(".what_ifs .card").all()) == 2, "a second change of the temperature replaces the what-if"


@within(NARROW_DARK)
def test_temperature_of_all_steps_by_keyboard_reaches_uniform_weights(
    open_page: Opener, translator: Translator[Trace]
) -> None:
    page = open_page(AT)
    expect_step(page, STEP)
    settled(page)
    slider = page.locator(".weight_controls .degrees")
    slider.focus()
    page.keyboard.press("Tab")
    expect(page.get_by_label("all steps", exact=True)).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "τ = ∞")
    page.keyboard.press("Enter")
    expect_uniform_weights(page, translator, "Every step gets the mean of all annotations")
