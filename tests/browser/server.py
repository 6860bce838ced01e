"""Start the app on a free local port, and find a Chromium to open it with."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Programs to look for, best first: without the browser's own windows a page takes a third less processor time."""
PATIENCE = 300
"""Seconds that a server may take to start or to end: on cores that ten programs share, a minute did not suffice."""
READY = ".st-key-heatmap .js-plotly-plot .ytick"
"""A selector that matches once the heatmap is drawn."""


def find_chromium() -> str | None:
    """Return the path of a Chromium on this machine, or None; CHROMIUM names another than those on the path."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def running_server(
    models: Path, log: Path, script: str = "app.py", repository: Path = REPOSITORY, **settings: str
) -> Iterator[tuple[str, int]]:
    """Run the program of a checkout, with `settings` (`PORT` too) as its environment; yield address and process id."""
    port = int(settings.get("PORT", free_port()))
    root = f"http://127.0.0.1:{port}/{settings.get('STREAMLIT_SERVER_BASE_URL_PATH', '')}".rstrip("/")
    environment = os.environ | {"ATTNVIZ_MODELS": str(models), "OMP_WAIT_POLICY": "PASSIVE"} | settings
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    with serving(command, f"{root}/_stcore/health", log, folder=repository, environment=environment) as process:
        yield root, process.pid


@contextmanager
def serving(
    command: list[str], answers_at: str, log: Path, *, folder: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `command` in `folder`, with all it prints in `log`; yield its process once `answers_at` answers, or raise."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            wait_for(answers_at, process, log)
            yield process
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)  # its warm-up on busy cores


def content_policy(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Start the app by a command with the option `--port`; return the content security policy of its page."""
    port, log = free_port(), folder / "server.log"
    root = f"http://127.0.0.1:{port}"
    started = [*command, "--port", str(port)]
    with (
        serving(started, f"{root}/_stcore/health", log, folder=folder, environment=environment),
        urllib.request.urlopen(f"{root}/", timeout=60) as answer,
    ):
        return str(answer.headers["Content-Security-Policy"])


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the page did not start: {log.read_text(errors='replace')[-2000:]}")
