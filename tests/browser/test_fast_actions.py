"""Random sequences of user actions that are faster than the server's answers leave the page consistent.

After each sequence the text box, heatmap, URL, step and page must agree, and no typed text or choice may be lost.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Error, Page, sync_playwright

from tests.browser.server import CHROMIUM_FLAGS, READY, find_chromium, free_port, running_server
from tests.browser.views import open_share, parameters_of
from tests.conftest import SHIPPED_MODEL

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

PATIENCE = 60.0
"""Seconds until the page must have come to rest."""
SENTENCES = ("Two dogs play.", "A man sleeps.", "He is an honest man.", "The girl reads a book.", "It rains today.")
AT_REST = ".stApp[data-test-script-state=notRunning]"

SHOWN = """() => {
  const text = (name) => document.querySelector(name)?.textContent ?? null;
  const player = document.querySelector("[class*='st-key-player'] [data-testid]")?.shadowRoot
    ?? [...document.querySelectorAll("[class*='st-key-player'] *")].map((node) => node.shadowRoot).find(Boolean);
  const words = [...player?.querySelectorAll(".source .word:not(.end)") ?? []].map((word) => word.textContent);
  return {
    box: document.querySelector(".st-key-sentence textarea")?.value ?? null,
    words: player ? words.join(" ") : null,
    cells: document.querySelector(".st-key-heatmap .js-plotly-plot")?.layout?.xaxis?.ticktext?.length ?? null,
    step: document.querySelector(".st-key-room")?.dataset.step ?? null,
    first: document.querySelector(".st-key-room")?.attnvizView?.view?.firstStep ?? 0,
    chosen: player?.querySelector(".target .chosen")?.dataset.index ?? null,
    heading: text(".facts h2"),
    page: document.querySelector(".page-links [aria-current]")?.dataset.page ?? null,
    language: document.documentElement.lang,
    failed: [...document.querySelectorAll(".stException")].map((node) => node.innerText),
    address: location.href,
  };
}"""
"""What the page shows, and what its address says."""


class HurriedVisitor:
    """Act on `page` faster than the server answers; `restart` restarts its server, if it can."""

    def __init__(self, page: Page, seed: int, restart: Callable[[], None] | None = None) -> None:
        self.page, self.chance, self.restart = page, random.Random(seed), restart
        self.sentence: str | None = None
        """What was typed or chosen last; None where Back may have brought another."""
        self.language: str | None = None
        self.done: list[str] = []

    def sequence(self) -> list[str]:
        """Do one sequence; return what is inconsistent once the page has come to rest."""
        acts = [
            self._type_and_leave,
            self._two_clicks,
            self._keys_and_back,
            self._to_and_fro,
            self._language_in_translation,
            self._upload_in_translation,
            self._reload,
            self._type_and_step,
        ]
        if self.restart and self.chance.random() < 0.05:
            acts = [self._server_restarts]
        act = self.chance.choice(acts)
        self.done = [act.__name__.strip("_")]
        try:
            self._home()
            act()
        except Error as error:
            self.done.append(f"out of reach: {str(error).splitlines()[0][:120]}")
        return self._faults()

    def _home(self) -> None:
        if self._shown()["page"] not in ("", None):
            self.page.locator('.page-links a[data-page=""]').click()
            self.page.wait_for_selector(READY)
            self._rest()

    def _type(self, text: str, key: str | None = "Control+Enter") -> None:
        box = self.page.locator(".st-key-sentence textarea")
        box.fill(text)
        self.sentence = text
        if key:
            box.press(key)

    def _type_and_leave(self) -> None:
        self._type(self.chance.choice(SENTENCES), None)
        way = self.chance.choice(("why", "lab", "transformer"))
        self.page.wait_for_timeout(self.chance.uniform(0, 50))
        self.page.locator(f'.page-links a[data-page="{way}"]').click(no_wait_after=True)
        self.done.append(way)

    def _two_clicks(self) -> None:
        controls = (".st-key-root input", ".st-key-end input", ".st-key-margins input", ".st-key-lang button >> nth=1")
        both = self.chance.sample(controls[:3], 2)
        self.page.evaluate("(names) => names.forEach((name) => document.querySelector(name)?.click())", both)
        self.done += both

    def _keys_and_back(self) -> None:
        for _ in range(60):
            self.page.keyboard.press(self.chance.choice(("ArrowRight", "ArrowRight", "ArrowLeft")))
        self._history(-1)

    def _to_and_fro(self) -> None:
        for _ in range(10):
            self._history(self.chance.choice((-1, 1)))
            self.page.wait_for_timeout(self.chance.uniform(0, 80))

    def _history(self, by: int) -> None:
        if self.page.evaluate("(by) => by > 0 ? navigation.canGoForward : navigation.canGoBack", by):
            self.page.evaluate("(by) => history.go(by)", by)
            self.sentence = self.language = None

    def _language_in_translation(self) -> None:
        self._type(self.chance.choice(SENTENCES))
        self.language = self.chance.choice(("en", "fr"))
        self.page.wait_for_timeout(self.chance.uniform(0, 120))
        self.page.locator(".st-key-lang button").filter(has_text=self.language.upper()).click()

    def _upload_in_translation(self) -> None:
        open_share(self.page)
        place = self.page.locator("[data-testid=stFileUploaderDropzoneInput]")
        place.wait_for(state="attached")
        rows = [[0.7, 0.3], [0.2, 0.8]]
        content = json.dumps({"matrix": rows, "source": ["a", "b"], "target": ["x", "y"]}).encode()
        place.set_input_files({"name": "mine.json", "mimeType": "application/json", "buffer": content})
        self.page.locator(".st-key-back button").wait_for()
        self._type(self.chance.choice(SENTENCES) + " Now.")

    def _reload(self) -> None:
        self._type(self.chance.choice(SENTENCES))
        self._rest()
        self.page.keyboard.press("ArrowRight")
        self.page.reload()
        self.page.wait_for_selector(READY)

    def _type_and_step(self) -> None:
        self._type(self.chance.choice(SENTENCES))
        for _ in range(self.chance.randint(1, 6)):
            self.page.keyboard.press("ArrowRight")

    def _server_restarts(self) -> None:
        assert self.restart
        self.restart()
        self.page.wait_for_selector(".stApp[data-test-connection-state=CONNECTED]", timeout=1000 * PATIENCE)
        self._type(self.chance.choice(SENTENCES))

    def _rest(self) -> None:
        """Wait until nothing runs on the server for a while."""
        until, quiet = time.monotonic() + PATIENCE, 0
        while quiet < 4 and time.monotonic() < until:
            self.page.wait_for_timeout(150)
            quiet = quiet + 1 if self.page.locator(AT_REST).count() else 0

    def _shown(self) -> dict[str, Any]:
        found: dict[str, Any] = self.page.evaluate(SHOWN)
        return found

    def _faults(self) -> list[str]:
        faults: list[str] = []
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:  # parts below the window may be drawn late
            self._rest()
            if not (faults := self._wrong(self._shown())):
                return []
        return faults

    def _wrong(self, shown: dict[str, Any]) -> list[str]:
        query = parameters_of(shown["address"])
        wrong = list(shown["failed"])
        if self.language and shown["language"] != self.language:
            wrong.append(f"the language is {shown['language']}, not {self.language}")
        if shown["page"] != (path := urlsplit(shown["address"]).path.strip("/")):
            wrong.append(f"the page is {shown['page']!r}, in the address {path!r}")
        box, words = shown["box"], shown["words"]
        if box is not None and self.sentence is not None and box != self.sentence:
            wrong.append(f"the sentence is {box!r}, not {self.sentence!r}")
        if self.sentence is not None and query.get("sentence", self.sentence) != self.sentence:
            wrong.append(f"the address has {query['sentence']!r}, not {self.sentence!r}")
        if box is not None and words is not None and _letters(box) != _letters(words):
            wrong.append(f"the box has {box!r}, the page shows {words!r}")
        if box is not None and query.get("sentence", box) != box:
            wrong.append(f"the box has {box!r}, the address {query['sentence']!r}")
        if shown["page"] == "" and shown["step"] is not None:
            opened = int(query["step"]) - 1 if "step" in query else shown["first"]
            steps = {shown["step"], shown["chosen"], str(opened)}
            if len(steps) > 1 or str(int(shown["step"]) + 1) not in str(shown["heading"]):
                wrong.append(f"steps differ: {sorted(map(str, steps))}, {shown['heading']}")
        return wrong


def _letters(text: str) -> str:
    return "".join(sign for sign in text.lower() if sign.isalnum())


def find_inconsistencies(seed: int, sequences: int, models: Path, report: Callable[[str], None] = print) -> list[str]:
    """Run random sequences of actions; return the inconsistent ones, with their actions and faults."""
    found: list[str] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        port = str(free_port())
        servers = [running_server(models, Path(folder) / "page.log", PORT=port)]
        address, _ = servers[0].__enter__()

        def restart() -> None:
            servers.pop().__exit__(None, None, None)
            servers.append(running_server(models, Path(folder) / "page.log", PORT=port))
            servers[0].__enter__()

        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        try:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{address}/?depth=everything&sentence=A+man+sleeps.")
            page.wait_for_selector(READY, timeout=120_000)
            visitor = HurriedVisitor(page, seed, restart)
            for number in range(sequences):
                faults = visitor.sequence()
                if faults:
                    found.append(f"{number}: {' · '.join(visitor.done)}: {'; '.join(faults)}")
                    report(found[-1])
                    page.goto(f"{address}/?depth=everything&sentence=A+man+sleeps.")
                    page.wait_for_selector(READY, timeout=120_000)
                    visitor.sentence = visitor.language = None
        finally:
            browser.close()
            servers[0].__exit__(None, None, None)
    return found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_fast_actions_leave_the_page_consistent(seed: int) -> None:
    assert find_inconsistencies(seed, 67, SHIPPED_MODEL.parent) == []
