"""The languages of the interface. English sentences stand in the code, where they are read; every other language is one
catalogue here, `<language>.json`, from the English sentence to its own."""

from __future__ import annotations

import functools
import json
import string
from contextvars import ContextVar
from numbers import Integral, Real
from pathlib import Path
from typing import Any

LANGUAGES = {"en": "English", "fr": "Français"}
"""Code and own name of each language, English first."""

DECIMAL_MARKS = {"en": ".", "fr": ","}
"""What each language writes between a number's whole part and its fraction."""

_current: ContextVar[str] = ContextVar("language", default="en")


def speak(language: str) -> None:
    """Use `language` from here on, in this thread or task; an unknown code means English."""
    _current.set(language if language in LANGUAGES else "en")


def language() -> str:
    """Return the code of the language in use."""
    return _current.get()


def decimal_mark() -> str:
    """Return the decimal mark of the language in use."""
    return DECIMAL_MARKS[_current.get()]


PLURAL = "plural "
"""Before the format in which a number is written, in a catalogue of a language in which a plural is from 2 upwards:
`{count:.1f} pièce{count:plural .1f}` is 1,9 pièce and 2,0 pièces."""


class _Formatter(string.Formatter):
    """Writes fractions with the decimal mark of the language in use, and the s of a plural."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return `value` formatted; whole numbers and words are left as Python writes them."""
        if format_spec.startswith(PLURAL):
            return "s" if abs(float(format(value, format_spec.removeprefix(PLURAL)))) >= 2 else ""
        written = str(super().format_field(value, format_spec))
        fraction = isinstance(value, Real) and not isinstance(value, Integral)
        return written.replace(".", decimal_mark()) if fraction else written


_FORMATTER = _Formatter()


def say(text: str, /, **values: object) -> str:
    """Return the English `text` in the language in use, with `{name}` in it replaced by `values`.

    `text` must be a literal, so that the catalogues can be checked against the code. Fractions among `values` get the
    decimal mark of the language. Without `values` braces are kept as they are.
    """
    found = catalogue(_current.get()).get(text, text)
    return _FORMATTER.vformat(found, (), values) if values else found


@functools.cache
def catalogue(code: str) -> dict[str, str]:
    """Return the sentences of a language by their English; English itself needs none."""
    path = Path(__file__).with_name(f"{code}.json")
    sentences: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return sentences
