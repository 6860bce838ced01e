"""Find and read the message catalogs, one gettext file per language: `locales/<code>.po`."""

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
EXTRA_LOCALES = "ATTNVIZ_LOCALES"
"""Environment variable with a second folder of catalogs, which take precedence over the package's."""


def catalog_files() -> dict[str, Path]:
    """Return the catalog file of each language, sorted by language code."""
    extra = os.environ.get(EXTRA_LOCALES)
    folders = [LOCALES, *([Path(extra)] if extra else [])]
    files = {path.stem: path for folder in folders for path in folder.glob("*.po")}
    return dict(sorted(files.items()))


def native_name(code: str) -> str:
    """Return a language's name in itself, capitalised: Français."""
    name = Locale.parse(code).get_display_name() or code
    return name[:1].upper() + name[1:]


def read_catalog(path: Path) -> Catalog:
    """Return the messages of a `.po` file, obsolete ones included."""
    # Imported here: English needs no catalog, and importing Babel's catalog tools takes 20 ms.
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        return read_po(file, locale=path.stem)


@functools.cache
def translations(code: str) -> NullTranslations:
    """Return the translations of a language, without fuzzy ones; empty for English."""
    path = catalog_files().get(code)
    if path is None:
        return NullTranslations()
    from babel.messages.mofile import write_mo

    compiled = io.BytesIO()
    write_mo(compiled, read_catalog(path))
    compiled.seek(0)
    return GNUTranslations(compiled)
