"""Export and import: chart and trace downloads, the saved page, and opening a saved trace."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import struct
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pdfminer.high_level import extract_pages, extract_text
from pdfminer.layout import LAParams
from playwright.sync_api import Browser, Page, expect
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, export
from attnviz.analysis.gold import pharaoh
from attnviz.languages import LANGUAGES
from attnviz.model_folder import read_weights
from tests.browser.server import READY, running_page
from tests.browser.settled import settled
from tests.browser.texts import text_of
from tests.browser.views import EXAMPLE, at_night, open_share
from tests.conftest import SHIPPED_MODEL
from tests.figures import synthetic
from tests.figures.payloads import close, unpacked
from tests.saved_pages import saved_view

pytestmark = pytest.mark.browser

Opener = Callable[..., Page]


def fetch(page: Page, name: str, folder: Path) -> Path:
    """Click the button `name`; return the downloaded file, under its suggested name."""
    with page.expect_download() as coming:
        page.get_by_role("button", name=name, exact=True).click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


def open_downloads(page: Page) -> None:
    open_share(page)
    expect(page.get_by_role("button", name="Whole trace, JSON")).to_be_visible()


def open_trace(page: Page, path: Path) -> None:
    # A box that opens while a run ends may be drawn twice, and a file that it is given between is lost.
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    if not page.locator(".stFileUploader input[type=file]").count():
        open_share(page)
    page.locator(".stFileUploader input[type=file]").set_input_files(path)


@pytest.mark.parametrize(("width", "height", "dark"), [(1440, 900, False), at_night(390, 844, True)])
def test_downloads_match_the_current_step(
    open_page: Opener, tmp_path: Path, width: int, height: int, dark: bool
) -> None:
    page = open_page("?step=3", width=width, height=height, dark=dark)
    open_downloads(page)
    png = fetch(page, "Softmax, PNG", tmp_path)
    assert png.name == "attnviz-the-agreement-on-the-step-3-softmax.png"
    content = png.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", content[16:20])[0] >= 2280
    svg = fetch(page, "Heatmap, SVG", tmp_path)
    assert svg.name == "attnviz-the-agreement-on-the-heatmap.svg"
    drawn = svg.read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert "Alignment: attention weights α, step by step" in drawn
    assert EXAMPLE in drawn, "the title has the sentence"
    pdf = fetch(page, "Softmax, PDF", tmp_path)
    assert pdf.name == "attnviz-the-agreement-on-the-step-3-softmax.pdf"
    assert "Softmax: step 3 of " in extract_text(pdf, laparams=LAParams())
    assert "Softmax: step 3 of " in fetch(page, "Softmax, SVG", tmp_path).read_text(encoding="utf-8")
    trace = Trace.load(fetch(page, "Whole trace, JSON", tmp_path))
    assert trace.source_text == EXAMPLE
    table = list(csv.reader(io.StringIO(fetch(page, "Heatmap, CSV", tmp_path).read_text(encoding="utf-8-sig"))))
    assert len(table) == 1 + len(trace.target_pieces)
    assert float(table[1][1]) == pytest.approx(float(trace.alignment[0, 0]), abs=1e-6)
    table = list(csv.reader(io.StringIO(fetch(page, "Softmax, CSV", tmp_path).read_text(encoding="utf-8-sig"))))
    assert [float(row[-1]) for row in table[1:]] == pytest.approx(trace.alignment[2].tolist(), abs=1e-6)
    drawing = page.locator(".diagram .drawing .number.strong")
    drawing.first.wait_for(state="attached")  # parts outside the window are drawn later
    settled(page)
    diagram = fetch(page, "Architecture diagram, SVG", tmp_path).read_text(encoding="utf-8")
    shown = drawing.all_text_contents()
    assert all(f">{number}<" in diagram for number in shown), "the weights on the diagram"
    assert 'fill="#ffffff"' in diagram, "white background, also if the page is dark"
    assert "var(" not in diagram, "no CSS variables: the file needs no style sheet"
    assert "paint-order: stroke" in diagram, "the outline of a text is below its letters"
    assert EXAMPLE in diagram
    png = fetch(page, "Architecture diagram, PNG", tmp_path)
    assert png.name == "attnviz-the-agreement-on-the-step-3-machine.png"
    assert struct.unpack(">I", png.read_bytes()[16:20])[0] >= 3 * 760


def test_diagram_is_printed_as_pdf_on_paper_of_its_size(open_page: Opener, tmp_path: Path) -> None:
    """The frame that the page prints is printed here in its place: a browser without a window has no print dialog."""
    page = open_page("?step=3")
    page.add_init_script("""if (parent !== window) window.print = () => {
        parent.document.documentElement.dataset.printed = document.documentElement.outerHTML;
        dispatchEvent(new Event("afterprint"));
    };""")
    open_downloads(page)
    numbers = page.locator(".diagram .drawing .number.strong")
    numbers.first.wait_for(state="attached")
    page.get_by_role("button", name="Architecture diagram, PDF", exact=True).click()
    expect(page.locator("html[data-printed]")).to_have_count(1)
    expect(page.locator("iframe[srcdoc]")).to_have_count(0)
    printer = page.context.new_page()
    printer.set_content(page.locator("html").get_attribute("data-printed"))
    (path := tmp_path / "diagram.pdf").write_bytes(printer.pdf(prefer_css_page_size=True, print_background=True))
    box = printer.locator("svg").bounding_box()
    printer.close()
    (sheet,) = extract_pages(path)
    assert (sheet.width, sheet.height) == pytest.approx((0.75 * box["width"], 0.75 * box["height"]), abs=1)
    text = extract_text(path)
    assert "Architecture diagram: step 3 of" in text
    assert all(number in text for number in numbers.all_text_contents())


@pytest.mark.nightly
@pytest.mark.parametrize("query", ["", "?lang=fr"])
def test_titles_of_downloaded_charts_are_not_clipped(open_page: Opener, tmp_path: Path, query: str) -> None:
    page = open_page(query)
    open_share(page)
    names = page.get_by_role("button", name=re.compile(", SVG$"))
    expect(names.first).to_be_visible()
    labels = names.evaluate_all("(buttons) => buttons.map((one) => one.ariaLabel)")
    files = {name: fetch(page, name, tmp_path) for name in labels}
    viewer = page.context.new_page()  # in front: a page behind another draws slowly
    for name, path in files.items():
        viewer.set_content(path.read_text(encoding="utf-8"))
        picture, title = viewer.locator("svg.main-svg").first, viewer.locator(".gtitle")
        expect(title.locator("tspan.line")).to_have_count(3)
        outer, inner = picture.bounding_box(), title.bounding_box()
        assert outer is not None, name
        assert inner is not None, name
        assert inner["x"] >= outer["x"], name
        assert inner["y"] >= outer["y"], name
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"], name
    viewer.close()


@pytest.mark.nightly
@pytest.mark.parametrize("query", ["", "?lang=fr"])
def test_download_menu_fits_in_the_window(open_page: Opener, query: str) -> None:
    page = open_page(query)
    open_share(page)
    last = page.locator(".st-key-whole_json a")
    expect(last).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("PNG$")).first).to_be_visible()
    box = page.get_by_test_id("stPopoverBody")
    assert box.evaluate("(box) => box.scrollHeight - box.clientHeight") <= 0
    place = last.bounding_box()
    assert place is not None
    assert place["y"] + place["height"] <= 900


@pytest.mark.nightly
def test_download_menu_works_by_keyboard_on_a_phone(open_page: Opener) -> None:
    page = open_page(width=390, height=844)
    open_share(page)
    first = page.get_by_role("button", name="Heatmap, PNG")
    expect(first).to_be_visible()
    first.focus()
    for name in ("Heatmap, SVG", "Heatmap, PDF", "Heatmap, CSV", "Energies, PNG"):
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name=name)).to_be_focused()
    box = page.get_by_test_id("stPopoverBody")
    assert box.evaluate("(box) => box.scrollWidth - box.clientWidth") <= 0


@pytest.mark.nightly
def test_png_uses_the_page_font(open_page: Opener, tmp_path: Path) -> None:
    page = open_page()
    open_downloads(page)
    with page.expect_response(re.compile("SourceSansVF-Upright")) as font:
        with_font = fetch(page, "Likeliest words, PNG", tmp_path).read_bytes()
    assert font.value.ok
    other = open_page()
    open_downloads(other)
    other.route(re.compile("SourceSansVF-Upright"), lambda route: route.fulfill(status=404))
    assert fetch(other, "Likeliest words, PNG", tmp_path).read_bytes() != with_font


@pytest.mark.nightly
def test_failed_font_request_is_retried(open_page: Opener, tmp_path: Path) -> None:
    page = open_page()
    open_downloads(page)
    page.route(re.compile("SourceSansVF-Upright"), lambda route: route.abort(), times=1)
    without = fetch(page, "Likeliest words, PNG", tmp_path).read_bytes()
    with page.expect_response(re.compile("SourceSansVF-Upright")) as font:
        again = fetch(page, "Likeliest words, PNG", tmp_path).read_bytes()
    assert font.value.ok
    assert again[:8] == without[:8] == b"\x89PNG\r\n\x1a\n"
    assert again != without


@pytest.mark.nightly
@pytest.mark.parametrize("code", ["en", "fr"])
def test_failed_chart_export_shows_an_error(
    open_page: Opener, tmp_path: Path, code: str, snapshot: SnapshotAssertion
) -> None:
    page = open_page(f"?lang={code}")
    open_share(page)
    row = page.locator(".picture").first
    page.evaluate(
        "() => { window.originalToImage = Plotly.toImage; Plotly.toImage = () => Promise.reject(new Error('no')); }"
    )
    row.get_by_role("button", name=re.compile("PNG$")).click()
    expect(row.get_by_role("alert")).not_to_be_empty()
    assert text_of(row.get_by_role("alert")) == snapshot
    page.evaluate("() => { Plotly.toImage = window.originalToImage; }")
    assert fetch(page, row.get_by_role("button").first.get_attribute("aria-label") or "", tmp_path).exists()
    expect(row.locator("p")).to_have_text("")


@pytest.mark.nightly
@pytest.mark.parametrize("code", ["en", "fr"])
def test_picture_with_characters_that_no_font_has_says_so(
    open_page: Opener, code: str, snapshot: SnapshotAssertion
) -> None:
    page = open_page(f"?lang={code}&sentence=We+eat+\u2fe0+here.")
    open_share(page)
    row = page.locator(".picture").first
    row.get_by_role("button", name=re.compile("PNG$")).click()
    expect(row.get_by_role("alert")).to_contain_text("\u2fe0")
    assert text_of(row.get_by_role("alert")) == snapshot


def test_files_of_the_whole_translation_match_the_exporters(open_page: Opener, tmp_path: Path) -> None:
    page = open_page("?step=2")
    open_downloads(page)
    trace = Trace.load(fetch(page, "Whole trace, JSON", tmp_path))
    tex = fetch(page, "Heatmap for LaTeX, TikZ", tmp_path)
    assert tex.name == "attnviz-the-agreement-on-the-heatmap.tex"
    assert tex.read_text(encoding="utf-8") == export.heatmap_tikz(trace, end=True)
    links = fetch(page, "Word links by posterior attention, Pharaoh format", tmp_path)
    assert re.fullmatch(r"\d+-\d+( \d+-\d+)*\n", links.read_text())
    by_attention = fetch(page, "Word links by attention, Pharaoh format", tmp_path)
    assert by_attention.name != links.name
    assert by_attention.read_text() == pharaoh(trace.words()) + "\n"
    saved = fetch(page, "Web page for a lecture, HTML", tmp_path)
    weights = read_weights(Path(os.environ.get("ATTNVIZ_MODELS", SHIPPED_MODEL.parent)) / "en-fr")
    text = saved.read_text(encoding="utf-8")
    expected = export.page_html(trace, step=1, end=True, weights=weights, level="everything")
    for code, theme in product(LANGUAGES, ("light", "dark")):
        made, by_hand = (saved_view(one, code, theme) for one in (text, expected))
        assert without_names(made.blocks) == without_names(by_hand.blocks)
        assert close(opened(without_names(made.payloads)), opened(without_names(by_hand.payloads)))
    assert len(text.encode()) < 8_000_000


def without_names(saved: Any) -> Any:
    """Return blocks or payloads without the name of their view, which begins each address and is a digest."""
    return json.loads(re.sub(r'"[0-9a-f]{16}/', '"', json.dumps(saved)))


def opened(payloads: dict[str, Any]) -> Any:
    """Return payloads with lists of numbers in their figures, since 32-bit and 64-bit sums differ slightly."""
    figures = {at: one for at, one in payloads.items() if isinstance(one, dict) and "template" in one}
    parts = {at: [json.loads(one["template"]), *map(json.loads, one["values"].values())] for at, one in figures.items()}
    return unpacked(parts)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "agreement.json"
    synthetic.trace().save(path)
    return path


def test_saved_trace_opens_and_closes(open_page: Opener, saved: Path, tmp_path: Path) -> None:
    page = open_page()
    before = page.locator(".player .target").inner_text()
    open_trace(page, saved)
    expect(page.locator(".st-key-notice")).to_contain_text("The trace file")
    expect(page.locator(".player .target")).to_contain_text("accord a été signé")
    expect(page.locator(".st-key-heatmap .ytick").nth(1)).to_have_text("accord")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name=re.compile(r"^Step 2 of 7"))).to_be_visible()
    open_downloads(page)
    again = Trace.load(fetch(page, "Whole trace, JSON", tmp_path))
    assert again.fingerprint == Trace.load(saved).fingerprint
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Back to the sentence above").click()
    expect(page.locator(".player .target")).to_have_text(before)
    expect(page.locator(".st-key-notice")).to_have_count(0)
    expect(page.locator(".st-key-sentence textarea")).to_have_value(EXAMPLE)


@pytest.mark.nightly
def test_new_sentence_closes_a_saved_trace(open_page: Opener, saved: Path) -> None:
    page = open_page()
    open_trace(page, saved)
    expect(page.locator(".player .target")).to_contain_text("accord a été signé")
    page.locator(".st-key-sentence textarea").fill("Two dogs play in the snow.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".player .source")).to_contain_text("snow")
    expect(page.locator(".st-key-notice")).to_have_count(0)


def test_invalid_file_shows_an_error_and_keeps_the_translation(
    open_page: Opener, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    page = open_page()
    before = page.locator(".player .target").inner_text()
    for name, content in (("picture", b"\x89PNG\r\n\x1a\n\xff"), ("empty", b"{}"), ("deep", b"[" * 5000)):
        path = tmp_path / f"{name}.json"
        path.write_bytes(content)
        open_trace(page, path)
        expect(page.locator(".st-key-file_problem")).to_contain_text(f"{name}.json")
        expect(page.locator(".stFileUploader input[type=file]")).to_have_count(0)  # the box closes with each file
        assert text_of(page.locator(".st-key-file_problem")) == snapshot(name=name)
        expect(page.locator(".player .target")).to_have_text(before)
        assert "Traceback" not in page.locator("body").inner_text()


@pytest.mark.nightly
def test_saved_trace_opens_without_a_model(
    chromium: Browser, tmp_path: Path, saved: Path, snapshot: SnapshotAssertion
) -> None:
    (tmp_path / "models").mkdir()
    with running_page(tmp_path / "models", tmp_path / "page.log") as address:
        page = chromium.new_page()
        page.goto(address)
        expect(page.locator(".st-key-problem")).to_be_visible()
        assert text_of(page.locator(".st-key-problem")) == snapshot
        open_trace(page, saved)
        page.wait_for_selector(READY)
        expect(page.locator(".st-key-notice")).to_contain_text("agreement.json")
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("heading", name=re.compile(r"^Step 2 of 7"))).to_be_visible()
        expect(page.locator(".stFileUploader input[type=file]")).to_have_count(0)  # the box is closed
        page.close()
