"""Export and import: chart and trace downloads, the saved page, and opening a saved trace."""

import csv
import io
import re
import struct
from pathlib import Path

import pytest
from pdfminer.high_level import extract_pages, extract_text
from pdfminer.layout import LAParams
from playwright.sync_api import Page, expect

from attnviz import Trace, export
from attnviz.analysis.gold import pharaoh
from attnviz.analysis.grid import FACES
from tests.browser.settled import settled
from tests.browser.test_page import NEW, type_sentence
from tests.browser.views import EXAMPLE, download, on_both, open_share
from tests.figures import synthetic
from tests.saved_pages import saved_view


def fetch(page: Page, name: str, folder: Path) -> Path:
    """Click the button `name`; return the downloaded file, under its suggested name."""
    saved = download(page, page.get_by_role("button", name=name, exact=True))
    saved.save_as(path := folder / saved.suggested_filename)
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


@on_both
def test_downloads_match_the_current_step(open_page, tmp_path) -> None:
    page = open_page("?step=3")
    open_downloads(page)
    png = fetch(page, "Softmax, PNG", tmp_path)
    assert png.name == "attnviz-the-agreement-on-the-step-3-softmax.png"
    content = png.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", content[16:20])[0] >= 2280
    drawn = fetch(page, "Heatmap, SVG", tmp_path).read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert EXAMPLE in drawn, "the title has the sentence"
    pdf = fetch(page, "Softmax, PDF", tmp_path)
    assert "Softmax: step 3 of " in extract_text(pdf, laparams=LAParams())
    trace = Trace.load(fetch(page, "Whole trace, JSON", tmp_path))
    assert trace.source_text == EXAMPLE
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
    assert struct.unpack(">I", png.read_bytes()[16:20])[0] >= 3 * 760


@pytest.mark.nightly
def test_diagram_is_printed_as_pdf_on_paper_of_its_size(open_page, tmp_path) -> None:
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


def test_files_of_the_whole_translation_are_saved_opened_and_closed(open_page, tmp_path) -> None:
    page = open_page("?step=2&depth=numbers")
    before = page.locator(".player .target").inner_text()
    open_downloads(page)
    path = fetch(page, "Whole trace, JSON", tmp_path)
    trace = Trace.load(path)
    tex = fetch(page, "Heatmap for LaTeX, TikZ", tmp_path)
    assert tex.read_text(encoding="utf-8") == export.heatmap_tikz(trace, end=True)
    links = fetch(page, "Word links by attention, Pharaoh format", tmp_path)
    assert links.read_text() == pharaoh(trace.words()) + "\n"
    saved = fetch(page, "Web page for a lecture, HTML", tmp_path).read_text(encoding="utf-8")
    assert saved_view(saved).values_of("face") == [*FACES]
    assert saved_view(saved, "fr", "dark").heatmap()["data"][0]["z"].shape == trace.alignment.shape
    page.keyboard.press("Escape")

    # The file stays open until it is left or another sentence is typed.
    synthetic.trace().save(other := tmp_path / "agreement.json")
    notice, french = page.locator(".st-key-notice"), page.locator(".player .target")
    open_trace(page, other)
    expect(french).to_contain_text("accord a été signé")
    expect(page.locator(".stFileUploader input[type=file]")).to_have_count(0)  # the box closes with each file
    expect(notice).to_contain_text("The trace file")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name=re.compile(r"^Step 2 of 7"))).to_be_visible()
    page.get_by_role("button", name="Back to the sentence above").click()
    expect(french).to_have_text(before)
    expect(notice).to_have_count(0)
    expect(page.locator(".st-key-sentence textarea")).to_have_value(EXAMPLE)
    open_trace(page, path)
    expect(notice).to_contain_text("The trace file")
    type_sentence(page, NEW, "snow")
    expect(notice).to_have_count(0)
