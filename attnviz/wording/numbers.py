"""Numbers in sentences and labels: rounded, with a true minus, in the current language.

Machine-readable files (CSV, JSON, TikZ) do not use this module.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from attnviz.languages import format_number, format_share, gettext

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NO_BREAK = "\u00a0"
"""Space between a number and its unit, which keeps them on one line."""


def decimal(value: float, places: int = 2) -> str:
    """Return `value` with that many decimal places."""
    return format_number(value, f".{places}f")


def shown_difference(values: Iterable[float], places: int = 2) -> float:
    """Return the difference of two numbers as shown with that many decimal places, so that it agrees with them."""
    larger, smaller = (round(float(value), places) for value in values)
    return round(larger - smaller, places)


def significant(value: float, digits: int = 2) -> str:
    """Return `value` to that many significant digits, without trailing zeros."""
    return "∞" if value == math.inf else format_number(value, f".{digits}g")


def small(value: float) -> str:
    """Return a number from 0 to 1 with two decimal places, or with as many as show that it is not 0.

    Examples: 0.97, 0.004, 2·10⁻⁵.
    """
    if value == 0 or value >= 0.0095:
        return decimal(value)
    if value >= 0.00095:
        return decimal(value, 3)
    return power_of_ten(value)


def power_of_ten(amount: float) -> str:
    """Return a number as in 3·10⁻⁷, with one digit before the power."""
    if not math.isfinite(amount):
        return "∞" if math.isinf(amount) else "?"
    if amount == 0:
        return "0"
    digit, exponent = f"{amount:.0e}".split("e")
    return f"{digit}·10" + str(int(exponent)).translate(_RAISED)


def power_name(exponent: int) -> str:
    """Return a power of ten as an axis label: 100, 1, 0.01, 10⁻⁴."""
    if exponent >= -3:
        return format_number(10.0**exponent, "g")
    return "10" + str(exponent).translate(_RAISED)


def thousands(count: int) -> str:
    """Return a whole number with thousands separators."""
    return format_number(count, ",")


def signed(amount: float, places: int = 2) -> str:
    """Return a number with its sign; numbers that round to 0 have none."""
    text = format_number(amount, f"+.{places}f")
    return text if any(digit in text for digit in "123456789") else text[1:]


def percent(share: float, *, short: bool = False) -> str:
    """Return a share as a whole percentage; 0 and 100 only where exact. `short` uses < and > instead of words."""
    if 0 < share < 0.005:
        least = format_share(0.01)
        return f"<{NO_BREAK}{least}" if short else gettext("less than {share}", share=least)
    if 0.995 <= share < 1:
        most = format_share(0.99)
        return f">{NO_BREAK}{most}" if short else gettext("more than {share}", share=most)
    return format_share(share)


def fine_percent(share: float) -> str:
    """Return a share as a percentage with three significant digits, at least one and at most four decimal places."""
    digits = 0 if share <= 0 else math.floor(math.log10(share))
    return format_share(share, min(max(-digits, 1), 4))
