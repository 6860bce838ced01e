"""Page *Corpus*: the sample, brushing and filters, opening a pair, uploads and tables of the server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Locator, expect

from attnviz.corpora import Settings, analyse_file
from attnviz.environment import ATTNVIZ_CORPORA
from attnviz.trace.interventions import Temperature
from tests.browser.conftest import Opener
from tests.browser.contrast import faint
from tests.browser.server import running_server
from tests.browser.settled import go_to_page, wait_until_still
from tests.conftest import SHIPPED_MODEL
from tests.what_if_links import link

pytestmark = pytest.mark.browser

ROWS = "[data-testid=stDataFrame]"
SOME = re.compile(r"^\D*(?!200)[1-9]\d* of 200 pairs")


@pytest.fixture(scope="module")
def corpora_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table of one pair."""
    folder = tmp_path_factory.mktemp("shelf")
    (folder / "pair.tsv").write_text("A dog sleeps.\tUn chien dort.\n", encoding="utf-8")
    analyse_file(folder / "pair.tsv", folder / "mine.parquet", SHIPPED_MODEL, Settings(kind=None), device="cpu")
    return folder


@pytest.fixture(scope="module")
def address(corpora_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an app with that table."""
    log = tmp_path_factory.mktemp("page") / "page.log"
    with running_server(SHIPPED_MODEL.parent, log, **{ATTNVIZ_CORPORA: str(corpora_folder)}) as (found, _):
        yield found


@pytest.mark.nightly
def test_sample_can_be_brushed_filtered_and_opened_by_pair(open_page: Opener) -> None:
    page = open_page("", path="corpus", ready=".st-key-corpus_sample button")
    page.wait_for_selector(ROWS, timeout=60_000)
    summary = page.locator(".st-key-corpus_said")
    expect(summary).to_contain_text(SOME)
    page.get_by_text("All pairs").click()
    expect(summary).to_contain_text("200 of 200 pairs")

    plot = page.locator(".js-plotly-plot .nsewdrag").first
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] * 0.6)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] - 2, steps=5)
    page.mouse.up()
    expect(summary).to_contain_text(SOME)
    expect(page).to_have_url(re.compile("brush="))
    marked = page.locator(".js-plotly-plot .selectionlayer path")
    expect(marked.first).to_be_attached()
    page.reload()
    expect(summary).to_contain_text(SOME, timeout=60_000)
    expect(marked.first).to_be_attached()
    summary.get_by_role("button").click()
    expect(summary).to_contain_text("200 of 200 pairs")
    expect(marked).to_have_count(0)

    page.get_by_text("Possible omissions").click()
    expect(summary).to_contain_text(SOME)
    expect(page).to_have_url(re.compile("show=omitted"))
    place = page.url

    rows = page.locator(ROWS).bounding_box()
    assert rows is not None
    page.mouse.click(rows["x"] + 16, rows["y"] + 35 + 17)
    page.wait_for_selector(".st-key-alignment", timeout=60_000)
    for again in (False, True):
        page.wait_for_url(lambda url: "target=" in url and "show=" not in url)
        if again:
            page.reload()
            page.wait_for_selector(".st-key-alignment", timeout=60_000)
        page.go_back()
        page.wait_for_selector(ROWS)
        expect(page).to_have_url(place)
        expect(summary).to_contain_text(SOME)
        if not again:
            page.go_forward()
            page.wait_for_selector(".st-key-alignment", timeout=60_000)


SCROLLED = """(top) => [...document.querySelectorAll(".st-key-corpus_list *")].some((node) =>
  node.scrollTop === top && getComputedStyle(node).overflowY === "auto")"""


def test_an_omission_opened_from_the_list_leads_back_to_it(open_page: Opener) -> None:
    page = open_page("?show=wrong&sort=omitted&descending=1", path="corpus", ready=ROWS)
    expect(page).to_have_url(re.compile("table="))
    place = page.url
    rows = page.locator(ROWS).bounding_box()
    assert rows is not None
    page.mouse.move(rows["x"] + 200, rows["y"] + 200)
    page.mouse.wheel(0, 105)
    page.wait_for_function(SCROLLED, arg=105)
    page.mouse.click(rows["x"] + 16, rows["y"] + 35 + 17)
    unread = page.locator(".player .source .unread")
    expect(unread.first).to_be_visible(timeout=60_000)
    page.locator(".player .source .suspect").first.click()
    page.keyboard.press("Escape")
    expect(unread.first).to_be_visible()
    page.get_by_role("button", name="Back to the pairs").click()
    page.wait_for_selector(ROWS)
    expect(page).to_have_url(place)
    page.wait_for_function(SCROLLED, arg=105)
    page.locator('.page-links a[data-page=""]').click()
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_role("button", name="Back to the pairs")).to_have_count(0)


def test_a_pair_is_opened_with_the_model_that_measured_it_and_without_earlier_what_ifs(open_page: Opener) -> None:
    what_ifs = link(Temperature(2.0, 0))
    page = open_page(f"?model=small-additive&sentence={quote('Two dogs play.')}&what_ifs={what_ifs}&what_if=1")
    expect(page).to_have_url(re.compile("what_if=1"))
    go_to_page(page, "Corpus")
    page.wait_for_selector(ROWS, timeout=60_000)
    rows = page.locator(ROWS).bounding_box()
    assert rows is not None
    page.mouse.click(rows["x"] + 16, rows["y"] + 35 + 17)
    expect(page.get_by_role("button", name="Back to the pairs")).to_be_visible(timeout=60_000)
    expect(page).to_have_url(re.compile("target="))
    parameters = parse_qs(urlsplit(page.url).query)
    assert parameters["model"] == ["small-additive"]
    assert "what_ifs" not in parameters
    assert parameters["sentence"] != ["Two dogs play."]


def test_uploaded_file_and_server_table_open_in_french(open_page: Opener, tmp_path: Path) -> None:
    page = open_page("?lang=fr", path="corpus", ready=".st-key-corpus_sample button")
    summary = page.locator(".st-key-corpus_said").first  # until a run ends, Streamlit may show a moved element twice
    page.locator(".st-key-corpus_table select").select_option(label="mine")
    expect(summary).to_contain_text("1 paire sur 1 de mine")
    expect(page).to_have_url(re.compile("table=mine"))

    own = tmp_path / "miennes.tsv"
    own.write_text("I am hungry.\tJ'ai faim.\none\ttwo\tthree\nIt rains.\tIl pleut.\n", encoding="utf-8")
    page.locator(".st-key-corpus_own button").click()
    box = page.locator("[data-testid=stPopoverBody] [data-testid=stFileUploader]")
    _expect_empty_uploader(box)
    box.locator("input[type=file]").set_input_files(own)
    expect(summary).to_contain_text("2 paires sur 2 de miennes.tsv", timeout=60_000)
    expect(box).to_have_count(0)  # it is closed
    summary.get_by_role("button", name="Lignes qui n’ont pas pu servir\u00a0: 1").click()
    expect(page.get_by_text(re.compile("^Ligne 2\u00a0: "))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text(re.compile("^Ligne 2\u00a0: "))).to_be_hidden()

    picture = tmp_path / "miennes.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    for name in ("miennes.png", "empty.tsv", "miennes.png"):
        (tmp_path / "empty.tsv").touch()
        wait_until_still(page.locator(".st-key-corpus_own button"))
        page.locator(".st-key-corpus_own button").click()
        _expect_empty_uploader(box)
        box.locator("input[type=file]").set_input_files(tmp_path / name)
        # The error names the last file, and the table before it is still shown.
        expect(page.locator(".st-key-corpus_problem")).to_contain_text(name, timeout=60_000)
        expect(summary).to_contain_text("2 paires sur 2 de miennes.tsv")
        expect(box).to_have_count(0)
    page.locator(".st-key-corpus_sample button").click()
    expect(summary).to_contain_text("29 paires sur 200", timeout=60_000)
    expect(page.locator(".st-key-corpus_problem")).to_have_count(0)
    expect(page.locator(".st-key-corpus_said")).to_have_count(1)
    assert faint(page, more_than=15) == []


def _expect_empty_uploader(box: Locator) -> None:
    """Expect an uploader without a file, in French."""
    label = box.locator("button p").evaluate("node => getComputedStyle(node, '::after').content")
    assert label == '"Choisir des fichiers"'
    expect(box.get_by_text(re.compile(r"\.(tsv|png)"))).to_have_count(0)


def test_attention_files_become_a_table_are_scored_and_opened(open_page: Opener, tmp_path: Path) -> None:
    words = "In 1992 , Smith left Paris ."
    right, off = (" ".join(f"{max(k - shift, 0)}-{k}" for k in range(7)) for shift in (0, 1))
    for number, links in enumerate((right, off), 1):
        (tmp_path / f"links-{number}.txt").write_text(f"{words}\t{words}\t{links}\n")
    (tmp_path / "gold.txt").write_text(f"{right}\n{right}\n")
    page = open_page("", path="corpus", ready=".st-key-corpus_foreign button")
    box = page.locator("[data-testid=stPopoverBody] [data-testid=stFileUploader]")
    page.locator(".st-key-corpus_foreign button").click()
    box.locator("input[type=file]").set_input_files([tmp_path / f"links-{number}.txt" for number in (2, 1)])
    summary = page.locator(".st-key-corpus_said")
    expect(summary).to_contain_text("2 of 2 pairs of links-1.txt and 1 other file", timeout=60_000)
    page.locator(".st-key-corpus_show").get_by_role("radio", name="One word off").click()
    expect(summary).to_contain_text("1 of 2 pairs")
    page.locator(".st-key-corpus_gold button").click()
    box.locator("input[type=file]").set_input_files(tmp_path / "gold.txt")
    expect(page.get_by_text("Alignment error rate")).to_contain_text("0.429", timeout=60_000)
    rows = page.locator(ROWS).bounding_box()
    assert rows is not None
    wait_until_still(page.locator(ROWS))
    page.mouse.click(rows["x"] + 16, rows["y"] + 35 + 17)
    page.wait_for_selector(".st-key-heatmap .js-plotly-plot .ytick", timeout=60_000)
    expect(page.locator(".st-key-notice")).to_contain_text("links-1.txt")
    frames = page.locator(".st-key-heatmap .js-plotly-plot").evaluate(
        "chart => chart.layout.shapes.filter(({ x0, x1 }) => x1 - x0 > 2 && x1 - x0 < 7).map(({ y0, y1 }) => [y0, y1])"
    )
    assert frames == [[0.5, 6.5]]
    page.go_back()
    expect(summary).to_contain_text("1 of 2 pairs", timeout=60_000)
