"""Somebody else's Streamlit app with a step view: the view works, and leaves the app alone."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from attnviz import Trace, Translator
from attnviz.view.notebook import StepView
from tests.browser.conftest import Opener
from tests.browser.jupyterlab import DRAWN
from tests.browser.server import REPOSITORY, running_server
from tests.browser.test_axe import violations
from tests.browser.test_step_show import play
from tests.conftest import SHIPPED_MODEL
from tests.figures import synthetic

SENTENCE = "I have a green house and a red car."
ROOM = ".attnviz-guest .st-key-room"
DUPLICATES = """() => {
  const ids = [...document.querySelectorAll(".attnviz-guest [id]")].map(({ id }) => id);
  return ids.filter((id, place) => ids.indexOf(id) !== place);
}"""
"""JavaScript that returns the ids of several elements."""


@pytest.fixture
def open_app(chromium, tmp_path) -> Iterator[Opener]:
    errors: list[str] = []
    with ExitStack() as stack:

        def open_at(script: str, query: str = "", **how: Any) -> Page:
            # The default settings of Streamlit.
            settings = {"PYTHONPATH": str(REPOSITORY), "STREAMLIT_SERVER_HEADLESS": "true", "HOME": str(tmp_path)}
            settings["STREAMLIT_BROWSER_GATHER_USAGE_STATS"] = "false"
            path, log = str(Path(__file__).with_name(script)), tmp_path / "page.log"
            server = running_server(SHIPPED_MODEL.parent, log, path, tmp_path, **settings)
            address, _ = stack.enter_context(server)
            size = {"width": 1440, "height": 1000}
            page = stack.enter_context(chromium.new_context(viewport=size, reduced_motion="reduce", **how)).new_page()
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(address + query)
            page.wait_for_selector(DRAWN, timeout=120_000)
            return page

        yield open_at
    assert errors == []


def test_view_is_stepped_replaced_and_played_and_leaves_the_app_alone(open_app) -> None:
    trace = Translator[Trace].load("small-additive", device="cpu").translate(SENTENCE)
    page = open_app("foreign_app.py", "/?step=4&lang=fr", color_scheme="dark")
    address = page.url
    assert address.endswith("/?step=4&lang=fr")
    attributes = "() => [...document.documentElement.attributes].map(({ name, value }) => `${name}=${value}`)"
    before = page.evaluate(attributes)
    expect(page.locator(ROOM)).to_have_attribute("data-step", "0")  # `step` is a parameter of the app
    expect(page.locator(".attnviz-guest")).to_have_css("background-color", "rgb(23, 23, 26)")
    assert violations(page, ".attnviz-guest") == []
    page.emulate_media(reduced_motion="no-preference")
    play(page.locator(".attnviz-guest .diagram"))
    page.locator(".attnviz-guest .diagram .close").click()
    page.emulate_media(reduced_motion="reduce")
    room, player = page.locator(ROOM), page.locator(".attnviz-guest .player")
    player.locator(".transport .next").click()
    expect(room).to_have_attribute("data-step", "1")
    page.keyboard.press("ArrowRight")
    expect(room).to_have_attribute("data-step", "2")
    chart = page.locator(f"{ROOM} .st-key-heatmap .js-plotly-plot")
    rows = "(chart) => chart.data.find(({ type }) => type === 'heatmap').z.map((row) => [...row])"
    shown = chart.evaluate(rows)
    assert [len(shown), len(shown[0])] == list(trace.alignment.shape)
    assert abs(shown[2][1] - float(trace.alignment[2, 1])) < 1e-4
    text = page.get_by_label("English", exact=True).first
    for key in ("End", "ArrowLeft", "b"):
        text.press(key)
    expect(text).to_have_value(f"{SENTENCE[:-1]}b.")
    text.fill(SENTENCE)
    page.get_by_role("button", name="Write the translation").click()
    expect(page.get_by_test_id("stText")).to_contain_text("maison")
    text.fill("Two dogs play in the snow.")
    text.press("Enter")
    expect(page.locator(".attnviz-guest .player .source")).to_contain_text("dogs")
    expect(page.locator(".attnviz-guest .player .target")).not_to_contain_text("maison")
    expect(page.locator(".attnviz-guest")).to_have_count(1)
    player.locator(".transport .next").click()
    expect(page.locator(f"{ROOM} .facts h2")).to_contain_text("Step 2")
    assert page.url == address
    assert page.evaluate("history.state?.attnvizEntry ?? null") is None
    assert page.evaluate("document.cookie.includes('attnviz')") is False
    assert page.evaluate(attributes) == before
    expect(page).to_have_title("My translator")


def test_view_is_drawn_in_an_element_that_the_host_attaches_later(open_from_disk) -> None:
    script = StepView._esm.replace("export default", "globalThis.guest =")
    page = open_from_disk(f"<body style='background: black'><script type=module>{script}</script>")
    page.wait_for_function("() => globalThis.guest")
    page.evaluate(
        """(view) => {
          const el = document.createElement("div");
          const model = { get: (name) => model[name], set: (name, value) => model[name] = value, view };
          for (const name of ["on", "off", "save_changes"]) model[name] = () => {};
          guest.render({ model, el });
          document.body.append(el);
          globalThis.model = model;
        }""",
        StepView(synthetic.trace()).view,
    )
    page.wait_for_selector(DRAWN)
    assert page.evaluate("model.theme") == "dark"


@pytest.mark.nightly
def test_two_views_of_a_trace_keep_apart(open_app) -> None:
    page = open_app("two_foreign_views.py")
    rooms = page.locator(ROOM)
    page.locator(DRAWN).nth(-1).wait_for()
    expect(rooms).to_have_count(2)
    expect(rooms.nth(1)).to_have_attribute("data-step", "2")
    expect(rooms.nth(0)).to_have_attribute("data-by", "steps")
    expect(rooms.nth(1)).to_have_attribute("data-by", "words")
    assert page.evaluate(DUPLICATES) == []
    assert violations(page, ".attnviz-guest") == []
    rooms.nth(1).get_by_text("strongest first").click()
    expect(rooms.nth(1).locator(".order input[value='strongest']")).to_be_checked()
    expect(rooms.nth(0).locator(".order input[value='sentence']")).to_be_checked()
    page.locator(".attnviz-guest .transport .next").first.click()
    page.keyboard.press("ArrowRight")
    expect(rooms.nth(0)).to_have_attribute("data-step", "2")
    page.get_by_text("no", exact=True).click()  # a radio of the app keeps the focus, and its own keys
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("radio", name="yes")).to_be_checked()
    expect(rooms.nth(0)).to_have_attribute("data-step", "2")
    expect(rooms.nth(1)).to_have_attribute("data-step", "2")
