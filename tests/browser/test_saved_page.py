"""A saved page, opened from disk without a network: the step view with its steps, faces, languages and what-ifs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from attnviz import ExcludePosition, Temperature, Trace, Translator, export
from attnviz.analysis import posterior_attention
from attnviz.model_folder import read_weights
from attnviz.trace import WhatIf, WhatIfs
from attnviz.trace.drawing import DetailLevel
from tests.browser.conftest import Opener
from tests.browser.test_axe import AXE, VIOLATIONS
from tests.browser.test_page import framed_row
from tests.browser.test_step_show import play
from tests.browser.views import BAR_LENGTHS, EXAMPLE, at_night, on_screen
from tests.figures import synthetic

pytestmark = pytest.mark.browser

STEP = ".st-key-facts h2"


@pytest.fixture
def open_saved(chromium: Browser, tmp_path: Path) -> Iterator[Opener]:
    """Return a function that opens a page from disk, offline; assert that it needs nothing else and no script fails."""
    faults: list[str] = []
    contexts = []

    def open_page(
        text: str, fragment: str = "", *, width: int = 1440, height: int = 900, dark: bool = False, **options: Any
    ) -> Page:
        (path := tmp_path / "page.html").write_text(text, encoding="utf-8")
        theme = "dark" if dark else "light"
        size = {"width": width, "height": height}
        context = chromium.new_context(viewport=size, color_scheme=theme, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: faults.append(request.url) if is_foreign(request.url) else None)
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(path.as_uri() + fragment)
        expect(page.locator(".st-key-heatmap .ytick").first).to_be_visible()
        return page

    def is_foreign(url: str) -> bool:
        return not url.startswith(("data:", "blob:", (tmp_path / "page.html").as_uri()))

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


def choose_language(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.get_by_role("button", name=name, exact=True)).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize(("width", "height", "dark"), [(1440, 900, False), at_night(390, 844, True)])
def test_saved_page_opens_at_its_link_steps_and_switches_face_language_and_theme(
    open_saved: Opener, opening: Trace, shipped_model: Path, width: int, height: int, dark: bool
) -> None:
    weights = read_weights(shipped_model)
    text = export.page_html(opening, weights=weights, end=True, step=1, face="after", level="everything")
    page = open_saved(text, "#step=3", width=width, height=height, dark=dark)
    found = posterior_attention(opening, weights)
    steps, heatmap = len(opening.target_pieces), page.locator(".st-key-heatmap .js-plotly-plot")
    control = page.locator(".st-key-face [aria-checked=true]")
    expect(page.locator(STEP)).to_have_text(f"Step 3 of {steps}")
    expect(control).to_have_text("After the word")
    page.keyboard.press("b")
    page.keyboard.press("b")
    page.wait_for_function('() => document.querySelector(".st-key-room").dataset.face === "before"')
    page.wait_for_selector(".st-key-heatmap [data-waiting]", state="detached")
    cells = heatmap.evaluate("(chart) => Array.from(chart.calcdata[0][0].z, (row) => [...row])")
    np.testing.assert_allclose(cells, opening.alignment, atol=2e-5)
    assert framed_row(page) == 2
    page.locator(".st-key-after_word [aria-expanded]").click()
    bars = page.locator(".st-key-posterior .js-plotly-plot")
    bars.wait_for()
    expected = [found.prior[2], found.likelihood[2], found.posterior[2]]
    np.testing.assert_allclose(bars.evaluate(BAR_LENGTHS), expected, atol=1e-6)
    page.emulate_media(reduced_motion="no-preference")
    play(page.locator(".diagram"))
    page.locator(".diagram .close").click()

    # By keys, the slider, a word, a cell and the address.
    page.keyboard.press("End")
    expect(page.locator(STEP)).to_have_text(f"Step {steps} of {steps}")
    page.locator(".player input[type=range]").fill("4")
    expect(page.locator(STEP)).to_have_text(f"Step 4 of {steps}")
    page.locator(".player .target button, .player .target [role=button]").first.click()
    expect(page.locator(STEP)).to_have_text(f"Step 1 of {steps}")
    page.mouse.click(*on_screen(page, "heatmap", 1, 4))
    expect(page.locator(STEP)).to_have_text(f"Step 5 of {steps}")
    page.evaluate("location.hash = 'step=2'")
    expect(page.locator(STEP)).to_have_text(f"Step 2 of {steps}")
    page.reload()
    expect(page.locator(STEP)).to_have_text(f"Step 2 of {steps}")

    colour = "() => document.querySelector('.st-key-heatmap .js-plotly-plot')._fullLayout.font.color"
    ink = page.evaluate(colour)
    page.emulate_media(color_scheme="light" if dark else "dark")
    page.wait_for_function(f"(ink) => ({colour})() !== ink", arg=ink)
    choose_language(page, "Français")
    expect(page.locator(STEP)).to_contain_text("Étape 2 ")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.nightly
def test_cards_of_a_saved_page_show_the_what_ifs(open_saved: Opener, translator: Translator) -> None:
    first = translator.translate(EXAMPLE, beam=1)
    changes = (ExcludePosition(1), Temperature(4.0))
    traces = tuple(translator.translate(EXAMPLE, beam=1, interventions=[one]) for one in changes)
    what_ifs = WhatIfs(first, tuple(WhatIf(0, one) for one in changes), traces)
    page = open_saved(export.page_html(traces[1], what_ifs=what_ifs, step=2))
    cards = page.locator(".what_ifs .card")
    expect(cards).to_have_count(3)
    expect(page.locator(".what_ifs .remove")).to_have_count(0)
    expect(page.locator(".what_ifs .undo")).to_be_hidden()
    expect(cards.nth(2)).to_have_attribute("aria-current", "true")
    page.keyboard.press("ArrowRight")
    for number in (1, 0, 2):
        trace = what_ifs.trace(number)
        cards.nth(number).press("Enter")
        expect(cards.nth(number)).to_have_attribute("aria-current", "true")
        expect(cards.nth(number)).to_be_focused()
        expect(page.locator(STEP)).to_have_text(f"Step 4 of {len(trace.target_pieces)}")
        page.wait_for_function(
            "(identity) => document.querySelector('.st-key-room').attnvizView.view.identity === identity",
            arg=trace.fingerprint,
        )
    choose_language(page, "Français")
    expect(page.locator(".what_ifs .title")).to_have_text("Et si… ?")


OVERLAPS = """() => {
  const drawing = document.querySelector(".diagram .drawing"), edge = drawing.getBoundingClientRect();
  const texts = [...drawing.querySelectorAll("text:not(.by-hand)")].filter((text) => text.textContent.trim());
  const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
  const outside = boxes.filter(([, { left, right }]) => left < edge.left - 1 || right > edge.right + 1);
  const touch = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6;
  const pairs = boxes.flatMap(([one, box], k) => boxes.slice(k + 1).filter(([, other]) => touch(box, other))
    .map(([other]) => `${one} on ${other}`));
  return [...outside.map(([text]) => text), ...pairs];
}"""
"""The texts of the diagram that reach over its edge, and those that lie on others."""


@pytest.mark.parametrize("width", [390, at_night(1000), 1440])
def test_texts_of_the_diagram_have_room_in_any_font(open_saved: Opener, opening: Trace, width: int) -> None:
    page = open_saved(export.page_html(opening), width=width)
    page.add_style_tag(content=":root { --sans: 'DejaVu Sans', Verdana, sans-serif !important }")
    for name in ("English", "Français"):
        choose_language(page, name)
        page.wait_for_selector("[data-waiting]", state="detached")
        page.locator(".diagram .drawing").scroll_into_view_if_needed()
        page.wait_for_selector(".diagram .ribbon[d]", state="attached")
        assert page.evaluate(OVERLAPS) == []


WINDOWS: list[Any] = [
    ("everything", {}),
    at_night("numbers", {"dark": True}),
    at_night("everything", {"width": 390, "height": 844, "dark": True}),
    at_night("idea", {"width": 768, "height": 1024}),
    at_night("everything", {"forced_colors": "active"}),
]


@pytest.mark.parametrize(("level", "window"), WINDOWS)
def test_axe_finds_nothing_serious_in_a_saved_page(
    open_saved: Opener, level: DetailLevel, window: dict[str, Any]
) -> None:
    page = open_saved(export.page_html(synthetic.trace(), level=level), **window)
    for name in ("English", "Français"):
        choose_language(page, name)
        page.wait_for_selector("[data-waiting]", state="detached")
        page.evaluate(AXE)
        assert page.evaluate(VIOLATIONS) == []


def test_saved_page_escapes_markup_and_closes_its_glossary(open_saved: Opener) -> None:
    sentence = "</script><script>window.broken=1</script> <b>bold</b> <!-- &amp;"
    page = open_saved(export.page_html(synthetic.trace(sentence), step=2))
    assert page.evaluate("window.broken") is None
    assert page.title() == f"attnviz: {sentence}"
    expect(page.locator(".player .source")).to_contain_text("</script><script>window.broken=1</script> <b>bold</b>")
    page.locator(".st-key-glossary .opener").click()
    box = page.locator(".st-key-glossary .opened")
    expect(box.locator("math").first).to_be_visible()
    expect(box.locator(".katex-html")).to_have_count(0)  # without KaTeX's style it would repeat each formula
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
