"""A random walk: use one random control after another, on every page, and record errors.

`python tests/browser/walker.py --seed 7 --actions 300` walks until it finds an error or has done 300 actions.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Error, Locator, Page, expect, sync_playwright

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.browser.server import CHROMIUM_FLAGS, READY, REPOSITORY, find_chromium, running_page

CONTROLS = {
    "page": ".page-links a:visible",
    "button": "button:visible:enabled:not(.word, [role=radio], [aria-label='Main menu'], header button, "
    ".st-key-example_list button)",
    "word": ".player .word:visible",
    "choice": "[role=radio]:visible, .growth label:visible",
    "language": ".st-key-lang [role=radio]:visible",
    "dial": ".st-key-depth [role=radio]:visible",
    "example": ".st-key-example_list button:visible",
    "toggle": ".field label:visible",
    "summary": "summary:visible",
    "select box": ".field select:visible:enabled",
    "slider": "input[type=range]:visible",
    "picture": ".js-plotly-plot:visible .nsewdrag",
    "text": "textarea:visible:enabled",
}
"""Selectors of controls by kind; the walk first draws a kind, so that the many words do not dominate."""
KEYS = ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Home", "End", " ", "Escape", "Tab", "Enter")
SENTENCES = (
    "Two dogs play in the snow.",
    "A man sleeps.",
    "Where is the station?",
    "  spaced   out ",
    "",
    "北京很大。",
    "The zyxwvut plays with qwxyzzy 😀.",
    "<b>bold</b> & $x_1$ :red[red]",
    "word " * 250,
)
TARGETS = ("", "Deux chiens jouent.", "Où ça ? 😀", "_a_ *b* $c$")
PATIENCE = 30_000
"""Milliseconds until the page must have come to rest."""


class Walker:
    """Use random controls of `page`; `steps` lists the actions, `faults` the errors."""

    def __init__(self, page: Page, seed: int) -> None:
        self.page = page
        self.chance = random.Random(seed)
        box = page.locator(".st-key-sentence textarea")
        expect(box).not_to_have_value("")  # Streamlit writes the sentence into the box after it has drawn it
        self.sentence: str | None = box.input_value()
        """What the box of the page *Translate* is to have; None where another page may have changed it."""
        self.steps: list[str] = []
        self.faults: list[str] = []
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.faults.append(f"script error: {error}"))

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.faults.append(f"console: {message.text}")

    def step(self) -> None:
        """Do one random action, wait until the page is idle, and check what it shows."""
        present = {kind: found for kind, name in CONTROLS.items() if (found := self.page.locator(name)).count()}
        kind = self.chance.choice([*present, "key", "theme"])
        try:
            if kind == "key":
                self._press()
            elif kind == "theme":
                scheme = self.chance.choice(("light", "dark"))
                self.steps.append(f"theme {scheme}")
                self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            else:
                self._take(kind, present[kind].nth(self.chance.randrange(present[kind].count())))
        except Error as error:  # the control has disappeared, or an open box covers it, as for a visitor
            covering = [line.strip() for line in str(error).splitlines() if "intercepts" in line]
            self.steps[-1] += f" (out of reach{': ' if covering else ''}{''.join(covering[-1:])[:90]})"
            self.page.keyboard.press("Escape")
        self.wait_until_idle()
        self.check_page()

    def _press(self) -> None:
        key = self.chance.choice(KEYS)
        self.steps.append(f"key {key!r}")
        if key in (" ", "Enter") and self.page.locator(".st-key-sentence textarea:focus").count():
            self.sentence = None  # the key types into the sentence
        self.page.keyboard.press(key)

    def _take(self, kind: str, control: Locator) -> None:
        self.steps.append(kind)
        named = control.evaluate(
            "(node) => node.getAttribute('aria-label') || node.textContent || node.id", timeout=2000
        )
        self.steps[-1] += f" {' '.join(str(named).split())[:60]!r}"
        if kind == "text":
            self._type(control)
        elif kind == "slider":
            control.focus(timeout=2000)
            for _ in range(self.chance.randint(1, 4)):
                self.page.keyboard.press(self.chance.choice(("ArrowRight", "ArrowLeft", "Home", "End")))
        elif kind == "select box":
            option = self.chance.randrange(control.locator("option").count())
            self.steps[-1] += f" → {option + 1}"
            control.select_option(index=option, timeout=2000)
        elif kind == "picture":
            box = control.bounding_box(timeout=2000) or {"width": 2.0, "height": 2.0}
            place = {"x": self.chance.uniform(1, box["width"] - 1), "y": self.chance.uniform(1, box["height"] - 1)}
            control.click(position=place, timeout=2000)  # type: ignore[arg-type]
        elif kind == "example":
            text = control.inner_text(timeout=2000)
            control.click(timeout=2000)
            self.sentence = text
        else:
            control.click(timeout=2000)

    def _type(self, box: Locator) -> None:
        own = box.evaluate("(node) => Boolean(node.closest('.st-key-sentence'))")
        english = own or box.evaluate("(node) => Boolean(node.closest('[class*=sentence]'))")
        text = self.chance.choice(SENTENCES if english else TARGETS)
        box.fill(text, timeout=2000)
        if english:
            self.sentence = text if own else None
        how = self.chance.choice(("Control+Enter", "Tab", None))
        self.steps[-1] += f" := {text[:40]!r}, {how}"
        if how:
            self.page.keyboard.press(how)

    def wait_until_idle(self) -> None:
        """Wait until the server runs nothing and the browser has sent its pending messages."""
        for _ in range(2):  # a part that follows the step asks the server once it has answered
            self.page.wait_for_timeout(200)
            try:
                self.page.wait_for_selector(".stApp[data-test-script-state=notRunning]", timeout=PATIENCE)
            except Error:
                self.faults.append(f"not at rest after {PATIENCE / 1000:g} s, but {self._state()}")

    def _state(self) -> str:
        """Return what the page says of itself where it does not come to rest."""
        try:
            return str(self.page.locator(".stApp").get_attribute("data-test-script-state", timeout=5000))
        except Error:
            return "the browser does not answer either"

    def check_page(self) -> None:
        """Note an error that is shown, and a sentence that is no longer what was typed or chosen."""
        self.faults += [f"shown: {text}" for text in self.page.locator(".stException:visible").all_inner_texts()]
        box = self.page.locator(".st-key-sentence textarea")
        if not box.count():  # another page
            return
        if self.sentence is None:
            self.sentence = box.input_value()
        try:
            expect(box).to_have_value(self.sentence)
        except AssertionError:
            self.faults.append(f"the sentence is {box.input_value()!r}, not {self.sentence!r}")


def main() -> None:
    """Walk until an error is found, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--actions", type=int, default=300)
    parser.add_argument("--query", default="", help="what follows the address")
    parser.add_argument("--size", default="1440x900", help="width and height of the window in pixels")
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    with (
        tempfile.TemporaryDirectory() as folder,
        running_page(REPOSITORY / "models", Path(folder) / "page.log") as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(f"{address}/{options.query}")
        page.wait_for_selector(READY, timeout=120_000)
        walker = Walker(page, options.seed)
        for _ in range(options.actions):
            walker.step()
            print(walker.steps[-1], flush=True)
            if walker.faults:
                break
        print("\n".join(walker.faults) or "nothing found")
        browser.close()


if __name__ == "__main__":
    main()
