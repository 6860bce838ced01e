"""The step that is shown as it is computed: its numbers, its still, its scenes, its pauses, and the player."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from attnviz import Trace
from attnviz.analysis.diagram import drawn_units
from attnviz.architectures import narrate
from attnviz.translator import Translator
from attnviz.ui.step.diagram_panel import diagram_payload
from tests.browser.conftest import Opener
from tests.browser.settled import bring_into_sight
from tests.browser.test_diagram import diagram
from tests.browser.test_page import expect_step
from tests.browser.views import EXAMPLE, on_both
from tests.conftest import SHIPPED_MODEL

pytestmark = pytest.mark.browser
STEP = 2
"""The step of most tests, from 0."""
PLAY = 6000
"""Milliseconds of a show at speed 1."""
LEAST = 0.05
"""The opacity below which nobody reads a number."""

MOMENT = """(root, time) => {
  const slider = root.querySelector(".time");
  slider.value = time;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  const readable = (selector) => [...root.querySelectorAll(selector)].map((node) =>
    Number(node.style.opacity || 1) < LEAST ? "" : node.textContent);
  const squares = [...root.querySelectorAll(".computed > .frame.context")].flatMap((frame) =>
    [...frame.parentNode.querySelectorAll("rect[fill]")].map((square) =>
      (square.getAttribute("fill").includes("minus") ? -1 : 1) * Number(square.getAttribute("fill-opacity")) ** 2));
  return {
    energies: readable(".number:not(.weight, .sum, .factor)"),
    row: readable(".number.weight"),
    sum: readable(".sum")[0] ?? "",
    factor: root.querySelector(".moment > .vector")?.style.opacity === "0" ? "" : readable(".factor")[0] ?? "",
    count: root.querySelector(".count").textContent,
    scene: root.querySelector(".scene").textContent,
    squares,
  };
}""".replace("LEAST", str(LEAST))
"""JavaScript that goes to a moment; returns the readable numbers there, and the squares of the context vector."""


@pytest.fixture(scope="module")
def example() -> Trace:
    if not SHIPPED_MODEL.is_dir():
        pytest.skip("models/en-fr is not there")
    return Translator.load(SHIPPED_MODEL, device="cpu").translate(EXAMPLE, beam=5)


def opened_show(page: Page) -> Locator:
    """Open the show of the current step, paused; return the diagram."""
    root = page.locator(".st-key-diagram .diagram")
    diagram(page)
    root.locator(".run").click()
    if root.locator(".run").get_attribute("data-state") == "playing":
        root.locator(".run").click()
    root.locator(".speed button").nth(1).click()
    expect(root.locator(".run")).to_have_attribute("data-state", "paused")
    return root


def still_of(root: Locator) -> str:
    """Return the drawing as it stands, without the marks of a pointer."""
    return re.sub(r" (seen|lit)\b", "", str(root.locator(".drawing").evaluate("(drawing) => drawing.innerHTML")))


def play_twice(root: Locator) -> None:
    """Show the step twice, with a pause; check that the last frame is the still."""
    run = root.locator(".run")
    expect(run).to_have_text("Show this step")
    expect(root.locator(".piece").first).to_be_visible()
    still = ""
    while (now := still_of(root)) != still:  # it may be on its way to another step
        still = now
        root.page.wait_for_timeout(700)
    for words in ("Show this step", "Show again"):
        expect(run).to_have_text(words)
        run.click()
        expect(run).to_have_text("Pause")
        root.locator(".speed button").nth(1).click()
        expect(root.locator(".moment")).to_have_count(1)
        run.click()
        expect(run).to_have_text("Go on")
        run.click()
        expect(run).to_have_text("Show again", timeout=30_000)
        assert still_of(root) == still


def weight_text(weight: float) -> str:
    return "·" if weight < 0.005 else f"{weight:.2f}"


@on_both
def test_every_number_of_a_moment_is_one_of_the_trace(open_page: Opener, example: Trace) -> None:
    page = open_page(f"?step={STEP + 1}&depth=numbers", motion=True)
    expect_step(page, STEP + 1)
    root = opened_show(page)
    energies, weights = (np.asarray(rows[STEP], np.float64) for rows in (example.energies, example.alignment))
    powers = np.exp(energies - energies.max())
    rows = {
        "energies": [f"{energy:.1f}" for energy in energies],
        "powers": [weight_text(power) for power in powers],
        "weights": [weight_text(weight) for weight in weights],
    }
    payload = diagram_payload(example, [STEP], {STEP: narrate(example, STEP)})
    drawn = example.annotations[:, drawn_units(example).annotation].astype(np.float64) / payload["limits"]["annotation"]
    sums = np.vstack([np.zeros(drawn.shape[1]), np.cumsum(weights[:, None] * drawn, axis=0)])
    order, scenes, counts = [], [], set()
    for time in range(0, PLAY, 50):
        moment: dict[str, Any] = root.evaluate(MOMENT, time)
        scenes.append(moment["scene"])
        for j, energy in enumerate(moment["energies"]):
            assert energy in ("", rows["energies"][j])
        if any(moment["row"]):
            (name,) = [name for name, row in rows.items() if row == moment["row"]]
            order.append(name)
            total = {"energies": "", "powers": f"sum {powers.sum():.2f}", "weights": "sum 100\u00a0%"}[name]
            assert moment["sum"] in ("", total)
        if found := re.match(r"(\d+) of (\d+)", moment["count"]):
            k = int(found[1])
            counts.add(k)
            assert int(found[2]) == len(weights)
            ends = np.sort(sums[[k, min(k + 1, len(weights))]], axis=0)
            squares = np.array(moment["squares"])
            assert np.all(squares >= np.clip(ends[0], -1, 1) - 0.01), "the sum of fewer pieces"
            assert np.all(squares <= np.clip(ends[1], -1, 1) + 0.01), "the sum of more pieces"
            if moment["factor"]:
                assert moment["factor"] == f"× {weights[k]:.2f}"
    assert list(dict.fromkeys(order)) == ["energies", "powers", "weights"]
    assert list(dict.fromkeys(scenes)) == ["Query", "Energies", "Exponential", "Weights", "Mixture", "State", "Word"]
    assert int(np.argmax(weights)) in counts
    assert len(counts) > len(weights) / 2


@on_both
def test_a_show_ends_at_the_still_and_a_click_plays_one_scene(open_page: Opener) -> None:
    page = open_page(f"?step={STEP + 1}&depth=idea", motion=True)
    expect_step(page, STEP + 1)
    diagram(page)
    root = page.locator(".st-key-diagram .diagram")
    still = still_of(root)
    play_twice(root)
    for name in ("Weights", "Energies"):
        scene = root.locator(".scenes button", has_text=name)
        scene.click()
        expect(root.locator(".run")).to_have_attribute("data-state", "playing")
        expect(root.locator(".run")).to_have_attribute("data-state", "paused", timeout=30_000)
        expect(scene).to_have_attribute("aria-current", "step")
        expect(root.locator(".scene")).to_have_text(name)
    expect(root.locator(".moment")).to_have_count(1)
    root.locator(".close").click()
    assert still_of(root) == still
    expect(root.locator(".run")).to_be_focused()


def test_at_idea_a_scene_stays_until_its_sentence_is_read(open_page: Opener) -> None:
    page = open_page(f"?step={STEP + 1}&depth=idea", motion=True)
    diagram(page)
    root = page.locator(".st-key-diagram .diagram")
    root.locator(".run").click()
    expect(root.locator(".speed [aria-pressed=true]")).to_have_text("½×")
    page.wait_for_timeout(4000)
    expect(root.locator(".scene")).to_have_text("Query")
    expect(root.locator(".run")).to_have_text("Pause")
    expect(root.locator(".scene")).to_have_text("Energies")


def test_reduced_motion_gets_a_still_of_each_scene(open_page: Opener) -> None:
    page = open_page(f"?step={STEP + 1}&depth=idea", motion=False)
    diagram(page)
    root = page.locator(".st-key-diagram .diagram")
    seen, run, still = [], root.locator(".run"), still_of(root)
    run.click()
    while run.inner_text() == "Next":
        expect(run).to_have_attribute("data-state", "paused")
        seen.append(root.locator(".scene").inner_text())
        run.click()
    assert [*seen, root.locator(".scene").inner_text()] == [
        *("Query", "Energies", "Exponential", "Weights", "Mixture", "State", "Word")
    ]
    expect(run).to_have_text("Show again")
    assert still_of(root) == still


def test_the_player_waits_until_a_step_is_shown(open_page: Opener) -> None:
    page = open_page("?step=1&depth=idea", motion=True)
    root = opened_show(page)
    bring_into_sight(root.locator(".run"))
    page.locator(".player .play").click()
    expect(root.locator(".run")).to_have_attribute("data-state", "playing")
    page.wait_for_timeout(2000)
    expect_step(page, 1)
    expect_step(page, 2)
    expect(root.locator(".run")).to_have_attribute("data-state", "playing")
    page.locator(".player .play").click()
    expect(root.locator(".run")).to_have_attribute("data-state", "paused")
    expect_step(page, 2)
