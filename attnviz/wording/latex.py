"""Format numbers, vectors, pieces, aligned lines and colours as LaTeX for KaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from attnviz.languages import decimal_mark, gettext
from attnviz.text import SPACE

# Only Latin letters, digits and marks without a meaning in LaTeX: user text must not become LaTeX.
_SAFE = re.compile(r"[A-Za-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f'’.,;:!?()/-]{1,24}")


def number(value: float) -> str:
    """Return `value` to three significant digits in LaTeX, with powers of ten where it is very large or small."""
    # In braces: after a comma, TeX would set the space of a list.
    return _number(value).replace(".", "." if decimal_mark() == "." else f"{{{decimal_mark()}}}")


def _number(value: float) -> str:
    if not math.isfinite(value):
        return r"-\infty" if value < 0 else r"\infty" if value > 0 else rf"\text{{{gettext('undefined')}}}"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if -3 <= exponent < 4:
        return f"{value:.{max(0, 2 - exponent)}f}"
    mantissa, _, power = f"{value:.2e}".partition("e")
    return rf"{mantissa}\cdot 10^{{{int(power)}}}"


def vector(values: Sequence[float] | NDArray[np.float32]) -> str:
    """Return a vector (n,) as its first two numbers, dots, and its last.

    With powers of ten the second is left out, so that the line fits a phone.
    """
    count = len(values)
    shown = [number(float(values[k])) for k in (range(count) if count <= 4 else (0, 1, count - 1))]
    if count > 4:
        first = shown[:1] if any("10^" in text for text in shown) else shown[:2]
        shown = [*first, r"\ldots", shown[-1]]
    return r"\begin{bmatrix}" + r" & ".join(shown) + r"\end{bmatrix}^{\!\top}"


def safe_text(piece: str) -> str | None:
    """Return a piece as LaTeX text; None where it has a character that is unsafe in LaTeX."""
    special = {"</s>": "</s>", "<unk>": "<unk>", SPACE: gettext("(a blank)")}.get(piece)
    if special:
        return rf"\text{{{special}}}"
    name = piece.removeprefix(SPACE)
    return rf"\text{{{name}}}" if _SAFE.fullmatch(name) else None


NEW_LINE = r" \\[2pt] "
"""Line break of `aligned`."""


def aligned(*lines: str) -> str:
    """Return lines below one another, aligned at their ampersands."""
    return r"\begin{aligned}" + NEW_LINE.join(lines) + r"\end{aligned}"


def coloured(colour: str, body: str) -> str:
    """Return LaTeX in a colour, #rrggbb."""
    return rf"\textcolor{{{colour}}}{{{body}}}"
