"""Random sequences of user actions that are faster than the server's answers leave the page consistent.

After each sequence the text box, heatmap, words, step, page, language and address must agree, and no typed text, choice
or what-if may be lost, also where the connection is cut or the server restarts.
"""

import asyncio
import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

from attnviz import Temperature
from attnviz.trace.interventions import to_json_dict
from attnviz.trace.what_ifs import decode_what_ifs
from tests.browser.server import CHROMIUM_FLAGS, READY, find_chromium, free_port, running_server
from tests.browser.views import open_share, parameters_of
from tests.conftest import SHIPPED_MODEL

pytestmark = pytest.mark.nightly
PATIENCE = 60.0
"""Seconds until the page must have come to rest."""
SENTENCES = ("Two dogs play.", "A man sleeps.", "He is an honest man.", "The girl reads a book.", "It rains today.")
CONNECTED = ".stApp[data-test-connection-state=CONNECTED]"
SWITCHES = {"root": "0", "end": "1", "margins": "0"}
"""Display options that are switches, with their defaults."""
CHOICES = {"lang": ("en", "fr"), "depth": ("numbers", "everything")} | dict.fromkeys(SWITCHES, ("0", "1"))
"""What `HurriedVisitor.choose` chooses from, by the keys of the controls."""
SHOWN = """() => {
  const part = (name) => document.querySelector(`.st-key-${name}`)?.shadowRoot;
  const player = part("player"), room = document.querySelector(".st-key-room");
  const heatmap = document.querySelector(".st-key-heatmap .js-plotly-plot")?.layout;
  const words = [...player?.querySelectorAll(".source .word:not(.end)") ?? []].map((word) => word.textContent);
  const choices = ["lang", "depth", "root", "end", "margins"].map((name) => {
    const control = document.querySelector(`.st-key-${name} :is(input, [aria-checked=true])`);
    return [name, control?.dataset.value ?? (control ? String(Number(control.checked)) : null)];
  });
  return {
    ...Object.fromEntries(choices),
    box: document.querySelector(".st-key-sentence textarea")?.value ?? null,
    words: player ? words.join(" ") : null,
    columns: heatmap?.xaxis?.ticktext?.join(" ") ?? null,
    row: heatmap?.shapes?.find(({ line }) => line?.color === heatmap.meta.frame)?.y0 ?? null, // none for a hidden mark
    step: room?.dataset.step ?? null,
    drawn: { ...room?.dataset, depth: room?.dataset.level },
    first: room?.attnvizView?.view?.firstStep ?? 0,
    chosen: player?.querySelector(".target .chosen")?.dataset.index ?? null,
    heading: document.querySelector(".facts h2")?.textContent ?? null,
    whatIfs: Math.max(0, (part("what_if_cards")?.querySelectorAll(".card").length ?? 0) - 1),
    page: document.querySelector(".page-links [aria-current]")?.dataset.page ?? null,
    language: document.documentElement.lang,
    opened: document.querySelector(".st-key-back") !== null,
    failed: [...document.querySelectorAll(".stException, [data-testid=stDialog]")].map((node) => node.innerText),
    address: location.href,
  };
}"""
"""What the page shows, and what its address says."""
CLICK = """(all) => all.filter(([name, value]) => {
  const box = document.querySelector(`.st-key-${name} input`);
  const control = box ?? document.querySelector(`.st-key-${name} [data-value='${value}']`);
  if (control && !(box && box.checked === (value === "1"))) control.click();
  return Boolean(control);
}).map(([name]) => name)"""
GO = """(by) => {
  const { canGoBack, canGoForward, currentEntry } = navigation;
  const can = by > 0 ? canGoForward : canGoBack;
  const isNearBlank = by < 0 && currentEntry.index < 6;
  const ignore = () => {};
  if (can && !isNearBlank) history.go(by);
  if (can && isNearBlank) Object.values(navigation.back()).forEach((ended) => ended.catch(ignore));
  return can;
}"""
"""JavaScript that goes back or forward where it can.

Steps of `history` add up while the browser has not yet taken them, and several in a row would lead from the first
entry of the app to the empty page before it; `navigation.back` leads to the entry before the current one.
"""

WHAT_IFS = """(room, interventions) => interventions.forEach((intervention) =>
  room.dispatchEvent(new CustomEvent("attnviz:try", { detail: { intervention, held: false } })))"""


