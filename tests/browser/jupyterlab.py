"""Run a notebook in a JupyterLab of its own, and open it in a browser."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from playwright.sync_api import Page, expect

from tests.browser.server import REPOSITORY, free_port, serving

DRAWN = ".attnviz-guest .st-key-heatmap .js-plotly-plot .ytick"
"""A selector that matches once the heatmap of a view is drawn."""
_TOKEN = "secret"
_NOTIFICATIONS = ".own/JUPYTERLAB_SETTINGS_DIR/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
"""Settings of JupyterLab, which would otherwise ask whether to fetch news."""
_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR")
"""Variables that name folders of JupyterLab, of which each run has its own."""


def write_notebook(folder: Path, *cells: str) -> None:
    """Write `view.ipynb` with cells of code, not run."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    code = [nbformat.v4.new_code_cell(cell) for cell in cells]
    nbformat.write(nbformat.v4.new_notebook(cells=code, metadata=kernel), folder / "view.ipynb")


@contextmanager
def running_jupyterlab(folder: Path) -> Iterator[str]:
    own = {name: str(folder / ".own" / name) for name in (*_FOLDERS, "JUPYTERLAB_WORKSPACES_DIR")}
    environment = os.environ | own | {"PYTHONPATH": str(REPOSITORY), "OMP_WAIT_POLICY": "PASSIVE"}
    settings = folder / _NOTIFICATIONS
    settings.parent.mkdir(parents=True)
    settings.write_text('{"fetchNews": "false", "checkForUpdates": false}', encoding="utf-8")
    port = free_port()
    started = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser"]
    started += [f"--port={port}", f"--IdentityProvider.token={_TOKEN}", f"--ServerApp.root_dir={folder}"]
    address, log = f"http://127.0.0.1:{port}", folder / "jupyterlab.log"
    with serving(started, f"{address}/api", log, folder=folder, environment=environment):
        yield address


def run_notebook(page: Page, address: str, views: int) -> None:
    """Open `view.ipynb`, run all cells, and wait for so many views."""
    page.goto(f"{address}/lab/tree/view.ipynb?token={_TOKEN}")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    page.wait_for_function("() => window.jupyterapp.shell.currentWidget?.sessionContext?.isReady", timeout=60_000)
    command(page, "notebook:run-all-cells")
    expect(page.locator(".attnviz-guest")).to_have_count(views, timeout=120_000)
    page.locator(DRAWN).first.wait_for(timeout=120_000)


def command(page: Page, name: str, **arguments: str) -> None:
    """Run a command of JupyterLab, and wait until it has ended."""
    page.evaluate("([name, args]) => jupyterapp.commands.execute(name, args).then(() => {})", [name, arguments])
