"""What pieces are called in pictures and sentences, and how names are quoted and cut short."""

from __future__ import annotations

from attnviz.languages import say
from attnviz.text import SPACE, piece_name

LONGEST = 16
"""Characters of a label on an axis; the hover text has more."""


def shorten(text: str, longest: int = LONGEST) -> str:
    """Return `text`, its end replaced by an ellipsis where it has more than `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def quote(text: str) -> str:
    """Return `text` in the quotation marks of the language in use."""
    return say("“{text}”", text=text)


def mark_name(piece: str) -> str | None:
    """Return what a piece is called that would be lost between quotation marks, or None for any other."""
    return {
        "": say("a blank"), "'": say("an apostrophe"), '"': say("a quotation mark"), ",": say("a comma"),
        ".": say("a full stop"), "-": say("a hyphen"),
    }.get(piece.strip(SPACE))  # fmt: skip


def quoted_name(piece: str) -> str:
    """Return what the pictures call a piece, in quotation marks; a blank and the smallest marks by their names."""
    return mark_name(piece) or quote(shorten(piece_name(piece), 30))


def subscript(number: int) -> str:
    """Return `number` in subscript digits."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
