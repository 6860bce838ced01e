"""Format numbers and choose plural forms in a given language, from Babel's locale data."""

from __future__ import annotations

import functools
from decimal import Decimal

from babel import Locale
from babel.numbers import NumberPattern, format_decimal, parse_pattern

MINUS = "−"
"""The typographic minus, for every language; Babel writes a hyphen."""

_locale = functools.cache(Locale.parse)


@functools.cache
def symbol(code: str, name: str) -> str:
    """Return a number symbol of a language by Babel's name for it, such as "decimal" or "group"."""
    return str(_locale(code).number_symbols["latn"][name])


def format_number(code: str, value: float, spec: str = "") -> str:
    """Return a number in Python's format `spec`, with a language's symbols and a typographic minus.

    Python rounds, and Babel's locale data provide the symbols: this takes 1 µs a number, Babel's `format_decimal` 18
    µs, and a page has thousands of numbers. A `,` in `spec` groups thousands by the language's rule.
    """
    if spec == ",":
        return format_decimal(value, locale=_locale(code)).replace("-", MINUS)
    return str(format(value, spec)).translate(_signs(code))


@functools.cache
def _signs(code: str) -> dict[int, str]:
    return str.maketrans({".": symbol(code, "decimal"), "-": MINUS})


def format_share(code: str, share: float, places: int = 0) -> str:
    """Return a share of 1 as a percentage; 0 and 100 only where exact, otherwise as in "< 1 %" and "> 99 %"."""
    share, least = float(share), 1 / 10 ** (places + 2)
    if 0 < share < least / 2:
        return f"<\u00a0{_written_share(code, least, places)}"
    if 1 - least / 2 <= share < 1:
        return f">\u00a0{_written_share(code, 1 - least, places)}"
    return _written_share(code, share, places)


def _written_share(code: str, share: float, places: int) -> str:
    return str(_percent(code, places).apply(Decimal(share), _locale(code))).replace("-", MINUS)


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
