"""Translate messages and format numbers in the current language of the interface.

English is in the code, every other language in a catalog `locales/<code>.po`; numbers are formatted by Babel's data.
"""

from __future__ import annotations

import functools
import io
import os
import string
from collections.abc import Mapping
from contextvars import ContextVar
from decimal import Decimal
from gettext import GNUTranslations, NullTranslations
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from babel import Locale
from babel.numbers import NumberPattern, format_decimal, parse_pattern

from attnviz.environment import ATTNVIZ_LOCALES

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

LOCALES = Path(__file__).with_name("locales")
Key = TypeVar("Key")


def catalog_files() -> dict[str, Path]:
    """Return the catalog file of each language, sorted by language code."""
    extra = os.environ.get(ATTNVIZ_LOCALES)
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


_MINUS = "−"
"""The typographic minus, for every language; Babel writes a hyphen."""

_locale = functools.cache(Locale.parse)


@functools.cache
def symbol(code: str, name: str) -> str:
    """Return a number symbol of a language by Babel's name for it, such as "decimal" or "group"."""
    return str(_locale(code).number_symbols["latn"][name])


def format_number_in(code: str, value: float | Integral, spec: str = "") -> str:
    """Return a number in Python's format `spec`, with a language's symbols and a typographic minus.

    Python rounds, and Babel's locale data provide the symbols: this takes 1 µs a number, Babel's `format_decimal` 18
    µs, and a page has thousands of numbers. Whole numbers without a `spec` have thousands separators. A number that
    rounds to zero has no minus.
    """
    if not spec and isinstance(value, Integral) and abs(whole := int(value)) >= 1000:
        return format_decimal(whole, locale=_locale(code)).replace("-", _MINUS)
    text = str(format(value, spec)).translate(_signs(code))
    return text.replace(_MINUS, "") if text[0] == _MINUS and not text.strip(f"{_MINUS}0.,") else text


@functools.cache
def _signs(code: str) -> dict[int, str]:
    return str.maketrans({".": symbol(code, "decimal"), "-": _MINUS})


def format_share_in(code: str, share: float, places: int = 0) -> str:
    """Return a share of 1 as a percentage; 0 and 100 only where exact, otherwise as in "< 1 %" and "> 99 %"."""
    share, least = float(share), 1 / 10 ** (places + 2)
    if 0 < share < least / 2:
        return f"<\u00a0{_written_share(code, least, places)}"
    if 1 - least / 2 <= share < 1:
        return f">\u00a0{_written_share(code, 1 - least, places)}"
    return _written_share(code, share, places)


def _written_share(code: str, share: float, places: int) -> str:
    return str(_percent(code, places).apply(Decimal(share), _locale(code))).replace("-", _MINUS)


@functools.cache
def _percent(code: str, places: int) -> NumberPattern:
    # English texts here put a space before the percent sign, as SI does; English locale data do not.
    pattern = "#,##0\u00a0%" if code == "en" else _locale(code).percent_formats[None].pattern
    return parse_pattern(pattern.replace("#,##0", "0." + "0" * places if places else "0"))


def plural_number(code: str, written: str) -> int:
    """Return a whole number with the same plural form as the number `written`, such as 1.9.

    gettext's plural rules accept whole numbers only, CLDR's categories fractions too.
    """
    number = abs(Decimal(written))
    if "." not in written:
        return int(number)
    return _whole_numbers(code).get(_locale(code).plural_form(number), 0)


@functools.cache
def _whole_numbers(code: str) -> dict[str, int]:
    """Return the smallest whole number of each plural category of CLDR."""
    rule = _locale(code).plural_form
    return {rule(number): number for number in reversed(range(101))}


LANGUAGES = {code: native_name(code) for code in ("en", *catalog_files())}
"""Name of each language in itself, by code, English first."""

_current: ContextVar[str] = ContextVar("language", default="en")


def set_language(code: str) -> None:
    """Set the language of this thread or task; an unknown code means English."""
    _current.set(code if code in LANGUAGES else "en")


def language() -> str:
    """Return the code of the current language."""
    return _current.get()


def gettext(text: str, /, **values: object) -> str:
    """Return the translation of `text` into the current language, with `values` in place of `{name}`.

    `text` must be a literal, so that the catalogs can be checked against the code, or a choice of literals: `a if b
    else c`, or a row of a table, `{...}[key]`. Numbers among `values` are formatted for the language. Without `values`,
    braces stay as they are.
    """
    translation = translations(_current.get()).gettext(text)
    return _fill(translation, values) if values else translation


def gettexts(texts: Mapping[Key, str]) -> dict[Key, str]:
    """Return a table, a dictionary of literals, with the translation of each of its texts."""
    translated = translations(_current.get()).gettext
    return {key: translated(text) for key, text in texts.items()}


def ngettext(singular: str, plural: str, count: float, /, **values: object) -> str:
    """Return the plural form of a message for `count`, which the message contains as `{count}`.

    The form is that of the formatted number: with `{count:.1f}`, 1.96 is 2,0 and a plural in French.
    """
    code = _current.get()
    spec = next((spec for _, name, spec in _parts(plural) if name == "count"), "")
    number = plural_number(code, format(count, spec.replace(",", "")))
    return _fill(translations(code).ngettext(singular, plural, number), {"count": count, **values})


def format_number(value: float, spec: str = "") -> str:
    """Return a number in Python's format `spec`, as the current language writes it, with a typographic minus."""
    return format_number_in(_current.get(), value, spec)


def format_share(share: float, places: int = 0) -> str:
    """Return a share of 1 as a percentage in the current language; 0 and 100 only where exact."""
    return format_share_in(_current.get(), share, places)


def decimal_mark() -> str:
    """Return the decimal separator of the current language."""
    return symbol(_current.get(), "decimal")


def thousands_mark() -> str:
    """Return the thousands separator of the current language."""
    return symbol(_current.get(), "group")


@functools.cache
def _parts(text: str) -> tuple[tuple[str, str | None, str], ...]:
    """Return the parts of a message: text before each placeholder, its name and its format."""
    return tuple((text_before, name, spec or "") for text_before, name, spec, _ in string.Formatter().parse(text))


def _fill(text: str, values: dict[str, object]) -> str:
    # `str.format_map` would parse a message every time, and a page has about ten thousand.
    return "".join(
        text_before + ("" if name is None else _formatted(values[name], spec))
        for text_before, name, spec in _parts(text)
    )


def _formatted(value: object, spec: str) -> str:
    if isinstance(value, str) and not spec:
        return value
    return format_number(cast(float, value), spec) if isinstance(value, Real) else format(value, spec)
