"""Numbers as they are written in sentences and labels: a true minus, and the decimal mark of the language in use.

Fractions inside a sentence of `gettext` get that mark there. Files for machines (CSV, JSON, TikZ) do not come here.
"""

from __future__ import annotations

import math

from attnviz.languages import decimal_mark, gettext, thousands_mark

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NO_BREAK = "\u00a0"
"""Between a number and its sign: they stay on one line."""


def decimal(value: float, places: int = 2) -> str:
    """Return `value` with that many decimal places."""
    return localised(f"{value:.{places}f}")


def significant(value: float, digits: int = 2) -> str:
    """Return `value` to that many significant digits, trailing zeros left out."""
    return "∞" if value == math.inf else localised(f"{value:.{digits}g}")


def small(value: float) -> str:
    """Return a number from 0 to 1 in two decimal places, or as few signs as tell it from 0: 0.97, 0.004, 2·10⁻⁵."""
    if value == 0 or value >= 0.0095:
        return decimal(value)
    if value >= 0.00095:
        return decimal(value, 3)
    return power_of_ten(value)


def power_of_ten(amount: float) -> str:
    """Return an amount as in 3·10⁻⁷, one digit before the power."""
    if not math.isfinite(amount):
        return "∞" if math.isinf(amount) else "?"
    if amount == 0:
        return "0"
    digit, exponent = f"{amount:.0e}".split("e")
    return f"{digit}·10" + str(int(exponent)).translate(_RAISED)


def power_name(exponent: int) -> str:
    """Return a power of ten as an axis names it: 100, 1, 0.01, 10⁻⁴."""
    if exponent >= -3:
        return localised(f"{10.0**exponent:g}")
    return "10" + str(exponent).translate(_RAISED)


def thousands(count: int) -> str:
    """Return a whole number with its thousands set apart, as the language in use does it."""
    return f"{count:,}".replace(",", thousands_mark())


def localised(number: str) -> str:
    """Return a number as Python writes it in the writing of the language in use."""
    return number.replace("-", "−").replace(".", decimal_mark())


def signed(amount: float, places: int = 2) -> str:
    """Return a number with its sign; what rounds to 0 has none."""
    text = localised(f"{amount:+.{places}f}")
    return text if any(digit in text for digit in "123456789") else text[1:]


def percent(share: float, *, short: bool = False) -> str:
    """Return a share in whole per cent, never 0 or 100 when it is not quite; `short` has signs for words."""
    if 0 < share < 0.005:
        least = f"1{NO_BREAK}%"
        return f"<{NO_BREAK}{least}" if short else gettext("less than {share}", share=least)
    if 0.995 <= share < 1:
        most = f"99{NO_BREAK}%"
        return f">{NO_BREAK}{most}" if short else gettext("more than {share}", share=most)
    return f"{100 * share:.0f}{NO_BREAK}%"
