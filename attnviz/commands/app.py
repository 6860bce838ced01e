"""The command `attnviz app`: the page."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from attnviz import AttnvizError
from attnviz.commands.shared import ROOT, positive

SUMMARY = "start the page"
RUNS_VARIABLE = "ATTNVIZ_RUNS"
"""Where the page looks for runs to watch (`attnviz.ui.learns.runs`)."""
CORPORA_VARIABLE = "ATTNVIZ_CORPORA"
"""Where the page looks for tables of corpora (`attnviz.ui.corpus.jobs`)."""
VISITORS_VARIABLE = "ATTNVIZ_VISITORS"
"""How many visitors have the page at the same time (`attnviz.ui.admission`)."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Give `command` its options."""
    command.add_argument("--port", type=positive, help="port of the page (8501 unless given)")
    command.add_argument(
        "--address", help="address to listen on: 0.0.0.0 for other machines too (127.0.0.1 unless given)"
    )
    command.add_argument("--base-path", metavar="PATH", help="path of the page behind a proxy, such as attnviz")
    command.add_argument(
        "--visitors", type=positive, metavar="N", help="visitors at the same time; others wait and see their place"
    )
    command.add_argument("--runs", type=Path, help="folder of runs of train that visitors may watch learning")
    command.add_argument("--corpora", type=Path, help="folder of tables of corpus that visitors may look at")


def run(options: argparse.Namespace) -> None:
    """Become Streamlit, which serves the page; raise AttnvizError where the page is not there."""
    script = next((folder / "app.py" for folder in (Path.cwd(), ROOT) if (folder / "attnviz" / "ui").is_dir()), None)
    if script is None or not script.is_file():
        raise AttnvizError("The page's app.py is not there. Run the command in the project's folder.")
    command = [sys.executable, "-m", "streamlit", "run", script.name]
    for name, value in (("port", options.port), ("address", options.address), ("baseUrlPath", options.base_path)):
        if value:
            command += [f"--server.{name}", str(value)]
    # NumPy's second thread makes no proof or ledger of a step sooner, and costs a server of many visitors half as much
    # processor time again.
    environment = {"OPENBLAS_NUM_THREADS": "1"} | os.environ
    if options.visitors:
        environment[VISITORS_VARIABLE] = str(options.visitors)
    if options.runs:
        if not options.runs.is_dir():
            raise AttnvizError(f"There is no folder {options.runs} of runs. Name the one that holds their folders.")
        environment[RUNS_VARIABLE] = str(options.runs.resolve())
    if options.corpora:
        if not options.corpora.is_dir():
            raise AttnvizError(f"There is no folder {options.corpora} of tables. Name the one that holds them.")
        environment[CORPORA_VARIABLE] = str(options.corpora.resolve())
    # Streamlit looks for its settings, and the page for models, in the folder it runs in.
    os.chdir(script.parent)
    os.execve(sys.executable, command, environment)
