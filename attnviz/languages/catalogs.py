"""Message catalogs: one gettext file per language, `locales/<code>.po`."""

from __future__ import annotations

import functools
import io
import os
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING

from babel import Locale

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

LOCALES = Path(__file__).with_name("locales")
MORE_LOCALES = "ATTNVIZ_LOCALES"
"""Environment variable: a second folder of catalogs, whose files come before the package's own."""


def catalog_files() -> dict[str, Path]:
    """Return the file of each language by its code, in order of codes."""
    more = os.environ.get(MORE_LOCALES)
    folders = [LOCALES, *([Path(more)] if more else [])]
    found = {path.stem: path for folder in folders for path in folder.glob("*.po")}
    return dict(sorted(found.items()))


def own_name(code: str) -> str:
    """Return what a language calls itself, as a title: Français."""
    name = Locale.parse(code).get_display_name() or code
    return name[:1].upper() + name[1:]


def read_catalog(path: Path) -> Catalog:
    """Return the messages of a `.po` file, obsolete ones included."""
    # Imported here: English needs no catalog, and every command would wait 20 ms for Babel's catalog tools.
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        return read_po(file, locale=path.stem)


@functools.cache
def translations(code: str) -> NullTranslations:
    """Return the translations of a language, without fuzzy ones; English has none."""
    path = catalog_files().get(code)
    if path is None:
        return NullTranslations()
    from babel.messages.mofile import write_mo

    compiled = io.BytesIO()
    write_mo(compiled, read_catalog(path))
    compiled.seek(0)
    return GNUTranslations(compiled)
