"""What benchmarks share: options, turns, a server with a page in Chromium, when a page changes, and the table."""

import argparse
import itertools
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright

from attnviz import AttnvizError
from tests.browser.server import CHROMIUM_FLAGS, READY, REPOSITORY, find_chromium, running_server
from tests.browser.settled import settled
from tests.browser.views import address_with

Sample = Mapping[str, float | Sequence[float]]
"""What was measured together: values by what they are, with the unit."""
Measure = Callable[[], Iterator[Sample]]
WINDOW = {"width": 1440, "height": 900}
SECONDS = 240
"""After which nothing new is measured, so that a benchmark ends in five minutes."""


def checkout(text: str) -> Path:
    """Return the folder of a checkout; an `argparse` type."""
    folder = Path(text).resolve()
    if not (folder / "app.py").is_file():
        raise argparse.ArgumentTypeError(f"{text} is no checkout of this project: it has no app.py")
    return folder


def count(text: str) -> int:
    """Return a positive integer; an `argparse` type."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1")
    return int(text)


def options_of(doc: str | None, *, turns: int = 1, server: bool = False) -> argparse.ArgumentParser:
    """Return a parser with the options of every benchmark, or also those of benchmarks of a `server`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=count, default=turns)
    parser.add_argument("--seconds", type=count, default=SECONDS, help="after which nothing new is measured")
    if server:
        about = "checkouts of other commits that take turns with this one (git worktree add)"
        parser.add_argument("--against", type=checkout, nargs="+", default=[], metavar="FOLDER", help=about)
        parser.add_argument("--models", type=Path, default=REPOSITORY / "models", help="folder of model folders")
    return parser


def compare_checkouts(
    parser: argparse.ArgumentParser, measure: Callable[[Path, argparse.Namespace], Iterator[Sample]], **how: bool
) -> None:
    options = parser.parse_args()
    folders = {"this": REPOSITORY} | {str(folder): folder for folder in options.against}
    compare({name: partial(measure, folder, options) for name, folder in folders.items()}, options, **how)


def compare(
    contenders: Mapping[str, Measure], options: argparse.Namespace, warm_up: int = 0, *, bounded: bool = True
) -> None:
    """Let contenders measure in turns, of which `warm_up` do not count; print each sample, and a table at the end."""
    found, turns = dict[str, dict[str, list[float]]](), options.turns + warm_up
    share = options.seconds / (turns * len(contenders)) if bounded else math.inf
    for turn, (name, measure) in itertools.product(range(turns), contenders.items()):
        until = time.monotonic() + share
        with closing(measure()) as samples:
            for sample in samples:
                values = {what: [one] if isinstance(one, float | int) else [*one] for what, one in sample.items()}
                print(f"{name[-40:]}: " + ", ".join(f"{k} {_short(v)}" for k, v in values.items() if v), flush=True)
                for what, several in values.items() if turn >= warm_up else ():
                    found.setdefault(what, {}).setdefault(name, []).extend(several)
                if time.monotonic() > until:
                    break
    print(f"\n{'':66}{'median':>10}{'95 %':>10}{'largest':>10}{'number':>8}{'ratio':>8}")
    for what, by_name in found.items():
        first = next((statistics.median(values) for values in by_name.values() if values), 0)
        for name, values in by_name.items():
            if values:
                high = statistics.quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]
                middle = statistics.median(values)
                numbers = "".join(f"{_number(one):>10}" for one in (middle, high, max(values)))
                ratio = f"{middle / first:8.2f}" if first and len(by_name) > 1 else ""
                print(f"{what[:36]:37}{name[-28:]:29}{numbers}{len(values):8}{ratio}", flush=True)


