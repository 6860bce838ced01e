"""The tables in the guide of formats and of field names, made from their declarations."""

from pathlib import Path

from attnviz.importing.formats import FORMATS
from attnviz.importing.formats.json_formats import FIELD_NAMES
from tests.conftest import REPOSITORY

PAGE: Path = REPOSITORY / ".docs" / "pages" / "data.md"
_FORMATS = "| `--format` | file | the command that makes it |\n|---|---|---|\n"
_FIELDS = "| field | names, the preferred first |\n|---|---|\n"


def tables() -> dict[str, str]:
    """Return the rows of both tables as Markdown by their heads; a bar would end a cell, so ⎮ stands for it."""
    formats = [f"| `{one.name}` | {_cell(one.example)} | {_cell(one.written_by)} |\n" for one in FORMATS]
    fields = [f"| {field} | {', '.join(f'`{name}`' for name in names)} |\n" for field, names in FIELD_NAMES.items()]
    return {_FORMATS: "".join(sorted(formats)), _FIELDS: "".join(fields)}


def _cell(text: str) -> str:
    return text.replace("|", "⎮")


def with_tables(page: str) -> str:
    """Return the text of the page with the tables as they must be."""
    for head, rows in tables().items():
        before, _, rest = page.partition(head)
        page = before + head + rows + "\n" + rest.partition("\n\n")[2]
    return page
