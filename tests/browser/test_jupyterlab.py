"""The step view in a real JupyterLab: shown, stepped, changed by hand, dark, saved and converted."""

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.jupyterlab import command, run_notebook, running_jupyterlab, write_notebook
from tests.browser.test_axe import violations
from tests.browser.test_step_show import play
from tests.processes import run_python

pytestmark = pytest.mark.nightly
SENTENCE = "The green house is old."
CHANGEABLE = f"""from attnviz import Translator
from attnviz.view.notebook import StepView

translator = Translator.load("small-additive", device="cpu")
trace = translator.translate({SENTENCE!r})
StepView(trace, translator=translator, level="everything")"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("notebooks")
    write_notebook(folder, CHANGEABLE, "trace")
    return folder


@pytest.fixture(scope="module")
def page(chromium, folder) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1500, "height": 1100}, reduced_motion="reduce")
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    with running_jupyterlab(folder) as address:
        run_notebook(page, address, 2)
        yield page
    context.close()
    assert errors == []


def step(page: Page, view: int = 0) -> Locator:
    """Return the root of a view, whose `data-step` is its step."""
    return page.locator(".attnviz-guest [class*='st-key-room']").nth(view)


def test_keys_step_only_while_the_focus_is_in_the_view(page) -> None:
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    cells.first.locator(".jp-InputPrompt").click()  # command mode
    page.keyboard.press("ArrowRight")
    expect(step(page)).to_have_attribute("data-step", "0")
    page.locator(".attnviz-guest .player .transport .next").first.click()
    expect(step(page)).to_have_attribute("data-step", "1")
    page.keyboard.press("ArrowRight")
    expect(step(page)).to_have_attribute("data-step", "2")
    expect(step(page, 1)).to_have_attribute("data-step", "0")
    for key in ("b", "a", "d", "d", "ArrowDown"):  # shortcuts of JupyterLab in command mode
        page.keyboard.press(key)
    expect(cells).to_have_count(2)
    page.keyboard.press("Home")
    expect(step(page)).to_have_attribute("data-step", "0")


def test_step_is_played_and_a_what_if_is_made_by_a_click(page) -> None:
    page.emulate_media(reduced_motion="no-preference")
    root = page.locator(".attnviz-guest .diagram").first
    play(root)
    root.locator(".close").click()
    page.emulate_media(reduced_motion="reduce")
    view = page.locator(".attnviz-guest").first
    before = step(page).evaluate("(root) => root.attnvizView.view.identity")
    view.get_by_role("button", name="Look only here").click()  # named once its numbers are there
    expect(view.locator(".st-key-what_if_cards .card")).to_have_count(2, timeout=60_000)
    page.wait_for_function(
        "(before) => document.querySelector(`[class*='st-key-room']`).attnvizView.view.identity !== before", arg=before
    )
    expect(page.locator(".attnviz-guest").nth(1).locator(".st-key-weight_controls")).to_have_count(0)


def test_theme_of_jupyterlab_is_followed(page) -> None:
    guests = page.locator(".attnviz-guest")
    expect(guests.first).to_have_attribute("data-theme", "light")
    assert violations(page, ".attnviz-guest") == []
    command(page, "apputils:change-theme", theme="JupyterLab Dark")
    for view in (0, 1):
        expect(guests.nth(view)).to_have_attribute("data-theme", "dark")
        expect(guests.nth(view)).to_have_css("background-color", "rgb(23, 23, 26)")
    assert violations(page, ".attnviz-guest") == []
    command(page, "apputils:change-theme", theme="JupyterLab Light")
    expect(guests.first).to_have_attribute("data-theme", "light")


def test_saved_notebook_converts_to_a_page_with_the_table(page, folder) -> None:
    command(page, "docmanager:save")
    saved = nbformat.read(folder / "view.ipynb", as_version=4)
    assert "<table" in saved.cells[1].outputs[0].data["text/html"]
    run_python("-m", "nbconvert", "--to", "html", "view.ipynb", folder=folder)
    page.goto((folder / "view.html").as_uri())
    expect(page.locator("table").filter(has_text="maison")).to_have_count(2)
