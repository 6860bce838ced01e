"""What pieces are called in pictures and sentences, and how names are quoted and cut short."""

from __future__ import annotations

from collections.abc import Callable

from attnviz.languages import gettext
from attnviz.text import SPACE, piece_name

LONGEST = 16
"""Characters of a label on an axis; the hover text has more."""


def shorten(text: str, longest: int = LONGEST) -> str:
    """Return `text`, its end replaced by an ellipsis where it has more than `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def quote(text: str) -> str:
    """Return `text` in the quotation marks of the language in use."""
    return gettext("“{text}”", text=text)


_MARKS: dict[str, Callable[[], str]] = {
    "": lambda: gettext("a blank"),
    "'": lambda: gettext("an apostrophe"),
    '"': lambda: gettext("a quotation mark"),
    ",": lambda: gettext("a comma"),
    ".": lambda: gettext("a full stop"),
    "-": lambda: gettext("a hyphen"),
}


def mark_name(piece: str) -> str | None:
    """Return what a piece is called that would be lost between quotation marks, or None for any other."""
    name = _MARKS.get(piece.strip(SPACE))
    return None if name is None else name()


def quoted_name(piece: str) -> str:
    """Return what the pictures call a piece, in quotation marks; a blank and the smallest marks by their names."""
    return mark_name(piece) or quote(shorten(piece_name(piece), 30))


def subscript(number: int) -> str:
    """Return `number` in subscript digits."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
