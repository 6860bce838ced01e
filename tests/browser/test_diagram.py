"""Architecture diagram: ribbon thickness, symbols, links to the stages, layout and animation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz import Trace
from attnviz.analysis.step_equations import equation_templates
from attnviz.architectures import narrate
from tests.browser.conftest import Opener
from tests.browser.settled import bring_into_sight, settled
from tests.browser.test_page import expect_step
from tests.browser.views import SHOWN, on_both
from tests.equation_symbols import symbols_of

pytestmark = pytest.mark.browser
WRITTEN = """(drawing) => [...drawing.querySelectorAll(".symbol:not(.formula), .sign")].map((one) => one.textContent)"""
"""JavaScript for the symbols in the diagram, with repetitions."""


def diagram(page: Page) -> Any:
    """Return the drawing, once it is in the window and stands still."""
    page.wait_for_selector(".st-key-diagram .drawing")
    drawing = page.locator(".st-key-diagram .drawing")
    bring_into_sight(drawing)
    page.wait_for_selector(".st-key-diagram .diagram:not([data-waiting]) .ribbon[d]", state="attached")
    page.wait_for_function(
        """() => {
          const now = document.querySelector(".st-key-diagram .drawing").innerHTML, before = window.diagramBefore;
          window.diagramBefore = now;
          return now === before;
        }""",
        polling=150,
    )
    return drawing


THICKNESS = """(drawing) => {
  const flow = drawing.querySelector(".frame.context");
  const whole = Math.max(flow.width.baseVal.value, flow.height.baseVal.value) - 3;
  return [...drawing.querySelectorAll(".ribbon")].map((ribbon) => {
    const spots = (ribbon.getAttribute("d") ?? "").match(/-?[\\d.]+/g)?.map(Number) ?? [];
    if (!spots.length) return 0;
    const middle = spots.length / 2; // the last of one edge, and the first of the other
    const [x0, y0, x1, y1] = spots.slice(middle - 2, middle + 2);
    return Math.hypot(x1 - x0, y1 - y0) / whole;
  });
}"""


@on_both
def test_diagram_draws_the_numbers_of_the_step_and_leads_to_its_stages(open_page: Opener, opening: Trace) -> None:
    page = open_page("?step=3")
    settled(page)
    drawing = diagram(page)
    symbols = drawing.evaluate(WRITTEN)
    assert symbols_of(equation_templates(opening), 2) - {"hj"} <= set(symbols)
    assert symbols.count("hj") >= 3, "forward, backward and concatenated states"
    alt = drawing.get_attribute("aria-label")
    for stage in narrate(opening, 2):
        assert stage.outcome.replace("\u00a0", " ") in alt.replace("\u00a0", " ")
    np.testing.assert_allclose(drawing.evaluate(THICKNESS), opening.alignment[2], atol=0.004)
    page.keyboard.press("ArrowRight")
    expect_step(page, 4)
    np.testing.assert_allclose(diagram(page).evaluate(THICKNESS), opening.alignment[3], atol=0.004)
    assert {"s4", "s3", "z4", "s\u03034"} <= set(diagram(page).evaluate(WRITTEN))

    expect(drawing.locator(".way")).to_have_count(5)
    expect(drawing.locator("[tabindex]")).to_have_count(0)  # the keyboard has the cards above
    for stage, part in ((4, ".way >> nth=3 >> .hit-area"), (3, "[data-stage='3'] .frame.context")):
        diagram(page).locator(part).click(force=True)
        expect(page.locator(f".st-key-stage_{stage} h3").first).to_be_in_viewport()
        page.mouse.wheel(0, -100)  # otherwise the growing page would scroll to the stage again
    drawing = diagram(page)
    drawing.locator(".column").nth(1).click(position={"x": 10, "y": 10})
    page.wait_for_function(f"() => {SHOWN}.source === 1")
    expect(drawing.locator(".piece.seen.lit").nth(0)).to_be_attached()
    drawing.locator(".column").nth(4).hover()
    expect(drawing.locator(".ribbon").nth(4)).to_have_class("ribbon seen")
    expect(drawing.locator(".ribbon").nth(1)).to_have_class("ribbon")
