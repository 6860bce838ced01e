"""Architecture diagram: ribbon thickness, symbols, links to the stages, layout and animation."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from attnviz import Trace
from attnviz.analysis.diagram import mixture
from attnviz.analysis.step_equations import equation_templates
from attnviz.architectures import narrate
from attnviz.translator import Translator
from tests.browser.settled import bring_into_sight, settled
from tests.browser.test_page import expect_step
from tests.browser.views import EXAMPLE, SHOWN, on_both
from tests.conftest import SHIPPED_MODEL
from tests.equation_symbols import symbols_of

pytestmark = pytest.mark.browser
Opener = Callable[..., Page]

LONG = "Two men in blue shirts are playing guitar on a busy street " * 5
WRITTEN = """(drawing) => [...drawing.querySelectorAll(".symbol:not(.formula), .sign")].map((one) => one.textContent)"""
"""JavaScript for the symbols in the diagram, with repetitions."""


@pytest.fixture(scope="module")
def opening() -> Trace:
    """Return the trace of the sentence the page opens with here."""
    if not SHIPPED_MODEL.is_dir():
        pytest.skip("models/en-fr is not there")
    return Translator.load(SHIPPED_MODEL, device="cpu").translate(EXAMPLE, beam=5)


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


@pytest.mark.nightly
@on_both
def test_ribbon_thickness_equals_the_attention_weight(open_page: Opener, opening: Trace) -> None:
    page = open_page("?step=3")
    expect_step(page, 3)
    np.testing.assert_allclose(diagram(page).evaluate(THICKNESS), opening.alignment[2], atol=0.004)
    page.keyboard.press("ArrowRight")
    expect_step(page, 4)
    np.testing.assert_allclose(diagram(page).evaluate(THICKNESS), opening.alignment[3], atol=0.004)


@pytest.mark.nightly
@on_both
def test_diagram_shows_every_equation_symbol_and_describes_the_step(open_page: Opener, opening: Trace) -> None:
    page = open_page("?step=3&depth=numbers")
    drawing = diagram(page)
    symbols = drawing.evaluate(WRITTEN)
    assert symbols_of(equation_templates(opening), 2) - {"hj"} <= set(symbols)
    assert symbols.count("hj") >= 3, "forward, backward and concatenated states"
    alt = drawing.get_attribute("aria-label")
    for stage in narrate(opening, 2):
        assert stage.outcome.replace("\u00a0", " ") in alt.replace("\u00a0", " ")
    if page.viewport_size["width"] > 700:
        expect(drawing.locator(".mix")).to_have_text(mixture(opening, 2).replace("\u00a0", " "))
    page.keyboard.press("ArrowRight")
    expect_step(page, 4)
    assert {"s4", "s3", "z4", "s\u03034"} <= set(diagram(page).evaluate(WRITTEN))


@pytest.mark.nightly
@pytest.mark.parametrize("model", ["small-dot", "small-fixed"])
def test_diagram_symbols_match_the_model(open_page: Opener, model: str) -> None:
    trace = Translator.load(SHIPPED_MODEL.with_name(model), device="cpu").translate(EXAMPLE, beam=5)
    page = open_page(f"?step=3&depth=numbers&model={model}")
    symbols = set(diagram(page).evaluate(WRITTEN))
    assert symbols_of(equation_templates(trace), 2) <= symbols
    assert not {"Wa", "Ua", "va"} & symbols


@pytest.mark.nightly
def test_diagram_hides_parameter_terms_at_idea_level(open_page: Opener) -> None:
    page = open_page("?step=3&depth=idea")
    drawing = diagram(page)
    expect(drawing.locator(".formula")).to_have_count(0)
    page.locator(".st-key-depth").get_by_role("radio", name="Numbers").click()
    expect(page.locator(".st-key-diagram .formula")).not_to_have_count(0)


@pytest.mark.nightly
@on_both
def test_diagram_labels_do_not_overlap_or_overflow(open_page: Opener) -> None:
    for query in ("?step=3", f"?step=5&sentence={LONG.replace(' ', '+')}", "?step=1&sentence=No.&lang=fr"):
        page = open_page(query)
        found = diagram(page).evaluate(
            """(drawing) => {
              const whole = drawing.getBoundingClientRect();
              const names = [...drawing.querySelectorAll(".name, .title, .mix, .foils, .likely, .symbol, .spelled")];
              const boxes = names.filter((node) => node.textContent).map((node) => ({
                text: node.textContent, box: node.getBoundingClientRect() }));
              const outside = boxes.filter(({ box }) => box.left < whole.left - 1 || box.right > whole.right + 1);
              const over = boxes.flatMap((one, k) => boxes.slice(k + 1).filter(({ box }) =>
                Math.min(box.right, one.box.right) - Math.max(box.left, one.box.left) > 3 &&
                Math.min(box.bottom, one.box.bottom) - Math.max(box.top, one.box.top) > 6)
                .map((other) => `${one.text} | ${other.text}`));
              return [outside.map(({ text }) => text), over];
            }"""
        )
        assert found == [[], []]
        page.close()


@on_both
def test_diagram_parts_link_to_stages_and_hover_lights_ribbons(open_page: Opener) -> None:
    page = open_page("?step=3")
    settled(page)
    drawing = diagram(page)
    ways = drawing.locator(".way")
    expect(ways).to_have_count(5)
    expect(drawing.locator("[tabindex]")).to_have_count(0)  # the keyboard has the cards above
    ways.nth(3).locator(".hit-area").click(force=True)
    expect(page.locator(".st-key-stage_4 h3").first).to_be_in_viewport()
    expect(page.locator("[data-stage='4'] .st-key-stage_4")).to_have_count(1)
    page.mouse.wheel(0, -100)  # otherwise the growing page would scroll to the stage again
    diagram(page).locator("[data-stage='3'] .frame.context").click(force=True)
    expect(page.locator(".st-key-stage_3 h3").first).to_be_in_viewport()
    page.mouse.wheel(0, -100)
    drawing = diagram(page)
    drawing.locator(".column").nth(1).click(position={"x": 10, "y": 10})
    page.wait_for_function(f"() => {SHOWN}.source === 1")
    expect(drawing.locator(".piece").nth(1)).to_have_class("piece seen lit")
    drawing.locator(".column").nth(4).hover()
    expect(drawing.locator(".ribbon").nth(4)).to_have_class("ribbon seen")
    expect(drawing.locator(".ribbon").nth(1)).to_have_class("ribbon")


@pytest.mark.nightly
def test_diagram_animates_steps_unless_motion_is_reduced(open_page: Opener) -> None:
    page = open_page("?step=3")
    diagram(page)
    seen = """() => new Promise((resolve) => {
      const found = new Set(), context = document.querySelector(".st-key-diagram .part .vector");
      const watch = new MutationObserver(() => found.add(context.getAttribute("transform")));
      watch.observe(context, { attributes: true });
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
      setTimeout(() => resolve(found.size), 1500);
    })"""
    assert page.evaluate(seen) > 1, "the diagram is drawn at intermediate positions"
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(seen) == 1


def _current(route: Route) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, body=json.dumps(cast("dict[str, Any]", answer.json()) | {"readout": "current"}))


DOTS = "(drawing) => drawing.querySelectorAll('.dot.state').length"


@pytest.mark.nightly
def test_readout_is_connected_to_the_state_the_model_uses(open_page: Opener, profile: Any) -> None:
    page = open_page("?step=3")
    assert diagram(page).evaluate(DOTS) == 2  # the state before goes into both boxes
    page.close()
    profile.route("**/diagram?**", _current)
    try:
        page = open_page("?step=3")
        assert diagram(page).evaluate(DOTS) == 1  # the readout has the new one
    finally:
        profile.unroute("**/diagram?**")


@pytest.mark.nightly
@on_both
def test_diagram_without_attention_has_a_single_ribbon(open_page: Opener) -> None:
    page = open_page("?step=2&model=small-fixed", ready=".st-key-diagram .drawing .ribbon")
    drawing = diagram(page)
    expect(drawing.locator(".ribbon")).to_have_count(1)
    expect(drawing.locator(".energy, .query, .weight")).to_have_count(0)
    expect(drawing.locator(".way")).to_have_count(3)


@pytest.mark.nightly
def test_origin_of_the_initial_state_is_shown_at_step_one(open_page: Opener) -> None:
    page = open_page("?step=1")
    origin = diagram(page).locator(".origin")
    expect(origin).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(origin).to_be_hidden()
