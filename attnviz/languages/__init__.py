"""The languages of the interface: English stands in the code, each other language in a catalog `locales/<code>.po`."""

from __future__ import annotations

import functools
import string
from contextvars import ContextVar
from numbers import Integral, Real

from attnviz.languages.catalogs import catalog_files, own_name, translations

LANGUAGES = {code: own_name(code) for code in ("en", *catalog_files())}
"""Code and own name of each language, English first."""

DECIMAL_MARKS = {"en": ".", "fr": ","}
"""What each language writes between a number's whole part and its fraction."""

THOUSANDS_MARKS = {"en": ",", "fr": "\u202f"}
"""What each language writes between a number's thousands."""

_current: ContextVar[str] = ContextVar("language", default="en")


def set_language(code: str) -> None:
    """Use a language from here on, in this thread or task; an unknown code means English."""
    _current.set(code if code in LANGUAGES else "en")


def language() -> str:
    """Return the code of the language in use."""
    return _current.get()


def decimal_mark() -> str:
    """Return the decimal mark of the language in use."""
    return DECIMAL_MARKS[_current.get()]


def thousands_mark() -> str:
    """Return what parts a number's thousands in the language in use."""
    return THOUSANDS_MARKS[_current.get()]


PLURAL = "plural "
"""Before the format in which a number is written, in a catalogue of a language in which a plural is from 2 upwards:
`{count:.1f} pièce{count:plural .1f}` is 1,9 pièce and 2,0 pièces."""


def _written(value: object, how: str) -> str:
    """Return `value` in the format `how`, a fraction with the decimal mark of the language in use; or the s of a
    plural."""
    if isinstance(value, str) and not how:
        return value
    if how.startswith(PLURAL):
        return "s" if abs(float(format(value, how.removeprefix(PLURAL)))) >= 2 else ""
    fraction = isinstance(value, Real) and not isinstance(value, Integral)
    return format(value, how).replace(".", decimal_mark()) if fraction else format(value, how)


@functools.cache
def _parts(text: str) -> tuple[tuple[str, str | None, str], ...]:
    """Return what a text with places in braces is made of: what stands before each place, its name and its format."""
    return tuple((before, name, how or "") for before, name, how, _ in string.Formatter().parse(text))


def gettext(text: str, /, **values: object) -> str:
    """Return the English `text` in the language in use, with `{name}` in it replaced by `values`.

    `text` must be a literal, so that the catalogs can be checked against the code. Fractions among `values` get the
    decimal mark of the language. Without `values` braces are kept as they are.
    """
    found = translations(_current.get()).gettext(text)
    if not values:
        return found
    # A page is made of some ten thousand: Python's own formatter, which reads a text anew each time, takes longer.
    parts = _parts(found)
    return "".join(before + ("" if name is None else _written(values[name], how)) for before, name, how in parts)
