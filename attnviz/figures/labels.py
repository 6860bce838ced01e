"""Words and pieces as labels of a figure: shown as they are, never read as Plotly's markup, never too long."""

from __future__ import annotations

from collections.abc import Iterable

from attnviz.languages import say
from attnviz.text import SPACE, SPECIAL_PIECES

LONGEST = 16
"""Characters of a label on an axis; the hover text has more."""

BLANK = "␣"
"""Names a piece that is a blank and nothing else, for which SentencePiece has a black bar."""

CONTINUES = "·"
"""Opens a piece that carries on the word before it."""


def literal(text: str) -> str:
    """Return `text` so that Plotly draws these very characters.

    Plotly reads a little HTML (`<b>`, `<br>`, `<a href>`), character entities, and `$...$` as LaTeX where MathJax is
    loaded, in every label and hover text.
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("$", "&#36;").replace("\n", " ")


def shorten(text: str, longest: int = LONGEST) -> str:
    """Return `text`, its end replaced by an ellipsis where it has more than `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def piece_name(piece: str) -> str:
    """Return a piece as the pictures name it: `bi` where it opens a word, `·cycle` where it continues one."""
    if piece in SPECIAL_PIECES:
        return piece
    if not piece.strip(SPACE):
        return BLANK
    return piece.removeprefix(SPACE) if piece.startswith(SPACE) else CONTINUES + piece


def quote(text: str) -> str:
    """Return `text` in the quotation marks of the language in use."""
    return say("“{text}”", text=text)


def axis_labels(names: Iterable[str], longest: int = LONGEST) -> list[str]:
    """Return tick labels for `names`: shortened, then made literal."""
    return [literal(shorten(name, longest)) for name in names]


def label_stride(count: int, room: int = 260) -> int:
    """Return how many labels to step over so that no more than `room` of `count` are drawn."""
    return -(-count // room)


def subscript(number: int) -> str:
    """Return `number` in subscript digits."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
