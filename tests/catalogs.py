"""Update the message catalogs from the code: `python -m tests.catalogs`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

import attnviz
from attnviz.languages.catalogs import catalog_files, read_catalog

PACKAGE = Path(attnviz.__file__).parent
MESSAGES = {"gettext": 1, "ngettext": 2}
"""How many of a function's arguments are English sentences."""


def messages_of(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the English sentences of each call of `gettext` or `ngettext` in a module.

    Babel's own extraction for Python misses calls inside f-strings, and is silent about a sentence that is no literal.

    Raises:
        ValueError: a sentence is not a literal.

    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        name = ast.unparse(call.func)
        if name not in MESSAGES:
            continue
        sentences = [one.value for one in call.args[: MESSAGES[name]] if isinstance(one, ast.Constant)]
        if len(sentences) != MESSAGES[name]:
            raise ValueError(f"{path}:{call.lineno}: {name} needs a literal sentence, without f")
        yield tuple(str(one) for one in sentences)


def extract(package: Path = PACKAGE) -> Catalog:
    """Return the messages of a package by their English, each with the files it is in, in the order of the code."""
    template = Catalog()
    for path in sorted(package.rglob("*.py")):
        for message in messages_of(path):
            place = (path.relative_to(package.parent).as_posix(), 1)
            template.add(message if len(message) > 1 else message[0], locations=[place])
    return template


def update(catalog: Catalog, template: Catalog) -> None:
    """Bring `catalog` up to date: a changed sentence keeps its translation, marked as fuzzy.

    What the code has no more stays as obsolete while something is untranslated, which it may be the translation of.
    """
    catalog.update(template, update_creation_date=False)
    if all(message.string and not message.fuzzy for message in catalog if message.id):
        catalog.obsolete.clear()


def write(catalog: Catalog, path: Path) -> None:
    """Write `catalog` by source file, without line numbers."""
    with path.open("wb") as file:
        write_po(file, catalog, width=120, sort_by_file=True, include_lineno=False, include_previous=True)


def main() -> None:
    template = extract()
    for path in catalog_files().values():
        catalog = read_catalog(path)
        update(catalog, template)
        write(catalog, path)


if __name__ == "__main__":
    sys.exit(main())
