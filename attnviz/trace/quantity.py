"""`Quantity`: name, symbol, shape, equation and meaning of an array or number that a result has.

`quantity_table` returns quantities as a text table, and `plain_equation` turns an equation from LaTeX into plain text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_SYMBOLS = {
    r"\alpha": "α",
    r"\beta": "β",
    r"\sigma": "σ",
    r"\sum": "Σ",
    r"\sqrt": "√",
    r"\odot": "⊙",
    r"\cdot": "·",
    r"\cdots": "…",
    r"\mid": "|",
    r"\top": "T",
    r"\big": "",
    r"\bigl": "",
    r"\bigr": "",
    r"\textstyle": "",
}
_NAMES = re.compile(r"\\(?:operatorname|mathrm|text)\{([^{}]*)\}")
_ACCENTS = {
    r"\tilde": "{}\u0303",
    r"\bar": "{}\u0304",
    r"\overrightarrow": "→{}",
    r"\overleftarrow": "←{}",
}
_ACCENT = re.compile(r"\\(tilde|bar|overrightarrow|overleftarrow)(?: *([A-Za-z])|\{([A-Za-z])\})")
_SPACES = re.compile(r"\\(?:quad|,| )")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_BRACES = re.compile(r"\{([^{}]*)\}")


def plain_equation(latex: str) -> str:
    r"""Return LaTeX as text: `\alpha_{ij} = \exp(e_{ij})` becomes `α_ij = exp(e_ij)`.

    Subscripts of several symbols keep their braces (`s_{i-1}`); a root takes parentheses. Commands that are not in
    `_SYMBOLS` become their names, as `\tanh` does.
    """
    text = _SPACES.sub(" ", latex)
    text = _NAMES.sub(lambda match: match[1], text)
    text = _ACCENT.sub(lambda match: _ACCENTS["\\" + match[1]].format(match[2] or match[3]), text)
    text = _COMMAND.sub(lambda match: _SYMBOLS.get(match[0], match[0][1:]), text)
    text = re.sub(r"√\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", r"√(\1)", text)
    text = _BRACES.sub(lambda match: match[1] if match[1].isalnum() else match[0], text)
    return " ".join(text.split())


@dataclass(frozen=True)
class Quantity:
    """Name, symbol, shape, equation and meaning of one array or number.

    Where the shape begins with Ty, row i belongs to 0-based step i.
    """

    name: str
    """The field of the trace; for numbers that no trace stores, their name in recomputation and verification."""
    symbol: str
    """The symbol, in LaTeX."""
    shape: tuple[str, ...]
    """The symbols of the sizes, such as ("Ty", "Tx")."""
    equation: str
    """The equation, in LaTeX; that of additive attention where the kinds of attention differ."""
    meaning: str
    may_be_absent: bool = False
    """Whether an array of shape (0,) may take its place."""

    @property
    def per_step(self) -> bool:
        """Whether each step has its own."""
        return self.shape[0] == "Ty"

    @property
    def of_positions(self) -> bool:
        """Whether the first axis, after that of the steps, is the source positions."""
        return self.shape[self.per_step :][:1] == ("Tx",)


PROBABILITIES = Quantity(
    "probabilities", r"p(y_i)", ("Ty",), r"p(y_i \mid y_{<i}, x)", "probability of the written piece"
)
"""The quantity that follows from log probabilities."""


def piece_quantities(distribution: str) -> tuple[Quantity, ...]:
    """Return the recorded quantities of written and likeliest pieces; `distribution` is the LaTeX of p(y_i)."""
    return (
        Quantity(
            "log_probabilities",
            r"\log p(y_i)",
            ("Ty",),
            r"\log p(y_i \mid y_{<i}, x)",
            "log probability of the written piece, in nats",
        ),
        Quantity(
            "top_ids",
            r"y",
            ("Ty", "k"),
            r"\operatorname{arg\,top}_k\, p(y)",
            "ids of the likeliest pieces, likeliest first",
        ),
        Quantity("top_probabilities", r"p(y)", ("Ty", "k"), distribution, "probabilities of the likeliest pieces"),
    )


def quantity_table(
    arrays: Sequence[Quantity], derived: Sequence[Quantity], sizes: Mapping[str, int] | None = None
) -> str:
    """Return the quantities as a text table: name, symbol, shape and meaning, and the equation below the meaning.

    With the `sizes` of a trace, shapes contain their numbers too. Equations are those of additive attention where the
    kinds of attention differ.
    """
    rows = [("Name", "Symbol", "Shape", "Meaning and equation")]
    rows += [row for quantity in arrays for row in _rows(quantity, sizes)]
    if derived:
        rows += [("", "", "", ""), ("Computed from these and the weights:", "", "", "")]
        rows += [row for quantity in derived for row in _rows(quantity, sizes)]
    widths = [max(_width(row[k]) for row in rows if row[1] or not row[0]) for k in range(3)]
    lines = [
        "  ".join([*(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)), row[3]])
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def _width(text: str) -> int:
    """Return how many columns of a terminal the text takes; combining accents take none."""
    return sum(not unicodedata.combining(character) for character in text)


def _rows(quantity: Quantity, sizes: Mapping[str, int] | None) -> list[tuple[str, str, str, str]]:
    """Return the lines of one quantity in the table; an equation that is only the symbol is left out."""
    symbol, equation = plain_equation(quantity.symbol), plain_equation(quantity.equation)
    shape = _shape(quantity.shape)
    if sizes:
        shape += " = " + _shape([str(sizes[size]) for size in quantity.shape])
    first = (quantity.name, symbol, shape, quantity.meaning)
    return [first] if equation == symbol else [first, ("", "", "", f"  {equation}")]


def _shape(sizes: Sequence[str]) -> str:
    return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"
