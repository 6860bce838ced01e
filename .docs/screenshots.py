"""Take the screenshots of the documentation: `python .docs/screenshots.py [folder]`."""

from __future__ import annotations

import argparse
import csv
import io
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote_plus, urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from PIL import Image
from playwright.sync_api import Locator, Page, sync_playwright

from attnviz.evaluation.example_sentences import FIGURE_3
from attnviz.export.images import for_print, image
from attnviz.figures.why_attention_figure import bleu_by_length
from attnviz.ui.examples import DEFAULT_SENTENCE
from attnviz.ui.resources import LENGTH_FILE
from tests.browser.jupyterlab import command, run_notebook, running_jupyterlab, write_notebook
from tests.browser.server import CHROMIUM_FLAGS, READY, REPOSITORY, find_chromium, running_server
from tests.browser.settled import settled
from tests.what_if_links import link, only

# A pair of the sample of *Corpus*, with links marked by hand.
OLDER = {
    "sentence": "My brother is older than I am.",
    "target": "Mon frère est plus âgé que moi.",
    "gold": "0-0 1-1 2-2 3-3 3-4 4-5 5-6 6?6 7-7",
    "depth": "everything",
}
ASIDE = {
    # Attention weights changed by hand, and the resulting translation.
    "what-if": f"?sentence=He+is+an+honest+man.&what_ifs={link(only(7, 4, 3))}&what_if=1&depth=everything#step=5",
    # A word whose posterior attention peaks at another piece than its attention.
    "posterior": f"?sentence={quote_plus(FIGURE_3[1])}&depth=everything#step=4&source=5&after_word=1",
    "lab": f"lab?section=attributions&sentence={quote_plus(DEFAULT_SENTENCE)}#step=3",
    "why": "why",
    "beam-tree": f"lab?section=tree&sentence={quote_plus(DEFAULT_SENTENCE)}#step=3",
    # The guided run has learnt an exchange of places, the other is still grey.
    "learns": "learns?pair=6#update=250",
    "tour": f"?sentence={quote_plus(DEFAULT_SENTENCE)}&depth=idea#tour=4",
    "transformer": (
        f"transformer?sentence={quote_plus(DEFAULT_SENTENCE)}&exhibit=heads#form-energies=heads&step-head=3"
    ),
    "corpus": "corpus",
    "gold": f"?{urlencode(OLDER)}",
    "neighbours": f"lab?section=neighbours&sentence={quote_plus(DEFAULT_SENTENCE)}#step=3",
}
"""URLs of the other screenshots, by the name of the file."""
IDEA = f"?sentence={quote_plus(DEFAULT_SENTENCE)}&depth=idea#step=3"
"""The first page as a newcomer sees it, down to the architecture diagram."""
_PARTS = {"posterior": ".st-key-looking_back"}
"""Screenshots that show only one part of the page, by the selector of the part."""
_LAST = {
    "": ".st-key-contrast",
    "lab": ".st-key-section_panel",
    "learns": ".st-key-heatmap_2-learns",
    "why": ".st-key-by_length-why",
    "transformer": ".st-key-heatmap-head",
    "corpus": "[class*=st-key-corpus_plot]",
}
"""Selector of the container whose chart is drawn last, by page."""
_HIGH = {"gold": 1060, "neighbours": 1060}
"""Window heights of screenshots whose subject does not fit the default window."""
_CELL = f"""from attnviz import Translator

Translator.load("en-fr").translate({DEFAULT_SENTENCE!r})"""
_COLOURS = 256
"""Of a picture that is kept: text stays as sharp, and the file takes a third. Rare ones are among them, and a round of
k-means has greys stay grey."""


def photograph(what: Page | Locator, path: Path) -> None:
    """Save a screenshot of a page, or of a part of it, as a small file."""
    save(what.screenshot(), path)


def save(picture: bytes, path: Path) -> None:
    """Save a picture with few colours."""
    with Image.open(io.BytesIO(picture)) as whole:
        reduced = whole.convert("RGB").quantize(
            _COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
        )
        reduced.save(path, optimize=True)


