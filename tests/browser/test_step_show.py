"""Architecture diagram, and the step that it shows as it is computed: numbers, scenes, stills, and the player."""

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from attnviz.analysis.step_equations import equation_templates
from attnviz.architectures import narrate
from tests.browser.settled import bring_into_sight, settled
from tests.browser.test_page import expect_step
from tests.browser.views import SHOWN, on_both
from tests.equation_symbols import symbols_of

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
def test_diagram_draws_the_numbers_of_the_step_and_leads_to_its_stages(open_page, opening) -> None:
    page = open_page("?step=3&depth=numbers")
    settled(page, ".st-key-candidates")
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


SCENES = ("Query", "Energies", "Exponential", "Weights", "Mixture", "State", "Word")
SHOW_TIME = 6000
"""Milliseconds of a show at speed 1."""
MOMENTS = """(root, times) => times.map((time) => {
  const slider = root.querySelector(".time");
  slider.value = time;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  const readable = (selector) => [...root.querySelectorAll(selector)].map((node) =>
    Number(node.style.opacity || 1) < 0.05 ? "" : node.textContent);
  return {
    energies: readable(".number:not(.weight, .sum, .factor)"),
    row: readable(".number.weight"),
    count: root.querySelector(".count").textContent,
    scene: root.querySelector(".scene").textContent,
  };
})"""
"""JavaScript that goes to moments; returns the numbers that can be read at each."""


def still_of(root: Locator) -> str:
    """Return the drawing as it stands, without the marks of a pointer."""
    return re.sub(r" (seen|lit)\b", "", str(root.locator(".drawing").evaluate("(drawing) => drawing.innerHTML")))


BEGIN_AND_PAUSE = """async (run) => {
  run.click();
  while (run.dataset.state !== "playing") await new Promise(requestAnimationFrame);
  run.click();
}"""
"""JavaScript that pauses a show at once: from Python, it may end before it is paused."""


def play(root: Locator) -> None:
    """Show the step, with a pause; check that the last frame is the still."""
    run = root.locator(".run")
    expect(run).to_have_text("Show this step")
    expect(root.locator(".piece").first).to_be_visible()
    still = ""
    while (now := still_of(root)) != still:  # it may be on its way to another step
        still = now
        root.page.wait_for_timeout(700)
    run.evaluate(BEGIN_AND_PAUSE)
    expect(root.locator(".moment")).to_have_count(1)
    expect(run).to_have_text("Go on")
    root.locator(".speed button").last.click()
    run.click()
    expect(run).to_have_text("Show again")
    assert still_of(root) == still


@on_both
def test_numbers_of_a_show_are_those_of_the_trace_and_its_end_is_the_still(open_page, opening) -> None:
    page = open_page("?step=3&depth=numbers")
    expect_step(page, 3)
    diagram(page)
    page.emulate_media(reduced_motion="no-preference")  # from here on: waiting charts shimmer with it
    root = page.locator(".st-key-diagram .diagram")
    run = root.locator(".run")
    play(root)
    root.locator(".scenes button", has_text="Weights").click()
    expect(run).to_have_attribute("data-state", "paused")
    expect(root.locator(".scene")).to_have_text("Weights")

    energies, weights = (np.asarray(rows[2], np.float64) for rows in (opening.energies, opening.alignment))
    powers = np.exp(energies - energies.max())
    rows = {name: ["·" if w < 0.005 else f"{w:.2f}" for w in row] for name, row in (("exp", powers), ("α", weights))}
    rows |= {"e": [f"{energy:.1f}" for energy in energies]}
    order, scenes = [], []
    for moment in root.evaluate(MOMENTS, [*range(0, SHOW_TIME, 100)]):
        scenes.append(moment["scene"])
        assert all(energy in ("", rows["e"][j]) for j, energy in enumerate(moment["energies"]))
        if any(moment["row"]):
            order += [name for name, row in rows.items() if row == moment["row"]][:1] or [str(moment["row"])]
        if found := re.match(r"(\d+) of (\d+)", moment["count"]):
            assert int(found[1]) <= int(found[2]) == len(weights)
    assert list(dict.fromkeys(order)) == ["e", "exp", "α"]
    assert tuple(dict.fromkeys(scenes)) == SCENES

    # The player waits until each step is shown, while the diagram is in sight.
    player = page.locator(".player .play")
    root.evaluate(MOMENTS, [SHOW_TIME - 300])  # in the last scene: each before it stays until its sentence is read
    root.locator(".speed button").first.click()
    player.dispatch_event("click")
    expect(run).to_have_attribute("data-state", "playing")
    expect_step(page, 4)
    player.dispatch_event("click")
    expect(run).to_have_attribute("data-state", "paused")
    root.locator(".close").click()
    expect(run).to_be_focused()


@pytest.mark.nightly
def test_reduced_motion_gets_a_still_of_each_scene(open_page) -> None:
    page = open_page("?step=3&depth=idea", motion=False)
    diagram(page)
    root = page.locator(".st-key-diagram .diagram")
    seen, run, still = [], root.locator(".run"), still_of(root)
    run.click()
    while run.inner_text() == "Next":
        expect(run).to_have_attribute("data-state", "paused")
        seen.append(root.locator(".scene").inner_text())
        run.click()
    assert (*seen, root.locator(".scene").inner_text()) == SCENES
    expect(run).to_have_text("Show again")
    assert still_of(root) == still
