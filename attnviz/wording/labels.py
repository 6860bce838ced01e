"""What pieces are called in pictures and sentences, and how names are quoted and cut short."""

from __future__ import annotations

from attnviz.languages import say

LONGEST = 16
"""Characters of a label on an axis; the hover text has more."""


def shorten(text: str, longest: int = LONGEST) -> str:
    """Return `text`, its end replaced by an ellipsis where it has more than `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def quote(text: str) -> str:
    """Return `text` in the quotation marks of the language in use."""
    return say("“{text}”", text=text)


def subscript(number: int) -> str:
    """Return `number` in subscript digits."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
