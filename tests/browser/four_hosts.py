"""Show one trace in the app, a notebook, a file and another app: `python -m tests.browser.four_hosts [folder]`.

The views have one width in all hosts, so that they may differ in their frames only; axe checks each.
"""

import argparse
import itertools
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, get_args
from urllib.parse import quote_plus

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from attnviz import Translator, export
from attnviz.languages import LANGUAGES, set_language
from attnviz.palette import ThemeName
from attnviz.trace.drawing import DetailLevel
from tests.browser.jupyterlab import command, run_notebook, running_jupyterlab, write_notebook
from tests.browser.server import CHROMIUM_FLAGS, REPOSITORY, find_chromium, running_server
from tests.browser.test_axe import violations

SENTENCE = "I have a green house and a red car."
MODEL = "small-additive"
VIEW = "[class*='st-key-room']"
HOSTS = ("app", "notebook", "file", "other-app")


class Look(NamedTuple):
    """How a view is looked at."""

    language: str
    theme: ThemeName
    width: int
    """Pixels of the view."""
    forced_colors: bool

    def __str__(self) -> str:
        """Return the look as a part of a file name."""
        return f"{self.language}-{self.theme}-{self.width}{'-forced' * self.forced_colors}"


def start(host: str, language: str, arguments: argparse.Namespace, folder: Path, stack: ExitStack) -> str:
    """Start a host in a language, until the stack is closed; return the address of its view."""
    models, log, sentence, level = REPOSITORY / "models", folder / "app.log", arguments.sentence, arguments.level
    code = (
        "from attnviz import Translator\nfrom attnviz.languages import set_language\n"
        f"set_language({language!r})\ntrace = Translator.load({MODEL!r}).translate({sentence!r})\n"
    )
    if host == "app":
        address, _ = stack.enter_context(running_server(models, log))
        return f"{address}/?sentence={quote_plus(sentence)}&model={MODEL}&depth={level}&lang={language}"
    if host == "notebook":
        write_notebook(folder, f"{code}from attnviz.view.notebook import StepView\nStepView(trace, level={level!r})")
        return stack.enter_context(running_jupyterlab(folder))
    if host == "file":
        set_language(language)
        text = export.page_html(Translator.load(MODEL).translate(sentence), level=level)
        (folder / "view.html").write_text(text, encoding="utf-8")
        return (folder / "view.html").as_uri()
    script = folder / "app.py"
    page = "import streamlit as st\nst.set_page_config('My translator', layout='wide')\n"
    script.write_text(f"{page}{code}from attnviz.view.streamlit import show\nshow(trace, level={level!r})")
    return stack.enter_context(running_server(models, log, str(script)))[0]


def open_view(host: str, page: Page, address: str, look: Look) -> None:
    """Open the view at the address of its host."""
    if host == "notebook":
        run_notebook(page, address, 1)
        command(page, "application:toggle-left-area")
        command(page, "apputils:change-theme", theme=f"JupyterLab {look.theme.capitalize()}")
        page.wait_for_selector(f".attnviz-guest[data-theme={look.theme}]")
    else:
        page.goto(address)


def photograph(page: Page, path: Path, width: int) -> None:
    """Save a picture of the whole view on a page, once it is drawn: the window is made as high as the view.

    The window is also made so wide that the view has the `width`.
    """
    view = page.locator(VIEW).first
    page.wait_for_selector(f"{VIEW} .st-key-candidates .js-plotly-plot", timeout=120_000)
    for _ in range(2):  # a higher window shows parts that were not drawn before
        box, window = view.bounding_box(), page.viewport_size
        wider = round(width - box["width"])
        page.set_viewport_size({"width": window["width"] + wider, "height": int(box["height"] + 600)})
        page.wait_for_selector("[data-waiting]", state="detached")
        page.wait_for_timeout(1000)
    view.screenshot(path=path)


def show(host: str, looks: list[Look], arguments: argparse.Namespace, browser: Browser) -> list[Any]:
    """Save a picture of the view in a host for each look; return what axe finds there."""
    found = []
    for language, several in itertools.groupby(looks, lambda look: look.language):
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            address = start(host, language, arguments, Path(folder), stack)
            for look in several:
                size, forced = {"width": look.width, "height": 1100}, "active" if look.forced_colors else "none"
                page = browser.new_page(
                    viewport=size, color_scheme=look.theme, forced_colors=forced, reduced_motion="reduce"
                )
                open_view(host, page, address, look)
                photograph(page, arguments.folder / f"{look}-{host}.png", look.width)
                found += [(f"{look} {host}", one) for one in violations(page, VIEW)]
                page.close()
    return found


def put_beside(folder: Path, look: Look, hosts: Sequence[str]) -> Path:
    """Save the pictures of a look side by side; return the path."""
    pictures = [Image.open(folder / f"{look}-{host}.png") for host in hosts]
    beside = Image.new("RGB", (sum(one.width for one in pictures), max(one.height for one in pictures)), "white")
    for left, one in zip(itertools.accumulate((one.width for one in pictures), initial=0), pictures, strict=False):
        beside.paste(one, (left, 0))
    path = folder / f"{look}.png"
    beside.save(path)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(tempfile.gettempdir()) / "four-hosts")
    parser.add_argument("--only", nargs="+", choices=HOSTS, default=HOSTS)
    parser.add_argument("--language", nargs="+", choices=[*LANGUAGES], default=["en"])
    parser.add_argument("--theme", nargs="+", choices=get_args(ThemeName), default=["light"])
    parser.add_argument("--width", nargs="+", type=int, default=[1440])
    parser.add_argument("--forced-colors", action="store_true")
    parser.add_argument("--level", choices=get_args(DetailLevel), default="numbers")
    parser.add_argument("--sentence", default=SENTENCE)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    choices = itertools.product(arguments.language, arguments.theme, arguments.width, [arguments.forced_colors])
    looks = [Look(*chosen) for chosen in choices]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        found = [one for host in arguments.only for one in show(host, looks, arguments, browser)]
        browser.close()
    for look in looks:
        print(put_beside(arguments.folder, look, arguments.only))
    if found:
        raise SystemExit("\n".join(map(str, found)))


if __name__ == "__main__":
    main()
