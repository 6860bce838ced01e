"""Show one trace in the app, a notebook, a file and another app: `python -m tests.browser.four_hosts [folder]`."""

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote_plus

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from attnviz import Translator, export
from tests.browser.jupyterlab import run_notebook, running_jupyterlab, write_notebook
from tests.browser.server import CHROMIUM_FLAGS, REPOSITORY, find_chromium, running_page

SENTENCE = "I have a green house and a red car."
MODEL = "small-additive"
CELL = f"""from attnviz import Translator

Translator.load({MODEL!r}).translate({SENTENCE!r})"""
VIEW = "[class*='st-key-room']"
HOSTS = ("app", "notebook", "file", "other-app")


def show_in(host: str, page: Page, folder: Path, stack: ExitStack) -> None:
    """Show the view in a host, until the stack is closed."""
    models, log = REPOSITORY / "models", folder / "app.log"
    if host == "app":
        address = stack.enter_context(running_page(models, log))
        page.goto(f"{address}/?sentence={quote_plus(SENTENCE)}&model={MODEL}&depth=numbers")
    elif host == "notebook":
        write_notebook(folder, CELL)
        run_notebook(page, stack.enter_context(running_jupyterlab(folder)), 1)
    elif host == "file":
        export.save(Translator.load(MODEL).translate(SENTENCE), folder / "view.html")
        page.goto((folder / "view.html").as_uri())
    else:
        page.goto(stack.enter_context(running_page(models, log, "tests/browser/foreign_app.py")))


def photograph(page: Page, path: Path) -> None:
    """Save a picture of the whole view on a page, once it is drawn: the window is made as high as the view."""
    view = page.locator(VIEW).first
    page.wait_for_selector(f"{VIEW} .st-key-candidates .js-plotly-plot", timeout=120_000)
    for _ in range(2):  # a higher window shows parts that were not drawn before
        height = view.bounding_box()
        page.set_viewport_size({"width": 1500, "height": int(height["height"] + 600)})
        page.wait_for_selector("[data-waiting]", state="detached")
        page.wait_for_timeout(1000)
    view.screenshot(path=path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(tempfile.gettempdir()) / "four-hosts")
    parser.add_argument("--only", nargs="+", choices=HOSTS, default=HOSTS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        for name in options.only:
            page = browser.new_page(viewport={"width": 1500, "height": 1100}, reduced_motion="reduce")
            with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
                show_in(name, page, Path(folder), stack)
                photograph(page, options.folder / f"{name}.png")
            page.close()
        browser.close()
    pictures = [Image.open(options.folder / f"{name}.png") for name in options.only]
    beside = Image.new("RGB", (sum(one.width for one in pictures), max(one.height for one in pictures)), "white")
    left = 0
    for one in pictures:
        beside.paste(one, (left, 0))
        left += one.width
    beside.save(options.folder / "beside.png")
    print(options.folder / "beside.png")


if __name__ == "__main__":
    main()
