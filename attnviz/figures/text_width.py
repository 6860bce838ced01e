"""Estimate the width of text in pixels before it is drawn."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

_EM = {" .,;:'’|ijlI": 0.33, "rtf()-/“”«»": 0.45, "cksvxyz": 0.6, "mwMW…—": 1.0}
"""Widths of letters in font sizes, in the widest fallback font, since the font of a viewer is unknown."""
_WIDTHS = {letter: width for letters, width in _EM.items() for letter in letters}


def width(text: str, size: float) -> float:
    """Return the largest width of `text` in pixels, with letters of `size` pixels."""
    return size * sum(map(_em, text))


def _em(letter: str) -> float:
    if combining(letter):
        return 0
    if east_asian_width(letter) in "WF":
        return 1.05
    return _WIDTHS.get(letter, 0.75 if letter.isupper() else 0.64)
