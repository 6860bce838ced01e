"""A model without attention: no text claims attention, and one fixed vector goes to every step."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from syrupy.assertion import SnapshotAssertion

from tests.browser.conftest import Opener
from tests.browser.texts import text_of
from tests.browser.views import at_night

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1440, at_night(390)])
def test_fixed_vector_is_drawn_without_attention_claims(
    open_page: Opener, width: int, snapshot: SnapshotAssertion
) -> None:
    page = open_page("?model=small-fixed&step=2", width=width)
    expect(page.locator(".player .shown")).to_be_hidden()
    title = text_of(page.locator(".section").first)
    assert title == snapshot(name="title")
    expect(page.locator(".player .bar .attended")).to_have_text("")
    assert page.locator(".player .source [style*='--weight']").count() == 0
    label = page.locator(".st-key-heatmap .chart").get_attribute("aria-label")
    assert label.startswith(title)
    assert label == snapshot(name="label")
    numbers = page.locator(".st-key-stages h3 .number").all_text_contents()
    assert numbers == page.locator(".facts li .number").all_text_contents() == ["1", "2", "3"]
    body = page.locator(".stMain").inner_text()
    for claim in ("Looks at", "the largest weight", "the brighter", "Fit (energy)", "Softmax"):
        assert claim not in body, claim
