"""The numbers that programs in the browser share with the figures that they fill and mark."""

from __future__ import annotations

import json

from attnviz import palette
from attnviz.figures.microscope import OPERANDS_WIDTH
from attnviz.figures.source_rows import MOST_ROWS
from attnviz.figures.template import MISSING

CONSTANTS: dict[str, float] = {
    "BAND": palette.BAND,
    "CELL_FRAME_WIDTH": palette.CELL_FRAME_WIDTH,
    "MISSING": MISSING,
    "MOST_GREEN": palette.MOST_GREEN,
    "MOST_ROWS": MOST_ROWS,
    "OPERANDS_WIDTH": OPERANDS_WIDTH,
    "PALE": palette.PALE,
    "ROW_FRAME_WIDTH": palette.ROW_FRAME_WIDTH,
    "STRONGEST": palette.STRONGEST,
    "VEIL": palette.VEIL,
}
"""By the names that the programs know them by."""

SHARES: dict[str, float] = {"quiet": palette.QUIET, "joint": palette.JOINT}
"""Of style sheets: each is a custom property, `--quiet-share` and so on, in percent."""


def constants_script() -> str:
    """Return the JavaScript that defines the constants; it goes before a program."""
    return "".join(f"const {name} = {json.dumps(value)};\n" for name, value in CONSTANTS.items())


def shares_style() -> str:
    """Return the CSS that defines the shares for the whole page, components that are apart from it included."""
    return ":root { " + " ".join(f"--{name}-share: {100 * value:g}%;" for name, value in SHARES.items()) + " }"