def length_curves(models: Path, folder: Path) -> None:
    """Keep the curves of BLEU by sentence length."""
    with (models / LENGTH_FILE).open(encoding="utf-8", newline="") as file:
        save(image(for_print(bleu_by_length([*csv.DictReader(file)])), "png"), folder / "by-length.png")


def bottom(what: Locator) -> float:
    """Return how far below the top of the window a part of a page ends, in pixels."""
    box = what.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def first_page(page: Page, address: str, folder: Path) -> None:
    """Keep the first page, and its stages, for which the window is made as high as they are."""
    page.goto(address)
    page.wait_for_selector(READY, timeout=60_000)
    page.wait_for_selector(".st-key-logit-attribution .js-plotly-plot", timeout=60_000)
    settled(page)
    photograph(page, folder / "screenshot.png")
    stages, size = page.locator(".st-key-stages"), page.viewport_size
    page.set_viewport_size(size | {"height": int(stages.bounding_box()["height"]) + 1200})
    settled(page)
    photograph(stages, folder / "stages.png")


def newcomer_page(page: Page, address: str, folder: Path) -> None:
    """Keep the first page as a newcomer sees it, down to the architecture diagram."""
    page.goto(address)
    settled(page, ".st-key-heatmap")
    page.set_viewport_size(page.viewport_size | {"height": int(bottom(page.locator(".st-key-diagram_box"))) + 24})
    settled(page, ".st-key-heatmap")
    photograph(page, folder / "idea.png")


def notebook_page(page: Page, folder: Path) -> None:
    """Keep a notebook in JupyterLab with the step view of a trace."""
    with tempfile.TemporaryDirectory() as name:
        write_notebook(Path(name), _CELL)
        with running_jupyterlab(Path(name)) as address:
            run_notebook(page, address, 1)
            command(page, "application:toggle-left-area")
            page.locator(".attnviz-guest .player .transport .next").click()
            page.keyboard.press("ArrowRight")
            page.wait_for_selector("[data-waiting]", state="detached")
            page.mouse.move(0, 0)
            photograph(page, folder / "notebook.png")


def main() -> None:
    """Take the pictures, and write them to the folder of the documentation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=REPOSITORY / ".docs" / "pages" / "images")
    parser.add_argument("--models", type=Path, default=REPOSITORY / "models", help="folder of model folders")
    query = f"?sentence={quote_plus(DEFAULT_SENTENCE)}&depth=everything#step=3"  # where the adjective follows its noun
    parser.add_argument("--query", default=query, help="what follows the address, as copied from a browser")
    parser.add_argument("--size", default="1440x900", help="width and height of the window in pixels")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument(
        "--only", nargs="+", choices=[*ASIDE, "notebook"], metavar="NAME", help=f"of {', '.join(ASIDE)}, notebook"
    )
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    options.folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(options.models.resolve(), Path(folder) / "page.log") as (address, _),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        scheme = "dark" if options.dark else "light"
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        if not options.only:
            first_page(page, f"{address}/{options.query}", options.folder)
            newcomer_page(page, f"{address}/{IDEA}", options.folder)
            length_curves(options.models, options.folder)
        for name in options.only or [*ASIDE, "notebook"]:
            page.set_viewport_size({"width": width, "height": _HIGH.get(name, height)})
            if name == "notebook":
                notebook_page(page, options.folder)
                continue
            place = ASIDE[name]
            page.goto(f"{address}/{place}")
            if name == "corpus":
                page.locator(".st-key-corpus_sample button").click()
                page.mouse.move(0, 0)
            last = ".st-key-vector_map" if name == "neighbours" else _LAST[urlsplit(place).path]
            settled(page, ".st-key-heatmap" if "depth=idea" in place else last)
            shown: Page | Locator = page
            if name in _PARTS:
                shown = page.locator(_PARTS[name])
                shown.scroll_into_view_if_needed()
                settled(page)
            photograph(shown, options.folder / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
