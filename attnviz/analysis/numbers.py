"""Numbers, shares, ratios and durations in sentences and labels; numbers, vectors and pieces as LaTeX for KaTeX.

Machine-readable files (CSV, JSON, TikZ) do not use this module.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.languages import decimal_mark, format_number, format_share, gettext
from attnviz.text import SPACE

Real = float | np.floating[Any]
"""A number of Python or of an array."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NO_BREAK = "\u00a0"
"""Space between a number and its unit, which keeps them on one line."""


def decimal(value: Real, places: int = 2) -> str:
    """Return `value` with that many decimal places."""
    return format_number(float(value), f".{places}f")


def shown_difference(values: Iterable[Real]) -> float:
    """Return the difference of two numbers as shown with two decimal places, so that it agrees with them."""
    larger, smaller = (round(float(value), 2) for value in values)
    return round(larger - smaller, 2)


def significant(value: Real, digits: int = 2) -> str:
    """Return `value` to that many significant digits, without trailing zeros."""
    return "∞" if value == math.inf else format_number(float(value), f".{digits}g")


def small(value: Real) -> str:
    """Return a number from 0 to 1 with two decimal places, or with as many as show that it is not 0.

    Examples: 0.97, 0.004, 2·10⁻⁵.
    """
    value = float(value)  # a limit is not to be rounded to float32
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


def signed(amount: Real, places: int = 2) -> str:
    """Return a number with its sign; numbers that round to 0 have none."""
    text = format_number(float(amount), f"+.{places}f")
    return text if any(digit in text for digit in "123456789") else text.lstrip("+")


def percent(share: Real) -> str:
    """Return a share as a whole percentage as `format_share` does, but with words instead of < and >."""
    text = format_share(float(share))
    if text.startswith("<"):
        return gettext("less than {share}", share=text[2:])
    if text.startswith(">"):
        return gettext("more than {share}", share=text[2:])
    return text


def fine_percent(share: Real) -> str:
    """Return a share as a percentage with three significant digits, at least one and at most four decimal places."""
    digits = 0 if share <= 0 else math.floor(math.log10(share))
    return format_share(float(share), min(max(-digits, 1), 4))


def times(ratio: Real) -> str:
    """Return a ratio as "… times"."""
    ratio = float(ratio)
    if ratio >= 1000:
        return gettext("more than 1,000 times")
    return gettext("{ratio} times", ratio=round(ratio) if ratio >= 9.95 else decimal(ratio, 1))


def duration(seconds: float) -> str:
    """Return a duration such as `4 h 05 min`, `5 min` or `40 s`."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60:,} h {minutes % 60:02} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"


# Only Latin letters, digits and marks without a meaning in LaTeX: user text must not become LaTeX.
_SAFE = re.compile(r"[A-Za-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f'’.,;:!?()/-]{1,24}")


def number(value: Real) -> str:
    """Return `value` to three significant digits in LaTeX, with powers of ten where it is very large or small."""
    value = float(value)
    if not math.isfinite(value):
        return r"-\infty" if value < 0 else r"\infty" if value > 0 else rf"\text{{{gettext('undefined')}}}"
    exponent = math.floor(math.log10(abs(value))) if value else 0
    if value == 0:
        text = "0"
    elif -3 <= exponent < 4:
        text = f"{value:.{max(0, 2 - exponent)}f}"
    else:
        mantissa, _, power = f"{value:.2e}".partition("e")
        text = rf"{mantissa}\cdot 10^{{{int(power)}}}"
    # In braces: after a comma, TeX would set the space of a list.
    return text.replace(".", "." if decimal_mark() == "." else f"{{{decimal_mark()}}}")


def vector(values: Sequence[float] | NDArray[np.float32]) -> str:
    """Return a vector (n,) as its first two numbers, dots, and its last.

    With powers of ten the second is left out, so that the line fits a phone.
    """
    count = len(values)
    shown = [number(values[k]) for k in (range(count) if count <= 4 else (0, 1, count - 1))]
    if count > 4:
        first = shown[:1] if any("10^" in text for text in shown) else shown[:2]
        shown = [*first, r"\ldots", shown[-1]]
    return r"\begin{bmatrix}" + r" & ".join(shown) + r"\end{bmatrix}^{\!\top}"


def safe_text(piece: str) -> str | None:
    """Return a piece as LaTeX text; None where it has a character that is unsafe in LaTeX."""
    special = {"</s>": "</s>", "<unk>": "<unk>", SPACE: gettext("(a space)")}.get(piece)
    if special:
        return rf"\text{{{special}}}"
    name = piece.removeprefix(SPACE)
    return rf"\text{{{name}}}" if _SAFE.fullmatch(name) else None


NEW_LINE = r" \\[2pt] "
"""Line break of `aligned`."""


def aligned(*lines: str) -> str:
    """Return lines below one another, aligned at their ampersands."""
    return r"\begin{aligned}" + NEW_LINE.join(lines) + r"\end{aligned}"


def coloured_latex(colour: str, body: str) -> str:
    """Return LaTeX in a colour, #rrggbb."""
    return rf"\textcolor{{{colour}}}{{{body}}}"
