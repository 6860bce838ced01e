"""Page *Corpus*: the sample, brushing and filters, opening a pair, uploads and tables of the server."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from attnviz import Temperature
from attnviz.corpora import Settings, analyse_file
from tests.browser.settled import go_to_page, wait_until_still
from tests.browser.test_axe import violations
from tests.browser.views import text_of
from tests.conftest import SHIPPED_MODEL
from tests.snapshots import without_numbers
from tests.what_if_links import link

ROWS = "[data-testid=stDataFrame]"
SOME = re.compile(r"^\D*(?!200)[1-9]\d* of 200 pairs")


def click_row(page: Page, number: int) -> None:
    page.locator(ROWS).click(position={"x": 14, "y": 35 * number + 18})


@pytest.mark.nightly
def test_sample_can_be_brushed_filtered_and_opened_by_pair(open_page) -> None:
    page = open_page("", path="corpus", ready=".st-key-corpus_sample button")
    page.wait_for_selector(ROWS, timeout=60_000)
    summary = page.locator(".st-key-corpus_said")
    expect(summary).to_contain_text(SOME)
    page.get_by_text("All pairs").click()
    expect(summary).to_contain_text("200 of 200 pairs")

    plot = page.locator(".js-plotly-plot .nsewdrag").first
    box = plot.bounding_box()
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
    click_row(page, 1)
    page.wait_for_selector(".st-key-alignment", timeout=60_000)
    page.wait_for_url(lambda url: "target=" in url and "show=" not in url)
    page.reload()
    page.wait_for_selector(".st-key-alignment", timeout=60_000)
    page.go_back()
    page.wait_for_selector(ROWS)
    expect(page).to_have_url(place)
    expect(summary).to_contain_text(SOME)


SCROLLED = """(top) => [...document.querySelectorAll(".st-key-corpus_list *")].some((node) =>
  node.scrollTop === top && getComputedStyle(node).overflowY === "auto")"""


def test_uploaded_file_and_server_table_open_in_french(open_page, corpora_folder, tmp_path) -> None:
    (tmp_path / "pair.tsv").write_text("A dog sleeps.\tUn chien dort.\n", encoding="utf-8")
    small = SHIPPED_MODEL.with_name("small-additive")
    analyse_file(tmp_path / "pair.tsv", corpora_folder / "mine.parquet", small, Settings(kind=None), device="cpu")
    page = open_page("?lang=fr", path="corpus", ready=".st-key-corpus_sample button")
    summary = page.locator(".st-key-corpus_said").first  # until a run ends, Streamlit may show a moved element twice
    page.locator(".st-key-corpus_table select").select_option(label="mine")
    expect(summary).to_contain_text("1 paire sur 1 de mine")
    expect(page).to_have_url(re.compile("table=mine"))

    own = tmp_path / "miennes.tsv"
    own.write_text("I am hungry.\tJ'ai faim.\none\ttwo\tthree\nIt rains.\tIl pleut.\n", encoding="utf-8")
    page.locator(".st-key-corpus_own button").click()
    box = page.locator("[data-testid=stPopoverBody] [data-testid=stFileUploader]")
    for text in ("Choisir un fichier", "jusqu’à 1 Mo"):  # not those of the page's other uploader
        page.wait_for_function(
            """(text) => [...document.querySelectorAll("[data-testid=stPopoverBody] :is(p, span)")]
              .some((node) => getComputedStyle(node, "::after").content === `"${text}"`)""",
            arg=text,
        )
    box.locator("input[type=file]").set_input_files(own)
    expect(summary).to_contain_text("2 paires sur 2 de miennes.tsv", timeout=60_000)
    expect(box).to_have_count(0)  # it is closed
    summary.get_by_role("button", name="Lignes qui n’ont pas pu servir\u00a0: 1").click()
    expect(page.get_by_text(re.compile("^Ligne 2\u00a0: "))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text(re.compile("^Ligne 2\u00a0: "))).to_be_hidden()

    page.locator(".st-key-corpus_sample button").click()
    expect(summary).to_contain_text("29 paires sur 200", timeout=60_000)
    assert violations(page) == []


def test_a_pair_opens_with_the_model_that_measured_it_and_leads_back_to_its_place(open_page) -> None:
    what_ifs = link(Temperature(2.0, 0))
    page = open_page(f"?model=small-additive&depth=idea&sentence=Two+dogs+play.&what_ifs={what_ifs}&what_if=1")
    expect(page).to_have_url(re.compile("what_if=1"))
    go_to_page(page, "Corpus")
    rows = page.locator(ROWS)
    rows.wait_for(timeout=60_000)
    expect(page).to_have_url(re.compile("table="))
    place = page.url
    rows.hover(position={"x": 200, "y": 200})
    page.mouse.wheel(0, 105)
    page.wait_for_function(SCROLLED, arg=105)
    click_row(page, 1)
    back = page.get_by_role("button", name="Back to the pairs")
    expect(back).to_be_visible(timeout=60_000)
    expect(page).to_have_url(re.compile("target="))
    parameters = parse_qs(urlsplit(page.url).query)
    assert parameters["model"] == ["small-additive"]
    assert "what_ifs" not in parameters, "those of the sentence before"
    assert parameters["sentence"] != ["Two dogs play."]
    back.click()
    rows.wait_for()
    expect(page).to_have_url(place)
    page.wait_for_function(SCROLLED, arg=105)


PAIR = "the green house .\tla maison verte ."


def test_files_of_links_become_a_table_are_scored_compared_and_opened(open_page, tmp_path, snapshot) -> None:
    files = {
        "links-1.txt": f"{PAIR}\t0-0 1-2 2-1 3-3\n",
        "links-2.txt": f"{PAIR}\t0-0 1-1 2-2 3-3\n",
        "gold.txt": "0-0 1-2 2-1 3-3\n" * 2,
        "first.txt": f"{PAIR}\t0-0 1-2 2-1 3-3\n{PAIR}\t0-0 1-1 2-2 3-3\n",
        "other.pharaoh": "0-0 1-2 2-1 3-3\n" * 2,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    page = open_page("", path="corpus", ready=".st-key-corpus_foreign button")
    rows, summary = page.locator(ROWS), page.locator(".st-key-corpus_said")
    rows.wait_for(timeout=60_000)
    popover = page.locator("[data-testid=stPopoverBody]")

    def upload(key: str, *names: str) -> None:
        page.locator(f".st-key-{key} button").first.click()
        popover.locator("input[type=file]").set_input_files([tmp_path / name for name in names])
        expect(popover).to_have_count(0)

    upload("corpus_foreign", "links-2.txt", "links-1.txt")
    expect(summary).to_contain_text("2 of 2 pairs of links-1.txt and 1 other file", timeout=60_000)
    upload("corpus_gold", "gold.txt")
    expect(page.get_by_text("Alignment error rate")).to_contain_text("0.250", timeout=60_000)
    wait_until_still(rows)
    click_row(page, 1)
    expect(page.locator(".st-key-notice")).to_contain_text("links-1.txt", timeout=60_000)
    page.go_back()
    expect(summary).to_contain_text("2 of 2 pairs", timeout=60_000)

    upload("corpus_foreign", "first.txt")
    expect(summary).to_contain_text("2 of 2 pairs of first.txt")
    upload("corpus_other", "other.pharaoh")
    expect(page.locator(".st-key-corpus_agreement")).to_be_visible()
    assert without_numbers(text_of(page.locator(".st-key-corpus_agreement"))) == snapshot
    wait_until_still(rows)
    click_row(page, 2)
    both = page.locator(".st-key-compared_attention")
    expect(both).to_contain_text("Only first.txt has “green” → “maison” (1-1).")
    both.get_by_role("button", name="Only other.pharaoh has “green” → “verte” (1-2).").click()
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 3 of 4"))
