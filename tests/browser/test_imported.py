"""Imported translators (PyTorch tutorial, Joey NMT): stages in order, steps, and unavailable parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from syrupy.assertion import SnapshotAssertion

from attnviz.commands.main import main
from tests.browser.conftest import Opener
from tests.browser.server import running_page
from tests.browser.settled import settled
from tests.browser.texts import text_of
from tests.conftest import SHIPPED_MODEL
from tests.importing.peers import Joey, Tutorial
from tests.snapshots import without_numbers

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of models with the shipped one, the tutorial's translator and Joey NMT's."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "en-fr").symlink_to(SHIPPED_MODEL.resolve())
    for name, peer in (("tutorial", Tutorial()), ("joey", Joey())):
        found = tmp_path_factory.mktemp(name)
        peer.write(found)
        assert main(["import", str(found), "-o", str(folder / name)]) == 0
    return folder


@pytest.fixture(scope="module")
def address(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return where the page with these models is."""
    with running_page(models, tmp_path_factory.mktemp("page") / "page.log") as found:
        yield found


def test_imported_tutorial_and_joey_models_show_their_stages(open_page: Opener, snapshot: SnapshotAssertion) -> None:
    page = open_page(f"?model=tutorial&search=greedy&sentence={quote('ein mann schläft im park .')}")
    settled(page)
    badge = page.locator(".st-key-verification_badge, [class*=st-key-verification]").first
    expect(badge).to_contain_text("verified")
    page.keyboard.press("ArrowRight")
    expect(badge).to_contain_text("step 2")
    expect(page.locator(".st-key-logit-attribution .js-plotly-plot")).to_be_attached()
    expect(page.locator(".st-key-diagram_box svg.drawing")).to_be_visible()

    page = open_page(
        f"?model=joey&search=greedy&sentence={quote('der hund schläft im park .')}&step=2&lang=fr",
        ready=".st-key-stage_4",
    )
    settled(page, ".st-key-stage_5")
    expect(page.locator("[class*='st-key-stages'] h3 .number")).to_have_count(5)
    heights = {number: page.locator(f".st-key-stage_{number}").bounding_box() for number in (4, 1, 5)}
    tops = [box["y"] for box in heights.values() if box]
    assert tops == sorted(tops)  # the state moves before it asks
    expect(page.locator(".st-key-logit-attribution .js-plotly-plot")).to_have_count(0)
    assert without_numbers(text_of(page.locator(".st-key-inside_word"))) == snapshot
