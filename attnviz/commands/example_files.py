"""The command `attnviz examples`: copy the files that the pages of the documentation use."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from attnviz.commands.shared import Command

_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    command.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="folder to copy the files into; files that are there stay as they are",
    )


def _run(options: argparse.Namespace) -> None:
    """Copy the example files that the folder lacks."""
    for path in _EXAMPLES.rglob("*"):
        copy = options.folder / path.relative_to(_EXAMPLES)
        if path.is_file() and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    print(f"The example files are in {options.folder.resolve()}.", file=sys.stderr)


EXAMPLES_COMMAND = Command(
    "examples", "copy the example files that the documentation uses into a folder", _add_options, _run
)
