"""A saved page, opened from disk without a network: the step view with its steps, faces, languages and what-ifs."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz import AttnvizError, ExcludePosition, Temperature, export
from attnviz.analysis import posterior_attention
from attnviz.browser_modules import modules_script
from attnviz.model_folder import read_weights
from attnviz.trace import WhatIf, WhatIfs
from attnviz.ui import embedded_view, payloads
from attnviz.ui.payloads import PayloadRequest
from attnviz.ui.step import stage_panels
from tests.browser.conftest import Opener
from tests.browser.test_axe import violations
from tests.browser.test_page import framed_row
from tests.browser.test_step_show import play
from tests.browser.views import BAR_LENGTHS, EXAMPLE, NARROW_DARK, WIDE, View, at_night, theme_of
from tests.figures import synthetic

STEP = ".st-key-facts h2"
REASON = "No energies today."


@pytest.fixture
def open_saved(open_from_disk) -> Opener:
    def open_page(text: str, *how: Any, **options: Any) -> Page:
        page = open_from_disk(text, *how, **options)
        expect(page.locator(".st-key-heatmap .ytick").first).to_be_visible()
        return page

    return open_page


def choose_language(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.get_by_role("button", name=name, exact=True)).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("view", [WIDE, at_night(NARROW_DARK)], ids=str)
def test_saved_page_opens_at_its_link_steps_and_switches_face_language_and_theme(
    open_saved, opening, shipped_model, view
) -> None:
    weights = read_weights(shipped_model)
    text = export.page_html(opening, weights=weights, end=True, step=1, face="after", level="everything")
    page = open_saved(text, "#step=3", view)
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
    for name in ("√α", "Margins", "Numbers", "End mark"):
        page.get_by_role("switch", name=name).click()
    page.wait_for_selector(".st-key-heatmap [data-waiting]", state="detached")
    shown = heatmap.evaluate("({ data }) => data.map(({ type, name, text }) => [name ?? type, text?.length])")
    rows, columns = opening.alignment.shape
    assert shown[:2] == [["heatmap", rows - 1], ["values", (rows - 1) * (columns - 1)]]
    assert shown[2:] == [["coverage", None], ["entropy", None]]
    frozen = page.locator(".st-key-heatmap .rows").text_content()
    assert "Σ α" in frozen, "labels of the bars stay in sight where the heatmap scrolls"
    page.get_by_role("switch", name="End mark").click()
    page.locator(".st-key-after_word [aria-expanded]").click()
    bars = page.locator(".st-key-posterior .js-plotly-plot")
    bars.wait_for()
    expected = [found.prior[2], found.likelihood[2], found.posterior[2]]
    np.testing.assert_allclose(bars.evaluate(BAR_LENGTHS), expected, atol=1e-6)
    page.emulate_media(reduced_motion="no-preference")
    play(page.locator(".diagram"))
    page.locator(".diagram .close").click()

    # By a key and the address.
    page.keyboard.press("End")
    expect(page.locator(STEP)).to_have_text(f"Step {steps} of {steps}")
    page.evaluate("location.hash = 'step=2'")
    expect(page.locator(STEP)).to_have_text(f"Step 2 of {steps}")
    page.reload()
    expect(page.locator(STEP)).to_have_text(f"Step 2 of {steps}")

    colour = "() => document.querySelector('.st-key-heatmap .js-plotly-plot')._fullLayout.font.color"
    ink = page.evaluate(colour)
    page.emulate_media(color_scheme=theme_of(not view.dark))
    page.wait_for_function(f"(ink) => ({colour})() !== ink", arg=ink)
    choose_language(page, "Français")
    expect(page.locator(STEP)).to_contain_text("Étape 2 ")
    assert page.evaluate("document.documentElement.scrollWidth") <= view.width


def test_saved_page_of_a_large_heatmap_is_drawn_as_its_author_chose(open_saved, opening, monkeypatch) -> None:
    monkeypatch.setattr(embedded_view, "MOST_CELLS", opening.alignment.size - 1)
    page = open_saved(export.page_html(opening, values=True))
    expect(page.locator(".st-key-by")).to_be_visible()
    expect(page.get_by_role("switch")).to_have_count(0)
    names = page.locator(".st-key-heatmap .js-plotly-plot").evaluate("({ data }) => data.map(({ name }) => name)")
    assert "values" in names


@pytest.mark.nightly
def test_cards_of_a_saved_page_show_the_what_ifs(open_saved, shipped_translator) -> None:
    first = shipped_translator.translate(EXAMPLE, beam=1)
    changes = (ExcludePosition(1), Temperature(4.0))
    traces = tuple(shipped_translator.translate(EXAMPLE, beam=1, interventions=[one]) for one in changes)
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
def test_texts_of_the_diagram_have_room_in_any_font(open_saved, opening, width: int) -> None:
    page = open_saved(export.page_html(opening), view=WIDE._replace(width=width))
    page.add_style_tag(content=":root { --sans: 'DejaVu Sans', Verdana, sans-serif !important }")
    for name in ("Français", "English"):  # each is drawn anew, in this font
        choose_language(page, name)
        page.wait_for_selector("[data-waiting]", state="detached")
        page.locator(".diagram .drawing").scroll_into_view_if_needed()
        page.wait_for_selector(".diagram .ribbon[d]", state="attached")
        assert page.evaluate(OVERLAPS) == []


WINDOWS: list[Any] = [
    ("everything", WIDE, {}),
    at_night("numbers", WIDE._replace(dark=True), {}),
    at_night("everything", NARROW_DARK, {}),
    at_night("idea", View(768, 1024, dark=False), {}),
    at_night("everything", WIDE, {"forced_colors": "active"}),
]


@pytest.mark.parametrize(("level", "view", "options"), WINDOWS)
def test_axe_finds_nothing_serious_in_a_saved_page(open_saved, level, view, options) -> None:
    page = open_saved(export.page_html(synthetic.trace(), level=level), "", view, **options)
    for name in ("English", "Français"):
        choose_language(page, name)
        page.wait_for_selector(".diagram .ribbon[d]", state="attached")  # nothing waits before it is mounted
        assert violations(page, "html") == []


SEEN = """(node) => {
  let opacity = 1;
  for (let each = node; each; each = each.parentElement) opacity *= getComputedStyle(each).opacity;
  const { content, color } = getComputedStyle(node, "::before");
  const ink = getComputedStyle(node.closest("[class*='st-key-room']")).getPropertyValue("--minus");
  node.style.color = ink;
  return [JSON.parse(content), opacity, color === getComputedStyle(node).color, node.ariaBusy];
}"""
"""JavaScript that returns the text before an element, its opacity, whether the text is red, and whether it waits."""


@pytest.mark.parametrize("waiting", ["", "Computing…"])
def test_figure_that_cannot_be_made_is_replaced_by_the_reason(open_saved, monkeypatch, waiting: str) -> None:
    def refuse(_: PayloadRequest) -> None:
        raise AttnvizError(REASON)

    monkeypatch.setitem(payloads._MAKERS, "energy", payloads._MAKERS["energy"]._replace(maker=refuse))
    monkeypatch.setattr(stage_panels, "chart", partial(stage_panels.chart, waiting=waiting))
    page = open_saved(export.page_html(synthetic.trace()))
    refused = page.locator(".st-key-energy [data-refused]")
    expect(refused).to_be_visible()
    assert refused.evaluate(SEEN) == [REASON, 1, True, None]
    expect(page.locator(".st-key-softmax .js-plotly-plot")).to_be_visible()


def test_reason_is_also_seen_in_a_shadow_root(open_from_disk) -> None:
    script = modules_script("blocks.js", {"side_by_side", "tour"})
    page = open_from_disk(f"<div class='st-key-room' style='--minus: red'></div><script>{script}</script>")
    page.evaluate(
        """(payloads) => {
          const parentElement = document.querySelector(".st-key-room");
          const now = { tour: { stop: 1 }, word: null, foil: null, source: null };
          Object.assign(attnvizModule("ui/components/view.js").viewState(parentElement), { step: 0, now });
          const data = { at: "lanes", waiting: "Computing…" };
          const blocks = ["side_by_side", "tour"].map((kind) => ({ kind, key: kind, data }));
          attnvizModule("ui/components/blocks.js").host()({ data: [blocks, {}, payloads], parentElement });
        }""",
        {"lanes": {"refused": REASON}},
    )
    refused = page.locator(".lanes[data-refused]")
    refused.wait_for()
    shown = refused.evaluate("(node) => ['content', 'color'].map((name) => getComputedStyle(node, '::before')[name])")
    assert shown == [f'"{REASON}"', "rgb(255, 0, 0)"]
    expect(page.get_by_role("dialog").get_by_text(REASON)).to_be_visible()


def test_component_whose_module_throws_is_reported_and_leaves_the_other_blocks(open_from_disk) -> None:
    head = '"ui/components/side_by_side/side_by_side.js": (exports) => {'
    script = modules_script("blocks.js", {"side_by_side"}).replace(head, f'{head} throw new Error("broken");')
    page = open_from_disk(f"<div></div><script>{script}</script>")
    reported = page.evaluate(
        """() => {
          const reported = [], parentElement = document.querySelector("div");
          window.reportError = ({ message }) => reported.push(message);
          const blocks = [{ kind: "side_by_side", key: "lanes", data: {} }, { kind: "text", key: "", text: "after" }];
          attnvizModule("ui/components/blocks.js").host()({ data: [blocks], parentElement });
          return reported;
        }"""
    )
    assert reported == ["broken"]
    expect(page.get_by_text("after")).to_be_visible()


def test_saved_page_escapes_markup_and_closes_its_glossary(open_saved) -> None:
    sentence = "</script><script>window.broken=1</script> <b>bold</b> <!-- &amp;"
    page = open_saved(export.page_html(synthetic.trace(sentence), step=2))
    assert page.evaluate("window.broken") is None
    loaded = page.evaluate("[...document.fonts].filter((one) => one.status === 'loaded').map((one) => one.family)")
    assert {"Attnviz Serif", "Attnviz Sans"} <= set(loaded)
    assert page.title() == f"attnviz: {sentence}"
    expect(page.locator(".player .source")).to_contain_text("</script><script>window.broken=1</script> <b>bold</b>")
    page.locator(".st-key-glossary .opener").click()
    box = page.locator(".st-key-glossary .opened")
    expect(box.locator(".katex-html").first).to_be_visible()
    expect(box.locator(".katex-html").first).to_have_css("font-family", 'KaTeX_Main, "Times New Roman", serif')
    expect(box.locator(".katex-mathml").first).to_have_css("position", "absolute")  # for screen readers only
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