class Proxy:
    """Pass TCP connections on to a port of this machine, except while they are `cut`."""

    def __init__(self, port: int) -> None:
        self.to, self.port, self.is_cut = port, free_port(), False
        self.ends: set[asyncio.StreamWriter] = set()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        listening = asyncio.start_server(self._connect, "127.0.0.1", self.port)
        asyncio.run_coroutine_threadsafe(listening, self.loop).result()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answers, requests = await asyncio.open_connection("127.0.0.1", 0 if self.is_cut else self.to)
        except OSError:
            writer.transport.abort()
            return
        self.ends |= {writer, requests}
        await asyncio.gather(_pass(reader, requests), _pass(answers, writer))
        self.ends -= {writer, requests}

    def cut(self) -> None:
        """End all connections, and refuse others until `is_cut` is false again."""
        self.is_cut = True
        for end in [*self.ends]:
            self.loop.call_soon_threadsafe(end.transport.abort)


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    writer.close()


class HurriedVisitor:
    """Act on a page faster than the server answers; `restart` restarts the server behind the `proxy`."""

    def __init__(self, browser: Browser, seed: int, proxy: Proxy, restart: Callable[[], None]) -> None:
        self.browser, self.chance, self.proxy, self.restart_server = browser, random.Random(seed), proxy, restart
        self.done: list[str] = []
        self.open_page()

    def open_page(self) -> None:
        """Open the app with a new history and session."""
        self.proxy.is_cut = False
        for context in self.browser.contexts:
            context.close()
        self.page = self.browser.new_page(viewport={"width": 1440, "height": 900})
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.goto(f"http://127.0.0.1:{self.proxy.port}/?depth=everything&sentence=A+man+sleeps.")
        self.page.wait_for_selector(READY, timeout=120_000)
        self.expected: dict[str, Any] = {}
        """What must be shown, by its name in SHOWN: what was typed or chosen last. Empty after Back."""

    def sequence(self, kind: str) -> list[str]:
        """Do a sequence of this kind; return what is inconsistent once the page has come to rest."""
        self.done = [kind]
        try:
            self.go_home()
            for act in KINDS[kind]:
                self.page.wait_for_timeout(self.chance.uniform(0, act)) if isinstance(act, int) else act(self)
        except Error as error:
            return [f"out of reach: {str(error).splitlines()[0][:120]}"]
        return self._faults()

    def go_home(self) -> None:
        if (shown := self._shown())["page"] not in ("", None):
            self.follow_link("")
        if shown["opened"]:
            self.page.locator(".st-key-back button").click()
        if shown["opened"] or shown["page"]:
            self.page.wait_for_selector(READY)
            self.rest()

    def follow_link(self, page: str) -> None:
        link = self.page.locator(f'.page-links a[data-page="{page}"]')
        self.chance.choice((link.click, partial(link.dispatch_event, "click")))()  # by mouse, or faster than that
        self.expected["page"] = page
        self.done.append(page or "home")

    def leave(self) -> None:
        self.follow_link(self.chance.choice(("why", "lab", "transformer")))

    def _another_sentence(self) -> str:
        text = self.chance.choice([one for one in SENTENCES if one != self._shown()["box"]])
        self.expected |= {"box": text, "whatIfs": 0}
        self.expected.pop("step", None)
        self.done.append(text)
        return text

    def type(self) -> None:
        """Type another sentence, which is not sent yet."""
        self.page.locator(".st-key-sentence textarea").fill(self._another_sentence())

    def enter(self) -> None:
        self.type()
        self.page.locator(".st-key-sentence textarea").press("Enter")

    def type_across_a_cut(self) -> None:
        text, box = self._another_sentence(), self.page.locator(".st-key-sentence textarea")
        box.press("Control+a")
        self.page.keyboard.type(text[:5])
        self.cut()
        self.page.keyboard.type(text[5:])
        box.press("Enter")

    def translate(self) -> None:
        self.page.locator(".st-key-translate button").click()

    def choose(self, names: tuple[str, ...] = (*SWITCHES, "depth")) -> None:
        """Choose another value of one of these controls, if it is on the page."""
        shown = self._shown()
        offered = [name for name in names if shown[name] is not None]
        self._choose(shown, *self.chance.sample(offered, min(1, len(offered))))

    def choose_two(self) -> None:
        self._choose(self._shown(), *self.chance.sample([*CHOICES], 2))

    def _choose(self, shown: dict[str, Any], *names: str) -> None:
        """Choose other values than those `shown`, in the same tick; expect those whose controls are still there."""
        chosen = {name: next(value for value in CHOICES[name] if value != shown[name]) for name in names}
        clicked = self.page.evaluate(CLICK, [*map(list, chosen.items())])
        self.expected |= {name: chosen[name] for name in clicked}
        self.done += [f"{name}={chosen[name]}" for name in clicked]

    def click_language(self) -> None:
        """Click the other language with the mouse, which leaves the text box."""
        language = next(one for one in CHOICES["lang"] if one != self._shown()["lang"])
        self.page.locator(f".st-key-lang [data-value={language}]").click()
        self.expected["lang"] = language
        self.done.append(language)

    def step(self) -> None:
        self.expected.pop("step", None)
        for _ in range(self.chance.randint(1, 6)):
            self.page.keyboard.press("ArrowRight")

    def press_many_keys(self) -> None:
        for _ in range(60):  # more than a browser allows writes of the address
            self.page.keyboard.press(self.chance.choice(("ArrowRight", "ArrowRight", "ArrowLeft")))

    def wander(self) -> None:
        for _ in range(10):
            self.go(self.chance.choice((-1, 1)))
            self.page.wait_for_timeout(self.chance.uniform(0, 120))

    def go(self, by: int) -> None:
        if self.page.evaluate(GO, by):
            self.expected = {}

    def upload(self) -> None:
        open_share(self.page)
        place = self.page.locator("[data-testid=stFileUploaderDropzoneInput]")
        place.wait_for(state="attached")
        content = json.dumps({"matrix": [[0.7, 0.3], [0.2, 0.8]], "source": ["a", "b"], "target": ["x", "y"]})
        place.set_input_files({"name": "mine.json", "mimeType": "application/json", "buffer": content.encode()})
        self.page.locator(".st-key-back button").wait_for()
        self.expected.pop("step", None)

    def reload(self) -> None:
        self.page.reload()
        self.page.wait_for_selector(READY)

    def what_ifs(self, count: int = 1) -> None:
        first = self.expected["whatIfs"]  # another temperature of the same step would replace the previous one
        changes = [to_json_dict(Temperature(self.chance.uniform(2, 5), first + place)) for place in range(count)]
        self.page.locator(".st-key-room").evaluate(WHAT_IFS, changes)
        self.expected["whatIfs"] += count
        self.expected.pop("step", None)

    def cut(self) -> None:
        self.proxy.cut()
        self.page.wait_for_selector(f".stApp:not({CONNECTED})")

    def mend(self) -> None:
        """Mend the connection, and wait until the page has noticed."""
        self.proxy.is_cut = False
        self.page.wait_for_selector(CONNECTED)

    def restart(self) -> None:
        """Restart the server, and wait until the page is connected; afterwards it must be as it was."""
        shown = self._shown()
        self.expected |= {name: shown[name] for name in (*CHOICES, "box", "step", "whatIfs", "page")}
        self.restart_server()
        self.mend()

    def rest(self) -> None:
        """Wait until nothing runs on the server for a while."""
        until, quiet = time.monotonic() + PATIENCE, 0
        while quiet < 4 and time.monotonic() < until:
            self.page.wait_for_timeout(150)
            quiet = quiet + 1 if self.page.locator("[data-test-script-state=notRunning]").count() else 0

    def _shown(self) -> dict[str, Any]:
        return dict(self.page.evaluate(SHOWN))

    def _faults(self) -> list[str]:
        until = time.monotonic() + PATIENCE
        self.rest()
        while (faults := self._wrong(self._shown())) and time.monotonic() < until:
            self.rest()  # parts below the window may be drawn late
        return faults

    def _wrong(self, shown: dict[str, Any]) -> list[str]:
        query = parameters_of(shown["address"])
        wrong = list(shown["failed"])

        def compare(what: str, found: Any, expected: Any) -> None:
            if found is not None and expected is not None and found != expected:
                wrong.append(f"{what}: {found!r}, not {expected!r}")

        has_view, box = shown["step"] is not None, shown["box"]
        for name, expected in self.expected.items():
            if name != "whatIfs" or (has_view and not shown["opened"]):
                compare(name, shown[name], expected)
        compare("page and path", shown["page"], urlsplit(shown["address"]).path.strip("/"))
        compare("language switch and page", shown["lang"], shown["language"])
        compare("language and address", shown["lang"], query.get("lang", "en"))
        for name in (*SWITCHES, "depth"):
            compare(f"{name} and view", shown[name], shown["drawn"].get(name))
            compare(f"{name} and address", shown[name], query.get(name, SWITCHES.get(name)))
        compare("box and address", box, query.get("sentence"))
        if not shown["opened"]:
            compare("box and words", _letters(shown["words"]), _letters(box or query.get("sentence")))
            compare("box and heatmap", _letters(shown["columns"]), _letters(box))
        if has_view:
            compare("step and words", shown["chosen"], shown["step"])
            compare("step and address", shown["step"], str(int(query.get("step", shown["first"] + 1)) - 1))
            compare("step and heatmap", shown["row"], int(shown["step"]) - 0.5)
            if shown["heading"] and str(int(shown["step"]) + 1) not in shown["heading"]:
                wrong.append(f"step {shown['step']}, under {shown['heading']!r}")
            if not shown["opened"]:
                compare("what-ifs and address", shown["whatIfs"], len(decode_what_ifs(query.get("what_ifs", ""))[0]))
        return wrong


