"""Window sizes and themes for browser tests, and positions of chart points in the window."""

from functools import partial
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest
from _pytest.mark import ParameterSet
from playwright.sync_api import Download, Locator, Page

from attnviz.evaluation.example_sentences import FIGURE_3
from attnviz.ui.selection import BROWSER_PARAMETERS
from tests.browser.settled import wait_until_still

EXAMPLE = FIGURE_3[0]
"""Sentence of most tests: words of one and of several pieces, an elision, and reordered words."""
_IN_FRAGMENT = {"lecture", "update", *(one.name for one in BROWSER_PARAMETERS)}
"""Parameters of an address that only the browser reads."""


def address_with(parameters: str) -> str:
    """Return the query and the fragment of a link with `parameters`, such as "?lang=fr&step=3"."""
    parts = [part for part in parameters.removeprefix("?").split("&") if part]
    of_fragment = [part for part in parts if part.partition("=")[0].partition("-")[0] in _IN_FRAGMENT]
    query, fragment = "&".join(part for part in parts if part not in of_fragment), "&".join(of_fragment)
    return (f"?{query}" if query else "") + (f"#{fragment}" if fragment else "")


def parameters_of(address: str) -> dict[str, str]:
    """Return the parameters of an address, those of its query and of its fragment."""
    parts = urlsplit(address)
    return dict(parse_qsl(f"{parts.query}&{parts.fragment}", keep_blank_values=True))


class View(NamedTuple):
    """A window's size in pixels, and its theme."""

    width: int
    height: int
    dark: bool

    def __str__(self) -> str:
        return f"{self.width}-{theme_of(self.dark)}"


WIDE, NARROW = View(1440, 900, dark=False), View(390, 844, dark=False)
NARROW_DARK = NARROW._replace(dark=True)
SHOWN = "document.querySelector('.st-key-room').attnvizView"
"""JavaScript for what the page's own view shows: step and source piece, from 0, and the order of rows."""
BAR_LENGTHS = """(chart) => chart.calcdata.filter(([{ trace }]) => trace.type === "bar")
  .map((bars) => bars.map(({ s }) => s))"""
"""JavaScript for the lengths of a chart's bars, by column; the numbers beside the bars are left out."""


def theme_of(dark: bool) -> str:
    return "dark" if dark else "light"


def download(page: Page, button: Locator) -> Download:
    """Click a button, and wait for the file that it saves."""
    with page.expect_download(timeout=300_000) as coming:  # a page for a lecture has every figure of every step
        button.click()
    return coming.value


def at_night(*values: object) -> ParameterSet:
    """Return test parameters that only the nightly suite uses."""
    return pytest.param(*values, marks=pytest.mark.nightly)


def within(first: View, *others: View) -> pytest.MarkDecorator:
    """Run a test in these windows; only the nightly suite uses more than the first."""
    return pytest.mark.parametrize("open_page", [first, *map(at_night, others)], indirect=True, ids=str)


on_both = within(WIDE, NARROW_DARK)
"""Runs a test on a wide light screen and, in the nightly suite, on a dark telephone."""
COUNT_MESSAGES = """() => {
  const { send } = WebSocket.prototype;
  window.sent = 0;
  WebSocket.prototype.send = function (...message) {
    window.sent += 1;
    return send.apply(this, message);
  };
}"""
"""JavaScript that counts in `sent` the messages that the browser sends to the server."""


def on_screen(page: Page, key: str, x: float, y: float) -> tuple[float, float]:
    """Scroll the chart `key` into the window; return the window position of a point in its axis coordinates."""
    chart = page.locator(f".st-key-{key} .js-plotly-plot")
    wait_until_still(chart)
    left, top = chart.evaluate(
        """(chart, [x, y]) => {
          const box = chart.getBoundingClientRect(), { xaxis, yaxis } = chart._fullLayout;
          return [box.x + xaxis._offset + xaxis.c2p(x), box.y + yaxis._offset + yaxis.c2p(y)];
        }""",
        [x, y],
    )
    return float(left), float(top)


def _open_more(page: Page, tab: int) -> None:
    """Open the box *More* at a tab."""
    box = page.get_by_test_id("stPopoverBody")
    if not box.is_visible():
        page.locator(".st-key-more button").first.click()
    box.get_by_role("tab").nth(tab).click()


open_settings, open_file, open_share = (partial(_open_more, tab=tab) for tab in range(3))
"""Open the settings (own translation, model, device and search), the uploader, and the link and the files."""


def text_of(box: Locator) -> str:
    """Return the text of a box on one line, as snapshots store it."""
    return " ".join(box.inner_text().split())
