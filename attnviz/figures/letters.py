"""How much room letters take, reckoned before anything is drawn."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

_EM = {" .,;:'’|ijlI": 0.33, "rtf()-/“”«»": 0.45, "cksvxyz": 0.6, "mwMW…—": 1.0}
"""Widths of letters, in font sizes, in the widest of the faces that a machine falls back on: with which of them a file
will be drawn is not known."""
_WIDTHS = {letter: width for letters, width in _EM.items() for letter in letters}


def width(text: str, size: float) -> float:
    """Return the pixels that `text` takes at most, in letters of `size` pixels."""
    return size * sum(map(_em, text))


def _em(letter: str) -> float:
    if combining(letter):
        return 0
    if east_asian_width(letter) in "WF":
        return 1.05
    return _WIDTHS.get(letter, 0.75 if letter.isupper() else 0.64)