def _letters(text: str | None) -> str | None:
    return None if text is None else "".join(filter(str.isalnum, text.replace("&lt;/s&gt;", "").lower()))


V = HurriedVisitor
choose_language, choose_depth = partial(V.choose, names=("lang",)), partial(V.choose, names=("depth",))
KINDS: dict[str, tuple[Callable[[HurriedVisitor], None] | int, ...]] = {
    "type and leave": (V.type, 50, V.leave),
    "type and translate": (V.type, 20, V.translate),
    "two clicks": (V.choose_two,),
    "choose and leave": (V.choose, 50, V.leave),
    "leave and choose": (V.leave, 100, V.choose),
    "keys and Back": (V.press_many_keys, partial(V.go, by=-1)),
    "to and fro": (V.leave, V.rest, V.go_home, V.wander),
    "edit, to and fro": (partial(V.follow_link, page="why"), V.rest, V.enter, V.rest, V.go_home, V.wander),
    "language in a translation": (V.enter, 250, choose_language),
    "typed, then language": (V.type, 30, V.click_language),
    "choice in a language switch": (choose_language, 150, choose_depth),
    "upload in a translation": (V.enter, 100, V.upload, V.choose),
    "type after an upload": (V.upload, V.enter),
    "reload after typing": (V.enter, 60, V.reload),
    "reload after a choice": (V.choose, 60, V.reload),
    "reload after a step": (V.step, V.reload),
    "what-ifs at once": (V.enter, V.rest, partial(V.what_ifs, count=2)),
    "what-ifs in a row": (V.enter, V.rest, V.what_ifs, 200, V.what_ifs),
    "what-if, then leave": (V.enter, V.rest, V.what_ifs, 60, V.leave, V.rest, V.go_home),
    "type and step": (V.enter, V.step),
    "typed across a cut": (V.type_across_a_cut, 1500, V.mend),
    "cut in a translation": (V.enter, 250, V.cut, 1500, V.mend),
    "cut and choose": (V.cut, 300, V.choose, 800, V.mend),
    "restart and type": (V.enter, V.rest, V.restart, V.enter),
    "restart and leave": (V.enter, choose_depth, V.rest, V.restart, V.leave),
    "restart with a what-if": (V.enter, V.rest, V.what_ifs, V.rest, V.restart, V.choose),
}
"""The acts of each kind of sequence; a number is a pause of at most so many milliseconds."""


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_fast_actions_leave_the_page_consistent(seed: int, tmp_path) -> None:
    """Do a hundred sequences in a random order."""
    order, port, found = [[*KINDS][number % len(KINDS)] for number in range(100)], str(free_port()), list[str]()
    random.Random(seed).shuffle(order)
    with ExitStack() as server, sync_playwright() as playwright:

        def restart() -> None:
            server.close()
            started = running_server(SHIPPED_MODEL.parent, tmp_path / "page.log", PORT=port)
            _, process = server.enter_context(started)
            server.callback(os.kill, process, signal.SIGKILL)  # as a crash: an orderly end may wait for minutes

        restart()
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        visitor = HurriedVisitor(browser, seed, Proxy(int(port)), restart)
        for number, kind in enumerate(order):
            if faults := visitor.sequence(kind):
                found.append(f"{number}: {' · '.join(visitor.done)}: {'; '.join(faults)}")
                visitor.open_page()
        browser.close()
    assert found == []
