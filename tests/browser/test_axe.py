"""axe-core (https://github.com/dequelabs/axe-core) finds no serious violation of WCAG on any page."""

from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import Page

from attnviz.trace.drawing import DETAIL_LEVELS, DetailLevel
from tests.browser.server import READY

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
READY_OF = {
    "": READY,
    "why": ".st-key-section_gradients-why > summary",
    "learns": "[class*='st-key-heatmap_1'] .js-plotly-plot .ytick",
    "transformer": ".attention-row td",
    "lab": ".st-key-perturbation-tests .js-plotly-plot .xtick",
    "corpus": ".st-key-corpus_sample button",
}
"""A selector that matches once a page is drawn, by its path."""
VIOLATIONS = """async (within) => {
  const options = { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } };  // of 24 pixels
  const found = await axe.run(within ? document.querySelector(within) : document, options);
  return found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => ({
    id, nodes: nodes.map(({ target, html }) => `${target.flat(9).join(" ")}  ${html.slice(0, 120)}`),
  }));
}"""


def violations(page: Page, within: str = "") -> list[dict[str, Any]]:
    """Return the serious and critical violations on our page, or within an element, once it has stopped changing."""
    if not within:
        page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    page.wait_for_selector("[data-waiting]", state="detached")
    page.evaluate(AXE)
    return page.evaluate(VIOLATIONS, within)


NIGHTLY = pytest.mark.nightly
WINDOWS: dict[str, tuple[str, dict[str, Any]]] = {
    "en": ("en", {}),
    "fr-dark": ("fr", {"dark": True}),
    "en-phone": ("en", {"width": 390, "height": 844}),
    "fr-tablet": ("fr", {"width": 768, "height": 1024}),
}
"""Language and window by name. With each push, *Translate* is looked at; the journeys on other pages look at theirs."""
CASES = [
    pytest.param(path, level, *window, marks=() if (name, path) == ("en", "") and level != "numbers" else NIGHTLY)
    for name, window in WINDOWS.items()
    for path in READY_OF
    for level in (("everything",) if path else DETAIL_LEVELS)
]


@pytest.mark.parametrize(("path", "level", "lang", "window"), CASES)
def test_axe_finds_nothing_serious(open_page, path: str, level: DetailLevel, lang: str, window: dict[str, Any]) -> None:
    page = open_page(f"?depth={level}&lang={lang}", path=path, ready=READY_OF[path], **window)
    page.evaluate("document.querySelectorAll('summary:has(h2)').forEach((label) => label.parentElement.open = true)")
    assert violations(page) == []
