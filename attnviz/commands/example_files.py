"""The command `attnviz examples`: copy the files that the pages of the documentation use."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

from attnviz.commands.options import AS_OUTPUT, Folder
from attnviz.commands.shared import report

_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def examples_command(folder: Annotated[Folder, AS_OUTPUT] = Path(), /) -> None:
    """Copy the example files that the documentation uses into a folder.

    Args:
        folder: folder to copy the files into; files that are there stay as they are
    """
    for path in _EXAMPLES.rglob("*"):
        copy = folder / path.relative_to(_EXAMPLES)
        if path.is_file() and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    report(f"The example files are in {folder.resolve()}.")
