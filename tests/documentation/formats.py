"""The table of formats in the guide, made from the declarations of the formats."""

from __future__ import annotations

from pathlib import Path

from attnviz.importing.formats import FORMATS
from tests.conftest import REPOSITORY

PAGE: Path = REPOSITORY / ".docs" / "pages" / "data.md"
_HEAD = "| `--format` | file | the command that makes it |\n|---|---|---|\n"


def table() -> str:
    """Return the rows of the table as Markdown; a bar would end a cell, so ⎮ stands for it."""
    rows = [f"| `{one.name}` | {_cell(one.example)} | {_cell(one.written_by)} |\n" for one in FORMATS]
    return _HEAD + "".join(sorted(rows))


def _cell(text: str) -> str:
    return text.replace("|", "⎮")


def with_table(page: str) -> str:
    """Return the text of the page with the table as it must be."""
    before, _, rest = page.partition(_HEAD)
    return before + table() + "\n" + rest.partition("\n\n")[2]
