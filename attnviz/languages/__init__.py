"""Translate messages and format numbers in the current language of the interface.

English is in the code, every other language in a catalog `locales/<code>.po`.
"""

from __future__ import annotations

import functools
import string
from contextvars import ContextVar
from numbers import Real
from typing import cast

from attnviz.languages import numbers
from attnviz.languages.catalogs import catalog_files, native_name, translations

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

    `text` must be a literal, so that the catalogs can be checked against the code. Numbers among `values` are formatted
    for the language. Without `values`, braces stay as they are.
    """
    translation = translations(_current.get()).gettext(text)
    return _fill(translation, values) if values else translation


def ngettext(singular: str, plural: str, count: float, /, **values: object) -> str:
    """Return the plural form of a message for `count`, which the message contains as `{count}`.

    The form is that of the formatted number: with `{count:.1f}`, 1.96 is 2,0 and a plural in French.
    """
    code = _current.get()
    spec = next((spec for _, name, spec in _parts(plural) if name == "count"), "")
    number = numbers.plural_number(code, format(count, spec.replace(",", "")))
    return _fill(translations(code).ngettext(singular, plural, number), {"count": count, **values})


def format_number(value: float, spec: str = "") -> str:
    """Return a number in Python's format `spec`, as the current language writes it, with a typographic minus."""
    return numbers.format_number(_current.get(), value, spec)


def format_share(share: float, places: int = 0) -> str:
    """Return a share of 1 as a percentage in the current language; 0 and 100 only where exact."""
    return numbers.format_share(_current.get(), share, places)


def decimal_mark() -> str:
    """Return the decimal separator of the current language."""
    return numbers.symbol(_current.get(), "decimal")


def thousands_mark() -> str:
    """Return the thousands separator of the current language."""
    return numbers.symbol(_current.get(), "group")


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