def _short(values: Sequence[float]) -> str:
    return _number(statistics.median(values)) + (f" ({len(values)})" if len(values) > 1 else "")


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def seconds_of(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def exit_status(run: Callable[[], None]) -> int:
    """Call `run` and return 0; for an AttnvizError, print its sentence on standard error and return 2."""
    try:
        run()
    except AttnvizError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def resident(process: int) -> float:
    """Return the resident memory of a process in megabytes."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def processor_time(process: int) -> float:
    """Return the seconds of processor time that a process has spent."""
    after_its_name = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, after_its_name[11:13])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server_of(folder: Path, models: Path, mistakes: list[str] | None = None, **settings: str) -> Iterator[Any]:
    """Run the server of a checkout; yield its address and process, and add what it logs as errors to `mistakes`."""
    with tempfile.TemporaryDirectory() as logs:
        log = Path(logs) / "page.log"
        with running_server(models.resolve(), log, repository=folder, **settings) as started:
            yield started
        if mistakes is not None:
            mistakes += [line for line in log.read_text(errors="replace").splitlines() if "Error:" in line]


@contextmanager
def new_browser() -> Iterator[BrowserContext]:
    """Yield a browser that has not been used, with a profile on disk, so that it caches compiled scripts."""
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("there is no Chromium on this machine; name one in CHROMIUM")
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as playwright:
        browser = playwright.chromium
        context = browser.launch_persistent_context(
            profile, executable_path=chromium, args=CHROMIUM_FLAGS, viewport=WINDOW
        )
        yield context
        context.close()


@contextmanager
def opened_page(folder: Path, models: Path, query: str, last: str = ".st-key-contrast") -> Iterator[Page]:
    """Serve the page of a checkout, and yield it once the chart `last` is drawn."""
    with server_of(folder, models) as (address, _), new_browser() as browser:
        page = browser.new_page()
        page.goto(f"{address}/{address_with(query)}")
        page.wait_for_selector(READY, timeout=120_000)
        settled(page, last)
        yield page


QUIET = 500
"""Milliseconds without a change after which a page is taken to be complete."""

# `window.painted` resolves with the milliseconds from the last event of this kind to the frame of the last change in
# each part of the page, also within shadow roots.
_WATCH = """
([event, quiet, patience, parts]) => {
  const found = {};
  const inside = (node, selector) => {
    let at = node.nodeType === 1 ? node : node.parentElement ?? node.getRootNode().host;
    for (; at; at = at.getRootNode().host) if (at.closest(selector)) return true;
    return false;
  };
  const options = { subtree: true, childList: true, characterData: true, attributes: true,
    attributeFilter: ["d", "href", "transform", "x", "y", "width", "height"] };
  let started = null, changed = performance.now();
  const start = () => { started = performance.now(); };
  addEventListener(event, start, { capture: true });
  const observer = new MutationObserver((changes) => {
    const names = Object.keys(parts).filter((name) => changes.some(({ target }) => inside(target, parts[name])));
    if (started !== null && names.length) requestAnimationFrame(() => {
      changed = performance.now();
      for (const name of names) found[name] = changed - started;
    });
  });
  for (const root of [document, ...[...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean)]) {
    observer.observe(root, options);
  }
  window.painted = new Promise((resolve) => {
    const look = () => {
      const now = performance.now(), any = Object.keys(found).length;
      const waits = any ? now - Math.max(changed, started) < quiet : now - (started ?? now) < patience;
      if (waits) return setTimeout(look, 20);
      observer.disconnect();
      removeEventListener(event, start, { capture: true });
      resolve(found);
    };
    look();
  });
}
"""


def painted(page: Page, kind: str, event: str, act: Callable[[], object], parts: Mapping[str, str]) -> Sample:
    """Return the milliseconds from an event of `act` to the last change in each part that changed, by kind and part.

    `parts` are selectors. A part has changed for the last time once the page is quiet; nothing is waited for longer
    than six times that.
    """
    page.evaluate(_WATCH, [event, QUIET, 6 * QUIET, dict(parts)])
    act()
    found = page.evaluate("() => window.painted")
    return {f"{kind}: {name}, ms": found[name] for name in parts if name in found}
