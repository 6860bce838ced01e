"""Labels of pieces in figures and sentences: quoting, shortening, subscripts, and names of punctuation marks."""

from __future__ import annotations

from collections.abc import Callable

from attnviz.languages import gettext
from attnviz.text import SPACE, isolated, piece_name, without_isolates

LONGEST = 16
"""Characters of the longest axis label; hover texts are longer."""


def shorten(text: str, longest: int = LONGEST) -> str:
    """Return `text`, shortened to `longest` characters with an ellipsis; right-to-left text stands in isolates."""
    text = without_isolates(text)
    return isolated(text if len(text) <= longest else text[: longest - 1] + "…")


def quote(text: str) -> str:
    """Return `text` in the quotation marks of the current language."""
    return gettext("“{text}”", text=isolated(text))


_PUNCTUATION_NAMES: dict[str, Callable[[], str]] = {
    "": lambda: gettext("a blank"),
    "'": lambda: gettext("an apostrophe"),
    '"': lambda: gettext("a quotation mark"),
    ",": lambda: gettext("a comma"),
    ".": lambda: gettext("a full stop"),
    "-": lambda: gettext("a hyphen"),
}


def mark_name(piece: str) -> str | None:
    """Return the name of a piece that would be illegible in quotation marks, such as a comma; None for others."""
    name = _PUNCTUATION_NAMES.get(piece.strip(SPACE))
    return None if name is None else name()


def quoted_name(piece: str) -> str:
    """Return the label of a piece in quotation marks; spaces and small marks by name."""
    return mark_name(piece) or quote(shorten(piece_name(piece), 30))


def subscript(number: int) -> str:
    """Return `number` in subscript digits."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
