"""Equations with numbers: no line is cut off, at any step or window width."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

SMALL = ("small-additive", "small-dot", "small-fixed")
STEPS = 8

CUT = """
() => [...document.querySelectorAll(".st-key-stages .katex-display")]
  .filter((node) => node.scrollWidth > node.clientWidth)
  .map((node) => `stage ${node.closest("[class*=st-key-stage_]").className.match(/stage_(\\d)/)[1]}: ` +
    `${node.scrollWidth} px in ${node.clientWidth}`)
"""


@pytest.mark.parametrize("width", [1440, 1180, 390])
@pytest.mark.parametrize("model", SMALL)
def test_equations_are_not_cut_off(open_page: Opener, model: str, width: int) -> None:
    page = open_page(f"?model={model}", width=width)
    stages = 3 if model == "small-fixed" else 5
    for step in range(1, STEPS + 1):
        expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", str(step - 1))
        expect(page.locator(".st-key-stages .katex-display")).to_have_count(stages)
        assert page.evaluate(CUT) == [], f"step {step}"
        page.keyboard.press("ArrowRight")
