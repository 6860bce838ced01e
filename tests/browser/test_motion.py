"""Reduced motion: the same steps are shown without animation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.settled import settled
from tests.browser.test_tour import wait_for_stop

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

WATCH = """() => {
  const scroller = document.querySelector("[data-testid=stMain]");
  const part = document.querySelector(".st-key-diagram_box .part .vector");
  const seen = window.moved = { styles: [], places: new Set(), scrolls: 0 };
  new MutationObserver(() => seen.places.add(part.getAttribute("transform"))).observe(part, { attributes: true });
  let last = scroller.scrollTop;
  const look = () => {
    for (const { effect, transitionProperty } of document.getAnimations()) {
      const place = effect?.target?.closest?.(".diagram, .growth, [data-waiting]");
      if (place && transitionProperty) seen.styles.push(transitionProperty);
    }
    if (scroller.scrollTop !== last) seen.scrolls += 1;
    last = scroller.scrollTop;
    requestAnimationFrame(look);
  };
  look();
}"""
MOVED = "() => ({ styles: moved.styles.length, places: moved.places.size, scrolls: moved.scrolls })"


def count_animated_frames(page: Page) -> dict[str, int]:
    """Play two steps and move two tour stops; return how many frames showed an intermediate position."""
    page.evaluate(WATCH)
    step = page.locator(".player .target [aria-current]").first
    for verb in ("Play", "Pause"):
        before = step.get_attribute("aria-label") or step.inner_text()
        page.locator(".player .play").click()
        if verb == "Play":
            page.wait_for_function("(before) => moved.places.size > 0", arg=before)
    page.locator(".st-key-tour_button button").click()
    card = wait_for_stop(page, 1)
    for number in (2, 3):
        card.locator(".next").click()
        card = wait_for_stop(page, number)
    settled(page, ".st-key-heatmap")
    expect(card).to_be_visible()
    found: dict[str, int] = page.evaluate(MOVED)
    card.locator(".close").click()
    expect(card).to_be_hidden()
    return found


@pytest.mark.parametrize("calm", [False, True])
def test_reduced_motion_disables_animations(open_page: Callable[..., Any], calm: bool) -> None:
    page = open_page("?sentence=He+is+an+honest+man.&depth=idea&step=1")
    settled(page, ".st-key-heatmap")
    page.emulate_media(reduced_motion="reduce" if calm else "no-preference")
    found = count_animated_frames(page)
    if calm:
        assert found["styles"] == 0
        assert found["places"] <= 3, "one position per step"
        assert found["scrolls"] <= 6, "one jump per stop, and per part of the page that grows"
    else:
        assert found["places"] + found["scrolls"] > 8, "animated; the number of frames depends on the machine"
