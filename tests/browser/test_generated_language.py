"""The app in a generated language of long, accented words: no label is clipped, and no text is left in English."""

import re
from collections.abc import Iterator

import pytest

from tests.browser.server import READY, running_server
from tests.browser.test_lab import PERTURBATION_TESTS
from tests.catalogs import PSEUDO, pseudo, write_pseudo
from tests.conftest import SHIPPED_MODEL

pytestmark = pytest.mark.nightly

LOOK = """() => {
  const others = "script, style, textarea, output, .katex, svg, [data-testid=stIconMaterial], [lang=en], [lang=fr]";
  const texts = new Set(), clipped = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim(), node = walker.currentNode.parentElement;
    if (!text || !node.checkVisibility() || node.closest(others)) continue;
    texts.add(text);
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const { left, right } = range.getBoundingClientRect();
    for (let box = node; box !== document.body; box = box.parentElement) {
      const { overflowX } = getComputedStyle(box), edge = box.getBoundingClientRect();
      if (edge.width < 8 || overflowX === "auto" || overflowX === "scroll") break;
      const holds = overflowX !== "visible" || box.matches("button, label, summary, [role=tab], [role=radio]");
      if (holds && (left < edge.left - 1 || right > edge.right + 1)) clipped.add(text);
    }
  }
  return { texts: [...texts], clipped: [...clipped] };
}"""
"""Return the texts shown but in formulas, pictures, sliders and foreign parts, and those wider than their box."""
NOT_OURS = {"attnviz", "Ctrl + Enter", "Ctrl", "Stop"}
"""Streamlit's own text, a name, and keys."""
CLIPPED_ON_A_PHONE = {pseudo("Translate"), pseudo("Lessons")}
"""Labels that need wider boxes, in the toolbar; English and French fit."""
WORD = re.compile(r"[A-Za-z]{4,}")
TRANSLATED = re.compile(r"[áàéèíìóòúùýÿñšÁÀÉÈÍÌÓÒÚÙÝŸ]")


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("locales")
    write_pseudo(folder)
    with running_server(SHIPPED_MODEL.parent, folder / "page.log", ATTNVIZ_LOCALES=str(folder)) as (address, _):
        yield address


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(("path", "ready"), [("", READY), ("lab", PERTURBATION_TESTS)])
def test_no_text_is_clipped_or_untranslated(open_page, path: str, ready: str, width: int) -> None:
    page = open_page(f"?lang={PSEUDO}", path=path, ready=ready, width=width, height=900)
    assert page.locator("html").get_attribute("lang") == PSEUDO
    found = page.evaluate(LOOK)
    left = [text for text in found["texts"] if WORD.search(text) and not TRANSLATED.search(text)]
    assert len(found["texts"]) > 20
    assert set(left) - NOT_OURS == set()
    assert set(found["clipped"]) <= (CLIPPED_ON_A_PHONE if width == 390 else set())
