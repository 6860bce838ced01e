"""The languages of the interface: English stands in the code, each other language in a catalog `locales/<code>.po`."""

from __future__ import annotations

import functools
import string
from contextvars import ContextVar
from numbers import Real
from typing import cast

from attnviz.languages import numbers
from attnviz.languages.catalogs import catalog_files, own_name, translations

LANGUAGES = {code: own_name(code) for code in ("en", *catalog_files())}
"""Code and own name of each language, English first."""

_current: ContextVar[str] = ContextVar("language", default="en")


def set_language(code: str) -> None:
    """Use a language from here on, in this thread or task; an unknown code means English."""
    _current.set(code if code in LANGUAGES else "en")


def language() -> str:
    """Return the code of the language in use."""
    return _current.get()


def gettext(text: str, /, **values: object) -> str:
    """Return the English `text` in the language in use, with `{name}` in it replaced by `values`.

    `text` must be a literal, so that the catalogs can be checked against the code. Numbers among `values` are written
    as the language writes them. Without `values` braces are kept as they are.
    """
    found = translations(_current.get()).gettext(text)
    return _filled(found, values) if values else found


def ngettext(singular: str, plural: str, count: float, /, **values: object) -> str:
    """Return the form of a message for a `count`, which the message writes as `{count}`, in the language in use.

    The form is that of the number as it is written: with `{count:.1f}`, 1.96 is 2,0 and a plural in French.
    """
    code = _current.get()
    spec = next((spec for _, name, spec in _parts(plural) if name == "count"), "")
    number = numbers.plural_number(code, format(count, spec.replace(",", "")))
    return _filled(translations(code).ngettext(singular, plural, number), {"count": count, **values})


def format_number(value: float, spec: str = "") -> str:
    """Return a number in Python's format `spec` as the language in use writes it, with a true minus."""
    return numbers.format_number(_current.get(), value, spec)


def format_share(share: float, places: int = 0) -> str:
    """Return a share of 1 in per cent as the language in use writes it."""
    return numbers.format_share(_current.get(), share, places)


def decimal_mark() -> str:
    """Return what the language in use writes before a fraction."""
    return numbers.symbol(_current.get(), "decimal")


def thousands_mark() -> str:
    """Return what the language in use writes between thousands."""
    return numbers.symbol(_current.get(), "group")


@functools.cache
def _parts(text: str) -> tuple[tuple[str, str | None, str], ...]:
    """Return the parts of a message: the text before each placeholder, its name and its format."""
    return tuple((before, name, spec or "") for before, name, spec, _ in string.Formatter().parse(text))


def _filled(text: str, values: dict[str, object]) -> str:
    # Parsed once: `str.format_map` parses a message anew each time, and a page has some ten thousand.
    return "".join(
        before + ("" if name is None else _written(values[name], spec)) for before, name, spec in _parts(text)
    )


def _written(value: object, spec: str) -> str:
    if isinstance(value, str) and not spec:
        return value
    return format_number(cast(float, value), spec) if isinstance(value, Real) else format(value, spec)
