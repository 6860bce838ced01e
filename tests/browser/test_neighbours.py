"""Nearest neighbours of a step: they follow the step and the choices, and a click opens their sentence."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.settled import settled

pytestmark = pytest.mark.browser

LIST, MAP = ".st-key-neighbours", ".st-key-vector_map .chart"
QUERY = "?section=neighbours&step=1&sentence=The+black+dog+sleeps."


@pytest.mark.nightly
def test_neighbours_follow_the_step_and_open_their_sentence(open_page: Opener) -> None:
    page = open_page(QUERY, path="lab", ready=f"{LIST} a")
    settled(page, ".st-key-vector_map")
    heading, links = page.locator(f"{LIST} .heading"), page.locator(f"{LIST} a")
    expect(heading).to_contain_text("The state of step 1")
    expect(links).to_have_count(12)
    star = "(chart) => chart._fullData.find(({ name }) => name === 'this step').x[0]"
    before = page.locator(MAP).evaluate(star)
    page.keyboard.press("ArrowRight")
    expect(heading).to_contain_text("The state of step 2")
    settled(page, ".st-key-vector_map")
    assert page.locator(MAP).evaluate(star) != before

    page.get_by_role("radio", name="Annotation h").click()
    expect(heading).to_contain_text("The annotation of")
    expect(page).to_have_url(re.compile("vectors=annotation"))
    settled(page, ".st-key-vector_map")
    marked = links.first.locator("mark").text_content()
    there = links.first.get_attribute("href")
    links.first.click()
    page.wait_for_selector(".st-key-alignment", timeout=60_000)
    assert there is not None
    assert "source=" in there
    settled(page, ".st-key-heatmap")
    expect(page.locator(".st-key-player")).to_contain_text((marked or "").strip())

    page.go_back()
    page.wait_for_selector(f"{LIST} a", timeout=60_000)
    settled(page, ".st-key-vector_map")
    place = page.locator(MAP).evaluate(
        """(chart) => {
          chart.scrollIntoView({ block: "center" });
          const { x, y } = chart._fullData[0], { xaxis, yaxis } = chart._fullLayout;
          const k = Array.from(x).findIndex((value) => value === Math.max(...x)), box = chart.getBoundingClientRect();
          return { x: box.x + xaxis._offset + xaxis.c2p(x[k]), y: box.y + yaxis._offset + yaxis.c2p(y[k]) };
        }"""
    )
    page.mouse.click(place["x"], place["y"])
    page.wait_for_url(re.compile("sentence=.*target="), timeout=60_000)
    page.wait_for_selector(".st-key-alignment", timeout=60_000)

    page = open_page(f"{QUERY}&lang=fr", path="lab", ready=f"{LIST} a")
    expect(page.locator(f"{LIST} .heading")).to_contain_text("L’état de l’étape 1 (celle")
