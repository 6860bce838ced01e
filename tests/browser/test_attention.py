"""Attention matrix of another program: uploaded, completed with tokens, stepped through, shown in French, closed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect
from syrupy.assertion import SnapshotAssertion

from attnviz import attention
from attnviz.export.attention_files import attention_file_content
from tests.browser.conftest import Opener
from tests.browser.settled import go_to_page, settled
from tests.browser.texts import text_of
from tests.browser.views import open_share
from tests.importing.given import SOURCE, marian, matrix
from tests.snapshots import without_numbers

pytestmark = pytest.mark.browser


@pytest.mark.nightly
def test_marian_attention_file_can_be_opened_stepped_and_closed(
    open_page: Opener, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    file = tmp_path / "soft.txt"
    file.write_text(f"{marian(matrix(1))}\n{marian(matrix(2))}\n", encoding="utf-8")
    page = open_page("?depth=numbers", width=390)
    open_share(page)
    page.locator("input[type=file]").set_input_files(file)
    form = page.locator(".st-key-attention_form")
    problem = page.locator(".st-key-attention_problem")
    expect(problem).to_contain_text("soft.txt")
    message = text_of(problem)
    assert message == snapshot(name="without source tokens")
    box = form.get_by_label("Source tokens, separated by spaces")
    for typed in ("An area", "An area of"):  # the typed text persists across a visit to other pages
        box.fill(typed)
        box.press("Tab")
        form.get_by_role("button", name="Open", exact=True).click()
        expect(problem).not_to_have_text(message)
        message = text_of(problem)
        assert message == snapshot(name=typed)
        box.fill(f"{typed} of")
        for other in ("Lab", "Corpus"):
            go_to_page(page, other)  # the layout shifts until the page is drawn
            page.get_by_role("link", name="Translate", exact=True).click()
            expect(box).to_have_value(f"{typed} of")
    box.fill(" ".join(SOURCE))
    box.press("Tab")
    form.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator(".st-key-notice")).to_contain_text("The file soft.txt contains")
    expect(page.locator(".st-key-notice")).to_contain_text("attention of Marian.")
    settled(page, ".st-key-look")
    expect(page.locator(".st-key-missing_values_reason")).to_contain_text("attention only")
    expect(page.locator(".st-key-diagram_box")).to_have_count(0)

    page.locator("body").press("ArrowRight")
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 2 of 9"))
    look = page.locator(".st-key-look .chart-box > p").first
    expect(look).to_contain_text("“area”")
    assert without_numbers(text_of(look)) == snapshot(name="look")
    page.locator(".player .piece:visible", has_text="signée").first.click()
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 7 of 9"))
    page.locator(".st-key-lang button", has_text="FR").click()
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Étape 7 sur 9"))
    expect(page.locator(".st-key-missing_values_reason")).to_contain_text("que l’attention")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (
        "nothing is wider than the window"
    )
    page.locator(".st-key-back button").click()
    expect(page.locator(".st-key-missing_values_reason")).to_have_count(0)
    settled(page, ".st-key-softmax")


@pytest.mark.nightly
@pytest.mark.parametrize(("language", "head"), [("en", "Head 2 of layer 1"), ("fr", "Tête 2 de la couche 1")])
@pytest.mark.parametrize("ending", ["json", "npz", "parquet"])
def test_layer_and_head_of_a_file_can_be_chosen(
    open_page: Opener, tmp_path: Path, language: str, head: str, ending: str
) -> None:
    """Head 2 of layer 1 attends to the second source token only; the choice is in the address."""
    source, target = ["the", "green", "house"], ["la", "maison", "verte"]
    weights = np.full((2, 2, 3, 3), 1 / 3)
    weights[0, 1] = np.eye(3)[[1, 1, 1]]
    file = tmp_path / f"heads.{ending}"
    file.write_bytes(attention_file_content([attention(source, target, weights)], ending))
    page = open_page(f"?depth=numbers&lang={language}")
    open_share(page)
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".st-key-notice")).to_contain_text(file.name)
    settled(page, ".st-key-look")
    page.keyboard.press("Escape")
    heads = page.locator("select").filter(has=page.locator("option", has_text=head))
    mean = heads.locator("option").first.inner_text()
    look = page.locator(".st-key-look .chart-box > p").first
    for _ in range(2):
        heads.select_option(label=head)
        expect(page).to_have_url(re.compile(r"heads=1\.2"))
        expect(look).to_contain_text("100")
        expect(look).to_contain_text("green")
        heads.select_option(label=mean)
        expect(page).not_to_have_url(re.compile("heads="))
        expect(look).to_contain_text("50")
